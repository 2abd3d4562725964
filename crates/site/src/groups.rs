//! The names of the groups around a page in the navigation.

use std::sync::Arc;

/// Outermost first. All pages of a group share one list, and long names are cut: a name is repeated for each page.
pub(crate) type Groups = Arc<[String]>;

/// Maximum length of a name, in bytes.
pub(crate) const LONGEST_LABEL: usize = 120;

/// Maximum number of enclosing group names that are kept for a page; the outermost are kept.
pub(crate) const MOST_GROUPS: usize = 10;

/// The groups inside of another one; without a name they are those around it.
pub(crate) fn inside<'n>(around: &Groups, names: impl IntoIterator<Item = &'n str>) -> Groups {
    let mut names = names.into_iter().peekable();
    if names.peek().is_none() {
        return Arc::clone(around);
    }
    around.iter().cloned().chain(names.map(label)).take(MOST_GROUPS).collect()
}

/// A name, cut to the maximum length.
pub(crate) fn label(name: &str) -> String {
    name[..name.floor_char_boundary(LONGEST_LABEL)].to_owned()
}
