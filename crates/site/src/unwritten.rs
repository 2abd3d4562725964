//! Which links of a change nobody wrote in the docs before.
//!
//! What a link with an unknown rule leads to cannot be said. That the docs have the same link already speaks for it.

use docent_markdown::{folder, text_of};

use crate::finding::Finding;
use crate::model::Site;
use crate::tree::Tree;

/// The findings about links that no page of `before` has. A relative link counts as written only where a page of the
/// same folder has it. The text of a link does not matter.
pub fn unwritten(before: &dyn Tree, mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.retain(|finding| !finding.target.is_empty());
    if findings.is_empty() {
        return findings;
    }
    let site = Site::read(before);
    for file in site.files().filter(|file| site.is_page(file)) {
        let Some(bytes) = before.read(file) else { continue };
        let text = text_of(&bytes);
        let may_have = |finding: &Finding| {
            let target = without_text(&finding.target).1;
            text.contains(target) && (!is_relative(target) || folder(file) == folder(&finding.path))
        };
        if !findings.iter().any(may_have) {
            continue;
        }
        let links = site.parse(file, &bytes).links;
        let has = |finding: &Finding| {
            let target = without_text(&finding.target);
            links.iter().any(|link| without_text(&link.target) == target)
        };
        findings.retain(|finding| !(may_have(finding) && has(finding)));
        if findings.is_empty() {
            break;
        }
    }
    findings
}

/// The target of a link; of a role such as `` :ref:`text <label>` `` its name and the label.
fn without_text(target: &str) -> (&str, &str) {
    let Some((name, content)) = target.strip_suffix('`').and_then(|role| role.split_once('`')) else {
        return ("", target);
    };
    match content.strip_suffix('>').and_then(|content| content.rsplit_once('<')) {
        Some((_, label)) => (name, label),
        None => (name, content),
    }
}

/// Whether what a link leads to depends on the folder of its page, as far as one can tell without the rules of the site.
fn is_relative(target: &str) -> bool {
    !target.starts_with(['/', '#', '@', '~', '$', '<']) && !target.contains(['{', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::FindingKind;
    use crate::sample::site;

    #[test]
    fn a_link_counts_as_written_only_where_a_page_has_it_as_a_link() {
        let tree = site(&[
            ("mkdocs.yml", "site_name: x\n"),
            ("docs/a.md", "# A\n\nIn words: custom. [x](/plans) [y](other) [z]({{ url }}/z)\n"),
            ("docs/in/b.md", "# B\n"),
        ]);
        for (page, target, expected) in [
            ("docs/in/b.md", "/plans", true),
            ("docs/in/b.md", "/plan", false),
            ("docs/a.md", "custom", false),
            ("docs/a.md", "other", true),
            ("docs/in/b.md", "other", false),
            ("docs/in/b.md", "{{ url }}/z", true),
        ] {
            let (path, target) = (page.to_owned(), target.to_owned());
            let finding = Finding { path, line: 1, kind: FindingKind::BrokenLink, message: String::new(), target };
            assert_eq!(unwritten(&tree, vec![finding.clone()]).is_empty(), expected, "{finding:?}");
        }
    }

    #[test]
    fn the_text_of_a_role_does_not_matter() {
        let tree = site(&[("conf.py", ""), ("index.rst", "A\n=\n\nSee :ref:`words <label>` and :ref:`own`.\n")]);
        for (target, expected) in [
            (":ref:`label`", true),
            (":ref:`other words <label>`", true),
            (":ref:`the one <own>`", true),
            (":ref:`words`", false),
            (":doc:`label`", false),
        ] {
            let (path, target) = ("index.rst".to_owned(), target.to_owned());
            let finding = Finding { path, line: 1, kind: FindingKind::BrokenLink, message: String::new(), target };
            assert_eq!(unwritten(&tree, vec![finding.clone()]).is_empty(), expected, "{finding:?}");
        }
    }
}
