#![no_main]
//! Any bytes as a file that an agent writes; the first byte says on which site, the second one which file.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use docent_site::{Layout, active_in_diagram, active_in_svg, code_of};
use libfuzzer_sys::fuzz_target;

/// A file that tells the generator.
const SITES: [(&str, &str); 12] = [
    ("docs.json", "{\"navigation\": [\"a\"]}"),
    ("docusaurus.config.js", "module.exports = {}"),
    (".vitepress/config.ts", "export default {}"),
    ("mkdocs.yml", "site_name: x\nplugins: [macros]\n"),
    ("hugo.toml", "baseURL = '/'\n"),
    ("_config.yml", "title: x\n"),
    ("book.toml", "[book]\n"),
    ("conf.py", "extensions = ['myst_parser']\n"),
    (".gitbook.yaml", "root: ./\n"),
    ("antora.yml", "name: x\nversion: '1'\n"),
    ("docfx.json", "{\"build\": {}}"),
    ("README.md", "# x\n"),
];
const FILES: [&str; 10] =
    ["a.md", "a.mdx", "a.rst", "a.adoc", "a.ipynb", "a.svg", "a.html", "a.puml", "a.drawio", "docs/a.md"];
/// Far more than any file of the size that is tried needs.
const LONGEST: Duration = Duration::from_secs(2);

fuzz_target!(|bytes: &[u8]| {
    let [site, file, bytes @ ..] = bytes else { return };
    let (name, text) = SITES[usize::from(*site) % SITES.len()];
    let file = FILES[usize::from(*file) % FILES.len()];
    let files = BTreeMap::from([(name.to_owned(), text.as_bytes().to_vec()), (file.to_owned(), bytes.to_vec())]);
    let began = Instant::now();
    let layout = Layout::read(&files);
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    let code = match file.rsplit_once('.') {
        Some((_, "svg")) => active_in_svg(bytes),
        Some((_, "puml" | "drawio")) => active_in_diagram(file, bytes),
        _ => code_of(&layout, file, bytes),
    };
    assert!(began.elapsed() < LONGEST, "{} bytes took {:?}", bytes.len(), began.elapsed());
    for code in &code {
        assert!((1..=lines).contains(&code.line), "{code:?} of {lines} lines");
    }
});
