//! Pages as Markdown, `llms.txt` and `llms-full.txt`: the docs for programs, as files.

use std::collections::BTreeSet;

use docent_tests::site::PAGES;
use docent_tests::{Request, Response, Site};

const SETTINGS: &str = ".docent/assistant.md";

/// The usual pages, with these settings of the site, and these pages besides, which no navigation names.
pub(crate) fn site_with(settings: &str, more: &[(&str, &str)]) -> Site {
    let shown = PAGES[0].1.replace("\"name\": \"Acme\",", "\"name\": \"Acme\", \"seo\": {\"indexing\": \"all\"},");
    let mut pages = vec![(PAGES[0].0, shown.as_str()), (SETTINGS, settings)];
    pages.extend_from_slice(&PAGES[1..]);
    pages.extend_from_slice(more);
    Site::with_pages(&pages)
}

fn public(more: &[(&str, &str)]) -> Site {
    site_with("---\npublic: true\n---\n", more)
}

fn get(site: &Site, path: &str) -> Response {
    site.server.send(&Request::get(path))
}

fn text(site: &Site, path: &str) -> String {
    let response = get(site, path);
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.text().to_owned()
}

#[test]
fn a_page_is_markdown_under_its_address_with_and_without_an_ending() {
    let site = public(&[
        ("snippets/note.mdx", "Notes come from a snippet.\n"),
        (
            "guides/made.mdx",
            "---\ntitle: Made of parts\n---\nimport Note from '/snippets/note.mdx'\n\n<Note />\n\nSee \
             [hooks](./webhooks#retries) and [errors](/reference/errors).\n\n{1 + 1}\n",
        ),
        ("guides/größe (v2).mdx", "---\ntitle: Size\n---\n\nHow large.\n"),
    ]);
    let made = get(&site, "/sites/acme/guides/made.md");
    assert_eq!(made.status, 200, "{}", made.text());
    assert_eq!(made.header("Content-Type"), Some("text/markdown; charset=utf-8"));
    assert_eq!(
        made.text(),
        "> All pages of this documentation: [llms.txt](/sites/acme/llms.txt)\n\n# Made of parts\n\nNotes come from a snippet.\n\nSee [hooks](/guides/webhooks#retries) and [errors](/reference/errors).\n"
    );
    for path in ["/sites/acme/guides/made", "/sites/acme/guides/made/", "/sites/acme/guides/made.mdx"] {
        assert_eq!(text(&site, path), made.text(), "{path}");
    }
    let asked = Request::get("/sites/acme/guides/made").header("Accept", "text/markdown");
    assert_eq!(site.server.send(&asked).text(), made.text());
    assert!(text(&site, "/sites/acme/guides/gr%C3%B6%C3%9Fe%20%28v2%29.md").contains("\n\n# Size"));
    for front in ["/sites/acme", "/sites/acme/", "/sites/acme/index.md"] {
        assert!(text(&site, front).contains("\n\n# Welcome to Acme\n"), "{front}");
    }
    let head = site.server.send(&Request::new("HEAD", "/sites/acme/guides/made.md"));
    assert_eq!((head.status, head.text()), (200, ""));
    let posted = site.server.send(&Request::post("/sites/acme/guides/made.md"));
    assert_eq!((posted.status, posted.header("Allow")), (405, Some("GET, HEAD, OPTIONS")));
}

#[test]
fn a_client_that_has_the_file_is_told_so_until_the_docs_change() {
    let site = public(&[]);
    for path in ["/sites/acme", "/sites/acme/guides/webhooks.md", "/sites/acme/llms.txt", "/sites/acme/llms-full.txt"] {
        let first = get(&site, path);
        assert_eq!(first.header("Cache-Control"), Some("public, no-cache"), "{path}");
        let tag = first.header("ETag").unwrap_or_else(|| panic!("{path} has a tag")).to_owned();
        let again = site.server.send(&Request::get(path).header("If-None-Match", &tag));
        assert_eq!((again.status, again.text()), (304, ""), "{path}");
        let other = site.server.send(&Request::get(path).header("If-None-Match", "\"0\""));
        assert_eq!(other.status, 200, "{path}");
    }
}

#[test]
fn a_page_that_does_not_exist_names_the_nearest() {
    let site = public(&[]);
    let missed = get(&site, "/sites/acme/guides/webhook.md");
    assert_eq!(missed.status, 404);
    let error = missed.error();
    assert!(error.contains("`guides/webhook.md`") && error.contains("/sites/acme/guides/webhooks.md"), "{error}");
    assert_eq!(error.matches("/sites/acme/").count(), 3, "{error}");
    assert_eq!(get(&site, "/sites/acme/guides/llms-9.txt").status, 404);
    assert_eq!(get(&site, "/sites/acme/docs.json").status, 404, "a file that is no page");
}

