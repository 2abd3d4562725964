//! Notebooks among the pages of a site.

use proptest::prelude::*;

use crate::layout::Layout;
use crate::link_target::{LinkRequest, LinkSyntax};
use crate::model::{Site, Target};
use crate::read_file::read_file;
use crate::sample::{Files, page, site};
use crate::skip_reason::SkipReason;

const LAB: &str = r##"{"cells": [
 {"cell_type": "markdown", "source": ["(start)=\n", "# The lab\n", "[a](../a.md), [\u00e9](\u00e9.md), [gone](gone.md)\n"]},
 {"cell_type": "code", "source": "zebra()", "outputs": [{"text": "noise"}], "metadata": {}}
], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}"##;

fn docs(configuration: &[(&str, &str)]) -> Files {
    let mut files = site(&[
        ("docs/index.md", "[lab](guide/lab.ipynb), [by name](guide/lab)"),
        ("docs/a.md", ""),
        ("docs/guide/lab.ipynb", LAB),
        ("docs/guide/b \"q\".md", ""),
        ("docs/broken.ipynb", "{"),
    ]);
    files.extend(site(configuration));
    files
}

const SPHINX: [(&str, &str); 1] = [("docs/conf.py", "extensions = ['myst_nb']\n")];

#[test]
fn a_notebook_is_served_as_its_generator_does_and_links_to_it_are_followed() {
    for (configuration, address) in [(&SPHINX[..], "guide/lab"), (&[], "docs/guide/lab.ipynb")] {
        let site = Site::read(&docs(configuration));
        assert_eq!(site.address("docs/guide/lab.ipynb"), Some(address));
        assert_eq!(site.resolve("docs/index.md", "guide/lab.ipynb"), page("docs/guide/lab.ipynb"), "{address}");
        assert_eq!(site.resolve("docs/guide/lab.ipynb", "../a.md"), page("docs/a.md"), "{address}");
        assert!(matches!(site.resolve("docs/guide/lab.ipynb", "gone.md"), Target::Missing { .. }), "{address}");
        // The target is written with JSON escapes, so it is not the path it stands for.
        assert_eq!(site.resolve("docs/guide/lab.ipynb", "\\u00e9.md"), Target::NotUnderstood);
    }
    let by_name = Site::read(&docs(&SPHINX)).resolve("docs/index.md", "guide/lab");
    assert_eq!(by_name, page("docs/guide/lab.ipynb"));
}

#[test]
fn a_notebook_is_read_as_its_cells() {
    let tree = docs(&SPHINX);
    let layout = Layout::read(&tree);
    let read = read_file(&layout, "docs/guide/lab.ipynb", LAB.as_bytes(), &tree);
    let [lab] = read.pages.as_slice() else { panic!("one page") };
    assert_eq!((lab.page.title.as_deref(), lab.place.site_path.as_str()), (Some("The lab"), "guide/lab"));
    let section = lab.page.sections.last().expect("a section");
    assert_eq!(section.code[0].text, "zebra()\n");
    assert!(!lab.text.contains("noise") && lab.place.listed);
    let broken = read_file(&layout, "docs/broken.ipynb", b"{", &tree);
    assert_eq!((broken.skipped, broken.problems.len()), (Some(SkipReason::Unsupported), 1));

    let without = [("docs/conf.py", "project = 'x'\n"), ("docs/c.rst", "")];
    for (configuration, skipped) in [(&SPHINX[..], None), (&without, Some(SkipReason::Unsupported))] {
        assert_eq!(Layout::read(&docs(configuration)).skipped("docs/guide/lab.ipynb"), skipped);
    }
}

proptest! {
    #[test]
    fn a_link_that_is_written_into_a_notebook_leads_to_its_page_and_leaves_it_json(
        to in prop::sample::select(vec!["docs/a.md", "docs/index.md", "docs/guide/b \"q\".md"]),
        like in prop::sample::select(vec!["", "x.md", "./x.md#y", "/x.md", "x"]),
        is_sphinx in any::<bool>(),
    ) {
        let site = Site::read(&docs(if is_sphinx { &SPHINX } else { &[] }));
        let from = "docs/guide/lab.ipynb";
        let written = site.link(&LinkRequest { from, to, anchor: None, like, syntax: LinkSyntax::Markdown });
        prop_assert!(!written.contains(['"', '\\']));
        let found = match site.resolve(from, &written) {
            Target::Page { file, .. } => file,
            other => format!("{other:?}"),
        };
        prop_assert_eq!(found, to, "{}", written);
    }
}
