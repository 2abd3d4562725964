//! The API's URL is derived from git's URL.

use proptest::prelude::*;

use crate::Address;
use crate::Host::{self, Gitea, Github, Gitlab};

#[test]
fn an_address_says_where_the_api_is_and_what_the_repository_is_called() {
    for (host, repository, base, api, name) in [
        (Github, "https://github.com/acme/docs", None, "https://api.github.com", "acme/docs"),
        (Github, "https://github.com/acme/docs.git/", None, "https://api.github.com", "acme/docs"),
        (Github, "https://me:pw@GitHub.com/acme/docs.js.git", None, "https://api.github.com", "acme/docs.js"),
        (Github, "git@github.com:acme/docs.git", None, "https://api.github.com", "acme/docs"),
        (Github, "github.com:/acme/docs", None, "https://api.github.com", "acme/docs"),
        (Github, "ssh://git@ssh.github.com:443/acme/docs.git", None, "https://api.github.com", "acme/docs"),
        (Github, "https://ghe.example.com:8443/acme/docs", None, "https://ghe.example.com:8443/api/v3", "acme/docs"),
        (Github, "ssh://git@ghe.example.com:2222/acme/docs", None, "https://ghe.example.com/api/v3", "acme/docs"),
        (Github, "https://acme.ghe.com/acme/docs", None, "https://api.acme.ghe.com", "acme/docs"),
        (Github, "https://github.com/acme/docs", Some("http://127.0.0.1:4001/"), "http://127.0.0.1:4001", "acme/docs"),
        (Github, "http://127.0.0.1:90/acme/docs", Some("http://127.0.0.1:91/x"), "http://127.0.0.1:91/x", "acme/docs"),
        (Gitlab, "https://gitlab.com/a/b/c/docs.git", None, "https://gitlab.com/api/v4", "a/b/c/docs"),
        (Gitlab, "git@altssh.gitlab.com:a/docs.git", None, "https://gitlab.com/api/v4", "a/docs"),
        (Gitlab, "http://gitlab:8080/a/docs", None, "http://gitlab:8080/api/v4", "a/docs"),
        (
            Gitlab,
            "git@gl.example.com:a/b/docs",
            Some("https://gl.example.com"),
            "https://gl.example.com/api/v4",
            "a/b/docs",
        ),
        (Gitlab, "https://x.example/a/b", Some("https://y.example/api/v4/"), "https://y.example/api/v4", "a/b"),
        (
            Gitlab,
            "https://example.com/gitlab/a/docs",
            Some("https://example.com/gitlab/"),
            "https://example.com/gitlab/api/v4",
            "a/docs",
        ),
        (Gitea, "https://codeberg.org/acme/docs", None, "https://codeberg.org/api/v1", "acme/docs"),
        (Gitea, "http://[::1]:3000/acme/docs.git", None, "http://[::1]:3000/api/v1", "acme/docs"),
        (Gitea, "https://example.com/git/acme/docs", None, "https://example.com/git/api/v1", "acme/docs"),
        (
            Gitea,
            "git@example.com:acme/docs",
            Some("https://example.com/git"),
            "https://example.com/git/api/v1",
            "acme/docs",
        ),
    ] {
        let address = Address::parse(host, repository, base).unwrap_or_else(|error| panic!("{repository}: {error}"));
        assert_eq!((address.api.as_str(), address.to_string().as_str()), (api, name), "{repository} {base:?}");
    }
}

#[test]
fn a_token_goes_to_the_servers_of_its_repository() {
    for (repository, base, receivers) in [
        ("https://github.com/acme/docs", None, &["https://github.com"][..]),
        ("git@github.com:acme/docs.git", None, &["https://github.com"]),
        ("ssh://git@ssh.github.com:443/acme/docs.git", None, &["https://github.com"]),
        ("https://GIT.example.com:443/acme/a b", None, &["https://git.example.com"]),
        ("http://git:3000/acme/docs", None, &["http://git:3000"]),
        (
            "https://git.example.com/acme/docs",
            Some("https://api.example.com/v3"),
            &["https://api.example.com", "https://git.example.com"],
        ),
        ("https://x.example/a/b", Some("https://X.example:443/api"), &["https://x.example"]),
        ("/srv/docs.git", None, &[]),
        ("file:///srv/docs.git", None, &[]),
    ] {
        let found: Vec<String> = crate::token_receivers(repository, base).into_iter().collect();
        assert_eq!(found, receivers, "{repository} {base:?}");
    }
}

