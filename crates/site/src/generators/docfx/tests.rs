use crate::LinkSyntax;
use proptest::prelude::*;

use super::*;
use crate::ShownPages;
use crate::model::{Site, Target};
use crate::sample::{as_docs_root, assert_link_leads, asset, built_site, missing, page, site};

#[test]
fn pages_are_what_the_globs_name_and_where_they_say() {
    let site = Site::read(&built_site("docfx"));
    assert_eq!(site.generator(), Generator::Docfx);
    let served: Vec<_> = site.served().into_iter().collect();
    assert_eq!(
        served,
        [
            ("", "index.md"),
            ("articles", "articles/index.md"),
            ("articles/Deep/v1.2", "articles/Deep/v1.2.md"),
            ("articles/other", "articles/renamed.md"),
            ("articles/start", "articles/start.md"),
            ("extra/a page", "more/a page.md"),
        ]
    );
}

#[test]
fn links_name_files_and_others_are_read_by_the_browser() {
    let site = Site::read(&built_site("docfx"));
    let (index, start) = ("index.md", "articles/start.md");
    for (from, target, expected) in [
        (index, "articles/start.md", page(start)),
        (index, "~/articles/start.md", page(start)),
        // Paths are compared without regard to case, as on Windows, where most of these sites are built.
        (index, "articles/Start.md", page(start)),
        (index, "articles/start.html", page(start)),
        (index, "articles/", page("articles/index.md")),
        (index, "articles/renamed.md", page("articles/renamed.md")),
        (index, "articles/other.html", page("articles/renamed.md")),
        (index, "more/a%20page.md", page("more/a page.md")),
        (index, "extra/a%20page.html", page("more/a page.md")),
        (index, "/handbook/articles/start.html", page(start)),
        (index, "/handbooks/articles/start.html", Target::NotUnderstood),
        (index, "/elsewhere/", Target::NotUnderstood),
        (index, "gone.md", missing("gone.md")),
        (index, "~/articles/gone.md", missing("articles/gone.md")),
        (index, "media/a.png", asset("media/a.png")),
        // The file is in the repository and no page, so it may be an include.
        (index, "README.md", asset("README.md")),
        (index, "toc.yml", asset("toc.yml")),
        // Pages that docfx generates.
        (index, "api/Some.Type.yml", Target::NotUnderstood),
        (index, "api/Some.Type.html", Target::NotUnderstood),
        (index, "api/some.md", Target::NotUnderstood),
        (index, "xref:start", Target::External),
        (index, "@start", Target::NotUnderstood),
        (index, "#tab/linux", Target::NotUnderstood),
        (start, "../index.md", page(index)),
        (start, "..\\index.md", page(index)),
        (start, "../", page(index)),
        (start, "./", page("articles/index.md")),
        (start, "includes/shared.md", asset("articles/includes/shared.md")),
        (start, "../src/Program.cs", asset("src/Program.cs")),
        ("articles/includes/shared.md", "../start.md", page(start)),
        ("articles/includes/shared.md", "gone.md", Target::NotUnderstood),
        ("more/a page.md", "../index.md", page(index)),
        ("more/a page.md", "../index.html", page(index)),
        (index, "../x.md", Target::NotUnderstood),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

#[test]
fn headings_have_the_ids_of_markdig() {
    let mut files = built_site("docfx");
    let site = Site::read(&files);
    let anchors = |file: &str| -> Vec<String> {
        site.parse(file, &files[file]).headings.into_iter().map(|heading| heading.anchor).collect()
    };
    assert_eq!(
        anchors("articles/start.md"),
        [
            "getting-started",
            "again",
            "again-1",
            "with-an-id-custom",
            "whats-new-in-v12-and_more",
            "a----b--c",
            "by-hand",
            // The text of the heading before was counted, although the id of its element then replaced its anchor.
            "by-hand-1",
            "-快速-",
            "section",
        ]
    );
    assert_eq!(anchors("index.md"), ["handbook", "", ""], "titles of tabs are none");
    let page = site.parse("articles/start.md", &files["articles/start.md"]);
    let has_anchor = |anchor| ShownPages::default().has_anchor(&site, &files, &page, anchor);
    assert_eq!(
        (has_anchor("shared-part"), has_anchor("no-part")),
        (Some(true), Some(false)),
        "it includes another file"
    );
    // That another thing is odd about the page, such as its bytes, says nothing about its anchors.
    files.insert("articles/start.md".to_owned(), [&files["articles/start.md"][..], b"\xff\n"].concat());
    let has_anchor = |anchor| ShownPages::default().has_anchor(&site, &files, &page, anchor);
    assert_eq!(has_anchor("no-part"), Some(false));
}

#[test]
fn configurations_are_written_in_many_ways() {
    let served = |config: &str| -> Vec<String> {
        let tree = site(&[
            ("docs/docfx.json", config),
            ("docs/a.md", ""),
            ("docs/b/c.md", ""),
            ("docs/b/toc.md", ""),
            ("docs/b/d.markdown", ""),
            ("guide/e.md", ""),
            ("README.md", ""),
        ]);
        let [whole, part] = [Site::read(&tree), Site::read(&as_docs_root("docs", tree))];
        let served = |site: &Site| site.served().into_keys().map(str::to_owned).collect::<Vec<_>>();
        let inside: Vec<String> = served(&whole).into_iter().filter(|address| !address.starts_with("guide")).collect();
        assert_eq!(served(&part), inside, "{config}");
        served(&whole)
    };
    for (content, expected) in [
        (r#""**/*.md""#, vec!["a", "b/c"]),
        (r#"["*.md", "B/*.MD"]"#, vec!["a", "b/c"]),
        (r#"{"files": "**", "exclude": "b/**"}"#, vec!["a"]),
        (r#"{"files": ["**.{md,yml}"], "dest": "x"}"#, vec!["x/a", "x/b/c"]),
        (r#"[{"files": "*.md"}, {"files": "**/*.md", "src": "../guide", "dest": "guide"}]"#, vec!["a", "guide/e"]),
        (r#"[{"files": "*.md", "cwd": "b", "dest": "."}, {"files": "a.md"}]"#, vec!["a", "c"]),
    ] {
        assert_eq!(served(&format!("{{\"build\": {{\"content\": {content}}}}}")), expected, "{content}");
    }
    let attributes =
        r#"{"build": {"content": "*.md", "markdownEngineProperties": {"markdigExtensions": ["Attributes"]}}}"#;
    let site = Site::read(&site(&[("docfx.json", attributes), ("a.md", "")]));
    assert!(!site.layout().knows_anchors());
}

proptest! {
    #[test]
    fn a_link_that_is_written_leads_to_its_page(
        from in 0..7_usize,
        to in 0..9_usize,
        like in prop::sample::select(vec![
            "", "x.md", "./x.md#y", "../x/", "x.html", "/handbook/x.html", "/x.md", "~/x.md", "x?q=1", "xref:start",
        ]),
        above in any::<bool>(),
    ) {
        let files = [
            "index.md", "articles/index.md", "articles/start.md", "articles/Deep/v1.2.md", "articles/renamed.md",
            "more/a page.md", "articles/includes/shared.md", "media/a.png", "src/Program.cs",
        ];
        let tree = built_site("docfx");
        let site = match above {
            // The site is in a folder of the repository.
            true => Site::read(&tree.into_iter().map(|(path, bytes)| (format!("docs/{path}"), bytes)).collect::<crate::sample::Files>()),
            false => Site::read(&tree),
        };
        let name = |file: &str| if above { format!("docs/{file}") } else { file.to_owned() };
        let (from, to) = (name(files[from]), name(files[to]));
        assert_link_leads(&site, &from, &to, like, LinkSyntax::Markdown);
    }
}
