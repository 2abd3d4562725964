//! `docent index`: fetches a docs site and updates its index, with a progress bar.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_quarantine::SetAsideRecord;
use docent_search::{Oddity, Progress, Skipped, Snapshot, Source as _, Stage, Summary};
use docent_types::{Domain, Project};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::cli::IndexArgs;
use crate::commands::projects::no_pages;
use crate::failure::Failure;
use crate::output;
use crate::wiring::app::App;

/// Maximum number of warnings that are printed.
const TOLD: usize = 10;
/// Number of example files that are named per reason for skipping.
const EXAMPLES: usize = 3;

pub(crate) async fn run(app: &App, args: &IndexArgs, json: bool) -> Result<(), Failure> {
    let project = project_of(app, &args.domain).await?;
    let began = Instant::now();
    if args.retry {
        app.quarantine.retry();
    }
    let summary = index(app, &project).await?;
    if args.retry {
        release(app, &project)?;
    }
    let took = began.elapsed();
    if json { output::json(&as_json(&project, &summary, took)) } else { output::line(shown(&summary, took)) }?;
    if summary.pages == 0 { Err(Failure::plain(nothing_found(&project, &summary))) } else { Ok(()) }
}

/// The blob ids of a project's files, as last fetched.
pub(crate) fn blobs(app: &App, project: &Project) -> Result<HashSet<String>, Failure> {
    let Some(docs) = app.repositories.fetched_docs(project) else { return Ok(HashSet::new()) };
    let files = docs.files().and_then(|files| Ok([files, docs.files_outside()?].concat()));
    let files = files.map_err(|error| Failure::new("cannot list the docs", error))?;
    Ok(files.into_iter().map(|file| file.blob).collect())
}

/// Takes out of the quarantine what has just been read without ending the process: all of this project, and what others
/// have of the same content.
fn release(app: &App, project: &Project) -> Result<(), Failure> {
    let blobs = blobs(app, project)?;
    let scope = project.uid.to_string();
    let is_read = |record: &SetAsideRecord| record.subject.scope == scope || blobs.contains(&record.subject.key);
    app.quarantine.clear(is_read).map_err(|error| Failure::new("cannot change what is set aside", error))
}

/// A summary as JSON.
fn as_json(project: &Project, summary: &Summary, took: Duration) -> Value {
    let odd = |odd: &Oddity| json!({ "file": odd.file, "line": odd.line, "message": odd.message });
    json!({
        "domain": project.domain,
        "commit": summary.commit,
        "pages": summary.pages,
        "sections": summary.sections,
        "added": summary.added,
        "changed": summary.changed,
        "removed": summary.removed,
        "millis": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "odd": summary.odd.iter().map(odd).collect::<Vec<_>>(),
        "oddInAll": summary.odd_in_all,
        "generator": summary.generator,
        "folders": summary.folders,
        "skipped": summary.skipped.iter().map(skipped).collect::<Vec<_>>(),
    })
}

fn skipped(skipped: &Skipped) -> Value {
    json!({ "reason": skipped.reason.as_str(), "files": skipped.count, "examples": skipped.examples })
}

/// The skipped files, grouped by reason: “3 hidden (a.md, b.md, …)”.
pub(crate) fn reasons(skipped: &[Skipped]) -> Vec<String> {
    let reason = |skipped: &Skipped| {
        let Skipped { reason, count, examples } = skipped;
        let named = &examples[..examples.len().min(EXAMPLES)];
        let more = if *count > named.len() { ", …" } else { "" };
        format!("{count} {} ({}{more})", reason.label(), named.join(", "))
    };
    skipped.iter().map(reason).collect()
}

/// The error for docs without a page: where they were searched for, and which files were skipped.
fn nothing_found(project: &Project, summary: &Summary) -> String {
    let mut text = no_pages(project);
    let folders: Vec<String> =
        summary.folders.iter().filter(|folder| !folder.is_empty()).map(|folder| format!("`{folder}`")).collect();
    if !folders.is_empty() {
        text.push_str(&format!("; by its configuration the site is one of {}", summary.generator));
        text.push_str(&format!(", which takes its pages from {}", folders.join(", ")));
    }
    if !summary.skipped.is_empty() {
        text.push_str(&format!("; skipped: {}", reasons(&summary.skipped).join("; ")));
    }
    text
}

