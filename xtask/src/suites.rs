//! The test suites, and what each of them runs.

use std::path::PathBuf;

use clap::ValueEnum;
use tokio::process::Command;

use crate::child::{self, Ended, StopSignal};
use crate::postgres::{Cluster, Flushing, Pooler};
use crate::summary::Outcome;
use crate::tools::{Missing, Tools};
use crate::workspace::{Workspace, cargo};
use crate::{arrows, language, site};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Formatting, by rustfmt
    Fmt,
    /// Lints, by clippy with warnings as errors
    Clippy,
    /// Dependencies between crates as docs/ARCHITECTURE.md lists them, module cycles, symbols that the docs name
    Arrows,
    /// Words that no file may contain
    Language,
    /// Licences, sources and bans of third-party crates
    Deny,
    /// Known vulnerabilities of third-party crates; needs RustSec's database on GitHub
    Advisories,
    /// Everything compiles
    Build,
    /// Unit, conformance and black-box tests
    Tests,
    /// The examples in the documentation of the code
    Doctests,
    /// The documentation of the code builds without a warning
    Docs,
    /// The examples build, and those that end by themselves run
    Examples,
    /// Fetches and pushes over a real sshd
    Ssh,
    /// The store on PostgreSQL, and several servers on it: on the system's version, on the newest where it runs, and by way of PgBouncer
    Postgres,
    /// nginx, with connections that it keeps, before the built server
    Proxy,
    /// The files of deploy/ and examples/three_nodes: nginx, Caddy and HAProxy before the built server; metrics, alert rules and the unit checked by
    /// promtool and systemd-analyze
    Deploy,
    /// deploy/Containerfile built, run by podman, and run as the three nodes of examples/three_nodes; needs root
    Containers,
    /// The real SDK clients, and clients of the API's description, against the built server; $DOCENT_CASES says how many
    /// requests schemathesis makes up
    Sdk,
    /// Pages with the real chat hooks, and with our own chat, in a real browser against the built server
    Browser,
    /// The dashboard in a real browser: one story by keyboard, and every page under axe-core
    Dashboard,
    /// Only by name: recorded streams of other servers compared with ours; $DOCENT_GOLDEN is their folder
    Golden,
    /// Only by name: questions of agents on docs of others, by tools and by files; $DOCENT_REPOSITORIES is a folder of clones
    Agents,
    /// The built server against third-party model servers, and 150 jobs at once, or $DOCENT_JOBS_AT_ONCE
    Models,
    /// The built server against a GitHub emulator and GitHub's description of its API
    Forges,
    /// Answers of the assistant in third-party Markdown renderers, and pages that agents may write in MDX, Vue, Python-Markdown,
    /// Asciidoctor, docutils and Sphinx; $DOCENT_FUZZ_SECONDS says for how long each, $DOCENT_FUZZ_SEED with which texts
    Markdown,
    /// Small sites of odd rules, built by their own generators before and after chores
    Sites,
}

impl Suite {
    pub(crate) const ALL: &[Self] = &[
        Self::Fmt,
        Self::Arrows,
        Self::Language,
        Self::Deny,
        Self::Advisories,
        Self::Build,
        Self::Clippy,
        Self::Doctests,
        Self::Docs,
        Self::Examples,
        Self::Sites,
        Self::Tests,
        Self::Ssh,
        Self::Postgres,
        Self::Proxy,
        Self::Deploy,
        Self::Containers,
        Self::Sdk,
        Self::Browser,
        Self::Dashboard,
        Self::Golden,
        Self::Agents,
        Self::Models,
        Self::Forges,
        Self::Markdown,
    ];

    /// The suites that mostly wait for node, Python and Chromium, and measure no time: they run beside the others.
    pub(crate) const WAITING: [Self; 5] = [Self::Sites, Self::Markdown, Self::Dashboard, Self::Browser, Self::Sdk];

