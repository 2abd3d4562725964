//! The labels of a navigation that is no JSON: words for readers, in place of which other plain words may stand.

use std::ops::Range;

use docent_markdown::{Depth, file_name, lines_after, regex};
use toml::de::{DeTable, DeValue};

use crate::generators::mkdocs::zensical_nav;
use crate::script::Script;
use crate::site_data::SiteData;

/// Maximum nesting depth of a navigation in TOML.
const MAX_DEPTH: usize = 32;

impl SiteData {
    /// The labels in a file of navigation, between their quotes and in order. None of JSON, which has more to be told from.
    pub fn labels(file: &str, text: &str) -> Vec<Range<usize>> {
        match Self::of(file) {
            Some(Self::Script(script)) => script.labels(&Script::of(text)),
            Some(Self::MkDocs) => in_yaml(text, |block, line| block == "nav" && !is_member(line)),
            Some(Self::Zensical) => in_toml(text),
            Some(Self::Yaml) if matches!(file_name(file), ".pages" | ".nav.yml") => in_yaml(text, |_, _| true),
            Some(Self::Yaml | Self::Data) => in_yaml(text, |_, line| is_member(line)),
            _ => Vec::new(),
        }
    }
}

/// Whether a line is a member whose value is a label, and not an item such as `- Label: page.md`.
fn is_member(line: &str) -> bool {
    regex!(MEMBER, r"^[\s-]*(?:label|title|name|caption):\s");
    MEMBER.is_match(line)
}

/// The labels in these lines, which are chosen by the outermost key that they are below: keys of items, and values of
/// members that hold a label.
fn in_yaml<'t>(text: &'t str, admits: impl Fn(&'t str, &'t str) -> bool) -> Vec<Range<usize>> {
    regex!(ITEM, r#"^\s*-\s+(?:"([^"\\]*)"|'([^']*)'|([^"'\[{&*!|>#%@:][^:#]*?)):(?:\s|$)"#);
    regex!(
        MEMBER,
        r#"^\s*(?:-\s+)?(?:label|title|name|caption):\s+(?:"([^"\\]*)"|'([^']*)'|([^\s"'\[{&*!|>#%@:`][^:#]*?))\s*$"#
    );
    let (mut labels, mut block) = (Vec::new(), "");
    for (at, line) in lines_after(text, 0) {
        if !line.starts_with([' ', '-', '#', '\n', '\r']) {
            block = line.split(':').next().unwrap_or_default();
        }
        let pattern = if is_member(line) { &*MEMBER } else { &*ITEM };
        let found = pattern.captures(line).filter(|_| admits(block, line));
        let label = found.and_then(|found| found.get(1).or(found.get(2)).or(found.get(3)));
        // `- glob: "*.md"` names pages.
        let label = label.filter(|label| label.as_str() != "glob");
        labels.extend(label.map(|label| at + label.start()..at + label.end()));
    }
    labels
}

/// The keys of the tables in the `nav` of a `zensical.toml`. Without quotes, a key is one word of ASCII.
fn in_toml(text: &str) -> Vec<Range<usize>> {
    fn keys(value: &DeValue<'_>, depth: Depth, labels: &mut Vec<Range<usize>>) {
        let Some(depth) = depth.inside() else { return };
        match value {
            DeValue::Array(items) => items.iter().for_each(|item| keys(item.get_ref(), depth, labels)),
            DeValue::Table(members) => {
                for (key, member) in members {
                    labels.push(key.span());
                    keys(member.get_ref(), depth, labels);
                }
            }
            _ => {}
        }
    }
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let mut labels = Vec::new();
    if let Some(nav) = zensical_nav(table.get_ref()) {
        keys(nav.get_ref(), Depth::of(MAX_DEPTH), &mut labels);
    }
    labels.sort_by_key(|label| label.start);
    for label in labels.iter_mut().filter(|label| text[(*label).clone()].starts_with(['"', '\''])) {
        *label = label.start + 1..label.end - 1;
    }
    labels.retain(|label| !text[label.clone()].contains('\\'));
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_from_what_names_pages() {
        for (file, text, expected) in [
            ("mkdocs.yml", "title: A\nnav:\n  - B: b.md\n  - 'C d':\n    - e.md\nextra:\n  - F: g\n", "B, C d"),
            ("docs/toc.yml", "- name: A b\n  href: c.md\n- name: \"D\"\n  items:\n  - name: E # f\n", "A b, D"),
            ("_toc.yml", "root: a\nparts:\n- caption: B c\n  chapters:\n  - file: d\n    title: E\n", "B c, E"),
            ("a/_category_.yml", "label: A\nlink:\n  type: generated-index\n  title: 'B'\n", "A, B"),
            (".pages", "title: A\nnav:\n  - B: b.md\n  - c.md\n  - ...\n", "A, B"),
            (".nav.yml", "nav:\n  - B: b.md\n  - glob: \"*.md\"\n", "B"),
            ("sidebars.js", "module.exports = { a: ['b', { type: 'category', label: 'C', items: ['d'] }] }", "C"),
            (".vitepress/config.mts", "export default { nav: [{ text: 'A', link: '/b' }, { text: f() }] }", "A"),
            ("a/_meta.ts", "export default { index: 'A', b: { title: 'C', type: 'page' }, d: f('e') }", "A, C"),
            (
                "zensical.toml",
                "[project]\nsite_name = \"Z\"\nnav = [\"a.md\", { B = \"b.md\" }, { \"C d\" = [{ 'E' = \"e.md\" }] }]\n",
                "B, C d, E",
            ),
            ("docs.json", "{\"name\": \"A\"}", ""),
            ("a.yml", "name: A", ""),
        ] {
            let labels: Vec<&str> = SiteData::labels(file, text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(labels.join(", "), expected, "{file}");
        }
    }

    proptest::proptest! {
        #[test]
        fn labels_stand_in_the_text_in_order(text in "([a-z:'\"\\[\\]{}#-]|- | |\n|label: |nav:\n){0,40}") {
            for file in ["mkdocs.yml", "zensical.toml", ".pages", "toc.yml", "sidebars.js", "_meta.js"] {
                let mut end = 0;
                for label in SiteData::labels(file, &text) {
                    proptest::prop_assert!(end <= label.start && text.get(label.clone()).is_some());
                    end = label.end;
                }
            }
        }
    }
}
