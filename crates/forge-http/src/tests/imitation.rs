//! An imitation of each forge's pull request API for `acme/docs`.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::server::{Answer, Asked, unescaped};
use crate::Host;

#[derive(Debug, Clone)]
struct Kept {
    title: String,
    body: String,
    head: String,
    base: String,
    draft: bool,
    merged: bool,
    labels: Value,
    fork: bool,
}

/// The stored pull requests; the number of each is its position, from 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Book(Arc<Mutex<Vec<Kept>>>);

const BRANCHES: [&str; 3] = ["main", "docent/a", "docent/b"];

impl Book {
    fn change<T>(&self, change: impl FnOnce(&mut Vec<Kept>) -> T) -> T {
        change(&mut self.0.lock())
    }

    pub(super) fn merge(&self, number: u64) {
        self.change(|all| all[place(number)].merged = true);
    }

    pub(super) fn title(&self, number: u64) -> String {
        self.change(|all| all[place(number)].title.clone())
    }

    pub(super) fn labels(&self, number: u64) -> Value {
        self.change(|all| all[place(number)].labels.clone())
    }

    /// A pull request from a fork that has a branch of the same name.
    pub(super) fn opened_from_a_fork(&self, head: &str) {
        let (title, head) = ("Theirs".to_owned(), head.to_owned());
        let (body, base, labels) = (String::new(), "main".to_owned(), Value::Null);
        self.change(|all| all.push(Kept { title, body, head, base, draft: false, merged: false, labels, fork: true }));
    }

    pub(super) fn answer(&self, host: Host, asked: &Asked) -> Answer {
        match host {
            Host::Github => self.github(asked),
            Host::Gitlab => self.gitlab(asked),
            Host::Gitea => self.gitea(asked),
        }
    }

    fn open_from(&self, head: &str, base: &str) -> bool {
        self.change(|all| all.iter().any(|one| !one.fork && !one.merged && one.head == head && one.base == base))
    }

    fn add(&self, kept: Kept) -> u64 {
        self.change(|all| {
            all.push(kept);
            all.len() as u64
        })
    }

    /// The matching pull requests, newest first.
    fn listed(&self, show: impl Fn(u64, &Kept) -> Value, wanted: impl Fn(&Kept) -> bool) -> Answer {
        let all = self.change(|all| all.clone());
        let shown = (1..)
            .zip(all.iter())
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .filter(|(_, one)| wanted(one))
            .map(|(number, one)| show(number, one));
        Answer::json(200, shown.collect())
    }

    fn edited(&self, number: &str, asked: &Asked, body: &str, show: impl Fn(u64, &Kept) -> Value) -> Answer {
        let number: u64 = number.parse().expect("a number");
        self.change(|all| {
            let one = &mut all[place(number)];
            one.title = text(&asked.body, "title");
            one.body = text(&asked.body, body);
            Answer::json(200, show(number, one))
        })
    }

    fn github(&self, asked: &Asked) -> Answer {
        let show = |number: u64, one: &Kept| {
            let repo = |fork: bool| json!({ "id": if fork { 8 } else { 7 }, "full_name": "acme/docs" });
            json!({
                "number": number, "html_url": format!("https://github.com/acme/docs/pull/{number}"),
                "state": if one.merged { "closed" } else { "open" }, "draft": one.draft,
                "title": one.title, "body": one.body,
                "merged_at": one.merged.then_some("2026-11-21T12:00:00Z"),
                "head": { "ref": one.head, "repo": repo(one.fork) }, "base": { "ref": one.base, "repo": repo(false) },
            })
        };
        let failed = |error: Value| Answer::json(422, json!({ "message": "Validation Failed", "errors": [error] }));
        let line = asked.line();
        match line.strip_prefix("PATCH /repos/acme/docs/pulls/") {
            Some(number) => return self.edited(number, asked, "body", show),
            None if line == "GET /repos/acme/docs/pulls" => {
                let head = asked.value("head").expect("a head");
                let (owner, head) = head.split_once(':').expect("an owner and a branch");
                assert_eq!(owner, "acme");
                let only_open = asked.value("state").as_deref() == Some("open");
                return self.listed(show, |one| one.head == head && !(only_open && one.merged));
            }
            None => {}
        }
        if let Some(number) =
            line.strip_prefix("POST /repos/acme/docs/issues/").and_then(|rest| rest.strip_suffix("/labels"))
        {
            let number = number.parse().expect("a number");
            self.change(|all| all[place(number)].labels = asked.body["labels"].clone());
            return Answer::json(200, json!([]));
        }
        assert_eq!(line, "POST /repos/acme/docs/pulls");
        let (head, base) = (text(&asked.body, "head"), text(&asked.body, "base"));
        if !BRANCHES.contains(&&*head) {
            return failed(json!({ "resource": "PullRequest", "field": "head", "code": "invalid" }));
        }
        if self.open_from(&head, &base) {
            let message = format!("A pull request already exists for acme:{head}.");
            return failed(json!({ "resource": "PullRequest", "code": "custom", "message": message }));
        }
        let (title, body) = (text(&asked.body, "title"), text(&asked.body, "body"));
        let draft = asked.body["draft"] == true;
        let kept = Kept { title, body, head, base, draft, merged: false, labels: Value::Null, fork: false };
        Answer::json(201, show(self.add(kept.clone()), &kept))
    }