    /// Whether the suite needs only what the project has or can install. Other suites run only by name.
    pub(crate) const fn is_of_the_project(self) -> bool {
        !matches!(self, Self::Golden | Self::Agents)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Arrows => "arrows",
            Self::Language => "language",
            Self::Deny => "deny",
            Self::Advisories => "advisories",
            Self::Build => "build",
            Self::Tests => "tests",
            Self::Doctests => "doctests",
            Self::Docs => "docs",
            Self::Examples => "examples",
            Self::Ssh => "ssh",
            Self::Postgres => "postgres",
            Self::Proxy => "proxy",
            Self::Deploy => "deploy",
            Self::Containers => "containers",
            Self::Sdk => "sdk",
            Self::Browser => "browser",
            Self::Dashboard => "dashboard",
            Self::Golden => "golden",
            Self::Agents => "agents",
            Self::Models => "models",
            Self::Forges => "forges",
            Self::Markdown => "markdown",
            Self::Sites => "sites",
        }
    }
}

/// Runs suites; what one of them builds is reused by the next.
#[derive(Debug)]
pub(crate) struct Suites<'a> {
    workspace: &'a Workspace,
    tools: Tools<'a>,
    built: Option<Outcome>,
}

type Result<T> = std::result::Result<T, String>;

/// All crates but the fuzz targets, with the features of what is packaged: the same in every suite, so that nothing is compiled
/// twice.
const ALL_CRATES: [&str; 5] =
    ["--workspace", "--exclude", "docent-fuzz", "--features", "docent-server/openid,docent-server/postgres"];

impl<'a> Suites<'a> {
    /// `built`: everything is up to date, and need not be built.
    pub(crate) fn new(workspace: &'a Workspace, install: bool, built: bool) -> Self {
        Self { workspace, tools: Tools::new(workspace, install), built: built.then_some(Outcome::Passed) }
    }

    pub(crate) async fn run(&mut self, suite: Suite, stop: &mut StopSignal) -> Result<Outcome> {
        let outcome = match suite {
            Suite::Fmt => self.fmt(stop).await,
            Suite::Clippy => self.clippy(stop).await,
            Suite::Arrows => Ok(none_found(&arrows::disagreements(self.workspace)?)),
            Suite::Language => self.language(stop).await,
            Suite::Deny => self.deny(stop).await,
            Suite::Advisories => self.advisories(stop).await,
            Suite::Build => self.build(stop).await.map_err(Missing::Failed),
            Suite::Tests => self.tests(stop).await,
            Suite::Doctests => self
                .cargo(&[&["test", "--quiet", "--doc"], &ALL_CRATES[..]].concat(), stop)
                .await
                .map_err(Missing::Failed),
            Suite::Docs => self.docs(stop).await.map_err(Missing::Failed),
            Suite::Examples => self.examples(stop).await.map_err(Missing::Failed),
            Suite::Ssh => self.ssh(stop).await,
            Suite::Postgres => self.postgres(stop).await,
            Suite::Proxy => self.proxy(stop).await,
            Suite::Deploy => self.deploy(stop).await,
            Suite::Containers => self.containers(stop).await,
            Suite::Sdk => self.sdk(stop).await,
            Suite::Browser => self.browser(stop).await,
            Suite::Dashboard => self.dashboard(stop).await,
            Suite::Golden => self.of_a_folder("golden::", "DOCENT_GOLDEN", "recorded streams", stop).await,
            Suite::Agents => self.of_a_folder("agents::", "DOCENT_REPOSITORIES", "clones of docs", stop).await,
            Suite::Models => self.models(stop).await,
            Suite::Forges => self.forges(stop).await,
            Suite::Markdown => self.markdown(stop).await,
            Suite::Sites => self.sites(stop).await,
        };
        match outcome {
            Ok(outcome) => Ok(outcome),
            Err(Missing::Skip(why)) => Ok(Outcome::Skipped(why)),
            Err(Missing::Failed(why)) => Err(why),
        }
    }

    async fn fmt(&self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        self.tools.component("rustfmt", "fmt", stop).await?;
        Ok(self.cargo(&["fmt", "--all", "--check"], stop).await?)
    }

