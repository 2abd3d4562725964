//! Repairs broken links whose intended target can be determined, and lists the rest.
//!
//! A link is repaired only under a rule that the site obeys (see [`RuleEvidence`]): if many links of one shape look
//! broken, it is unknown how the site resolves them, and they are left unchanged. Two kinds of links need no such rule:
//! those whose target the history shows, and [slips](crate::broken_links::Slips).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use docent_markdown::{Page, line_of};
use docent_site::{DoubtedFindings, Finding, FindingKind, Rule, Site, Tree};

use super::broken_links::{BrokenLink, LinkFixer};
use super::edit::{Change, TextEdit, in_order};
use super::history::History;
use super::nearest::Reason;
use super::selection::Selection;
use super::{RefactorError, Refactored, counted};

/// Maximum number of unrepaired links that are listed individually.
const MAX_LISTED_LINKS: usize = 50;

/// Fixes broken links and anchors on the selected pages.
pub fn fix_links(tree: &dyn Tree, within: &[String], history: &dyn History) -> Result<Refactored, RefactorError> {
    let site = Site::read(tree);
    let selection = Selection::of(&site, within)?;
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    for file in site.files().filter(|file| site.is_page(file)) {
        if let Some(bytes) = tree.read(file) {
            pages.insert(file.to_owned(), site.parse(file, &bytes));
        }
    }
    let fixer = LinkFixer::new(tree, &site, &pages, history);
    let (evidence, broken) = fixer.survey();
    let slips = fixer.slips(&broken);
    let mut result = Outcome::default();
    let is_selected = |file: &str| selection.has(file) || !selection.is_narrowed();
    for (file, broken) in broken.iter().filter(|(file, _)| is_selected(file)) {
        let text = tree.text(file).unwrap_or_default();
        let mut edits: Vec<TextEdit> = Vec::new();
        let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
        for broken in broken {
            let Range { start, end } = broken.link.dest_span;
            let line = line_of(&text, broken.link.span.start);
            let target = &broken.link.target;
            let repaired = fixer.repair(file, broken);
            let is_known = broken.moved_to.is_some()
                || matches!(repaired, Ok((_, Reason::Renamed)))
                || broken.is_understood && evidence.is_obeyed(broken.rule);
            if !is_known && !slips.are_few(&evidence, broken, &repaired) {
                if broken.is_understood {
                    result.doubt(file, line, broken);
                }
                continue;
            }
            match repaired {
                // Reference links share one destination, which is edited once.
                Ok(_) if !seen.insert((start, end)) => {}
                Ok((new_target, why)) => {
                    result.fixed(format!("{file}:{line} `{target}` is now `{new_target}` ({why})"), why);
                    edits.push(TextEdit::new(start..end, new_target));
                }
                Err(why) => result.left.push(format!("{file}:{line} `{target}`: {why}")),
            }
        }
        let edits = in_order(edits);
        if !edits.is_empty() {
            result.changes.push(Change::Edit { path: file.clone(), edits });
        }
    }
    result.sites_below = fixer.sites_below(&is_selected);
    Ok(result.into_refactored())
}

#[derive(Default)]
struct Outcome {
    changes: Vec<Change>,
    details: Vec<String>,
    reasons: BTreeMap<Reason, usize>,
    left: Vec<String>,
    doubted: BTreeMap<Rule, Vec<Finding>>,
    /// A line for each site below the docs root whose links were not checked.
    sites_below: Vec<String>,
}

impl Outcome {
    fn fixed(&mut self, line: String, why: Reason) {
        self.details.push(line);
        *self.reasons.entry(why).or_default() += 1;
    }

    fn doubt(&mut self, file: &str, line: usize, broken: &BrokenLink<'_>) {
        let kind = match broken.rule {
            Rule::Anchor => FindingKind::BrokenAnchor,
            _ => FindingKind::BrokenLink,
        };
        let target = broken.link.target.clone();
        let message = format!("`{target}` is not understood");
        let finding = Finding { path: file.to_owned(), line, kind, message, target };
        self.doubted.entry(broken.rule).or_default().push(finding);
    }

