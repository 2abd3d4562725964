//! The page of one pull request.

use docent_authoring::FileDiff;
use docent_forge::{Record, State};
use docent_types::Project;
use maud::{DOCTYPE, Markup, html};

/// Lines of one file's diff that are shown; a generated file must not make a page of a hundred megabytes.
const LINES: usize = 2_000;

/// `changes` is `None` when the repository cannot be read at the moment.
pub(crate) fn pull_request(project: &Project, record: &Record, changes: Option<&[FileDiff]>) -> Markup {
    let unknown = changes.is_none();
    let changes = changes.unwrap_or_default();
    let (added, removed) =
        changes.iter().fold((0, 0), |(added, removed), file| (added + file.additions, removed + file.deletions));
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (record.title) " · #" (record.number) " · " (project.id) }
                link rel="stylesheet" href="/pulls/pull.css";
                script src="/pulls/pull.js" defer {}
            }
            body {
                main {
                    p.crumb { (project.id) " / pull request " (record.number) }
                    h1 { (record.title) }
                    p.line {
                        span class={ "state " (record.state.as_str()) } {
                            (record.state.as_str()) @if record.draft && record.state == State::Open { " draft" }
                        }
                        code { (record.head) } " → " code { (record.base) }
                        span.count { (changes.len()) @if changes.len() == 1 { " file " } @else { " files " } ins { "+" (added) } " " del { "−" (removed) } }
                    }
                    pre.body { (record.body) }
                    @if record.state == State::Open { (form()) }
                    @for file in changes { (file_diff(file)) }
                    @if unknown {
                        p { "The repository cannot be read at the moment. Look again later; the server's log says why." }
                    } @else if changes.is_empty() {
                        p { "The branch holds no changes." }
                    }
                }
            }
        }
    }
}

fn form() -> Markup {
    html! {
        form #end {
            label for="key" { "Admin key" }
            input #key type="password" autocomplete="off" placeholder="docent_admin_…" required;
            button type="submit" name="to" value="merge" { "Merge" }
            button.quiet type="submit" name="to" value="close" { "Close" }
            output #answer role="status" {}
        }
    }
}

fn file_diff(file: &FileDiff) -> Markup {
    let hidden = file.unified.lines().count().saturating_sub(LINES);
    html! {
        details.file open {
            summary {
                @if let Some(old) = &file.old_path { code { (old) } " → " }
                code { (file.path) }
                span.count { ins { "+" (file.additions) } " " del { "−" (file.deletions) } }
            }
            pre {
                @for line in file.unified.lines().take(LINES) { span class=(kind(line)) { (line) "\n" } }
                @if hidden > 0 { span.hunk { "… " (hidden) " more lines\n" } }
            }
        }
    }
}

fn kind(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "name",
        [b'+', ..] => "add",
        [b'-', ..] => "del",
        [b'@', ..] => "hunk",
        _ => "same",
    }
}
