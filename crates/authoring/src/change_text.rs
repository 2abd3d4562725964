//! The title and the text of a commit and a pull request that the model did not summarize, made from the change.

use docent_agent::{Finish, FinishOutcome};
use docent_markdown::{is_page, parse};

/// Maximum number of files listed.
const MAX_FILES: usize = 20;

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageChange {
    pub(crate) path: String,
    pub(crate) kind: ChangeKind,
    /// The page's title, if it is a page and has one.
    pub(crate) title: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Added,
    Changed,
    Removed,
}

/// Completes the end of a turn from its changes: its title unless it has one, and its summary.
pub(crate) fn describe(finish: &mut Finish, changes: &[PageChange]) {
    if finish.title.is_empty() {
        let unfinished = matches!(finish.outcome, FinishOutcome::Stopped | FinishOutcome::Failed);
        finish.title = format!("{}{}", if unfinished { "Unfinished: " } else { "" }, title(changes));
    }
    if !finish.summary.is_empty() {
        finish.summary.push_str("\n\n");
    }
    finish.summary.push_str(&listed(changes));
}

fn title(changes: &[PageChange]) -> String {
    let verb = |kind| match kind {
        ChangeKind::Added => "Add",
        ChangeKind::Changed => "Change",
        ChangeKind::Removed => "Remove",
    };
    // The navigation and other files that follow a page are not what the change is about.
    let pages: Vec<&PageChange> = changes.iter().filter(|change| change.title.is_some()).collect();
    let pages = if pages.is_empty() { changes.iter().collect() } else { pages };
    let Some(first) = pages.first() else { return "Change the docs".to_owned() };
    let verb = if pages.iter().all(|page| page.kind == first.kind) { verb(first.kind) } else { "Change" };
    match (pages.as_slice(), &first.title) {
        ([_], Some(title)) => format!("{verb} “{title}”"),
        ([_], None) => format!("{verb} `{}`", first.path),
        (pages, Some(_)) => format!("{verb} {} pages", pages.len()),
        (pages, None) => format!("{verb} {} files", pages.len()),
    }
}

fn listed(changes: &[PageChange]) -> String {
    let line = |change: &PageChange| {
        let done = match change.kind {
            ChangeKind::Added => "Added",
            ChangeKind::Changed => "Changed",
            ChangeKind::Removed => "Removed",
        };
        format!("- {done} `{}`", change.path.replace('`', "'"))
    };
    let mut lines: Vec<String> = changes.iter().take(MAX_FILES).map(line).collect();
    if changes.len() > MAX_FILES {
        lines.push(format!("- … and {} more files", changes.len() - MAX_FILES));
    }
    lines.join("\n")
}

/// The title of a page, if a file is one.
pub(crate) fn title_of(path: &str, bytes: &[u8]) -> Option<String> {
    is_page(path).then(|| parse(path, bytes).title).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(outcome: FinishOutcome, title: &str, summary: &str) -> Finish {
        let [title, summary, words] = [title, summary, "I will call `finish` now."].map(str::to_owned);
        Finish { outcome, title, summary, words }
    }

    fn change(path: &str, kind: ChangeKind, title: Option<&str>) -> PageChange {
        PageChange { path: path.to_owned(), kind, title: title.map(str::to_owned) }
    }

    #[test]
    fn a_title_and_a_summary_are_made_from_the_change() {
        use ChangeKind::{Added, Changed, Removed};
        let nav = || change("docs.json", Changed, None);
        for (changes, title) in [
            (vec![nav(), change("a.md", Added, Some("Retries"))], "Add “Retries”"),
            (vec![change("a.md", Changed, Some("A")), change("b.md", Changed, Some("B"))], "Change 2 pages"),
            (vec![change("a.md", Removed, Some("A")), change("b.md", Added, Some("B"))], "Change 2 pages"),
            (vec![nav()], "Change `docs.json`"),
            (vec![nav(), change("a.css", Added, None)], "Change 2 files"),
        ] {
            let mut done = finish(FinishOutcome::Done, "", "");
            describe(&mut done, &changes);
            assert_eq!(done.title, title);
            assert_eq!(done.summary.lines().count(), changes.len(), "{}", done.summary);
        }
        let mut stopped = finish(FinishOutcome::Stopped, "", "It was stopped.");
        describe(&mut stopped, &[change("a.md", Added, Some("A"))]);
        assert_eq!(stopped.title, "Unfinished: Add “A”");
        assert_eq!(stopped.summary, "It was stopped.\n\n- Added `a.md`");
        assert_eq!(title_of("a.md", b"# A\n"), Some("A".to_owned()));
        assert_eq!(title_of("a.json", b"# A\n"), None);
    }
}
