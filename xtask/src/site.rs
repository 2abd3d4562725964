//! `cargo xtask site`: compares Docent's model of a site with what the site's own generator builds, before and after
//! chores.

mod generator;
mod kept;
mod warnings;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use tokio::process::Command;

use crate::child::{self, Ended, StopSignal};
use crate::summary::Outcome;
use crate::tools::{Missing, Tools};
use crate::workspace::{Workspace, cargo};

pub(crate) use generator::Generator;
use generator::{Builder, Built};
use kept::Kept;
use warnings::Warnings;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Which generators; all of them when none is named
    #[arg(value_enum, value_name = "GENERATOR")]
    generators: Vec<Generator>,
    /// Install what is missing
    #[arg(long)]
    install: bool,
    /// A repository of this generator's, in place of the small site of odd rules in tests/sites
    #[arg(long, value_name = "FOLDER")]
    repository: Option<PathBuf>,
    #[command(flatten)]
    site: Site,
}

/// What one has to know of a repository.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Site {
    /// The docs root in the repository; without one, all of it
    #[arg(long, value_name = "FOLDER", default_value = "")]
    root: String,
    /// The folder of the repository that the generator is run in
    #[arg(long, value_name = "FOLDER", default_value = "")]
    home: String,
    /// What stands before every path of the URLs
    #[arg(long, value_name = "PATH", default_value = "")]
    base: String,
    /// URLs of pages do not end in a slash, wherever their files are
    #[arg(long)]
    bare: bool,
    /// A folder of pages and the path that it is served below, for Fumadocs and Nextra; behind another `=` its languages, the
    /// default one first
    #[arg(long, value_name = "FOLDER=PATH")]
    content: Vec<String>,
    /// A command of the shell that builds the site in the present folder into $OUT
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
    /// How many pages are moved, and how many are deleted
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pages: usize,
    /// How many of the differences are shown
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    show: usize,
}

