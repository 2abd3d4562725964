//! Operators on the command line: links are printed once, passwords and tokens never.

use std::fs;

use docent_tests::{Installation, Request, Server};
use serde_json::json;

/// The secret part of a link.
fn token(link: &str) -> String {
    let (_, token) = link.trim().rsplit_once("/dashboard/-/join/").unwrap_or_else(|| panic!("{link}"));
    assert_eq!(token.len(), 64, "{link}");
    assert!(token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{link}");
    token.to_owned()
}

#[test]
fn a_link_is_printed_alone_and_stored_as_a_hash() {
    let installation = Installation::with_data();
    assert_eq!(installation.must(&["operator", "list", "--json"]).json(), json!([]));
    let first = installation.must(&["operator", "link"]);
    assert!(first.stdout.starts_with("http://127.0.0.1:8080/dashboard/-/join/"), "{}", first.stdout);
    assert!(first.stderr.contains("No server is running"), "{}", first.stderr);
    assert!(first.stderr.contains("role owner") && !first.stderr.contains(&token(&first.stdout)), "{}", first.stderr);
    let second = installation.must(&["operator", "link", "--name", " Ann ", "--role", "viewer", "--json"]).json();
    assert_eq!((&second["name"], &second["role"]), (&json!("Ann"), &json!("viewer")), "{second:#}");
    assert!(second["expiresAt"].is_string(), "{second:#}");
    let tokens = [token(&first.stdout), token(second["link"].as_str().expect("a link"))];
    assert_ne!(tokens[0], tokens[1]);
    for file in fs::read_dir(installation.data()).expect("the data folder") {
        let path = file.expect("an entry").path();
        let bytes = if path.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
        let holds = |token: &String| bytes.windows(token.len()).any(|window| window == token.as_bytes());
        assert!(!tokens.iter().any(holds), "{} holds a token", path.display());
    }
}

#[test]
fn malformed_operators_are_refused_with_a_sentence() {
    let installation = Installation::with_data();
    for (args, code, sentence) in [
        (&["operator", "reset", "Ann"][..], 1, "there is no operator `Ann`; see `docent operator list`"),
        (&["operator", "reset", " "], 2, "NAME: a name has 1 to 100 characters"),
        (&["operator", "link", "--name", "a\u{7}b"], 2, "--name: a name has 1 to 100 characters"),
        (&["operator", "link", "--role", "admin"], 2, "viewer, editor, owner"),
    ] {
        let refused = installation.run(args);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(code), ""), "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(sentence), "{args:?}: {}", refused.stderr);
    }
}

#[test]
fn a_server_nobody_can_sign_in_to_says_how_to_change_that_and_no_secret() {
    let installation = Installation::new();
    let server: Server = installation.serve();
    let log = docent_tests::eventually("the hint in the log", || {
        let log = fs::read_to_string(installation.root().join("server.log")).ok()?;
        log.contains("docent operator link").then_some(log)
    });
    assert!(!log.contains("/dashboard/-/join/"), "{log}");
    let link = installation.must(&["operator", "link"]).stdout;
    token(&link);
    drop(server);
}

#[test]
fn a_link_leads_to_the_server_that_runs_on_the_data_folder() {
    let installation = Installation::new();
    let server = installation.serve();
    let made = installation.must(&["operator", "link"]);
    let path = made.stdout.trim().strip_prefix(&server.url()).unwrap_or_else(|| panic!("{made:?}"));
    assert!(!made.stderr.contains("No server is running"), "{}", made.stderr);
    assert_eq!(server.send(&Request::get(path)).status, 200);
    // The URL at which people reach the server is known to the server alone.
    let link = |env: &[(&str, &str)]| {
        let mut command = installation.command(["operator", "link", "--data"]);
        let made = command.arg(installation.data()).envs(env.iter().copied()).output().expect("runs");
        (
            made.status.success(),
            String::from_utf8_lossy(&made.stdout).into_owned(),
            String::from_utf8_lossy(&made.stderr).into_owned(),
        )
    };
    server.kill();
    let other = installation.serve_with(&[("DOCENT_PUBLIC_URL", "https://docs.example.com")]);
    assert!(link(&[]).1.starts_with("https://docs.example.com/dashboard/-/join/"));
    assert!(link(&[("DOCENT_PUBLIC_URL", "https://other.example.com")]).1.starts_with("https://other.example.com/"));
    other.kill();
    // What a killed server has left is not believed.
    assert!(link(&[]).1.starts_with("http://127.0.0.1:8080/"));
    let (made, _, said) = link(&[("DOCENT_LISTEN", "127.0.0.1:0")]);
    assert!(!made && said.contains("start it first"), "{said}");
}
