//! The pages of a site as one folder shows them: what lies in it, and how much lies in the folders below.

use std::collections::BTreeMap;

/// What one line of an outline stands for. `P` is a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlined<'p, P> {
    Page(P),
    /// A folder below, by its own name, and how many pages are in it and below.
    Folder(&'p str, usize),
}

/// The outline of pages, each with its path below the folder, in the order of the pages: those that lie in the folder itself
/// or alone in a folder below, and the folders with more, each where its first page is.
pub fn outline<'p, P>(pages: impl IntoIterator<Item = (&'p str, P)>) -> Vec<Outlined<'p, P>> {
    let pages: Vec<(Option<&str>, P)> =
        pages.into_iter().map(|(path, page)| (path.split_once('/').map(|(folder, _)| folder), page)).collect();
    let mut counts = BTreeMap::<&str, usize>::new();
    pages.iter().filter_map(|(folder, _)| *folder).for_each(|folder| *counts.entry(folder).or_default() += 1);
    let lines = pages.into_iter().filter_map(|(folder, page)| match folder {
        None => Some(Outlined::Page(page)),
        // The first page of a folder stands for all of them.
        Some(folder) => match counts.remove(folder)? {
            1 => Some(Outlined::Page(page)),
            count => Some(Outlined::Folder(folder, count)),
        },
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_where_its_first_page_is_and_a_page_alone_in_one_for_itself() {
        let paths = ["", "b/1", "a", "c/only", "b/2", "b/x/3"];
        let lines = outline(paths.map(|path| (path, path)));
        let page = Outlined::Page;
        assert_eq!(lines, [page(""), Outlined::Folder("b", 3), page("a"), page("c/only")]);
    }
}
