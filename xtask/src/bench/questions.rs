//! Readers' questions on the docs of known projects: how often a right page is ranked first, and which questions the
//! assistant without a language model answers.
//!
//! ```text
//! tests/search/NAME ─┐
//! a clone of its repository ──▶ docent index ──▶ docent eval, docent ask     by words, and with vectors
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use docent_tests::Installation;
use serde::Deserialize;
use serde_json::Value;

use crate::bench::running::{Profile, Stopping, run_to_its_end};
use crate::bench::search::embedder_env;
use crate::child::StopSignal;
use crate::workspace::Workspace;

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// A folder with a clone of each repository, named as its set in tests/search
    #[arg(long, value_name = "FOLDER")]
    repositories: PathBuf,
    /// Only these sets
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// The folder of a sentence model (tokenizer.json, config.json, model.safetensors): measures with vectors, too
    #[arg(long, value_name = "FOLDER")]
    embedder: Option<PathBuf>,
}

/// The repository, the commit and the docs root that a set's questions are about.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct QuestionSource {
    repository: String,
    commit: String,
    docs_root: String,
}

pub(crate) async fn run(options: &Options, workspace: &Workspace, stop: &mut StopSignal) -> Result<ExitCode, String> {
    let folder = workspace.root.join("tests/search");
    let names = names(&folder, &options.only)?;
    let build: &[&str] = match &options.embedder {
        Some(_) => &["--package", "docent-server", "--features", "docent-server/embed"],
        None => &["--package", "docent-server"],
    };
    let binary = workspace.target.join("release/docent");
    let options = options.clone();
    let measure = move |stopping: &Stopping| -> Result<(), String> {
        println!(
            "{:<8} {:<8} {:>9} {:>6} {:>9} {:>8} {:>8} {:>10} {:>8}",
            "set", "by", "questions", "first", "in three", "nDCG@10", "refused", "elsewhere", "refused"
        );
        for name in names {
            for embedder in [None].into_iter().chain(options.embedder.as_deref().map(Some)) {
                stopping.check()?;
                let asked = ask(&binary, &folder.join(&name), &options.repositories.join(&name), embedder)?;
                let questions = asked.measures["questions"].as_f64().unwrap_or_default();
                let count = |figure: &str| (asked.measures[figure].as_f64().unwrap_or_default() * questions).round();
                println!(
                    "{name:<8} {:<8} {questions:>9} {:>6} {:>9} {:>8.3} {:>8} {:>10} {:>8}",
                    if embedder.is_some() { "vectors" } else { "words" },
                    count("success1"),
                    count("success3"),
                    asked.measures["ndcg10"].as_f64().unwrap_or_default(),
                    asked.refused,
                    asked.elsewhere,
                    asked.elsewhere_refused
                );
            }
        }
        Ok(())
    };
    match run_to_its_end(Profile::Release, &[build], workspace, stop, measure).await? {
        Some(measured) => measured.map(|()| ExitCode::SUCCESS),
        None => Ok(ExitCode::from(130)),
    }
}

fn names(folder: &Path, only: &[String]) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let sets = entries.flatten().filter(|entry| entry.path().join("source.json").exists());
    let mut names: Vec<String> = sets.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    if let Some(missing) = only.iter().find(|name| !names.contains(name)) {
        return Err(format!("{} has no set `{missing}`", folder.display()));
    }
    names.retain(|name| only.is_empty() || only.contains(name));
    Ok(names)
}

/// The results of a set.
struct Answers {
    /// The output of `docent eval --json`.
    measures: Value,
    /// The number of questions of which the assistant says that the docs do not answer them.
    refused: usize,
    /// The number of questions that the docs do not answer, and how many of them the assistant refuses.
    elsewhere: usize,
    elsewhere_refused: usize,
}

#[derive(Deserialize)]
struct Question {
    text: String,
}

/// Indexes a clone and asks a set's questions.
fn ask(binary: &Path, set: &Path, clone: &Path, embedder: Option<&Path>) -> Result<Answers, String> {
    let source = set.join("source.json");
    let read = fs::read(&source).map_err(|error| format!("cannot read {}: {error}", source.display()))?;
    let source: QuestionSource =
        serde_json::from_slice(&read).map_err(|error| format!("{}: {error}", source.display()))?;
    let clone = clone.canonicalize().map_err(|error| {
        format!("cannot read {}: {error}; clone {} there, at {}", clone.display(), source.repository, source.commit)
    })?;
    let installation = Installation::of(binary.to_owned());
    // The questions are about this exact commit, whatever the clone's branches point to.
    let repository = installation.root().join("docs.git");
    git(Command::new("git").args(["clone", "--quiet", "--bare", "--shared"]).arg(&clone).arg(&repository))?;
    let branch = format!("refs/heads/{BRANCH}");
    git(Command::new("git").arg("-C").arg(&repository).args(["update-ref", &branch, &source.commit]))?;
    let repository = repository.display().to_string();
    installation.must(&[
        "project",
        "add",
        "docs",
        "--repo",
        &repository,
        "--ref",
        BRANCH,
        "--docs-root",
        &source.docs_root,
    ]);
    let env: Vec<(&str, String)> = embedder.into_iter().flat_map(embedder_env).collect();
    let docent = |args: &[&str]| -> Result<Vec<u8>, String> {
        let mut command = installation.command(args);
        let output = command.arg("--data").arg(installation.data()).envs(env.iter().cloned()).output();
        let output = output.map_err(|error| format!("could not run docent {}: {error}", args[0]))?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(format!("docent {}: {}", args[0], String::from_utf8_lossy(&output.stderr)))
        }
    };
    docent(&["index", "docs", "--json"])?;
    let file = |name: &str| set.join(name).display().to_string();
    let measures =
        docent(&["eval", "docs", "--json", "--queries", &file("queries.jsonl"), "--qrels", &file("qrels.tsv")])?;
    let measures =
        serde_json::from_slice(&measures).map_err(|error| format!("docent eval --json prints no JSON: {error}"))?;
    let lines = |name: &str| -> Result<Vec<String>, String> {
        let read =
            fs::read_to_string(set.join(name)).map_err(|error| format!("cannot read {}: {error}", file(name)))?;
        Ok(read.lines().map(str::to_owned).collect())
    };
    let own = lines("queries.jsonl")?
        .iter()
        .map(|line| serde_json::from_str(line).map(|Question { text }| text))
        .collect::<Result<Vec<String>, _>>()
        .map_err(|error| format!("{}: {error}", file("queries.jsonl")))?;
    let refused = |questions: &[String]| -> Result<usize, String> {
        let mut refused = 0;
        for question in questions {
            let answer: Value = serde_json::from_slice(&docent(&["ask", "docs", question, "--json"])?)
                .map_err(|error| format!("docent ask --json prints no JSON: {error}"))?;
            refused += usize::from(answer["answered"] == false);
        }
        Ok(refused)
    };
    let elsewhere = lines("elsewhere.txt")?;
    Ok(Answers {
        measures,
        refused: refused(&own)?,
        elsewhere: elsewhere.len(),
        elsewhere_refused: refused(&elsewhere)?,
    })
}

/// The branch of the bare clone that is indexed.
const BRANCH: &str = "asked";

fn git(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("could not run git: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("git: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}
