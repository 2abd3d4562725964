//! The conformance suite of the port, run on every forge.

use std::sync::Arc;

use docent_forge::{ForgeError, PullRequestSpec};
use serde_json::json;

use super::imitation::Book;
use super::server::Server;
use super::{TOKEN, forge, request, told};
use crate::{Host, HttpForge};

const ALL: [Host; 3] = [Host::Github, Host::Gitlab, Host::Gitea];

async fn imitated(host: Host) -> (Book, Server, Arc<dyn HttpForge>) {
    let book = Book::default();
    let kept = book.clone();
    let server = Server::start(move |asked| kept.answer(host, asked)).await;
    let forge = forge(host, &server);
    (book, server, forge)
}

#[tokio::test]
async fn every_forge_conforms() {
    for host in ALL {
        let (book, _server, forge) = imitated(host).await;
        docent_forge::conformance::forge(&*forge, async |number| book.merge(number)).await;
    }
}

#[tokio::test]
async fn a_pull_request_from_a_fork_is_not_ours() {
    for host in ALL {
        let (book, _server, forge) = imitated(host).await;
        book.opened_from_a_fork("docent/a");
        assert_eq!(forge.find("docent/a").await.expect("looks"), None, "{host:?}");
        let ours = forge.open(&request()).await.expect("opens");
        book.opened_from_a_fork("docent/a");
        assert_eq!(
            forge.find("docent/a").await.expect("looks").map(|found| found.number),
            Some(ours.number),
            "{host:?}"
        );
    }
}

#[tokio::test]
async fn a_draft_that_a_person_made_ready_stays_ready() {
    for (host, draft, ready) in [
        (Host::Github, "Rename it", "New title"),
        (Host::Gitlab, "Draft: Rename it", "New title"),
        (Host::Gitea, "WIP: Rename it", "New title"),
    ] {
        let (book, _server, forge) = imitated(host).await;
        let asked = PullRequestSpec { draft: true, ..request() };
        let opened = forge.open(&asked).await.expect("opens");
        assert_eq!((opened.draft, book.title(opened.number).as_str()), (true, draft));
        let found = docent_forge::PullRequest { draft: false, ..opened };
        forge.update(&found, &PullRequestSpec { title: "New title".to_owned(), ..asked }).await.expect("updates");
        assert_eq!(book.title(found.number), ready, "{host:?}");
    }
}

#[tokio::test]
async fn labels_go_the_way_of_each_forge() {
    for (host, expected) in
        [(Host::Github, json!(["docs", "a,b", "new"])), (Host::Gitlab, json!("docs,new")), (Host::Gitea, json!([42]))]
    {
        let (book, _server, forge) = imitated(host).await;
        let labels = ["docs", "a,b", "new"].map(str::to_owned).to_vec();
        let opened = forge.open(&PullRequestSpec { labels, ..request() }).await.expect("opens");
        assert_eq!(book.labels(opened.number), expected, "{host:?}");
    }
}

#[tokio::test]
async fn a_branch_that_is_not_there_is_told_apart() {
    for host in ALL {
        let (_book, _server, forge) = imitated(host).await;
        let error =
            forge.open(&PullRequestSpec { head: "docent/gone".to_owned(), ..request() }).await.expect_err("no branch");
        assert!(
            matches!(&error, ForgeError::HeadMissing { head } if head == "docent/gone"),
            "{host:?}: {}",
            told(&error)
        );
    }
}

#[tokio::test]
async fn requests_carry_what_each_forge_wants() {
    for (host, name, value, accepts) in [
        (Host::Github, "authorization", format!("Bearer {TOKEN}"), "application/vnd.github+json"),
        (Host::Gitlab, "private-token", TOKEN.to_owned(), "application/json"),
        (Host::Gitea, "authorization", format!("token {TOKEN}"), "application/json"),
    ] {
        let (_book, server, forge) = imitated(host).await;
        forge.find("docent/a").await.expect("looks");
        forge.open(&request()).await.expect("opens");
        for asked in server.asked() {
            assert_eq!((asked.header(name), asked.header("accept")), (value.as_str(), accepts), "{}", asked.line());
            assert!(asked.header("user-agent").starts_with("docent/"), "{}", asked.line());
            let version = if host == Host::Github { "2022-11-28" } else { "" };
            assert_eq!(asked.header("x-github-api-version"), version);
            let body = if asked.method == "POST" { "application/json" } else { "" };
            assert_eq!(asked.header("content-type"), body);
        }
    }
}
