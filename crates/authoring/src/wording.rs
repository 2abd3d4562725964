//! The texts of commits and pull requests.

use std::collections::BTreeMap;

use docent_agent::secrets;
use docent_types::JobId;

use crate::escape;
use crate::record::TurnSummary;

/// The longest first line of a commit, and title of a pull request, in characters.
const MAX_TITLE_CHARS: usize = 72;
/// Maximum number of characters quoted of an instruction, and of a summary.
const MAX_INSTRUCTION_CHARS: usize = 4_000;
const MAX_SUMMARY_CHARS: usize = 20_000;
/// Approximate limit of a pull request's description, in bytes: beyond it, the oldest turns are left out. Forges accept
/// slightly more.
const MAX_BODY_BYTES: usize = 48_000;
/// Maximum number of problems listed.
const MAX_PROBLEMS: usize = 20;

/// A title on one line, cut at a word boundary.
pub(crate) fn title(given: &str) -> String {
    let line = given.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("Update the docs");
    let line = escape::title(&line.split_whitespace().collect::<Vec<_>>().join(" "));
    if line.chars().count() <= MAX_TITLE_CHARS {
        return line;
    }
    let cut: String = line.chars().take(MAX_TITLE_CHARS - 1).collect();
    let kept = cut.rsplit_once(' ').map_or(cut.as_str(), |(kept, _)| kept);
    format!("{}…", kept.trim_end_matches([',', ';', ':', '.']))
}

/// The commit's message, without its trailers.
pub(crate) fn commit_message(raw_title: &str, summary: &str) -> String {
    format!("{}\n\n{}", title(raw_title), escape::plain(summary.trim()))
}

/// The kind of secret that a turn's texts seem to contain, before they go into a commit and a pull request.
pub(crate) fn secret_in(part: &TurnSummary) -> Option<&'static str> {
    secret_in_text([part.instructions.as_str(), &part.title, &part.summary].join("\n"))
}

/// The kind of secret that a text seems to contain.
pub(crate) fn secret_in_text(text: String) -> Option<&'static str> {
    const PATH: &str = "words";
    let after = BTreeMap::from([(PATH.to_owned(), text.into_bytes())]);
    let found = secrets(&BTreeMap::new(), &after, &[PATH.to_owned()]);
    found.first().map(|secret| secret.looks_like)
}

/// The problems as lines, followed by the number of those left out.
pub(crate) fn problems(found: &[impl ToString]) -> Vec<String> {
    let mut lines: Vec<String> = found.iter().take(MAX_PROBLEMS).map(ToString::to_string).collect();
    if found.len() > MAX_PROBLEMS {
        lines.push(format!("… and {} more", found.len() - MAX_PROBLEMS));
    }
    lines
}

/// The pull request's description: the instructions and summary of each turn, the check results of the newest, and the
/// author.
pub(crate) fn pull_request_body(parts: &[&TurnSummary], job: JobId) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut length = 0;
    for part in parts.iter().rev() {
        let text = part_text(part);
        length += text.len();
        if length > MAX_BODY_BYTES && !texts.is_empty() {
            texts.push("What was done before that is in the commits.\n\n".to_owned());
            break;
        }
        texts.push(text);
    }
    texts.reverse();
    let checked = parts.last().map(|part| checks_text(part)).unwrap_or_default();
    format!("{}{checked}{MADE_BY}{job}.\n", texts.concat())
}

/// The beginning of the last line of a description.
const MADE_BY: &str = "Made by Docent, job ";

/// The job that a pull request's description names as its author.
pub(crate) fn job_of(body: &str) -> Option<JobId> {
    JobId::parse(body.trim_end().lines().last()?.strip_prefix(MADE_BY)?.strip_suffix('.')?)
}

fn part_text(part: &TurnSummary) -> String {
    let instructions = escape::plain(&cut(&part.instructions, MAX_INSTRUCTION_CHARS));
    let instructions: Vec<String> =
        instructions.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    let summary = escape::markdown(&cut(part.summary.trim(), MAX_SUMMARY_CHARS));
    let paragraphs = [instructions.join("\n"), summary];
    paragraphs.iter().filter(|text| !text.is_empty()).map(|text| format!("{text}\n\n")).collect()
}

