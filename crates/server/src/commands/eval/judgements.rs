//! Parses relevance judgements: which pages answer which question, and how well.
//!
//! ```text
//! question  page  grade            separated by tabs, or by spaces if the line has no tab
//! question  0  page  grade         TREC's format; the second column is ignored
//! ```

use std::collections::{BTreeMap, HashMap};

use super::lines::{LineError, Lines};

/// Maximum grade. A grade counts as two to its power, so a higher one is a mistake.
const HIGHEST: u32 = 30;

/// The grades of pages by question, with the names of pages verbatim. A page that answers nothing has grade 0.
pub(super) type Judgements = HashMap<String, BTreeMap<String, u32>>;

/// Parses all judgements.
pub(super) fn parse(lines: &Lines) -> Result<Judgements, LineError> {
    let mut judgements = Judgements::new();
    for (number, line) in lines.iter() {
        let (question, page, grade) = judgement(line).map_err(|sentence| lines.error_at(number, sentence))?;
        let pages = judgements.entry(question.to_owned()).or_default();
        if pages.insert(page.to_owned(), grade).is_some() {
            return Err(lines.error_at(number, format!("`{page}` is judged a second time for question `{question}`")));
        }
    }
    Ok(judgements)
}

fn judgement(line: &str) -> Result<(&str, &str, u32), String> {
    let columns: Vec<&str> =
        if line.contains('\t') { line.split('\t').map(str::trim).collect() } else { line.split_whitespace().collect() };
    let (question, page, grade) = match columns[..] {
        [question, page, grade] | [question, _, page, grade] => (question, page, grade),
        _ => {
            let found = columns.len();
            return Err(format!("{found} columns; write `question page grade` with tabs between, or TREC's four"));
        }
    };
    if question.is_empty() || page.is_empty() {
        return Err("a question and a page must be named; the front page is `/`".to_owned());
    }
    match grade.parse() {
        Ok(grade) if grade <= HIGHEST => Ok((question, page, grade)),
        _ => Err(format!("the grade must be a whole number from 0 to {HIGHEST}, not `{grade}`")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_columns_and_four_say_the_same() {
        let tabs = parse(&Lines::of("q1\t/guides/a\t2\nq1\tguides/my page\t0\r\nq2\t/\t1\n")).expect("judgements");
        assert_eq!(tabs["q1"], BTreeMap::from([("/guides/a".to_owned(), 2), ("guides/my page".to_owned(), 0)]));
        assert_eq!(tabs["q2"], BTreeMap::from([("/".to_owned(), 1)]));
        let trec = parse(&Lines::of("q1 0 /guides/a  2\nq1\tQ0\tguides/my page\t0\nq2 / 1")).expect("judgements");
        assert_eq!(trec, tabs);
    }

    #[test]
    fn what_is_no_judgement_is_named_with_its_line() {
        for (text, said) in [
            ("query\tpage\tgrade", "F:1: the grade must be a whole number from 0 to 30, not `grade`"),
            ("q a 1\nq a", "F:2: 2 columns; write"),
            ("q a 1\n\nq a -1", "F:3: the grade must be"),
            ("q\t\t1", "F:1: a question and a page must be named"),
            ("q a 1\nq 0 a 2", "F:2: `a` is judged a second time for question `q`"),
        ] {
            let error = parse(&Lines::of(text)).expect_err(text).to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judgements_or_a_sentence(text in "(\\PC|\n|\t|[0-9]){0,200}") {
            if let Err(error) = parse(&Lines::of(&text)) {
                prop_assert!(error.to_string().starts_with("F:"));
            }
        }

        #[test]
        fn what_is_written_is_read(
            written in proptest::collection::btree_map(("[a-z]{1,3}", "/?[a-z]{1,3}(/[a-z .]{0,3}[a-z])?"), 0..31_u32, 0..9),
            trec: bool,
        ) {
            let between = if trec { "\t0\t" } else { "\t" };
            let lines: Vec<String> =
                written.iter().map(|((question, page), grade)| format!("{question}{between}{page}\t{grade}")).collect();
            let read = parse(&Lines::of(&lines.join("\n"))).expect("judgements");
            let all: usize = read.values().map(BTreeMap::len).sum();
            prop_assert_eq!(all, written.len());
            for ((question, page), grade) in written {
                prop_assert_eq!(read[&question][&page], grade);
            }
        }
    }
}
