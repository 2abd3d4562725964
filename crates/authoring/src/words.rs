//! The words of commits and pull requests.

use std::collections::BTreeMap;

use docent_agent::secrets;
use docent_types::JobId;

use crate::record::Part;

/// The longest first line of a commit, and title of a pull request, in characters.
const TITLE: usize = 72;

/// A title on one line, cut at a word.
pub(crate) fn title(given: &str) -> String {
    let line = given.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Update the docs");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE {
        return line;
    }
    let cut: String = line.chars().take(TITLE - 1).collect();
    let kept = cut.rsplit_once(' ').map_or(cut.as_str(), |(kept, _)| kept);
    format!("{}…", kept.trim_end_matches([',', ';', ':', '.']))
}

/// The commit's message. The trailer ties the commit to its job.
pub(crate) fn commit_message(title_given: &str, summary: &str, job: JobId) -> String {
    let summary = summary.trim();
    let body = if summary.is_empty() { String::new() } else { format!("{summary}\n\n") };
    format!("{}\n\n{body}Docent-Job: {job}\n", title(title_given))
}

/// What a turn's words seem to give away: they are about to stand in a commit and a pull request.
pub(crate) fn secret_in(part: &Part) -> Option<&'static str> {
    const WORDS: &str = "words";
    let text = [part.asked.as_str(), &part.title, &part.summary].join("\n");
    let after = BTreeMap::from([(WORDS.to_owned(), text.into_bytes())]);
    let found = secrets(&BTreeMap::new(), &after, &[WORDS.to_owned()]);
    found.first().map(|secret| secret.looks_like)
}

/// The pull request's description: turn by turn what was asked and what was done, and by whom.
pub(crate) fn pull_request_body(parts: &[&Part], job: JobId) -> String {
    let mut body = String::new();
    for part in parts {
        let asked: Vec<String> = part.asked.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
        for paragraph in [asked.join("\n").as_str(), part.summary.trim()] {
            if !paragraph.is_empty() {
                body.push_str(&format!("{paragraph}\n\n"));
            }
        }
    }
    format!("{body}Made by Docent, job {job}.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_tells_turn_by_turn_what_was_asked_and_what_was_done() {
        let part = |asked: &str, summary: &str| {
            let [asked, title, summary] = [asked, "", summary].map(str::to_owned);
            Part { asked, title, summary }
        };
        let parts = [part("Do this.\n\nAnd that.", "Did both.\n"), part("", "Did more.")];
        let job = JobId::new(uuid::Uuid::from_u128(7));
        assert_eq!(
            pull_request_body(&parts.each_ref(), job),
            format!("> Do this.\n>\n> And that.\n\nDid both.\n\nDid more.\n\nMade by Docent, job {job}.\n")
        );
    }

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(title("\n  Rename   things \nmore"), "Rename things");
        assert_eq!(title(" \n "), "Update the docs");
        let long = title(&"word ".repeat(40));
        assert!(long.chars().count() <= TITLE && long.ends_with("word…"), "{long}");
        assert!(title(&"ü".repeat(200)).chars().count() <= TITLE);
    }
}
