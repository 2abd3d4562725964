//! Titles of pull requests, and the prefixes that mark drafts on some forges.

/// The prefixes that GitLab recognises as draft marks.
pub(crate) const GITLAB: &[&str] = &["Draft:", "[Draft]", "(Draft)"];
/// The default prefixes of Gitea and Forgejo.
pub(crate) const GITEA: &[&str] = &["WIP:", "[WIP]"];

/// The title length that every forge accepts, in characters.
const LIMIT: usize = 255;

/// The title on one line, cut to [`LIMIT`].
pub(crate) fn plain(title: &str) -> String {
    cut(&title.split_whitespace().collect::<Vec<_>>().join(" "), LIMIT)
}

/// The title with the first of these marks if it is a draft, and with none otherwise.
pub(crate) fn marked(title: &str, marks: &[&str], draft: bool) -> String {
    let whole = plain(title);
    let mut bare = whole.as_str();
    while let Some(rest) = after_mark(bare, marks) {
        bare = rest;
    }
    let bare = if bare.is_empty() { whole.as_str() } else { bare };
    match marks.first().filter(|_| draft) {
        Some(mark) => cut(&format!("{mark} {bare}"), LIMIT),
        None => bare.to_owned(),
    }
}

pub(crate) fn is_marked(title: &str, marks: &[&str]) -> bool {
    after_mark(title, marks).is_some()
}

fn after_mark<'a>(title: &'a str, marks: &[&str]) -> Option<&'a str> {
    let title = title.trim_start();
    let starts = |mark: &&&str| title.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    marks.iter().find(starts).map(|mark| title[mark.len()..].trim_start())
}

/// The text cut to this many characters, with an ellipsis if something was cut.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_marked_once_and_a_ready_one_not_at_all() {
        for (title, draft, expected) in [
            ("Rename it", false, "Rename it"),
            ("Rename it", true, "Draft: Rename it"),
            ("draft: Rename it", true, "Draft: Rename it"),
            ("Draft: [draft] Rename it", false, "Rename it"),
            ("Draft guidelines", false, "Draft guidelines"),
            ("Draft:", false, "Draft:"),
            ("  two\n lines ", false, "two lines"),
            ("", true, "Draft: "),
        ] {
            assert_eq!(marked(title, GITLAB, draft), expected, "{title:?}");
        }
        assert_eq!(marked("Name it", GITEA, true), "WIP: Name it");
        assert!(is_marked("[wip] x", GITEA) && !is_marked("wipe it", GITEA));
    }

    #[test]
    fn a_long_title_is_cut_between_characters() {
        let long = "ä".repeat(400);
        assert_eq!(plain(&long).chars().count(), LIMIT);
        assert_eq!(marked(&long, GITEA, true).chars().count(), LIMIT);
    }
}