    fn into_refactored(self) -> Refactored {
        let (fixed, left) = (self.details.len(), self.left.len());
        let doubted: usize = self.doubted.values().map(Vec::len).sum();
        let mut summary = match (fixed, left, doubted) {
            (0, 0, 0) if self.sites_below.is_empty() => "No link is broken".to_owned(),
            (0, 0, _) => "Fixed no link".to_owned(),
            (0, left, _) => format!("Fixed none of {}", counted(left, "broken link", "broken links")),
            _ => {
                let links = counted(fixed, "broken link", "broken links");
                let pages = counted(self.changes.len(), "page", "pages");
                let reasons: Vec<String> = self.reasons.iter().map(|(why, count)| format!("{count} × {why}")).collect();
                let left = if left == 0 { String::new() } else { format!("; {left} left") };
                format!("Fixed {links} on {pages} ({}){left}", reasons.join(", "))
            }
        };
        if doubted > 0 {
            let links = counted(doubted, "link looks broken and stays", "links look broken and stay");
            summary.push_str(&format!("; {links}, as it is not understood how this site follows such links"));
        }
        let doubts = self.doubted.into_iter().map(|(rule, findings)| DoubtedFindings { rule, findings }.to_string());
        let mut lines: Vec<String> = self.sites_below.into_iter().chain(doubts).collect();
        lines.extend(self.left.into_iter().take(MAX_LISTED_LINKS));
        if left > MAX_LISTED_LINKS {
            lines.push(format!("… and {} more", left - MAX_LISTED_LINKS));
        }
        Refactored { changes: self.changes, summary, details: self.details, left: lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::NoHistory;
    use crate::sample::{Files, after, site, text, touched};

    /// A generator that serves pages without their extension.
    const SERVED: (&str, &str) = ("docs.json", r#"{"navigation": ["index"]}"#);

    /// The history of one file.
    struct Past {
        old: &'static str,
        now: &'static str,
        former: &'static str,
    }

    impl Past {
        fn moved(old: &'static str, now: &'static str) -> Self {
            Self { old, now, former: "" }
        }
    }

    impl History for Past {
        fn moved(&self, old: &str) -> Option<String> {
            (old == self.old).then(|| self.now.to_owned())
        }

        fn former(&self, path: &str, is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Option<Vec<u8>> {
            let former = self.former.as_bytes();
            (path == self.now && is_wanted(former)).then(|| former.to_vec())
        }
    }

    fn fix(tree: &Files, within: &[&str]) -> Refactored {
        let within: Vec<String> = within.iter().map(|pattern| (*pattern).to_owned()).collect();
        fix_links(tree, &within, &NoHistory).expect("fixed")
    }

    #[test]
    fn links_with_evidence_are_fixed_and_others_listed() {
        let tree = site(&[
            SERVED,
            (
                "index.mdx",
                "[a](/guides/Retries) [b](guides/Webhooks#set-up) [c](/nowhere) [ok](/guides/webhooks) [ok](/api/errors) [ok](/api/v1/list-all) [ok](/)\n\n[d](/guides/webhooks#whats_next) [e](/guides/list-all) [f](/guides/errors)\n",
            ),
            ("guides/retries.mdx", "[up](../index) [gone](webhoks) [me](#nothing) ![i](../images/logo.PNG)\n"),
            ("guides/webhooks.mdx", "## Set up\n\n## What's next\n"),
            ("api/errors.mdx", ""),
            ("api/v1/list-all.mdx", ""),
            ("api/v2/list-all.mdx", ""),
            ("images/logo.png", ""),
        ]);
        let fixed = fix(&tree, &[]);
        assert_eq!(
            fixed.summary,
            "Fixed 5 broken links on 2 pages (3 × letter case, 1 × the only page of that name, 1 × the same words as an anchor); 4 left"
        );
        assert_eq!(
            fixed.left,
            [
                "guides/retries.mdx:1 `webhoks`: nothing says which page is meant",
                "guides/retries.mdx:1 `#nothing`: no heading of `guides/retries.mdx` has these words",
                "index.mdx:1 `/nowhere`: nothing says which page is meant",
                "index.mdx:3 `/guides/list-all`: it could be `api/v1/list-all.mdx` or `api/v2/list-all.mdx`",
            ]
        );
        let tree = after(&tree, &fixed);
        assert_eq!(
            text(&tree, "index.mdx"),
            "[a](/guides/retries) [b](guides/webhooks#set-up) [c](/nowhere) [ok](/guides/webhooks) [ok](/api/errors) [ok](/api/v1/list-all) [ok](/)\n\n[d](/guides/webhooks#whats-next) [e](/guides/list-all) [f](/api/errors)\n"
        );
        assert_eq!(
            text(&tree, "guides/retries.mdx"),
            "[up](../index) [gone](webhoks) [me](#nothing) ![i](../images/logo.png)\n"
        );
    }

    #[test]
    fn a_heading_is_no_excuse_for_another_anchor_and_ids_have_letter_case() {
        let page = "## Alpha beta\n\n## Dup\n\n## Dup\n\n<a id=\"Opt-X\"></a>\n";
        let sound = "[x](a.md#alpha-beta) ".repeat(12);
        let index = "[1](a.md#alpha-beta-7) [2](a.md#dup-2) [3](a.md#alpha-beta:) [4](a.md#Alpha-Beta) [5](a.md#opt-x)\n\n\
                     [6](a.md#alpha-beta) [7](a.md#dup-1) [8](a.md#Opt-X)\n";
        let tree = site(&[
            ("docusaurus.config.js", "module.exports = {}\n"),
            ("docs/a.md", page),
            ("docs/b.md", &sound),
            ("docs/index.md", index),
        ]);
        let fixed = fix(&tree, &[]);
        let (tree, told) = (text(&after(&tree, &fixed), "docs/index.md"), fixed.left.join("\n"));
        for dead in ["#alpha-beta-7", "#dup-2", "#alpha-beta:", "#Alpha-Beta", "#opt-x"] {
            assert!(!tree.contains(&format!("{dead})")) || told.contains(dead), "{dead}: {tree}\n{told}");
        }
        assert!(tree.ends_with("[6](a.md#alpha-beta) [7](a.md#dup-1) [8](a.md#Opt-X)\n"), "{tree}");
    }

    #[test]
    fn the_only_page_of_that_name_in_another_site_is_not_meant() {
        let tree = site(&[
            ("docs/de/mkdocs.yml", "INHERIT: ../en/mkdocs.yml\n"),
            ("docs/de/docs/index.md", "[x](newsletter.md)\n"),
            ("docs/en/mkdocs.yml", "site_name: x\n"),
            ("docs/en/docs/newsletter.md", "# News\n"),
        ]);
        let fixed = fix(&tree, &[]);
        assert!(fixed.changes.is_empty() && fixed.left[0].contains("newsletter.md"), "{fixed:?}");
    }

    #[test]
    fn what_plugins_make_does_not_excuse_a_link_to_a_missing_file() {
        for (configuration, text) in [
            (
                "docusaurus.config.js",
                "module.exports = { plugins: [['@docusaurus/plugin-client-redirects', { createRedirects: () => [] }]] }\n",
            ),
            ("docs/conf.py", "extensions = ['myst_parser', 'sphinx.ext.autosummary', 'sphinxext.rediraffe']\n"),
            ("mkdocs.yml", "site_name: x\nplugins:\n  - exclude:\n      glob: 'gone/*'\n"),
        ] {
            let tree = site(&[
                (configuration, text),
                ("docs/index.md", "[x](gone/a.md) [y](b.md)\n"),
                ("docs/b.md", "# B\n"),
                ("docs/gone/b.md", "# B\n"),
            ]);
            let fixed = fix(&tree, &[]);
            assert!(fixed.left.join("\n").contains("`gone/a.md`"), "{configuration}: {fixed:?}");
        }
    }

    #[test]
    fn an_ending_that_nothing_has_gives_way_to_that_of_the_file() {
        let tree = site(&[("a.md", "[x](guides/b.html#c) [y](guides/b.md)\n"), ("guides/b.md", "## C\n")]);
        let fixed = fix(&tree, &[]);
        assert_eq!(fixed.summary, "Fixed 1 broken link on 1 page (1 × the ending)");
        assert_eq!(text(&after(&tree, &fixed), "a.md"), "[x](guides/b.md#c) [y](guides/b.md)\n");
    }

    #[test]
    fn a_redirect_makes_a_link_sound_before_history_is_asked() {
        let tree = site(&[
            (
                "docs.json",
                r#"{"navigation": ["index", "kit/lamp/a"], "redirects": [{"source": "/kit/lamp", "destination": "/kit/lamp/a"}]}"#,
            ),
            ("index.mdx", "[x](/kit/lamp)\n"),
            ("kit/lamp/a.mdx", "# A\n"),
        ]);
        let history = Past::moved("kit/lamp.mdx", "kit/lamp/a.mdx");
        assert_eq!(fix_links(&tree, &[], &history).expect("fixed").changes, []);
    }

    #[test]
    fn a_link_that_is_not_understood_led_to_what_moved() {
        let tree = site(&[
            (
                "astro.config.mjs",
                "import starlight from '@astrojs/starlight';\nimport more from 'more-pages';\nexport default { integrations: [starlight({}), more()] };",
            ),
            ("src/content/docs/a.md", "[x](/guides/queues/#limits) [y](../guides/queue/) [z](/elsewhere/)\n"),
            ("src/content/docs/reference/jobs.md", "## Limits\n"),
        ]);
        let history = Past::moved("src/content/docs/guides/queues.md", "src/content/docs/reference/jobs.md");
        let fixed = fix_links(&tree, &[], &history).expect("fixed");
        assert_eq!(fixed.summary, "Fixed 1 broken link on 1 page (1 × the page moved)");
        assert_eq!(
            text(&after(&tree, &fixed), "src/content/docs/a.md"),
            "[x](/reference/jobs/#limits) [y](../guides/queue/) [z](/elsewhere/)\n"
        );
    }

    #[test]
    fn a_path_without_its_ending_is_read_from_the_folder_of_the_page_too() {
        let tree = site(&[
            ("mkdocs.yml", "site_name: x\n"),
            ("docs/guide/a.md", "[x](b) [y](c.md) [z](../other/b#top)\n"),
            ("docs/guide/b.md", ""),
            ("docs/guide/c.md", ""),
            ("docs/other/b.md", ""),
        ]);
        let fixed = fix(&tree, &[]);
        let tree = after(&tree, &fixed);
        assert_eq!(text(&tree, "docs/guide/a.md"), "[x](b.md) [y](c.md) [z](../other/b.md#top)\n");
    }

    #[test]
    fn a_few_endings_are_forgotten_where_most_links_have_theirs() {
        let named = "[x](b.md) [x](c.md) [x](b.md) [x](c.md) [x](b.md)\n";
        let tree = |bare: &str| {
            let index = format!("{named}{bare}\n");
            site(&[("mkdocs.yml", "site_name: x\n"), ("docs/a.md", &index), ("docs/b.md", ""), ("docs/c.md", "")])
        };
        let few = tree("[y](b) [y](c) [y](b#top) [y](nothing)");
        let fixed = fix(&few, &[]);
        let expected = format!("{named}[y](b.md) [y](c.md) [y](b.md#top) [y](nothing)\n");
        assert_eq!(text(&after(&few, &fixed), "docs/a.md"), expected);
        assert_eq!(fixed.left.len(), 1, "{:?}", fixed.left);
        // This many are a convention of the site.
        assert_eq!(touched(&fix(&tree(&"[y](b) ".repeat(6)), &[])), Vec::<&str>::new());
    }

    #[test]
    fn roles_of_restructured_text_are_mended() {
        let tree = site(&[
            ("conf.py", "project = 'x'\n"),
            ("index.rst", ":doc:`guide/Start`, :doc:`words <old>`, :doc:`guide/start`\n"),
            ("guide/start.rst", ""),
            ("guide/new.rst", ""),
        ]);
        let history = Past::moved("old.rst", "guide/new.rst");
        let fixed = fix_links(&tree, &[], &history).expect("fixed");
        assert_eq!(
            text(&after(&tree, &fixed), "index.rst"),
            ":doc:`guide/start`, :doc:`words <guide/new>`, :doc:`guide/start`\n"
        );
    }

    #[test]
    fn a_page_that_moved_is_known_by_history() {
        let tree = site(&[
            SERVED,
            ("a.md", "[x](/guides/queues#limits) [y](guides/queues.md) [z](/guides/queue)\n"),
            ("b.md", &"[x](/guides/queues) ".repeat(30)),
            ("reference/jobs.md", "## Limits\n"),
        ]);
        let history = Past::moved("guides/queues.md", "reference/jobs.md");
        let fixed = fix_links(&tree, &[], &history).expect("fixed");
        assert_eq!(fixed.summary, "Fixed 32 broken links on 2 pages (32 × the page moved); 1 left");
        assert_eq!(
            text(&after(&tree, &fixed), "a.md"),
            "[x](/reference/jobs#limits) [y](reference/jobs.md) [z](/guides/queue)\n"
        );
    }

    #[test]
    fn a_renamed_heading_is_known_by_history() {
        let history = Past { former: "## Set up\n\nRun it.\n\n## Limits\n\nNone.\n", ..Past::moved("", "b.md") };
        let tree = site(&[
            SERVED,
            ("a.md", "[x](/b#set-up) [y](/b#limits) [z](/b#nothing)\n"),
            ("b.md", "## Install\n\nRun it.\n\n## Limits\n\nNone.\n"),
        ]);
        let fixed = fix_links(&tree, &[], &history).expect("fixed");
        assert_eq!(fixed.summary, "Fixed 1 broken link on 1 page (1 × the heading was renamed); 1 left");
        assert_eq!(text(&after(&tree, &fixed), "a.md"), "[x](/b#install) [y](/b#limits) [z](/b#nothing)\n");
    }

    #[test]
    fn a_slip_is_mended_where_other_addresses_may_be_served() {
        let sound = "[s](/guides/start/) [s](/guides/start) [s](../start/) ".repeat(5);
        let tree = |links: &str| {
            site(&[
                (
                    "astro.config.mjs",
                    "import starlight from '@astrojs/starlight';\nimport more from 'more-pages';\nexport default { integrations: [starlight({}), more()] };",
                ),
                ("src/content/docs/guides/start.md", ""),
                ("src/content/docs/api/clients.md", ""),
                ("src/content/docs/guides/a.md", &format!("{sound}\n{links}\n")),
            ])
        };
        let links = "[case](/guides/Start/) [end](/guides/start.mdx) [depth](../../start/) [own](/api/start/) [root](/clients/)";
        let (before, page) = (tree(links), "src/content/docs/guides/a.md");
        let fixed = fix(&before, &[]);
        let mended = text(&after(&before, &fixed), page).lines().last().map(str::to_owned).unwrap_or_default();
        assert_eq!(
            mended,
            "[case](/guides/start/) [end](/guides/start) [depth](../start/) [own](/api/start/) [root](/clients/)"
        );
        // What is written so often is a convention of the site.
        assert_eq!(touched(&fix(&tree(&"[case](/guides/Start/) ".repeat(6)), &[])), Vec::<&str>::new());
    }

    #[test]
    fn a_wrong_number_of_steps_up_leads_to_the_page_of_that_path() {
        let tree = site(&[
            ("mkdocs.yml", "site_name: x\n"),
            (
                "docs/guide/deep/a.md",
                "[x](../../setup.md) [y](../../../../guide/setup.md) [z](setup.md) [n](../../b.md)\n",
            ),
            ("docs/guide/sound.md", "[s](setup.md) [s](setup.md) [s](setup.md) [s](setup.md)\n"),
            ("docs/guide/setup.md", ""),
            ("docs/guide/deep/b.md", ""),
        ]);
        let fixed = fix(&tree, &[]);
        assert_eq!(
            text(&after(&tree, &fixed), "docs/guide/deep/a.md"),
            "[x](../setup.md) [y](../setup.md) [z](../setup.md) [n](../../b.md)\n"
        );
    }

    #[test]
    fn a_page_of_a_site_below_the_root_is_not_linked_to_by_its_file() {
        let page = "[x](/docs/configuration.mdx)\n";
        let tree = site(&[
            ("README.md", ""),
            ("ark/docs/source.config.ts", ""),
            ("ark/docs/content/docs/a.mdx", page),
            ("ark/docs/content/docs/configuration.mdx", ""),
        ]);
        let fixed = fix(&tree, &[]);
        assert_eq!(touched(&fixed), Vec::<&str>::new());
        assert!(fixed.left[0].contains("`ark/docs` is a site of its own"), "{:?}", fixed.left);
    }

    #[test]
    fn links_of_a_shape_that_is_not_understood_stay() {
        let many: String = (0..8).map(|n| format!("[x](/app/Guides/P{n}) ")).collect();
        let files: Vec<(String, String)> = (0..8).map(|n| (format!("app/guides/p{n}.md"), String::new())).collect();
        let mut tree = site(&[SERVED, ("a.md", many.as_str()), ("b.md", "[ok](a.md) [case](A.md)\n")]);
        tree.extend(files.into_iter().map(|(path, text)| (path, text.into_bytes())));
        let fixed = fix(&tree, &[]);
        assert_eq!(touched(&fixed), ["b.md"]);
        assert_eq!(
            fixed.summary,
            "Fixed 1 broken link on 1 page (1 × letter case); 8 links look broken and stay, as it is not understood how this site follows such links"
        );
        assert_eq!(
            fixed.left,
            [
                "8 absolute links could not be checked, as it is not understood how this site reads them: a.md:1 `/app/Guides/P0`, a.md:1 `/app/Guides/P1`, a.md:1 `/app/Guides/P2`, a.md:1 `/app/Guides/P3`, a.md:1 `/app/Guides/P4`, a.md:1 `/app/Guides/P5`, a.md:1 `/app/Guides/P6`, a.md:1 `/app/Guides/P7`"
            ]
        );
    }

    #[test]
    fn a_place_narrows_and_sound_links_stay() {
        let tree = site(&[
            SERVED,
            ("a.md", "[x](/BB)\n"),
            ("b.md", "[x](/AA) [y](https://x.y/z)\n"),
            ("aa.md", ""),
            ("bb.md", ""),
        ]);
        assert_eq!(touched(&fix(&tree, &["b.md"])), ["b.md"]);
        let sound = site(&[("a.md", "[x](b.md) [y](mailto:a@b.c) [z](#)\n"), ("b.md", "")]);
        let fixed = fix(&sound, &[]);
        assert_eq!((fixed.summary.as_str(), fixed.changes.len()), ("No link is broken", 0));
    }
}
