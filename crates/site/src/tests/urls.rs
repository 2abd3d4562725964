//! Where a browser finds a page: with `.html` on sites that are built as files.

use crate::model::Site;
use crate::sample::{as_docs_root, site};

fn urls(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let site = Site::read(&site(files));
    let urls = |file: &str| Some((file.to_owned(), site.url(file)?));
    site.files().filter_map(urls).collect()
}

/// Asserts the URLs of the pages, given in order of file.
fn assert_urls(files: &[(&str, &str)], expected: &[&str]) {
    let found = urls(files);
    assert_eq!(found.iter().map(|(_, url)| url.as_str()).collect::<Vec<_>>(), expected, "{found:?}");
}

const PAGE: &str = "# Words\n\nWords.\n";

#[test]
fn pages_of_sphinx_are_files_unless_read_the_docs_builds_folders() {
    let conf = ("conf.py", "project = 'x'\nextensions = ['myst_parser']\n");
    let pages = [("a b.md", PAGE), ("guide/index.md", PAGE), ("guide/README.md", PAGE), ("index.md", PAGE)];
    let with = |name: &'static str, text: &'static str| [&[conf, (name, text)], &pages[..]].concat();
    let files: &[&str] = &["a b.html", "guide/README.html", "guide", ""];
    let folders: &[&str] = &["a b", "guide/README", "guide", ""];
    assert_urls(&with("x.txt", ""), files);
    assert_urls(&with(".readthedocs.yaml", "sphinx:\n  builder: html\n  configuration: conf.py\n"), files);
    assert_urls(&with(".readthedocs.yaml", "sphinx:\n  configuration: conf.py\n  builder: 'dirhtml'\n"), folders);
    let host = (".readthedocs.yml", "sphinx:\n  builder: dirhtml\n");
    let tree = as_docs_root("docs", site(&[host, ("docs/conf.py", conf.1), ("docs/a b.md", PAGE)]));
    assert_eq!(Site::read(&tree).url("a b.md").as_deref(), Some("a b"));
}

#[test]
fn pages_of_mkdocs_are_folders_unless_the_site_says_otherwise() {
    let pages = [("docs/a.md", PAGE), ("docs/b/README.md", PAGE), ("docs/index.md", PAGE)];
    let with = |config: &'static str| [&[("mkdocs.yml", config)], &pages[..]].concat();
    assert_urls(&with("site_name: x\n"), &["a", "b", ""]);
    assert_urls(&with("site_name: x\nuse_directory_urls: false\n"), &["a.html", "b", ""]);
}

#[test]
fn pages_of_vitepress_are_files_unless_urls_are_clean_or_computed() {
    let pages = [("README.md", PAGE), ("a.md", PAGE), ("b/index.md", PAGE), ("index.md", PAGE)];
    let with = |config: &'static str| [&[(".vitepress/config.mts", config)], &pages[..]].concat();
    let files: &[&str] = &["README.html", "a.html", "b", ""];
    let clean: &[&str] = &["README", "a", "b", ""];
    assert_urls(&with("export default { title: 'x' }"), files);
    assert_urls(&with("export default { cleanUrls: false }"), files);
    assert_urls(&with("export default { cleanUrls: true }"), clean);
    assert_urls(&with("export default { ...base, title: 'x' }"), clean);
    assert_urls(&with("export default { cleanUrls: isProduction() }"), clean);
}

#[test]
fn pages_of_books_and_docfx_are_files() {
    let summary = "# Summary\n\n- [A](a.md)\n- [B](b/README.md)\n";
    let book = [("book.toml", "[book]\ntitle = 'x'\n"), ("src/SUMMARY.md", summary)];
    assert_urls(&[&book[..], &[("src/a.md", PAGE), ("src/b/README.md", PAGE)]].concat(), &["a.html", "b"]);
    let docfx = ("docfx.json", r#"{"build": {"content": [{"files": ["**/*.md"]}]}}"#);
    assert_urls(&[docfx, ("a.md", PAGE), ("index.md", PAGE)], &["a.html", ""]);
    let honkit = [("book.json", "{}"), ("SUMMARY.md", "- [A](a.md)\n"), ("a.md", PAGE), ("README.md", PAGE)];
    assert_urls(&honkit, &["", "a.html"]);
    let hosted =
        [(".gitbook.yaml", "root: ./\n"), ("SUMMARY.md", "- [A](a.md)\n"), ("a.md", PAGE), ("README.md", PAGE)];
    assert_urls(&hosted, &["", "a"]);
}

#[test]
fn pages_of_other_sites_have_their_addresses() {
    let starlight = |format: &'static str| ("astro.config.mjs", format);
    let pages = [("src/content/docs/a.md", PAGE), ("src/content/docs/index.md", PAGE)];
    let plain = "export default defineConfig({ integrations: [starlight({ title: 'x' })] })";
    let files = "export default defineConfig({ build: { format: 'file' }, integrations: [starlight({ title: 'x' })] })";
    assert_urls(&[&[starlight(plain)], &pages[..]].concat(), &["a", ""]);
    assert_urls(&[&[starlight(files)], &pages[..]].concat(), &["a.html", ""]);
    assert_urls(&[("docs.json", "{}"), ("a.mdx", PAGE)], &["a"]);
    assert_urls(&[("a.md", PAGE)], &["a"]);
    let antora = ("antora.yml", "name: tool\nversion: ~\n");
    let modules = [("modules/ROOT/pages/a.adoc", "= A\n"), ("modules/ROOT/pages/index.adoc", "= B\n")];
    assert_urls(&[&[antora], &modules[..]].concat(), &["tool/a.html", "tool"]);
    let playbook = ("antora-playbook.yml", "urls:\n  html_extension_style: indexify\n");
    assert_urls(&[&[antora, playbook], &modules[..]].concat(), &["tool/a", "tool"]);
}
