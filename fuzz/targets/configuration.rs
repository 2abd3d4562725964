#![no_main]
//! Any bytes as a file that configures a site; the first byte says which.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use docent_site::{Glob, Layout, NavigationFiles, Site, SiteData, read_file};
use libfuzzer_sys::fuzz_target;

/// The file, and what makes a site of it that reads it.
const KINDS: [(&str, &[(&str, &str)]); 24] = [
    ("docs.json", &[]),
    ("docusaurus.config.js", &[]),
    ("sidebars.js", &[("docusaurus.config.js", "module.exports = {presets: [['classic', {docs: {}}]]}")]),
    (".vitepress/config.ts", &[]),
    ("astro.config.mjs", &[("package.json", "{\"dependencies\": {\"@astrojs/starlight\": \"1\"}}")]),
    ("next.config.mjs", &[("package.json", "{\"dependencies\": {\"nextra\": \"4\"}}")]),
    ("content/_meta.js", &[("next.config.mjs", "import nextra from 'nextra'\nexport default nextra({})({})")]),
    ("source.config.ts", &[("package.json", "{\"dependencies\": {\"fumadocs-ui\": \"1\"}}")]),
    ("mkdocs.yml", &[]),
    ("_config.yml", &[]),
    ("hugo.toml", &[("content/a.md", "# a\n")]),
    ("hugo.yaml", &[("content/a.md", "# a\n")]),
    ("book.toml", &[("src/SUMMARY.md", "- [a](a.md)\n"), ("src/a.md", "# a\n")]),
    ("src/SUMMARY.md", &[("book.toml", "[book]\n"), ("src/a.md", "# a\n")]),
    ("conf.py", &[("a.rst", "a\n=\n")]),
    ("a.rst", &[("conf.py", "project = 'x'\n")]),
    ("antora.yml", &[("modules/ROOT/pages/a.adoc", "= a\n")]),
    ("modules/ROOT/nav.adoc", &[("antora.yml", "name: x\nversion: '1'\nnav: [modules/ROOT/nav.adoc]\n")]),
    ("docfx.json", &[("toc.yml", "- name: a\n  href: docs/a.md\n")]),
    ("toc.yml", &[("docfx.json", "{\"build\": {\"content\": [{\"files\": [\"**\"]}]}}")]),
    (".gitbook.yaml", &[("SUMMARY.md", "* [a](docs/a.md)\n")]),
    (".mintignore", &[("docs.json", "{\"navigation\": [\"docs/a\"]}")]),
    ("_redirects", &[("docs.json", "{\"navigation\": [\"docs/a\"]}")]),
    ("openapi.json", &[("docs.json", "{\"navigation\": {\"openapi\": \"openapi.json\"}}")]),
];
/// Far more than any file of the size that is tried needs.
const LONGEST: Duration = Duration::from_secs(2);

fuzz_target!(|bytes: &[u8]| {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let (file, more) = KINDS[usize::from(*which) % KINDS.len()];
    let mut files: BTreeMap<String, Vec<u8>> =
        more.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    files.insert("docs/a.md".to_owned(), b"---\ntitle: a\n---\n\n[b](b.md)\n".to_vec());
    files.insert(file.to_owned(), bytes.to_vec());
    let began = Instant::now();
    let (layout, site) = (Layout::read(&files), Site::read(&files));
    read_file(&layout, file, bytes, &files);
    read_file(&layout, "docs/a.md", &files["docs/a.md"], &files);
    NavigationFiles::of(&files, &site).add("docs/b.md", "b");
    if let Some(data) = SiteData::of(file) {
        data.more_than_navigation(None, bytes);
        data.more_than_navigation(Some(b""), bytes);
    }
    if let Some(glob) = std::str::from_utf8(bytes).ok().and_then(|text| Glob::new(text).ok()) {
        glob.is_match("docs/a.md");
    }
    assert!(began.elapsed() < LONGEST, "{} bytes took {:?}", bytes.len(), began.elapsed());
});
