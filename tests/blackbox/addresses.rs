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

/// A page of a site that is built as files is not found without its ending where it is served, so readers are sent to it
/// with that; and they may name it so.
#[test]
fn pages_that_are_files_are_linked_with_their_ending() {
    let files = [
        ("conf.py", "project = 'Acme'\nextensions = ['myst_parser']\n"),
        ("index.md", "# Acme\n\nSee [Quick start](quickstart.md).\n"),
        (
            "quickstart.md",
            "# Quick start\n\n## The sprocket\n\nThe sprocket turns left. See [Gears](gears/index.md).\n",
        ),
        ("gears/index.md", "# Gears\n\nA gear turns the [sprocket](../quickstart.md#the-sprocket).\n"),
    ];
    let files: Vec<_> = files.map(|(file, text)| (file.to_owned(), text.to_owned())).into();
    let site = Site::with_pages(&files);
    let found = site.assistant().search(&json!({ "query": "which way does the sprocket turn" })).json();
    assert_eq!(found[0]["metadata"]["href"], "/quickstart.html#the-sprocket", "{found}");
    assert_eq!(found[0]["path"], "quickstart");
    for given in ["quickstart", "/quickstart.html", "/quickstart.html#the-sprocket", "quickstart.md"] {
        assert_eq!(site.assistant().page(&json!({ "path": given })).json()["path"], "quickstart", "{given}");
    }
    for given in ["gears", "/gears/", "gears/index.html"] {
        assert_eq!(site.assistant().page(&json!({ "path": given })).json()["path"], "gears", "{given}");
    }
    let answer = site.assistant().ask("Which way does the sprocket turn?");
    assert_eq!(answer.sources()[0], "/quickstart.html#the-sprocket");
    assert!(answer.text().contains("](/quickstart.html#the-sprocket)"), "{}", answer.text());
    let gears = site.assistant().ask("How does a gear turn?");
    assert!(gears.text().contains("](/quickstart.html#the-sprocket)"), "{}", gears.text());
}
