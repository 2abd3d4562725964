//! Measures the quality and the cost of search, beside peers.
//!
//! ```text
//! sets ──▶ a git repository each ──▶ docent index ──▶ docent serve ──▶ every question over HTTP     quality
//! largest set ──▶ docent's index and plain tantivy, in one process                                   cost
//! 10,000 made-up pages ──▶ one page changed, again and again                                         freshness
//! ```
//!
//! A set is a folder with `corpus.jsonl` or `corpus.jsonl.gz` (`{id, title, text}` a line; the text is Markdown),
//! `queries.jsonl` (`{id, text, ignore?}`) and `qrels.tsv` (question, page, grade). They are not part of the project.

mod asking;
mod cost;
pub(in crate::bench) mod measures;
mod peers;
pub(in crate::bench) mod sets;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use docent_tests::Installation;
use docent_tests::installation::KeyKind;

use crate::bench::running::{Profile, Stopping, run_to_its_end};
use crate::bench::search::asking::{Client, Outcome};
use crate::bench::search::sets::Set;
use crate::bench::stream::table::{Row, Threshold, shown};
use crate::child::StopSignal;
use crate::workspace::Workspace;

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The folder of the judged sets, each in a folder of its own
    #[arg(long, value_name = "FOLDER")]
    sets: Option<PathBuf>,
    /// Only these sets
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// The folder of a sentence model (tokenizer.json, config.json, model.safetensors): measures with vectors too
    #[arg(long, value_name = "FOLDER")]
    embedder: Option<PathBuf>,
    /// Leave out what it costs
    #[arg(long)]
    no_cost: bool,
}

pub(crate) async fn run(options: &Options, workspace: &Workspace, stop: &mut StopSignal) -> Result<ExitCode, String> {
    let Some(folder) = &options.sets else {
        return Err("give `--sets FOLDER`: a folder of judged sets, each with corpus.jsonl (or corpus.jsonl.gz), \
                    queries.jsonl and qrels.tsv; they are not part of the project"
            .to_owned());
    };
    let names = sets::names(folder, &options.only)?;
    let server: &[&str] = match &options.embedder {
        Some(_) => &["--package", "docent-server", "--features", "docent-server/embed"],
        None => &["--package", "docent-server"],
    };
    let examples = ["--package", "docent-search", "--example", "plain", "--example", "reindex"];
    let (options, sets, release) = (options.clone(), folder.clone(), workspace.target.join("release"));
    let measure = move |stopping: &Stopping| Bench { options, sets, names, release, stopping: stopping.clone() }.run();
    let Some(rows) = run_to_its_end(Profile::Release, &[server, &examples], workspace, stop, measure).await? else {
        return Ok(ExitCode::from(130));
    };
    let rows = rows?;
    println!("\n{}", shown(&rows));
    Ok(if stop.was_received() { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

struct Bench {
    options: Options,
    sets: PathBuf,
    names: Vec<String>,
    release: PathBuf,
    stopping: Stopping,
}

/// Whether vectors take part in the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Words,
    Vectors,
}

impl Bench {
    fn run(&self) -> Result<Vec<Row>, String> {
        let mut rows = Vec::new();
        let mut judged = Vec::new();
        let mut largest: Option<Set> = None;
        for name in &self.names {
            if self.stopping.is_asked() {
                return Ok(rows);
            }
            let set = Set::read(&self.sets, name)?;
            let words = self.ask(&set, Way::Words)?;
            let vectors = match &self.options.embedder {
                Some(_) => Some(self.ask(&set, Way::Vectors)?),
                None => None,
            };
            rows.extend(quality(&set, &words, vectors.as_ref()));
            judged.push((name.clone(), words.measures, vectors.map(|vectors| vectors.measures)));
            if largest.as_ref().is_none_or(|largest| largest.text() < set.text()) {
                largest = Some(set);
            }
        }
        println!("\n{}", peers::table(&judged));
        if let Some(set) = largest.filter(|_| !self.options.no_cost && !self.stopping.is_asked()) {
            rows.extend(cost::of_set(&self.release, &set)?);
            rows.extend(cost::of_a_change(&self.release)?);
        }
        Ok(rows)
    }

    /// Serves a set and sends all its questions.
    fn ask(&self, set: &Set, way: Way) -> Result<Outcome, String> {
        let installation = Installation::of(self.release.join("docent"));
        let repository = installation.repository(&set.name, &set.files());
        installation.add_project(&set.name, &repository);
        let key = installation.mint(&set.name, KeyKind::Assistant, &[]);
        let env = self.env(way);
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut index = installation.command(["index", &set.name, "--json", "--data"]);
        let indexed = index.arg(installation.data()).envs(env.iter().copied()).output();
        let indexed = indexed.map_err(|error| format!("could not run docent index: {error}"))?;
        if !indexed.status.success() {
            return Err(format!("docent index {}: {}", set.name, String::from_utf8_lossy(&indexed.stderr)));
        }
        let summary: serde_json::Value = serde_json::from_slice(&indexed.stdout)
            .map_err(|error| format!("docent index {} --json prints no JSON: {error}", set.name))?;
        println!(
            "{} {}: {} pages, {} sections, indexed in {} ms",
            set.name,
            if way == Way::Words { "by words" } else { "with vectors" },
            summary["pages"],
            summary["sections"],
            summary["millis"]
        );
        let server = installation.serve_with(&env);
        let outcome = Client::connect(server.address(), &set.name, &key)?.ask_all(set)?;
        if outcome.strangers > 0 {
            println!("  {} results are no pages of the corpus; they count as wrong", outcome.strangers);
        }
        Ok(outcome)
    }

    fn env(&self, way: Way) -> Vec<(&'static str, String)> {
        let many = || "100000000".to_owned();
        let mut env = vec![
            ("DOCENT_LIMITS__ASSISTANT_REQUESTS_PER_HOUR", many()),
            ("DOCENT_LIMITS__ASSISTANT_REQUESTS_PER_ADDRESS_PER_DAY", many()),
        ];
        if let Some(folder) = self.options.embedder.as_ref().filter(|_| way == Way::Vectors) {
            env.extend(embedder_env(folder));
        }
        env
    }
}

/// The environment variables that make docent use the sentence model in a folder.
pub(crate) fn embedder_env(folder: &Path) -> [(&'static str, String); 2] {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    [("DOCENT_SEARCH__EMBEDDER", "transformer".to_owned()), ("DOCENT_SEARCH__PATH", folder.display().to_string())]
}

fn quality(set: &Set, words: &Outcome, vectors: Option<&Outcome>) -> Vec<Row> {
    let wanted = peers::wanted(&set.name);
    let row = |what: &str, figure: f64, wanted: Option<f64>| {
        let wanted = wanted.map_or(Threshold::Nothing, Threshold::AtLeast);
        Row::alone(format!("{}: nDCG@10 {what}", set.name), figure, "", wanted)
    };
    let mut rows = vec![
        row("by words", words.measures.ndcg_10, wanted.map(|wanted| wanted.0)),
        Row::alone(format!("{}: over HTTP, p50", set.name), words.millis(0.5), "ms", Threshold::Nothing),
        Row::alone(format!("{}: over HTTP, p99", set.name), words.millis(0.99), "ms", Threshold::Nothing),
    ];
    rows.extend(vectors.map(|vectors| row("with vectors", vectors.measures.ndcg_10, wanted.map(|wanted| wanted.1))));
    rows
}
