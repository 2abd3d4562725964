//! Finds the files that a page includes or imports by paths that are not links. The paths are rewritten when either
//! file moves.

use std::ops::Range;
use std::sync::LazyLock;

use docent_markdown::{Format, Page, folder};
use regex::bytes::Regex;

use crate::layout::Generator;
use crate::link_target::is_external;
use crate::model::{Site, Target};
use crate::tree::joined_in;

/// A file that a page includes or imports in the syntax of its generator.
#[derive(Debug)]
pub struct Import {
    /// The path, unescaped: `\_` is read as `_`, since some Markdown editors write it that way.
    pub target: String,
    pub range: Range<usize>,
    /// The file of the site, if it exists.
    pub file: Option<String>,
    /// Whether a relative path must begin with a dot, as in scripts.
    pub begins_with_dot: bool,
}

impl Import {
    /// Whether the path is relative to the folder of the page.
    pub fn is_relative(&self) -> bool {
        !self.target.starts_with('/') && (!self.begins_with_dot || self.target.starts_with('.'))
    }
}

/// The files that a page imports (MDX) or includes (mdBook, MkDocs, VitePress, Fumadocs, Jekyll, GitBook, MyST).
pub fn imports(site: &Site, page: &Page, bytes: &[u8]) -> Vec<Import> {
    let mut found = Vec::new();
    // VitePress pages hold scripts in Markdown; Mintlify and Docusaurus read Markdown as MDX.
    let reads_scripts = matches!(site.generator(), Generator::VitePress | Generator::Mintlify | Generator::Docusaurus);
    if page.format == Format::Mdx || page.format == Format::Markdown && reads_scripts {
        found.extend(scripts(site, page, bytes));
    }
    if let Some(pattern) = included_by(site.generator()).filter(|_| page.format.is_markdown()) {
        for path in pattern.captures_iter(bytes).filter_map(|found| found.get(1)) {
            let target = String::from_utf8_lossy(path.as_bytes()).into_owned();
            // On a page that explains the syntax of the generator, the path names no existing file.
            let file = joined_in(site.root(), folder(&page.path), &target).filter(|file| site.has_any(file));
            if !is_external(&target) && !target.starts_with('/') && file.is_some() {
                let begins_with_dot = matches!(site.generator(), Generator::VitePress | Generator::MkDocs);
                found.push(Import { target, range: path.range(), file, begins_with_dot });
            }
        }
    }
    found
}

