//! `docent index`: fetch a docs site and bring its index up to date, with progress.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use docent_search::{Progress, Stage, Summary};
use docent_types::{Domain, Project};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::app::App;
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(app: &App, domain: &str, json: bool) -> Result<(), Failure> {
    let project = project_of(app, domain).await?;
    let began = Instant::now();
    let summary = index(app, &project).await?;
    if json {
        return output::line(json!({
            "domain": project.domain,
            "commit": summary.commit,
            "pages": summary.pages,
            "sections": summary.sections,
            "added": summary.added,
            "changed": summary.changed,
            "removed": summary.removed,
            "millis": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }));
    }
    output::line(format_args!(
        "{} pages in {} sections ({} added, {} changed, {} removed) in {:.2} s",
        summary.pages,
        summary.sections,
        summary.added,
        summary.changed,
        summary.removed,
        began.elapsed().as_secs_f64()
    ))
}

/// The project that serves a domain.
pub(crate) async fn project_of(app: &App, domain: &str) -> Result<Project, Failure> {
    let domain = Domain::parse(domain).map_err(|error| Failure::usage(error.to_string()))?;
    let found = app.projects().by_domain(&domain).await?;
    found.ok_or_else(|| Failure::plain(format!("no project has the domain `{domain}`; see `docent project list`")))
}

/// Fetches and indexes, with a progress bar on a terminal.
pub(crate) async fn index(app: &App, project: &Project) -> Result<Summary, Failure> {
    let bar = bar();
    bar.set_message(format!("fetching {}", project.repository));
    let shown = bar.clone();
    let summary = app.index(project, move |progress| show(&shown, &progress)).await;
    bar.finish_and_clear();
    summary
}

fn bar() -> ProgressBar {
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
    });
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use docent_pages::Tree;
    use docent_pages::refactor::{Change, add_descriptions, add_titles, replace_text};
    use docent_search::{Index, Query, Source, SourceFile};
    use docent_types::BoxError;

    /// The sample site, as its files lie on the disk.
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
        // The first words of the snippet and of the file for editors.
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
        for path in ["AGENTS.md", "snippets/delivery-headers.mdx", "index.mdx"] {
            assert!(renamed.iter().any(|renamed| renamed == path), "{path}");
        }
    }
}