    async fn clippy(&self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        self.tools.component("clippy", "clippy", stop).await?;
        // With the optional features, and the fuzz targets: a second run without them would compile a hundred crates again,
        // and the suites that build show its warnings.
        let mut command = Command::new(cargo());
        command.args(["clippy", "--quiet", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]);
        // Nothing is linked, so the fuzzer's library, which needs a C++ compiler, need not be there.
        command.env("CUSTOM_LIBFUZZER_PATH", self.workspace.target.join("fuzz/libfuzzer.a"));
        Ok(self.outcome(&mut command, stop).await?)
    }

    async fn language(&self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        self.tools.git(stop).await?;
        Ok(none_found(&language::broken_rules(self.workspace)?))
    }

    async fn deny(&self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let deny = self.tools.cargo_deny(stop).await?;
        let mut command = Command::new(deny);
        command.args(["--log-level", "warn", "check", "bans", "licenses", "sources"]);
        Ok(self.outcome(&mut command, stop).await?)
    }

    /// A database that cannot be fetched is not a failure of the project, so the suite is then skipped.
    async fn advisories(&self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let deny = self.tools.cargo_deny(stop).await?;
        let mut fetch = Command::new(&deny);
        match child::run_quietly(fetch.args(["fetch", "db"]).current_dir(&self.workspace.root), stop).await? {
            Ended::Well => {}
            Ended::Badly(why) => {
                return Err(Missing::Skip(format!(
                    "the database of advisories could not be fetched, so none was checked: {why}"
                )));
            }
            Ended::Stopped => return Ok(Outcome::Skipped("stopped before it ended".to_owned())),
        }
        let mut command = Command::new(deny);
        command.args(["--log-level", "warn", "check", "--disable-fetch", "advisories"]);
        Ok(self.outcome(&mut command, stop).await?)
    }

    /// Builds everything at once, with the features that the tests use, for the suites that follow.
    pub(crate) async fn build(&mut self, stop: &mut StopSignal) -> Result<Outcome> {
        if self.built.is_none() {
            self.built =
                Some(self.cargo(&[&["build", "--quiet", "--all-targets"], &ALL_CRATES[..]].concat(), stop).await?);
        }
        Ok(self.built.clone().unwrap_or(Outcome::Passed))
    }

    /// Installs what both the suites of [`Suite::WAITING`] and the others need, so that no two processes install it at once.
    /// Each suite says itself what is missing.
    pub(crate) async fn install_for_waiting(&self, stop: &mut StopSignal) {
        let _ = self.tools.node_with(&self.workspace.sdk(), stop).await;
        let _ = self.tools.chromium(stop).await;
    }

    /// The built server, for the suites that start it.
    async fn server(&mut self, stop: &mut StopSignal) -> Result<PathBuf> {
        match self.build(stop).await? {
            Outcome::Passed => Ok(self.workspace.server()),
            Outcome::Failed(why) | Outcome::Skipped(why) => Err(format!("the server was not built: {why}")),
        }
    }

    async fn tests(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        self.tools.git(stop).await?;
        let server = self.server(stop).await?;
        let mut command = if let Some(nextest) = self.tools.nextest(stop).await? {
            let mut command = Command::new(nextest);
            command.args(["nextest", "run", "--no-fail-fast"]).args(ALL_CRATES);
            command
        } else {
            println!("cargo-nextest is missing: cargo test runs the tests, one binary after the other");
            let mut command = Command::new(cargo());
            command.args(["test", "--lib", "--bins", "--tests", "--no-fail-fast"]).args(ALL_CRATES);
            command
        };
        let seen = self.workspace.target.join("tmp/seen");
        // Absent before the first run.
        let _ = std::fs::remove_file(&seen);
        command.env("DOCENT_BIN", server).env("DOCENT_SEEN", &seen);
        match self.outcome(&mut command, stop).await? {
            Outcome::Passed => self.stories("openapi::coverage", &[("DOCENT_SEEN", seen)], stop).await,
            other => Ok(other),
        }
    }

