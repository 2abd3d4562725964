//! What earlier commits say about the files of a tree.

use docent_markdown::{Page, text_of};

/// The history of the files of a tree.
pub trait History {
    /// The current path of the file that had this path in an earlier commit.
    fn moved(&self, _old: &str) -> Option<String> {
        None
    }

    /// The latest former content of a file that `is_wanted`.
    fn former(&self, _path: &str, _is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Option<Vec<u8>> {
        None
    }
}

/// Says nothing about any file.
#[cfg(test)]
pub(crate) struct NoHistory;

#[cfg(test)]
impl History for NoHistory {}

/// The anchor of the heading that a page has in place of a former one: of the same level, new on the page, and with more
/// than half of its section's lines. `None` unless it is exactly one.
pub(crate) fn renamed_heading<'p>(anchor: &str, former: (&Page, &[u8]), now: (&'p Page, &[u8])) -> Option<&'p str> {
    let (former_page, former_text) = (former.0, text_of(former.1));
    let (page, text) = (now.0, text_of(now.1));
    let place = former_page.headings.iter().position(|heading| heading.anchor == anchor)?;
    let section = section(former_page, &former_text, place);
    let mut found = (0..page.headings.len()).filter(|&other| {
        let heading = &page.headings[other];
        heading.level == former_page.headings[place].level
            && !heading.anchor.is_empty()
            && !former_page.has_anchor(&heading.anchor)
            && are_alike(&section, &self::section(page, &text, other))
    });
    let one = found.next().filter(|_| found.next().is_none())?;
    Some(&page.headings[one].anchor)
}

/// The lines below a heading, up to the next one of its level or above; blank lines are left out.
fn section<'t>(page: &Page, text: &'t str, place: usize) -> Vec<&'t str> {
    let heading = &page.headings[place];
    let next = page.headings[place + 1..].iter().find(|next| next.level <= heading.level);
    let end = next.map_or(text.len(), |next| next.span.start);
    let lines = text.get(heading.span.end..end).unwrap_or_default().lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect()
}

/// Whether two sections have more than half of the longer one's lines in common.
fn are_alike(one: &[&str], other: &[&str]) -> bool {
    let mut rest = other.to_vec();
    let shared = one.iter().filter(|line| {
        let at = rest.iter().position(|other| other == *line);
        at.map(|at| rest.swap_remove(at)).is_some()
    });
    shared.count() * 2 > one.len().max(other.len())
}

/// Whether a text has a line with all words of an anchor in their order, as its heading has.
pub(crate) fn may_have_heading(bytes: &[u8], anchor: &str) -> bool {
    let anchor = anchor.to_lowercase();
    let words: Vec<&str> = anchor.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    text_of(bytes).lines().any(|line| {
        let line = line.to_lowercase();
        let mut rest = line.as_str();
        words.iter().all(|word| match rest.find(word) {
            Some(at) => {
                rest = &rest[at + word.len()..];
                true
            }
            None => false,
        })
    })
}

#[cfg(test)]
mod tests {
    use docent_markdown::parse;

    use super::*;

    fn renamed(anchor: &str, former: &str, now: &str) -> Option<String> {
        let (former_page, page) = (parse("a.md", former.as_bytes()), parse("a.md", now.as_bytes()));
        renamed_heading(anchor, (&former_page, former.as_bytes()), (&page, now.as_bytes())).map(str::to_owned)
    }

    #[test]
    fn a_heading_was_renamed_where_its_section_stayed() {
        let former = "# A\n\n## Set up\n\nRun it.\n\n### On Linux\n\nSo.\n\n## Limits\n\nNone.\n\n## Empty\n";
        let now = former.replace("## Set up", "## Install").replace("## Empty", "## Void");
        assert_eq!(renamed("set-up", former, &now).as_deref(), Some("install"));
        assert_eq!(renamed("limits", former, &former.replace("## Limits", "### Limits of it")), None, "another level");
        assert_eq!(renamed("empty", former, &now), None, "nothing stayed");
        assert_eq!(renamed("set-up", former, &now.replace("Run it.", "a\nb\nc")), None, "another section");
        assert_eq!(renamed("nowhere", former, &now), None);
        let twice = format!("{now}\n## Install again\n\nRun it.\n\n### On Linux\n\nSo.\n");
        assert_eq!(renamed("set-up", former, &twice), None, "two of them");
        assert_eq!(renamed("limits", former, "# A\n\n## Set up\n\nNone.\n"), None, "it was there before");
    }

    #[test]
    fn a_line_may_be_the_heading_of_an_anchor() {
        for (text, anchor, expected) in [
            ("## What's new?\n", "whats-new", false),
            ("## What's new?\n", "what-s-new", true),
            ("Before you\nbegin\n", "_before_you_begin", false),
            ("== Before you begin", "_before_you_begin", true),
            ("## Begin before", "before-begin", false),
        ] {
            assert_eq!(may_have_heading(text.as_bytes(), anchor), expected, "{text} {anchor}");
        }
    }
}
