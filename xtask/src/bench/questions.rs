//! Readers' questions on the docs of known projects: how often a right page is ranked first, and which questions the
//! assistant without a language model answers.
//!
//! ```text
//! tests/search/NAME ─┐
//! a clone of its repository ──▶ docent index ──▶ docent search, docent ask     by words, and with vectors
//! ```

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use docent_tests::Installation;
use serde::Deserialize;
use serde_json::Value;

use crate::bench::running::{Profile, Stopping, run_to_its_end};
use crate::bench::search::embedder_env;
use crate::bench::search::measures::Measures;
use crate::bench::search::sets::{Question, grades, lines, read};
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
                println!(
                    "{name:<8} {:<8} {:>9} {:>6} {:>9} {:>8.3} {:>8} {:>10} {:>8}",
                    if embedder.is_some() { "vectors" } else { "words" },
                    asked.questions,
                    asked.first,
                    asked.in_three,
                    asked.ndcg_10,
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
    /// The number of questions with a right page, and of those that have one first, or among the first three.
    questions: usize,
    first: usize,
    in_three: usize,
    ndcg_10: f64,
    /// The number of questions of which the assistant says that the docs do not answer them.
    refused: usize,
    /// The number of questions that the docs do not answer, and how many of them the assistant refuses.
    elsewhere: usize,
    elsewhere_refused: usize,
}

/// Indexes a clone and asks a set's questions.
fn ask(binary: &Path, set: &Path, clone: &Path, embedder: Option<&Path>) -> Result<Answers, String> {
    let source = set.join("source.json");
    let source: QuestionSource =
        serde_json::from_str(&read(&source)?).map_err(|error| format!("{}: {error}", source.display()))?;
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
    installation
        .must(&["project", "add", "docs", "--repo", &repository, "--ref", BRANCH, "--docs-root", &source.docs_root]);
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
    let own: Vec<Question> = lines(&read(&set.join("queries.jsonl"))?, "queries.jsonl")?;
    let grades = grades(&read(&set.join("qrels.tsv"))?)?;
    let json = |args: &[&str]| -> Result<Value, String> {
        serde_json::from_slice(&docent(args)?)
            .map_err(|error| format!("docent {} --json prints no JSON: {error}", args[0]))
    };
    let (mut measures, mut places) = (Vec::new(), Vec::new());
    for question in &own {
        let Some(right) = grades.get(&question.id) else { continue };
        let right: HashMap<String, u32> =
            right.iter().map(|(page, grade)| (page.trim_matches('/').to_owned(), *grade)).collect();
        let found = json(&["search", "docs", &question.text, "--limit", RESULTS, "--json"])?;
        let paths = found["passages"].as_array().into_iter().flatten().filter_map(|passage| passage["path"].as_str());
        let found: Vec<&str> = paths.map(|path| path.trim_matches('/')).collect();
        measures.push(Measures::of(&found, &right));
        places.extend(found.iter().position(|path| right.get(*path).is_some_and(|grade| *grade > 0)));
    }
    let refused = |questions: &[String]| -> Result<usize, String> {
        let mut refused = 0;
        for question in questions {
            refused += usize::from(json(&["ask", "docs", question, "--json"])?["answered"] == false);
        }
        Ok(refused)
    };
    let elsewhere: Vec<String> = read(&set.join("elsewhere.txt"))?.lines().map(str::to_owned).collect();
    let own: Vec<String> = own.into_iter().map(|question| question.text).collect();
    Ok(Answers {
        questions: measures.len(),
        first: places.iter().filter(|place| **place == 0).count(),
        in_three: places.iter().filter(|place| **place < 3).count(),
        ndcg_10: Measures::mean(&measures).ndcg_10,
        refused: refused(&own)?,
        elsewhere: elsewhere.len(),
        elsewhere_refused: refused(&elsewhere)?,
    })
}

/// The number of pages that each question is answered with.
const RESULTS: &str = "20";

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
