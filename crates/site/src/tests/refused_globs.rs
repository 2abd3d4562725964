use crate::Layout;
use crate::sample::site;

/// Each configuration that holds patterns, with one that is refused and one that is read.
#[test]
fn a_pattern_that_is_refused_is_a_problem_of_its_file() {
    let nested = format!("{}x{}", "{a,".repeat(300), "}".repeat(300));
    for (file, text, others) in [
        (
            "conf.py",
            format!("project = 'x'\nexclude_patterns = ['{nested}', 'drafts']\n"),
            &["a.rst", "drafts/b.rst"][..],
        ),
        (
            ".vitepress/config.ts",
            format!("export default {{srcExclude: ['{nested}', 'drafts/**']}}\n"),
            &["a.md", "drafts/b.md"],
        ),
        (
            "docfx.json",
            format!(r#"{{"build": {{"content": [{{"files": ["**.md"], "exclude": ["{nested}", "drafts/**"]}}]}}}}"#),
            &["a.md", "drafts/b.md"],
        ),
        (
            "docusaurus.config.js",
            format!(
                "module.exports = {{presets: [['classic', {{docs: {{exclude: ['{nested}', 'drafts/**']}}, blog: false}}]]}}\n"
            ),
            &["docs/a.md", "docs/drafts/b.md"],
        ),
        (
            "mkdocs.yml",
            format!("site_name: x\nexclude_docs: |\n  {nested}\n  drafts/\n"),
            &["docs/a.md", "docs/drafts/b.md"],
        ),
        (".mintignore", format!("{nested}\ndrafts/\n"), &["a.mdx", "drafts/b.mdx", "docs.json"]),
    ] {
        let mut files = vec![(file, text.as_str())];
        files.extend(
            others.iter().map(|other| (*other, if *other == "docs.json" { r#"{"navigation": ["a"]}"# } else { "" })),
        );
        let layout = Layout::read(&site(&files));
        let told: Vec<_> =
            layout.problems().iter().filter(|found| found.problem.message.contains("nested more")).collect();
        assert_eq!(told.len(), 1, "{file}: {:?}", layout.problems());
        assert_eq!(told[0].file, file);
        assert!(layout.holds_pages(others[0]) && !layout.holds_pages(others[1]), "{file}");
    }
}