pub(crate) async fn run(options: &Options, stop: &mut StopSignal) -> Result<ExitCode, String> {
    let workspace = Workspace::read()?;
    let tools = Tools::new(&workspace, options.install);
    let generators = match options.generators.as_slice() {
        [] => Generator::ALL,
        chosen => chosen,
    };
    if options.repository.is_some() && generators.len() != 1 {
        return Err("name the one generator of the repository".to_owned());
    }
    let profile = if options.repository.is_some() { Profile::Release } else { Profile::Debug };
    let judge = Judge { workspace: &workspace, tools: &tools, profile };
    match judge.examples(stop).await? {
        Outcome::Passed => {}
        Outcome::Failed(why) | Outcome::Skipped(why) => return Err(format!("the examples were not built: {why}")),
    }
    let mut failed = false;
    for generator in generators {
        println!("\n── {} ──", generator.name());
        let judged = match &options.repository {
            Some(repository) => judge.repository(*generator, repository, &options.site, stop).await,
            None => judge.fixture(*generator, stop).await,
        };
        match judged {
            Ok(Outcome::Passed) => println!("passed"),
            Ok(Outcome::Failed(why)) | Err(Missing::Failed(why)) => {
                println!("FAILED: {why}");
                failed = true;
            }
            Ok(Outcome::Skipped(why)) | Err(Missing::Skip(why)) => println!("SKIPPED: {why}"),
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs every small site, for the suite of that name, with the examples as they are built. Reports a skip for a missing
/// generator after running the others.
pub(crate) async fn fixtures(
    workspace: &Workspace,
    tools: &Tools<'_>,
    stop: &mut StopSignal,
) -> Result<Outcome, Missing> {
    let judge = Judge { workspace, tools, profile: Profile::Debug };
    let (mut failed, mut missing) = (Vec::new(), Vec::new());
    for generator in Generator::ALL {
        println!("\n{}", generator.name());
        match judge.fixture(*generator, stop).await {
            Ok(Outcome::Passed) => {}
            Ok(Outcome::Failed(why)) | Err(Missing::Failed(why)) => failed.push(format!("{}: {why}", generator.name())),
            Ok(Outcome::Skipped(why)) | Err(Missing::Skip(why)) => missing.push(why),
        }
    }
    Ok(match (failed.as_slice(), missing.as_slice()) {
        ([], []) => Outcome::Passed,
        ([], missing) => Outcome::Skipped(missing.join("; ")),
        (failed, _) => Outcome::Failed(failed.join("; ")),
    })
}

struct Judge<'a> {
    workspace: &'a Workspace,
    tools: &'a Tools<'a>,
    profile: Profile,
}

/// The build profile of the examples: the small sites take longer to compile for than to judge; repositories of
/// thousands of pages do not.
#[derive(Clone, Copy)]
enum Profile {
    Debug,
    Release,
}

impl Judge<'_> {
    /// Builds the example programs that do the work.
    async fn examples(&self, stop: &mut StopSignal) -> Result<Outcome, String> {
        let mut build = Command::new(cargo());
        build.args(["build", "--quiet", "--package", "docent-site", "--package", "docent-refactor", "--examples"]);
        if let Profile::Release = self.profile {
            build.arg("--release");
        }
        outcome(build.current_dir(&self.workspace.root), stop).await
    }

    async fn fixture(&self, generator: Generator, stop: &mut StopSignal) -> Result<Outcome, Missing> {
        let folder = self.workspace.root.join("tests/sites").join(generator.folder());
        let site = generator.fixture();
        let builder = generator.builder(self.workspace, self.tools, &site, &folder, stop).await?;
        let kept = Kept::of(generator, &builder.program, self.workspace)?;
        self.judge(&builder, kept.as_ref(), &folder, &site, stop).await
    }

    async fn repository(
        &self,
        generator: Generator,
        repository: &Path,
        site: &Site,
        stop: &mut StopSignal,
    ) -> Result<Outcome, Missing> {
        let builder = generator.builder(self.workspace, self.tools, site, repository, stop).await?;
        self.judge(&builder, None, repository, site, stop).await
    }

    /// `kept` is the place of the unchanged site's build.
    async fn judge(
        &self,
        builder: &Builder,
        kept: Option<&Kept>,
        repository: &Path,
        site: &Site,
        stop: &mut StopSignal,
    ) -> Result<Outcome, Missing> {
        let generator = builder.generator;
        let scratch = tempfile::tempdir().map_err(|error| format!("could not make a temporary folder: {error}"))?;
        let [before, after] = ["before", "after"].map(|name| scratch.path().join(name));
        let mut faults: Vec<String> = Vec::new();

        copy_site(repository, &before)?;
        let (built, ended) = match kept.and_then(Kept::get) {
            Some(built) => built,
            None => {
                let built = scratch.path().join("built-before");
                let ended = builder.build(&before, &built, stop).await?;
                if let (Some(kept), Built::Well(said)) = (kept, &ended) {
                    kept.put(&built, &said.replace(&*before.to_string_lossy(), ""))?;
                }
                (built, ended)
            }
        };
        let warnings_before = match ended {
            Built::Well(said) => Warnings::of(&said, scratch.path()),
            Built::Badly(said) => return Ok(Outcome::Failed(format!("the site does not build: {}", end_of(&said)))),
            Built::Stopped => return Ok(Outcome::Skipped("stopped before it ended".to_owned())),
        };
        let dead_before = self.dead_links(generator, &built, site).await?;
        let mut compare = self.example(generator.comparison());
        compare.arg(&before).arg(&built).args(["--root", &site.root, "--show", &site.show.to_string()]);
        if generator != Generator::Mintlify {
            compare.args(["--base", &site.base]).args(site.bare.then_some("--bare"));
        }
        if let Ended::Badly(_) = child::run(&mut compare, stop).await? {
            faults.push("the model differs from what was built".to_owned());
        }

        let count = site.pages.to_string();
        for check in [["there-and-back", "20"], ["break-and-fix", &count]] {
            let mut chore = self.example("chore");
            chore.arg(check[0]).arg(&before).arg(check[1]).args(["--root", &site.root]);
            if let Ended::Badly(_) = child::run(&mut chore, stop).await? {
                faults.push(format!("{} went wrong", check[0]));
            }
        }

        copy_site(repository, &after)?;
        // Lines of the chores' output that list what is left to a person: warnings about those do not count.
        let mut left = Vec::new();
        for words in [vec!["fix-links"], vec!["move-some", &count], vec!["delete-some", &count]] {
            let mut chore = self.example("chore");
            chore.arg(words[0]).arg(&after).args(&words[1..]).args(["--root", &site.root]).arg("--into").arg(&after);
            println!("{}:", words.join(" "));
            let output = chore.output().await.map_err(|error| format!("could not run chore: {error}"))?;
            let said = String::from_utf8_lossy(&output.stdout);
            print!("{said}");
            if !output.status.success() {
                let why = String::from_utf8_lossy(&output.stderr);
                return Ok(Outcome::Failed(format!("the chore {} failed: {}", words[0], why.trim())));
            }
            left.extend(said.lines().filter(|line| line.starts_with("  left: ")).map(warnings::as_before_the_move));
        }
        let built = scratch.path().join("built-after");
        match builder.build(&after, &built, stop).await? {
            Built::Well(said) => {
                let warnings = Warnings::of(&said, scratch.path());
                let dead = self.dead_links(generator, &built, site).await?;
                for (what, mut added) in
                    [("warning", warnings.more_than(&warnings_before)), ("dead link", dead.more_than(&dead_before))]
                {
                    added.retain(|line| !was_reported_by_chore(line, &left));
                    added.iter().for_each(|line| println!("  new {what}: {line}"));
                    if !added.is_empty() {
                        faults.push(format!("{} new {what}s after chores", added.len()));
                    }
                }
            }
            Built::Badly(said) => faults.push(format!("the site does not build after chores: {}", end_of(&said))),
            Built::Stopped => return Ok(Outcome::Skipped("stopped before it ended".to_owned())),
        }
        Ok(if faults.is_empty() { Outcome::Passed } else { Outcome::Failed(faults.join(", ")) })
    }

    /// The dead links of the built pages, as a browser would find them.
    async fn dead_links(&self, generator: Generator, built: &Path, site: &Site) -> Result<Warnings, Missing> {
        if generator == Generator::Mintlify {
            return Ok(warnings::of_mintlify(built)?);
        }
        let mut follow = self.example("dead_links");
        follow.arg(built).args(["--base", &site.base]).args(site.bare.then_some("--bare"));
        let output = follow.output().await.map_err(|error| format!("could not run dead_links: {error}"))?;
        if !output.status.success() {
            return Err(Missing::Failed(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(warnings::of_dead_links(&String::from_utf8_lossy(&output.stdout)))
    }

    fn example(&self, name: &str) -> Command {
        let folder = match self.profile {
            Profile::Debug => "debug/examples",
            Profile::Release => "release/examples",
        };
        Command::new(self.workspace.target.join(folder).join(name))
    }
}

async fn outcome(command: &mut Command, stop: &mut StopSignal) -> Result<Outcome, String> {
    Ok(match child::run(command, stop).await? {
        Ended::Well => Outcome::Passed,
        Ended::Badly(how) => Outcome::Failed(how),
        Ended::Stopped => Outcome::Skipped("stopped before it ended".to_owned()),
    })
}

/// Whether a chore reported this problem as left to a person. A dead link is matched by the last segment of its path. A
/// warning is matched by the words that it quotes or ends in, or else by the file name that it begins with.
fn was_reported_by_chore(line: &str, left: &[String]) -> bool {
    let Some((_, written)) = line.split_once('\t').or_else(|| line.split_once("linking to ")) else {
        let quoted = line.split(['\'', '`', '"']).skip(1).step_by(2).filter(|words| !words.is_empty());
        // Some warnings have the name last, before their kind in brackets.
        let line = line.rsplit_once(" [").filter(|(_, kind)| kind.ends_with(']')).map_or(line, |(line, _)| line);
        let mut quoted = quoted.chain(line.rsplit_once(": ").map(|(_, last)| last.trim()));
        // Lines of moved pages are compared with the original path, and case-insensitively, because labels are.
        let left: Vec<String> = left.iter().map(|line| line.replace(warnings::MOVED, "").to_lowercase()).collect();
        // In roles the name is in nested backquotes, or in angle brackets after a title.
        let named =
            |line: &String, words: &str| line.split(['`', '<', '>']).any(|part| part == words) || names(line, words);
        let about = line.split(':').next().unwrap_or_default().trim_start_matches('/').to_lowercase();
        let is_about = || !about.is_empty() && left.iter().any(|line| line.contains(&format!("`{about}` ")));
        return quoted.any(|words| left.iter().any(|line| named(line, &words.to_lowercase()))) || is_about();
    };
    let written = written.split(" on ").next().unwrap_or_default().trim_start_matches('#');
    let path = written.split(['#', '?']).next().unwrap_or_default();
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default();
    !name.is_empty() && left.iter().any(|line| names(line, name))
}

/// Whether a line names a file or a link, by its last path segments, with or without an extension.
fn names(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        before.ends_with(['/', '`', '#']) && !after.starts_with(is_part)
    })
}

/// The last 12 non-empty lines of a program's output.
fn end_of(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(12)..].join("\n    ")
}

/// Copies a repository, without the folders of git and package managers.
fn copy_site(from: &Path, to: &Path) -> Result<(), String> {
    copy(from, to, &[".git", "node_modules"], &|from, to| std::fs::copy(from, to).map(|_| ()))
}

/// Copies a folder without entries of some names. `file` copies (or links) each file; if it fails, the bytes are
/// copied.
fn copy(
    from: &Path,
    to: &Path,
    without: &[&str],
    file: &dyn Fn(&Path, &Path) -> std::io::Result<()>,
) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("could not copy {}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(fault)?;
    for entry in std::fs::read_dir(from).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let kind = entry.file_type().map_err(fault)?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if kind.is_file() {
            file(&from, &to).or_else(|_| std::fs::copy(&from, &to).map(|_| ())).map_err(fault)?;
        } else if kind.is_symlink() {
            let target = std::fs::read_link(&from).map_err(fault)?;
            std::os::unix::fs::symlink(target, &to).map_err(fault)?;
        } else if !without.iter().any(|name| entry.file_name() == *name) {
            copy(&from, &to, without, file)?;
        }
    }
    Ok(())
}
