//! Addresses of pages whose names have blanks, parentheses, signs of URLs or letters beyond ASCII: written encoded
//! everywhere, and read again as they were written.

use docent_tests::Site;
use docent_tests::assistant::question_body;
use serde_json::{Value, json};

/// Files, the page's address, and a question that only this page answers.
const PAGES: &[(&str, &str, &str, &str)] = &[
    ("setup/first steps (linux).md", "/setup/first%20steps%20%28linux%29", "sprocket", "The sprocket turns left."),
    ("c#.md", "/c%23", "gasket", "The gasket is green."),
    ("why?.md", "/why%3F", "flange", "The flange is brass."),
    ("50%.md", "/50%25", "rotor", "The rotor has six blades."),
    ("x%2Fy.md", "/x%252Fy", "stator", "The stator is copper."),
    ("größe/maß.md", "/gr%C3%B6%C3%9Fe/ma%C3%9F", "bolzen", "Der Bolzen misst drei Zoll."),
    ("r&d.md", "/r&d", "piston", "The piston is steel."),
];

fn site() -> Site {
    let page = |(file, _, word, text): &(&str, &str, &str, &str)| {
        ((*file).to_owned(), format!("# About the {word}\n\n{text}\n"))
    };
    Site::with_pages(&PAGES.iter().map(page).collect::<Vec<_>>())
}

fn is_written_in_ascii(address: &str) -> bool {
    address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'*+,;=%".contains(&byte))
}

fn page(address: &str) -> &str {
    address.split('#').next().unwrap_or_default()
}

#[test]
fn an_address_is_encoded_once_wherever_it_is_written() {
    let site = site();
    for (file, address, word, _) in PAGES {
        let found = site.assistant().search(&json!({ "query": word })).json();
        let (href, path) = (found[0]["metadata"]["href"].as_str(), found[0]["path"].as_str());
        assert_eq!(href.map(page), Some(*address), "{file}: {found}");
        assert_eq!(path, Some(&address[1..]), "{file}");
        assert!(href.is_some_and(is_written_in_ascii), "{href:?}");
        for given in
            [href.unwrap_or_default(), path.unwrap_or_default(), &format!("{address}?x=1#y"), &format!("{address}.md")]
        {
            let page = site.assistant().page(&json!({ "path": given }));
            assert_eq!((page.status, &page.json()["path"]), (200, &json!(&address[1..])), "{given}");
        }
        let answer = site.assistant().ask(&format!("What about the {word}?"));
        let source = answer.sources()[0];
        assert_eq!((page(source), is_written_in_ascii(source)), (*address, true), "{file}");
        assert!(answer.text().contains(&format!("]({address}")), "{}", answer.text());
    }
    for unencoded in ["setup/first steps (linux)", "50%", "größe/maß.md", "r&d"] {
        assert_eq!(site.assistant().page(&json!({ "path": unencoded })).status, 200, "{unencoded}");
    }
}

#[test]
fn the_page_a_reader_is_on_is_counted_decoded() {
    let site = site();
    let status = |path: String| {
        let question = question_body("What about the rotor?", &json!({ "currentPath": path }));
        site.assistant().send(&question).status
    };
    assert_eq!(status(format!("/{}", "%C3%A4".repeat(199))), 200);
    assert_eq!(status(format!("/{}", "%C3%A4".repeat(200))), 400);
    assert_eq!(status("ä".repeat(200)), 200);
}

#[test]
fn version_1_writes_the_same_addresses() {
    let site = site();
    let body = question_body("What about the sprocket?", &json!({}));
    let request = docent_tests::Request::post("/discovery/v1/assistant/acme/message").bearer(&site.assistant_key);
    let text = site.server.send(&request.json(&body)).text().to_owned();
    let source = text.lines().find_map(|line| line.strip_prefix("h:")).expect("a source");
    let source: Value = serde_json::from_str(source).expect("JSON");
    assert_eq!(source["url"].as_str().map(page), Some(PAGES[0].1));
}
