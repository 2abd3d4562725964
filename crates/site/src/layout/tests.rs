use proptest::prelude::*;

use super::*;
use crate::read_file::read_file;
use crate::sample::site;

#[test]
fn a_tree_without_configuration_is_a_folder_of_pages() {
    let layout = Layout::read(&site(&[("README.md", ""), ("a/b.md", "")]));
    assert_eq!(layout.generator(), Generator::Plain);
    assert_eq!(layout.place("README.md").site_path, "");
    assert_eq!(layout.place("a/b.md").site_path, "a/b");
    assert!(layout.holds_pages("a/b.md") && !layout.holds_pages("a.png"));
}

#[test]
fn a_configuration_of_something_else_is_none() {
    let layout = Layout::read(&site(&[("astro.config.mjs", "export default {}"), ("guides/a.md", "")]));
    assert_eq!(layout.generator(), Generator::Plain);
    assert_eq!(layout.place("guides/a.md").site_path, "guides/a");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn any_configuration_is_read(
        file in prop::sample::select(vec!["docs.json", "docusaurus.config.js", ".vitepress/config.ts", "mkdocs.yml", "astro.config.mjs", "_category_.json", "vercel.json", "netlify.toml", "_redirects"]),
        parts in proptest::collection::vec(prop::sample::select(vec![
            "export default ", "{", "}", "[", "]", "(", ")", "sidebar: ", "items: ", "nav:\n", "  - ", "a.md", "'", "\"", ":", ",", "\n", "starlight(", "presets", "a", "...", "`", "=>", "//", "locales: ", "root", "\u{e9}", "null", "const a = ", "=", "import a from './b'\n",
        ]), 0..40),
        page in prop::sample::select(vec!["a.md", "docs/a.md", "src/content/docs/\u{e9}/index.md", "docs/01-\u{e9}.md", "docs/2021-01-01-\u{e9}.md"]),
    ) {
        let text = parts.concat();
        let tree = site(&[(file, text.as_str()), (page, "# A")]);
        let layout = Layout::read(&tree);
        layout.place(page);
        prop_assert_eq!(read_file(&layout, page, b"# A", &tree).pages.len(), 1);
    }
}