/// A summary as text.
fn shown(summary: &Summary, took: Duration) -> String {
    let mut text = format!(
        "{} pages in {} sections ({} added, {} changed, {} removed) in {:.2} s",
        summary.pages,
        summary.sections,
        summary.added,
        summary.changed,
        summary.removed,
        took.as_secs_f64()
    );
    if !summary.skipped.is_empty() {
        text.push_str("\n\nskipped:");
        reasons(&summary.skipped).iter().for_each(|reason| text.push_str(&format!("\n  {reason}")));
    }
    if summary.odd_in_all > 0 {
        text.push_str("\n\nodd:\n");
    }
    for Oddity { file, line, message } in summary.odd.iter().take(TOLD) {
        text.push_str(&format!("  {file}:{line}: {message}\n"));
    }
    let more = summary.odd_in_all.saturating_sub(TOLD.min(summary.odd.len()));
    if more > 0 {
        let listed = if summary.odd.len() > TOLD { "; `--json` lists more" } else { "" };
        text.push_str(&format!("  and {more} more{listed}\n"));
    }
    text.truncate(text.trim_end().len());
    text
}

/// The project with this domain.
pub(crate) async fn project_of(app: &App, domain: &str) -> Result<Project, Failure> {
    let domain = Domain::parse(domain).map_err(|error| Failure::usage(error.to_string()))?;
    let found = app.projects().by_domain(&domain).await?;
    found.ok_or_else(|| Failure::plain(format!("no project has the domain `{domain}`; see `docent project list`")))
}

/// The index of a site. A site without an index is indexed first.
pub(crate) async fn indexed(app: &App, project: &Project) -> Result<Arc<Snapshot>, Failure> {
    if let Some(docs) = app.indexes.snapshot(project.uid)? {
        return Ok(docs);
    }
    output::print_note(format_args!("`{}` was never indexed; reading {} first", project.domain, project.repository));
    index(app, project).await?;
    Ok(app.indexes.open(project.uid)?.snapshot())
}

/// Fetches and indexes a site, with a progress bar on a terminal.
pub(crate) async fn index(app: &App, project: &Project) -> Result<Summary, Failure> {
    let bar = bar();
    bar.set_message(format!("fetching {}", project.repository));
    let shown = bar.clone();
    let summary = app.index(project, move |progress| show(&shown, &progress)).await;
    let shown = bar.clone();
    if summary.is_ok()
        && let Err(failure) =
            app.embed(project, CancellationToken::new(), move |progress| show(&shown, &progress)).await
    {
        // Search by words works without the vectors.
        warn!(domain = %project.domain, "some sections have no vectors yet: {failure}");
    }
    bar.finish_and_clear();
    summary
}

