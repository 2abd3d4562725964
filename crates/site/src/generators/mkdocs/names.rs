//! Finds references to names that MkDocs plug-ins resolve from any page: `::: package.name` documents a name,
//! `[words][package.name.part]` refers to it.

use docent_markdown::{line_of, regex};

use crate::generators::Reference;
use crate::model::Site;
use crate::tree::Tree;

/// References on other pages to the names that a page documents.
pub(super) fn references_to_page(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
    regex!(DOCUMENTED, r"(?m)^[ \t>#]*:::[ \t]+([\w.]+)");
    regex!(REFERENCE, r"\]\[`?([\w.]+)`?\]|\[`?([\w.]+)`?\]\[\]");
    let text = tree.text(file).unwrap_or_default();
    let documented: Vec<&str> =
        DOCUMENTED.captures_iter(&text).filter_map(|found| Some(found.get(1)?.as_str())).collect();
    let is_documented = |name: &str| {
        documented
            .iter()
            .any(|whole| name.strip_prefix(whole).is_some_and(|part| part.is_empty() || part.starts_with('.')))
    };
    let mut found = Vec::new();
    for from in site.files().filter(|from| !documented.is_empty() && *from != file && site.address(from).is_some()) {
        let text = tree.text(from).unwrap_or_default();
        for reference in REFERENCE.captures_iter(&text) {
            let name = reference.get(1).or_else(|| reference.get(2)).filter(|name| is_documented(name.as_str()));
            let reference = |name: regex::Match<'_>| Reference {
                file: from.to_owned(),
                line: line_of(&text, name.start()),
                name: name.as_str().to_owned(),
            };
            found.extend(name.map(reference));
        }
    }
    found
}