    fn gitlab(&self, asked: &Asked) -> Answer {
        let show = |number: u64, one: &Kept| {
            json!({
                "id": 1000 + number, "iid": number, "title": one.title, "description": one.body,
                "web_url": format!("https://gitlab.com/acme/docs/-/merge_requests/{number}"),
                "state": if one.merged { "merged" } else { "opened" }, "draft": one.title.starts_with("Draft:"),
                "source_branch": one.head, "target_branch": one.base,
                "source_project_id": if one.fork { 8 } else { 7 }, "target_project_id": 7,
            })
        };
        let rest = asked.path.strip_prefix("/api/v4/projects/acme%2Fdocs").expect("the project, as one segment");
        if let Some(branch) = rest.strip_prefix("/repository/branches/") {
            return branch_answer(branch);
        }
        let number = rest.strip_prefix("/merge_requests").expect("merge requests").trim_start_matches('/');
        match asked.method.as_str() {
            "PUT" => self.edited(number, asked, "description", show),
            "GET" => {
                let (head, target) = (asked.value("source_branch").expect("a branch"), asked.value("target_branch"));
                let only_open = asked.value("state").as_deref() == Some("opened");
                let targeted = |one: &Kept| target.as_ref().is_none_or(|target| *target == one.base);
                self.listed(show, |one| one.head == head && targeted(one) && !(only_open && one.merged))
            }
            _ => {
                let (head, base) = (text(&asked.body, "source_branch"), text(&asked.body, "target_branch"));
                if !BRANCHES.contains(&&*head) {
                    return Answer::json(400, json!({ "message": { "source_branch": ["does not exist"] } }));
                }
                if self.open_from(&head, &base) {
                    let message = "Another open merge request already exists for this source branch: !1";
                    return Answer::json(409, json!({ "message": [message] }));
                }
                let (title, body) = (text(&asked.body, "title"), text(&asked.body, "description"));
                let labels = asked.body["labels"].clone();
                let kept = Kept { title, body, head, base, draft: false, merged: false, labels, fork: false };
                Answer::json(201, show(self.add(kept.clone()), &kept))
            }
        }
    }

    fn gitea(&self, asked: &Asked) -> Answer {
        let show = |number: u64, one: &Kept| {
            let repo = if one.fork { 8 } else { 7 };
            let gone = one.merged.then(|| format!("refs/pull/{number}/head"));
            json!({
                "number": number, "html_url": format!("https://codeberg.org/acme/docs/pulls/{number}"),
                "state": if one.merged { "closed" } else { "open" }, "merged": one.merged,
                "title": one.title, "body": one.body,
                "draft": one.title.starts_with("WIP:"),
                "head": { "label": one.head, "ref": gone.as_ref().unwrap_or(&one.head), "repo_id": repo },
                "base": { "label": one.base, "ref": one.base, "repo_id": 7 },
            })
        };
        let rest = asked.path.strip_prefix("/api/v1/repos/acme/docs").expect("the repository");
        if let Some(branch) = rest.strip_prefix("/branches/") {
            return branch_answer(branch);
        }
        match (asked.method.as_str(), rest) {
            ("GET", "") => Answer::json(200, json!({ "full_name": "acme/docs" })),
            ("GET", "/labels") if asked.value("page").as_deref() == Some("1") => {
                Answer::json(200, json!([{ "id": 41, "name": "bug" }, { "id": 42, "name": "docs" }]))
            }
            ("GET", "/labels") => Answer::json(200, json!([])),
            ("GET", "/pulls") => {
                let only_open = asked.value("state").as_deref() == Some("open");
                self.listed(show, |one| !(only_open && one.merged))
            }
            ("POST", "/pulls") => {
                let (head, base) = (text(&asked.body, "head"), text(&asked.body, "base"));
                if !BRANCHES.contains(&&*head) {
                    return Answer::json(404, json!({ "message": "The target couldn't be found.", "errors": null }));
                }
                if self.open_from(&head, &base) {
                    let message = "pull request already exists for these targets [id: 3, issue_id: 1]";
                    return Answer::json(409, json!({ "message": message }));
                }
                let (title, body) = (text(&asked.body, "title"), text(&asked.body, "body"));
                let labels = asked.body["labels"].clone();
                let kept = Kept { title, body, head, base, draft: false, merged: false, labels, fork: false };
                Answer::json(201, show(self.add(kept.clone()), &kept))
            }
            _ => self.edited(rest.strip_prefix("/pulls/").expect("a pull request"), asked, "body", show),
        }
    }
}

fn branch_answer(branch: &str) -> Answer {
    let branch = unescaped(branch);
    match BRANCHES.contains(&&*branch) {
        true => Answer::json(200, json!({ "name": branch })),
        false => Answer::json(404, json!({ "message": "404 Branch Not Found" })),
    }
}

fn place(number: u64) -> usize {
    usize::try_from(number).expect("small") - 1
}

fn text(body: &Value, key: &str) -> String {
    body[key].as_str().unwrap_or_else(|| panic!("`{key}` is a text in {body}")).to_owned()
}