/// A progress bar on stderr; hidden if that is not a terminal.
pub(crate) fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn show(bar: &ProgressBar, progress: &Progress) {
    bar.set_length(progress.total as u64);
    bar.set_position(progress.done as u64);
    bar.set_message(match progress.stage {
        Stage::Reading => "reading pages",
        Stage::Writing => "writing the index",
        Stage::Embedding => "embedding sections",
    });
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use docent_refactor::{Change, add_descriptions, add_titles, replace_text};
    use docent_search::{Index, Query, Source, SourceFile};
    use docent_site::{SkipReason, Tree};
    use docent_types::BoxError;

    use super::*;

    /// The sample site, with its files on the disk.
    struct Sample(PathBuf);

    impl Sample {
        fn new() -> Self {
            Self(Path::new(env!("CARGO_MANIFEST_DIR")).join("sample"))
        }
    }

    impl Tree for Sample {
        fn paths(&self) -> Vec<String> {
            let mut folders = vec![self.0.clone()];
            let mut files = Vec::new();
            while let Some(folder) = folders.pop() {
                for entry in std::fs::read_dir(folder).expect("a folder") {
                    let path = entry.expect("an entry").path();
                    if path.is_dir() {
                        folders.push(path);
                    } else {
                        let inside = path.strip_prefix(&self.0).expect("a path inside");
                        files.push(inside.to_str().expect("UTF-8").to_owned());
                    }
                }
            }
            files
        }

        fn read(&self, path: &str) -> Option<Vec<u8>> {
            std::fs::read(self.0.join(path)).ok()
        }
    }

    impl Source for Sample {
        fn commit(&self) -> &str {
            "sample"
        }

        fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
            Ok(self.paths().into_iter().map(|path| SourceFile { blob: path.clone(), path }).collect())
        }

        fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
            Ok(std::fs::read(self.0.join(&file.path))?)
        }
    }

    fn summary(odd: usize, odd_in_all: usize) -> Summary {
        let oddity = |line| Oddity { file: "a.md".to_owned(), line, message: "an odd one".to_owned() };
        Summary {
            commit: "c1".to_owned(),
            pages: 3,
            sections: 9,
            added: 1,
            changed: 2,
            removed: 0,
            odd: (1..=odd).map(oddity).collect(),
            odd_in_all,
            skipped: Vec::new(),
            generator: "no generator",
            folders: vec![String::new()],
            published: true,
            took: Duration::ZERO,
        }
    }

    #[test]
    fn oddities_follow_the_summary() {
        let shown = |odd, in_all| shown(&summary(odd, in_all), Duration::from_millis(1234));
        let first = "3 pages in 9 sections (1 added, 2 changed, 0 removed) in 1.23 s";
        assert_eq!(shown(0, 0), first);
        assert_eq!(shown(1, 1), format!("{first}\n\nodd:\n  a.md:1: an odd one"));
        let many = shown(100, 250);
        assert!(many.ends_with("  a.md:10: an odd one\n  and 240 more; `--json` lists more"), "{many}");
    }

    #[test]
    fn skipped_files_follow_the_summary() {
        let skip = |reason, count, examples: &[&str]| Skipped {
            reason,
            count,
            examples: examples.iter().map(|file| (*file).to_owned()).collect(),
        };
        let skipped = vec![
            skip(SkipReason::Hidden, 1, &["a.md"]),
            skip(SkipReason::Unsupported, 7, &["a.org", "b.org", "c.org", "d.org", "e.org"]),
        ];
        let shown = shown(&Summary { skipped, ..summary(0, 0) }, Duration::ZERO);
        let lines = "\n\nskipped:\n  1 hidden (a.md)\n  7 unsupported (a.org, b.org, c.org, …)";
        assert!(shown.ends_with(lines), "{shown}");
    }

    #[test]
    fn the_sample_has_thirty_pages_and_readers_find_no_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let index = Index::open(folder.path()).expect("an index");
        let summary = index.update(&Sample::new(), &mut |_| ()).expect("indexed");
        let snapshot = index.snapshot();
        assert_eq!((summary.pages, snapshot.page_count()), (30, 30));
        for path in ["AGENTS", "AGENTS.md", "snippets/delivery-headers"] {
            assert!(!snapshot.has_page(path), "{path}");
        }
        // The beginnings of the snippet and of the file for editors.
        for question in
            ["Larkspur-Delivery Larkspur-Signature headers of each delivery", "writing these docs style agents"]
        {
            let found = snapshot.search(&Query { text: question.to_owned(), limit: 50, ..Query::default() });
            assert!(found.iter().all(|passage| snapshot.has_page(&passage.path)), "{question}");
        }
    }

    #[test]
    fn chores_on_the_sample_touch_the_pages_that_lack_something() {
        let sample = Sample::new();
        let touched = |changes: &[Change]| changes.iter().map(|change| change.path().to_owned()).collect::<Vec<_>>();
        let described = add_descriptions(&sample, &[]).expect("descriptions");
        assert_eq!(touched(&described.changes), ["concepts/ordering.mdx", "operations/backups.md"]);
        assert_eq!(touched(&add_titles(&sample, &[]).expect("titles").changes), Vec::<String>::new());
        let renamed = touched(&replace_text(&sample, "Larkspur", "Foxglove", &[]).expect("replaced").changes);
        // In the snippet the name is part of a protocol's header, so it is not renamed.
        for (path, is_renamed) in [("AGENTS.md", true), ("snippets/delivery-headers.mdx", false), ("index.mdx", true)] {
            assert_eq!(renamed.iter().any(|renamed| renamed == path), is_renamed, "{path}");
        }
    }
}