/// The syntax in which pages of a generator include files beside them.
fn included_by(generator: Generator) -> Option<&'static Regex> {
    static MDBOOK: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?:^|[^\\])\{\{\s*#(?:include|rustdoc_include|playground|playpen)\s+([^\s:}]+)"));
    static VITEPRESS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?m)(?:<!--\s*@include:\s*|^[ \t]*<<<[ \t]*)(\.{1,2}/[^\s{#>]+?)(?:--)?(?:[\s{#>]|$)")
    });
    static JEKYLL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{%-?\s*include_relative\s+([^\s%{]+)"));
    static GITBOOK: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\{%-?\s*include\s+["']([^"'\s]+)["']\s*-?%\}"#));
    static MYST: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?m)^[ \t]*(?:`{3,}|:{3,})\{(?:include|literalinclude|image|figure)\}[ \t]+(\S+)[ \t]*\r?$")
    });
    static MKDOCS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"\{%-?\s*include(?:-markdown)?\s+["'](\.{1,2}/[^"'\n]+)["']"#));
    static FUMADOCS: LazyLock<Regex> = LazyLock::new(|| pattern(r"<include(?:\s[^<>]*)?>\s*([^<>\s#]+)"));
    match generator {
        Generator::MdBook => Some(&MDBOOK),
        Generator::MkDocs => Some(&MKDOCS),
        Generator::Fumadocs => Some(&FUMADOCS),
        Generator::VitePress => Some(&VITEPRESS),
        Generator::Jekyll => Some(&JEKYLL),
        Generator::GitBook => Some(&GITBOOK),
        Generator::Sphinx => Some(&MYST),
        _ => None,
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns are written out above")
}

/// The paths in `import` and `export … from` statements.
fn scripts(site: &Site, page: &Page, bytes: &[u8]) -> Vec<Import> {
    static IMPORT: LazyLock<Regex> =
        // Names may take several lines. Behind the names of loaders, or in a call.
        LazyLock::new(|| {
            pattern(
                r#"(?m-u)(?:^(?:import|export)\b(?:[^'"\n{]*\{[^'"{}]*\})?[^'"\n]*['"](?:[^'"\n!]*!)*|\brequire\(\s*['"](?:[^'"\n!]*!)*)(\.{0,2}/[^'"\n]+)['"]"#,
            )
        });
    let found = IMPORT.captures_iter(bytes).filter_map(|captures| captures.get(1));
    let found = found.filter(|found| !page.code.iter().any(|code| code.contains(&found.start())));
    let import = |found: regex::bytes::Match<'_>| {
        let target = String::from_utf8_lossy(found.as_bytes()).replace("\\_", "_");
        let file = match site.resolve(&page.path, &target) {
            Target::Page { file, .. } => Some(file),
            _ => None,
        };
        Import { target, range: found.range(), file, begins_with_dot: true }
    };
    found.map(import).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::site;

    #[test]
    fn scripts_on_pages_of_vitepress_import() {
        let text = "<script setup>\nimport A from '../A.vue'\nimport {\n  b,\n  c,\n} from './c.js'\n</script>\n\n```js\nimport B from './B.js'\n```\n";
        let site = Site::read(&site(&[(".vitepress/config.ts", ""), ("guide/a.md", text)]));
        let found = imports(&site, &site.parse("guide/a.md", text.as_bytes()), text.as_bytes());
        let found: Vec<_> = found.iter().map(|import| (import.target.as_str(), import.is_relative())).collect();
        assert_eq!(found, [("../A.vue", true), ("./c.js", true)]);
    }

    #[test]
    fn a_page_in_markdown_imports_where_it_is_read_as_mdx() {
        let text = "import Part from '/guides/b.mdx'\n\n<Part/>\n";
        for (configuration, holds) in [("docs.json", "{}"), ("mint.json", "{}"), ("hugo.toml", "")] {
            let site = Site::read(&site(&[(configuration, holds), ("a.md", text), ("guides/b.mdx", "# B\n")]));
            let found = imports(&site, &site.parse("a.md", text.as_bytes()), text.as_bytes());
            let files: Vec<_> = found.iter().filter_map(|import| import.file.as_deref()).collect();
            let expected: &[&str] = if configuration == "hugo.toml" { &[] } else { &["guides/b.mdx"] };
            assert_eq!(files, expected, "{configuration}");
        }
    }

    #[test]
    fn every_generator_has_its_words_for_a_file_that_is_put_in() {
        for (configuration, written, expected) in [
            ("book.toml", "{{#include part.txt:anchor}} \\{{#include part.txt}} {{#include gone.txt}}", "part.txt"),
            (".vitepress/config.ts", "<!--@include: ./part.txt{1,2}-->\n", "./part.txt"),
            (".vitepress/config.ts", "<!--@include: ./part.txt-->\n", "./part.txt"),
            (".vitepress/config.ts", "<<< ./part.txt#region\n", "./part.txt"),
            ("mkdocs.yml", "{%\n  include-markdown \"./part.txt\"\n%}\n", "./part.txt"),
            ("_config.yml", "{% include_relative part.txt %} {% include part.txt %}", "part.txt"),
            ("book.json", "{% include \"./part.txt\" %} {% include \"gone.txt\" %}", "./part.txt"),
            ("conf.py", "```{literalinclude} part.txt\n:lines: 1\n```\n", "part.txt"),
        ] {
            let (holds, folder) = match configuration {
                "conf.py" => ("extensions = ['myst_parser']", ""),
                "book.json" => ("{}", ""),
                "book.toml" => ("", "src/"),
                "mkdocs.yml" => ("site_name: x\n", "docs/"),
                _ => ("", ""),
            };
            let page = format!("{folder}a.md");
            let tree = site(&[
                (configuration, holds),
                ("src/SUMMARY.md", "[A](a.md)\n"),
                ("SUMMARY.md", "[A](a.md)\n"),
                (&page, written),
                (&format!("{folder}part.txt"), ""),
            ]);
            let site = Site::read(&tree);
            let found = imports(&site, &site.parse(&page, written.as_bytes()), written.as_bytes());
            let found: Vec<_> =
                found.iter().map(|import| (&written[import.range.clone()], import.file.clone())).collect();
            assert_eq!(found, [(expected, Some(format!("{folder}part.txt")))], "{written}");
        }
    }
}