fn checks_text(part: &TurnSummary) -> String {
    let Some(problems) = &part.problems else { return String::new() };
    let listed = |lines: &[String]| {
        let lines: Vec<String> = lines.iter().map(|line| format!("- {}\n", escape::plain(line))).collect();
        format!("{}\n", lines.concat())
    };
    match (part.undecided.is_empty(), problems.is_empty()) {
        (true, true) => "Checked: links, navigation and front matter.\n\n".to_owned(),
        (true, false) => {
            format!("Checked: links, navigation and front matter. New problems are left:\n\n{}", listed(problems))
        }
        (false, true) => format!("Not everything could be checked:\n\n{}", listed(&part.undecided)),
        (false, false) => format!(
            "Not everything could be checked:\n\n{}New problems are left:\n\n{}",
            listed(&part.undecided),
            listed(problems)
        ),
    }
}

/// A text of at most `max_chars` characters.
fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(instructions: &str, summary: &str, problems: Option<&[&str]>) -> TurnSummary {
        let problems = problems.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
        let [instructions, title, summary] = [instructions, "", summary].map(str::to_owned);
        TurnSummary { instructions, title, summary, problems, undecided: Vec::new() }
    }

    fn job() -> JobId {
        JobId::new(uuid::Uuid::from_u128(7))
    }

    #[test]
    fn a_pull_request_tells_turn_by_turn_what_was_asked_and_what_was_done() {
        let parts = [part("Do this.\n\nAnd that.", "Did both.\n", Some(&["old"])), part("", "Did more.", None)];
        assert_eq!(
            pull_request_body(&parts.each_ref(), job()),
            format!("> Do this.\n>\n> And that.\n\nDid both.\n\nDid more.\n\nMade by Docent, job {}.\n", job())
        );
    }

    #[test]
    fn a_pull_request_says_what_the_checks_left_and_which_job_made_it() {
        let made = format!("Made by Docent, job {}.\n", job());
        let fine = part("Do.", "Did.", Some(&[]));
        assert_eq!(
            pull_request_body(&[&fine], job()),
            format!("> Do.\n\nDid.\n\nChecked: links, navigation and front matter.\n\n{made}")
        );
        let broken = part("Do.", "Did.", Some(&["a.md:1 is broken"]));
        assert!(pull_request_body(&[&broken], job()).contains("are left:\n\n- a.md:1 is broken\n\nMade by"));
        let unsure = TurnSummary { undecided: vec!["2 links are not understood".into()], ..fine };
        let body = pull_request_body(&[&unsure], job());
        assert!(body.contains("could be checked:\n\n- 2 links are not understood\n\nMade by"), "{body}");
        assert!(!body.contains("Checked"), "{body}");
    }

    #[test]
    fn a_pull_request_of_many_turns_keeps_the_newest() {
        let parts: Vec<TurnSummary> =
            (0..40).map(|turn| part("Go on.", &format!("{turn}: {}", "x".repeat(3_000)), None)).collect();
        let body = pull_request_body(&parts.iter().collect::<Vec<_>>(), job());
        assert!(body.len() < 60_000 && body.contains("39: x") && !body.contains("\n0: x"), "{} bytes", body.len());
        assert!(body.starts_with("What was done before that"));
    }

    #[test]
    fn a_long_instruction_is_quoted_in_part() {
        let asked = pull_request_body(&[&part(&"ü".repeat(100_000), "Did.", None)], job());
        assert!(asked.chars().count() < 5_000 && asked.contains("ü …\n"), "{}", asked.len());
    }

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(title("\n  Rename   things \nmore"), "Rename things");
        assert_eq!(title(" \n "), "Update the docs");
        let long = title(&"word ".repeat(40));
        assert!(long.chars().count() <= MAX_TITLE_CHARS && long.ends_with("word…"), "{long}");
        assert!(title(&"@ü ".repeat(200)).chars().count() <= MAX_TITLE_CHARS);
        assert_eq!(title("Thank @ann"), "Thank @\u{2060}ann");
    }
}