    async fn docs(&self, stop: &mut StopSignal) -> Result<Outcome> {
        let mut command = Command::new(cargo());
        // With the features of clippy, whose work on other crates is used again.
        command.args(["doc", "--quiet", "--no-deps", "--all-features"]).args(&ALL_CRATES[..3]);
        command.env("RUSTDOCFLAGS", "-D warnings");
        self.outcome(&mut command, stop).await
    }

    async fn examples(&mut self, stop: &mut StopSignal) -> Result<Outcome> {
        match self.cargo(&[&["build", "--quiet", "--examples"], &ALL_CRATES[..]].concat(), stop).await? {
            Outcome::Passed => {}
            other => return Ok(other),
        }
        for package in &self.workspace.packages {
            for example in package.runnable_examples() {
                if !package.has_example(&example) {
                    return Err(format!("{} declares the example `{example}` runnable and has none", package.name));
                }
                println!("running the example {example} of {}", package.name);
                let mut command = Command::new(self.workspace.target.join("debug/examples").join(&example));
                match self.outcome(&mut command, stop).await? {
                    Outcome::Passed => {}
                    Outcome::Failed(why) => return Err(format!("the example {example}: {why}")),
                    skipped @ Outcome::Skipped(_) => return Ok(skipped),
                }
            }
        }
        Ok(Outcome::Passed)
    }

    async fn ssh(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        self.tools.sshd(stop).await?;
        let arguments = [&["test", "--quiet", "--lib"], &ALL_CRATES[..], &["--", "--ignored", "ssh::"]].concat();
        match self.cargo(&arguments, stop).await? {
            Outcome::Passed => self.stories("git_transport::ssh", &[], stop).await,
            other => Ok(other),
        }
    }

    /// The tests of the store that need a server, on a server of each version, and on the first by way of PgBouncer; beside the
    /// first of them, several of the built server on one database, and a simulated world.
    async fn postgres(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        self.tools.git(stop).await?;
        let missing = || Missing::Skip("cargo-nextest is missing; --install brings it".to_owned());
        let nextest = self.tools.nextest(stop).await?.ok_or_else(missing)?;
        let programs = self.tools.postgres(stop).await?;
        let pgbouncer = self.tools.debian_program("pgbouncer", "pgbouncer", stop).await?;
        let faketime = self.tools.debian_program("faketime", "faketime", stop).await?;
        let haproxy = self.tools.debian_program("haproxy", "haproxy", stop).await?;
        let server = self.server(stop).await?;
        let has_before = std::env::var_os("DOCENT_BIN_BEFORE").is_some_and(|program| !program.is_empty());
        let mut entrances: Vec<_> = programs.iter().map(|bin| (bin, false)).collect();
        entrances.extend(programs.first().map(|bin| (bin, true)));
        for (at, (bin, is_pooled)) in entrances.into_iter().enumerate() {
            println!("on the PostgreSQL in {}{}", bin.display(), if is_pooled { ", by way of PgBouncer" } else { "" });
            let cluster = Cluster::start(bin, Flushing::Off, stop).await?;
            let pooler = if is_pooled { Some(Pooler::start(&pgbouncer, &cluster).await?) } else { None };
            let mut command = Command::new(&nextest);
            command.args(["nextest", "run", "--no-fail-fast", "--run-ignored", "only"]).args(ALL_CRATES);
            command.env("DOCENT_TEST_POSTGRES", cluster.url());
            command.envs(pooler.as_ref().map(|pooler| ("DOCENT_TEST_POOLER", pooler.url())));
            command.envs(is_pooled.then_some(("DOCENT_POOLED", "1")));
            // The stories of several servers mostly wait. They start databases of their own, with programs that only the system's
            // version is sure to have.
            let beside = match (at, is_pooled) {
                (0, _) => " | test(/^nodes::/) | test(/worlds_are_the_same_on_postgres/)",
                (_, true) => " | test(/^nodes::under_faults::/)",
                _ => "",
            };
            let without = if at == 0 && !has_before {
                println!("no build before this one runs beside it: $DOCENT_BIN_BEFORE names none");
                " - test(/^nodes::versions::/)"
            } else {
                ""
            };
            command.arg("-E").arg(format!("(package(docent-store-postgres){beside}){without}"));
            command.env("DOCENT_BIN", &server).env("DOCENT_TEST_POSTGRES_PROGRAMS", bin);
            command
                .env("DOCENT_FAKETIME", &faketime)
                .env("DOCENT_PGBOUNCER", &pgbouncer)
                .env("DOCENT_HAPROXY", &haproxy);
            match self.outcome(&mut command, stop).await? {
                Outcome::Passed => {}
                other => return Ok(other),
            }
        }
        Ok(Outcome::Passed)
    }