#[test]
fn the_owner_decides_whether_a_key_is_needed() {
    let closed = Site::start();
    let paths = ["/sites/acme/guides/webhooks.md", "/sites/acme/llms.txt", "/sites/acme/llms-full.txt"];
    for path in paths {
        let refused = get(&closed, path);
        assert_eq!((refused.status, refused.header("WWW-Authenticate")), (401, Some("Bearer")), "{path}");
        assert_eq!(get(&closed, &path.replace("acme", "nobody")).error(), refused.error(), "what exists is not told");
        let admin = closed.server.send(&Request::get(path).bearer(&closed.admin_key));
        assert_eq!(admin.status, 403, "{path}");
        let read = closed.server.send(&Request::get(path).bearer(&closed.assistant_key));
        assert_eq!((read.status, read.header("Cache-Control")), (200, Some("private, no-cache")), "{path}");
        assert_eq!(read.header("Access-Control-Allow-Origin"), Some("*"), "{path}");
    }
    let open = public(&[("guides/inner.mdx", "---\ntitle: Inner\ngroups: [staff]\n---\n\nFor staff.\n")]);
    for path in paths {
        assert_eq!(get(&open, path).status, 200, "{path}");
        let wrong = Request::get(path).bearer(&format!("docent_assistant_{}", "A".repeat(38)));
        assert_eq!(open.server.send(&wrong).status, 401, "a key that is sent must be right: {path}");
    }
    assert_eq!(get(&open, "/sites/acme/guides/inner.md").status, 404, "a page for a group is not for everybody");
    assert!(!text(&open, "/sites/acme/llms.txt").contains("inner"));
    assert!(!text(&open, "/sites/acme/llms-full.txt").contains("For staff"));
    let member = open.server.send(&Request::get("/sites/acme/guides/inner.md").bearer(&open.assistant_key));
    assert_eq!(member.status, 200);
}

/// The links of a list, resolved as a browser resolves them.
fn links(file: &str, text: &str) -> Vec<String> {
    let folder = &file[..=file.rfind('/').expect("a path")];
    let targets = text.lines().filter_map(|line| line.split_once("](")?.1.split(')').next());
    targets.map(|target| format!("{folder}{}", target.trim_start_matches("./"))).collect()
}

#[test]
fn every_link_of_the_list_answers_and_every_page_is_listed() {
    let long = "A long description of this page. ".repeat(8);
    let many: Vec<(String, String)> = (0..400)
        .map(|n| {
            let page = format!("---\ntitle: \"Page {n}: [odd]\"\ndescription: {long}\n---\n\nBody {n}.\n");
            (format!("many/f{}/page {n}.md", n % 4), page)
        })
        .collect();
    let mut files = vec![("index.md", "# Home\n"), (SETTINGS, "---\npublic: true\n---\n")];
    files.extend(many.iter().map(|(path, page)| (path.as_str(), page.as_str())));
    let site = Site::with_pages(&files);
    let (mut todo, mut seen, mut pages) = (vec!["/sites/acme/llms.txt".to_owned()], BTreeSet::new(), 0);
    while let Some(path) = todo.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let found = text(&site, &path);
        if path.ends_with(".md") {
            pages += 1;
        } else {
            assert!(found.chars().count() <= 50_000, "{path}: {}", found.chars().count());
            todo.extend(links(&path, &found));
        }
    }
    assert_eq!(pages, 401);
    assert!(seen.len() > 402, "the list has files below it: {}", seen.len());
}

#[test]
fn all_pages_in_one_file_come_in_the_order_of_the_navigation() {
    let site = public(&[]);
    let full = text(&site, "/sites/acme/llms-full.txt");
    let sources: Vec<&str> = full.lines().filter_map(|line| line.strip_prefix("Source: ")).collect();
    assert_eq!(
        sources,
        [
            "/", "/quickstart", "/guides/webhooks", "/guides/rate-limits", "/guides/cafe", "/reference/errors",
            "/reference/cli"
        ]
    );
    assert!(full.contains("retried five times") && full.contains("| `E1001` |"), "{full}");
}

#[test]
fn a_site_with_an_address_is_told_by_it() {
    let site = site_with("---\npublic: true\naddress: https://acme.test/docs\n---\n", &[]);
    let page = get(&site, "/sites/acme/guides/rate-limits.md");
    assert_eq!(page.header("Link"), Some("<https://acme.test/docs/guides/rate-limits>; rel=\"canonical\""));
    assert!(page.text().contains("[errors](https://acme.test/docs/reference/errors)"), "{}", page.text());
    assert!(text(&site, "/sites/acme/llms-full.txt").contains("Source: https://acme.test/docs/guides/rate-limits\n"));
    assert!(
        page.text().starts_with("> All pages of this documentation: [llms.txt](https://acme.test/docs/llms.txt)\n")
    );
    let list = text(&site, "/sites/acme/llms.txt");
    assert!(list.contains("](https://acme.test/docs/guides/rate-limits.md)") && !list.contains("relative"), "{list}");
}
