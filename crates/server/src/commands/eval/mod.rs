//! `docent eval`: measures how well a site's search answers questions whose right pages are known.
//!
//! The questions are searched in the index of the data folder, in the same way as the search endpoint does, one after
//! the other. So a team can measure its docs and settings with its readers' questions.

mod judged;
mod judgements;
mod lines;
mod questions;
mod report;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use docent_search::Snapshot;

use self::judged::EvaluatedQuestion;
use self::lines::Lines;
use self::report::Report;
use crate::cli::EvalArgs;
use crate::commands::index;
use crate::failure::Failure;
use crate::output;
use crate::wiring::app::App;

pub(crate) async fn run(app: &App, args: &EvalArgs, json: bool) -> Result<(), Failure> {
    let project = index::project_of(app, &args.domain).await?;
    let (queries, qrels) = (Lines::read(&args.queries)?, Lines::read(&args.qrels)?);
    let (questions, judgements) = (questions::parse(&queries)?, judgements::parse(&qrels)?);
    let docs = index::indexed(app, &project).await?;
    let bar = index::bar();
    bar.set_length(questions.len() as u64);
    bar.set_message("asking");
    let judged =
        judged::judge(&docs, &questions, &judgements, args.limit.into(), |asked| bar.set_position(asked as u64)).await;
    bar.finish_and_clear();
    if judged.is_empty() {
        let (queries, qrels) = (queries.file(), qrels.file());
        return Err(Failure::plain(format!("no question of {queries} has a right page in {qrels}; compare their ids")));
    }
    if let Some(file) = &args.save_run {
        save(file, &judged)?;
    }
    let ids: HashSet<&str> = questions.iter().map(|question| question.id.as_str()).collect();
    let report = Report {
        domain: project.domain.to_string(),
        commit: commit(&docs),
        pages: docs.page_count(),
        questions: questions.len(),
        unknown: judgements.keys().filter(|id| !ids.contains(id.as_str())).count(),
        judged,
    };
    for warning in report.warnings() {
        output::print_note(format_args!("warning: {warning}"));
    }
    if json { output::json(&report.json()) } else { output::line(report.text()) }
}

fn commit(docs: &Snapshot) -> String {
    docs.commit().unwrap_or_default().to_owned()
}

/// Writes the results in TREC's run format: question, `Q0`, page, rank, score, name of the system.
fn save(file: &Path, judged: &[EvaluatedQuestion]) -> Result<(), Failure> {
    std::fs::write(file, run_file(judged))
        .map_err(|error| Failure::new(format!("cannot write {}", file.display()), error))
}

fn run_file(judged: &[EvaluatedQuestion]) -> String {
    let mut text = String::new();
    for judged in judged {
        for (at, (path, score)) in judged.found.iter().enumerate() {
            // The name from the judgements, so that the two files can be compared.
            let right = judged.right.iter().find(|right| right.path.as_ref() == Some(path));
            let page = right.map_or_else(|| format!("/{path}"), |right| right.written.clone());
            let _ = writeln!(text, "{}\tQ0\t{page}\t{}\t{score}\tdocent", judged.id, at + 1);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::judged::tests::judged;
    use super::*;

    #[test]
    fn a_saved_run_names_pages_as_the_judgements_do() {
        let mut odd = judged("q 1", &[("guides/a", true, 1)], &["b", "guides/a", ""]);
        odd.right[0].written = "guides/a.md".to_owned();
        let saved = "q 1\tQ0\t/b\t1\t0.5\tdocent\nq 1\tQ0\tguides/a.md\t2\t0.5\tdocent\nq 1\tQ0\t/\t3\t0.5\tdocent\n";
        assert_eq!(run_file(&[odd]), saved);
    }
}