    async fn proxy(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let nginx = self.tools.debian_program("nginx", "nginx", stop).await?;
        self.stories("kept_connections::", &[("DOCENT_NGINX", nginx)], stop).await
    }

    async fn deploy(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let mut env = Vec::new();
        for (variable, program, package) in [
            ("DOCENT_NGINX", "nginx", "nginx"),
            ("DOCENT_CADDY", "caddy", "caddy"),
            ("DOCENT_HAPROXY", "haproxy", "haproxy"),
            ("DOCENT_PROMTOOL", "promtool", "prometheus"),
            ("DOCENT_SYSTEMD_ANALYZE", "systemd-analyze", "systemd"),
        ] {
            env.push((variable, self.tools.debian_program(program, package, stop).await?));
        }
        self.stories("deploy::", &env, stop).await
    }

    async fn containers(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        // The newest one, since the compose file names it, and it needs no files of the system.
        let programs = self.tools.postgres(stop).await?.into_iter().nth(1);
        let missing = || Missing::Skip("the newest PostgreSQL is missing; --install brings it".to_owned());
        let mut env = vec![("DOCENT_TEST_POSTGRES_PROGRAMS", programs.ok_or_else(missing)?)];
        env.extend(self.tools.containers(stop).await?);
        self.stories("containers::", &env, stop).await
    }

    async fn sdk(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let node = self.tools.node_with(&self.workspace.sdk(), stop).await?;
        let python = self.tools.python_program("schemathesis", "tests/sdk/requirements.txt", stop).await?;
        let python = python.with_file_name("python");
        self.stories("sdk::", &[("DOCENT_NODE", node), ("DOCENT_PYTHON", python)], stop).await
    }

    async fn browser(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let chromium = self.tools.chromium(stop).await?;
        let node = self.tools.node_with(&self.workspace.root.join("tests/browser"), stop).await?;
        self.tools.node_with(&self.workspace.root.join("tests/sites/vitepress"), stop).await?;
        let mkdocs = self.tools.python_program("mkdocs", "tests/sites/mkdocs/requirements.txt", stop).await?;
        let sphinx = self.tools.python_program("sphinx-build", "tests/sites/sphinx/requirements.txt", stop).await?;
        let tools = [
            ("DOCENT_NODE", node),
            ("DOCENT_CHROMIUM", chromium),
            ("DOCENT_MKDOCS", mkdocs),
            ("DOCENT_SPHINX", sphinx),
        ];
        self.stories("browser::", &tools, stop).await
    }

    async fn dashboard(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let chromium = self.tools.chromium(stop).await?;
        let node = self.tools.node_with(&self.workspace.root.join("tests/dashboard"), stop).await?;
        self.stories("dashboard::people", &[("DOCENT_NODE", node), ("DOCENT_CHROMIUM", chromium)], stop).await
    }

    /// What is in the folder that a variable names is not part of the project and cannot be installed.
    async fn of_a_folder(
        &mut self,
        module: &str,
        variable: &str,
        of: &str,
        stop: &mut StopSignal,
    ) -> std::result::Result<Outcome, Missing> {
        let folder = std::env::var_os(variable).filter(|folder| !folder.is_empty());
        let missing = || Missing::Skip(format!("${variable} names no folder of {of}"));
        let folder = PathBuf::from(folder.ok_or_else(missing)?);
        // The path must be absolute, because the test runs in another folder.
        let folder = folder.canonicalize().map_err(|error| format!("could not open {}: {error}", folder.display()))?;
        self.stories(module, &[(variable, folder)], stop).await
    }