#[test]
fn malformed_addresses_are_refused_with_an_example() {
    for (host, repository) in [
        (Github, ""),
        (Github, "/srv/docs.git"),
        (Github, "file:///srv/acme/docs.git"),
        (Github, "acme/docs"),
        (Github, "https://github.com/acme"),
        (Github, "https://github.com/.git"),
        (Github, "https://github.com/acme/docs/tree/main"),
        (Github, "https://github.com/acme/.."),
        (Github, "https://github.com/acme/docs?x=1"),
        (Github, "https:///acme/docs"),
        (Github, "https://git hub.com/acme/docs"),
        (Github, "ftp://github.com/acme/docs"),
        (Gitlab, "https://gitlab.com/docs"),
        (Gitlab, "git@gitlab.com:docs"),
        (Gitea, "git@example.com:git/acme/docs"),
        (Gitea, "https://example.com/docs"),
    ] {
        let error = Address::parse(host, repository, None).expect_err(repository).to_string();
        assert!(error.contains("give it as https://HOST/"), "{error}");
    }
    let leaky = Address::parse(Github, "https://me:s3cret@github.com/docs", None).expect_err("no owner").to_string();
    assert!(leaky.starts_with("`https://github.com/docs` is not an address of a repository on GitHub"), "{leaky}");
    for base in ["", "github.example.com", "ftp://x/", "https://me:s3cret@x/", "https://x/?a=b", "https://x/#a"] {
        let error = Address::parse(Github, "https://github.com/acme/docs", Some(base)).expect_err(base).to_string();
        assert!(error.contains("not a base URL of a forge") && !error.contains("s3cret"), "{error}");
    }
}

fn hosts() -> impl Strategy<Value = Host> {
    prop_oneof![Just(Github), Just(Gitlab), Just(Gitea)]
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(host in hosts(), text in "\\PC{0,60}", base in proptest::option::of("\\PC{0,40}")) {
        let _ = Address::parse(host, &text, base.as_deref());
    }

    #[test]
    fn whatever_is_read_has_an_api_and_a_name(
        host in hosts(),
        text in "(https?://|ssh://|)([a-z]{0,3}@)?[a-zA-Z.\\[\\]:0-9]{0,8}[:/][a-zA-Z0-9/._%?#-]{0,30}",
        base in proptest::option::of("https?://[a-z.:0-9@]{1,8}/[a-z0-9/?#]{0,8}"),
    ) {
        if let Ok(address) = Address::parse(host, &text, base.as_deref()) {
            let uri: http::Uri = format!("{}/repos/x", address.api).parse().expect("an address");
            prop_assert!(uri.host().is_some_and(|host| !host.is_empty()) && !address.api.ends_with('/'));
            prop_assert!(uri.query().is_none() && !address.api.contains('@'));
            let name = address.to_string();
            prop_assert!(name.split('/').all(|part| !part.is_empty() && part != "." && part != ".."));
            prop_assert!(host == Gitlab || name.split('/').count() == 2);
        }
    }

    #[test]
    fn every_way_to_write_an_address_means_the_same(owner in "[a-z][a-z0-9-]{0,8}", name in "[a-z][a-z0-9_-]{0,8}") {
        for host in [Github, Gitlab, Gitea] {
            let read = |text: String| Address::parse(host, &text, None).expect("an address");
            let first = read(format!("https://git.example.com/{owner}/{name}"));
            for other in [
                format!("https://git.example.com/{owner}/{name}.git"),
                format!("https://token@git.example.com/{owner}/{name}/"),
                format!("git@git.example.com:{owner}/{name}.git"),
                format!("ssh://git@git.example.com:22/{owner}/{name}.git"),
            ] {
                prop_assert_eq!(&read(other), &first);
            }
        }
    }
}