    async fn models(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let node = self.tools.node_with(&self.workspace.root.join("tests/models"), stop).await?;
        let llmock = self.tools.python_program("llmock", "tests/models/requirements.txt", stop).await?;
        self.stories("models::", &[("DOCENT_NODE", node), ("DOCENT_LLMOCK", llmock)], stop).await
    }

    async fn forges(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let node = self.tools.node_with(&self.workspace.root.join("tests/forges"), stop).await?;
        self.stories("forges::", &[("DOCENT_NODE", node)], stop).await
    }

    async fn sites(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        match self.build(stop).await? {
            Outcome::Passed => site::fixtures(self.workspace, &self.tools, stop).await,
            other => Ok(other),
        }
    }

    async fn markdown(&mut self, stop: &mut StopSignal) -> std::result::Result<Outcome, Missing> {
        let node = self.tools.node_with(&self.workspace.root.join("tests/markdown"), stop).await?;
        let mut command = Command::new(cargo());
        let chosen = ["--ignored", "--nocapture", "link_filter::tests::renderers", "code::tests::generators"];
        command.args(["test", "--quiet", "--lib"]).args(ALL_CRATES).arg("--").args(chosen);
        let renderers = self.tools.python_program("markdown_py", "tests/markdown/requirements.txt", stop).await?;
        command.env("DOCENT_NODE", node).env("DOCENT_PYTHON", renderers.with_file_name("python"));
        match self.outcome(&mut command, stop).await? {
            Outcome::Passed => {}
            other => return Ok(other),
        }
        let sphinx = self.tools.python_program("sphinx-build", "tests/sites/sphinx/requirements.txt", stop).await?;
        let mut command = Command::new(cargo());
        let chosen = ["--ignored", "--nocapture", "code::rst::tests::docutils"];
        command.args(["test", "--quiet", "--lib"]).args(ALL_CRATES).arg("--").args(chosen);
        Ok(self.outcome(command.env("DOCENT_PYTHON", sphinx.with_file_name("python")), stop).await?)
    }

    /// Runs the black-box tests of a module that need more than cargo brings.
    async fn stories(
        &mut self,
        module: &str,
        env: &[(&str, PathBuf)],
        stop: &mut StopSignal,
    ) -> std::result::Result<Outcome, Missing> {
        self.tools.git(stop).await?;
        let server = self.server(stop).await?;
        let mut command = Command::new(cargo());
        // One at a time: the tests measure the pauses between retries, which hundreds of concurrent jobs would
        // lengthen.
        let chosen = ["--ignored", "--nocapture", "--test-threads", "1", module];
        command
            .args(["test", "--quiet", "--test", "blackbox"])
            .args(ALL_CRATES)
            .arg("--")
            .args(chosen)
            .env("DOCENT_BIN", server)
            .envs(env.iter().map(|(name, value)| (name, value)));
        Ok(self.outcome(&mut command, stop).await?)
    }

    async fn cargo(&self, arguments: &[&str], stop: &mut StopSignal) -> Result<Outcome> {
        self.outcome(Command::new(cargo()).args(arguments), stop).await
    }

    async fn outcome(&self, command: &mut Command, stop: &mut StopSignal) -> Result<Outcome> {
        Ok(match child::run(command.current_dir(&self.workspace.root), stop).await? {
            Ended::Well => Outcome::Passed,
            Ended::Badly(how) => Outcome::Failed(how),
            Ended::Stopped => Outcome::Skipped("stopped before it ended".to_owned()),
        })
    }
}

fn none_found(faults: &[String]) -> Outcome {
    for fault in faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => Outcome::Passed,
        n => Outcome::Failed(format!("{n} found")),
    }
}
