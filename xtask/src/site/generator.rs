//! The supported generators, and how each builds a site.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clap::ValueEnum;
use tokio::process::Command;

use super::{Site, copy};
use crate::child::StopSignal;
use crate::tools::{Missing, Tools};
use crate::workspace::Workspace;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generator {
    Antora,
    Docusaurus,
    Fumadocs,
    Gitbook,
    Hugo,
    Jekyll,
    Mdbook,
    Mintlify,
    Mkdocs,
    Nextra,
    Sphinx,
    SphinxRst,
    Starlight,
    Vitepress,
}

/// The result of a build, with the complete output of the generator.
pub(super) enum Built {
    Well(String),
    Badly(String),
    Stopped,
}

impl Generator {
    pub(super) const ALL: &[Self] = &[
        Self::Antora,
        Self::Docusaurus,
        Self::Fumadocs,
        Self::Gitbook,
        Self::Hugo,
        Self::Jekyll,
        Self::Mdbook,
        Self::Mintlify,
        Self::Mkdocs,
        Self::Nextra,
        Self::Sphinx,
        Self::SphinxRst,
        Self::Starlight,
        Self::Vitepress,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Antora => "Antora",
            Self::Docusaurus => "Docusaurus",
            Self::Fumadocs => "Fumadocs",
            Self::Gitbook => "GitBook",
            Self::Hugo => "Hugo",
            Self::Jekyll => "Jekyll",
            Self::Mdbook => "mdBook",
            Self::Mintlify => "Mintlify",
            Self::Mkdocs => "MkDocs",
            Self::Nextra => "Nextra",
            Self::Sphinx => "Sphinx",
            Self::SphinxRst => "Sphinx-rst",
            Self::Starlight => "Astro Starlight",
            Self::Vitepress => "VitePress",
        }
    }

    /// The folder of the generator's small site in `tests/sites`.
    pub(super) fn folder(self) -> String {
        self.name().rsplit(' ').next().unwrap_or_default().to_lowercase()
    }

    /// The options of the generator's small site.
    pub(super) fn fixture(self) -> Site {
        let base = match self {
            Self::Docusaurus | Self::Starlight | Self::Vitepress => "odd",
            Self::Jekyll => "b",
            _ => "",
        };
        let home = match self {
            Self::Sphinx | Self::SphinxRst | Self::Vitepress => "docs",
            _ => "",
        };
        let content: &[&str] = match self {
            Self::Fumadocs => &["content/docs=/manual", "content/news=/news=en,de"],
            _ => &[],
        };
        let content = content.iter().map(|words| (*words).to_owned()).collect();
        Site { base: base.to_owned(), home: home.to_owned(), content, pages: 2, show: 10, ..Site::default() }
    }

    /// The example program that compares the model with the built site.
    pub(super) const fn comparison(self) -> &'static str {
        match self {
            Self::Mintlify => "compare_mint",
            _ => "compare_built",
        }
    }

    /// Finds or installs the programs that build a site.
    pub(super) async fn builder(
        self,
        workspace: &Workspace,
        tools: &Tools<'_>,
        site: &Site,
        repository: &Path,
        stop: &mut StopSignal,
    ) -> Result<Builder, Missing> {
        let own = workspace.root.join("tests/sites").join(self.folder());
        let requirements = format!("tests/sites/{}/requirements.txt", self.folder());
        let brought = repository.join("node_modules");
        let builds_pages_alone = self == Self::Fumadocs || self == Self::Nextra && *repository != own;
        let (program, modules) = match self {
            _ if site.build.is_some() => (PathBuf::from("/bin/sh"), brought.exists().then_some(brought)),
            _ if builds_pages_alone => (tools.node_with(&own, stop).await?, None),
            Self::Mkdocs => (tools.python_program("mkdocs", &requirements, stop).await?, None),
            Self::Sphinx | Self::SphinxRst => (tools.python_program("sphinx-build", SPHINX, stop).await?, None),
            Self::Hugo => (tools.python_program("hugo", &requirements, stop).await?, None),
            Self::Jekyll => (tools.debian_program("jekyll", "jekyll", stop).await?, None),
            Self::Mdbook => (tools.cargo_program("mdbook", MDBOOK, stop).await?, None),
            _ if brought.exists() => (tools.node_with(&own, stop).await?, Some(brought)),
            _ => (tools.node_with(&own, stop).await?, Some(own.join("node_modules"))),
        };
        let Site { home, content, build, .. } = site.clone();
        Ok(Builder { generator: self, program, modules, own, builds_pages_alone, home, content, command: build })
    }
}

/// One Sphinx for pages in Markdown and in reStructuredText.
const SPHINX: &str = "tests/sites/sphinx/requirements.txt";

/// Pinned, so that every machine runs the same release.
const MDBOOK: &str = "0.5.4";

/// Makes a git repository of a copied site, and builds a site from it.
const ANTORA: &str = "git init --quiet . && git -c user.name=site -c user.email=site@localhost commit --quiet --allow-empty --message site && \
    exec node node_modules/@antora/cli/bin/antora --log-format pretty --cache-dir \"$CACHE\" --to-dir \"$OUT\" antora-playbook.yml";

/// A generator that was found.
pub(super) struct Builder {
    pub(super) generator: Generator,
    pub(super) program: PathBuf,
    /// The folder of the npm packages.
    modules: Option<PathBuf>,
    /// The folder of the generator's small site.
    own: PathBuf,
    /// Whether a script beside the small site builds the pages without Next.js, because few sites build without the
    /// services they use.
    builds_pages_alone: bool,
    home: String,
    content: Vec<String>,
    command: Option<String>,
}

impl Builder {
    /// Builds the site in a folder into another.
    pub(super) async fn build(&self, site: &Path, out: &Path, stop: &mut StopSignal) -> Result<Built, Missing> {
        let home = site.join(&self.home);
        if let Some(modules) = &self.modules {
            // A real folder, because some bundlers do not follow a symlink out of the site.
            copy(modules, &site.join("node_modules"), &[], &|from, to| std::fs::hard_link(from, to))?;
        }
        let mut command = match &self.command {
            Some(words) => {
                let mut command = Command::new("sh");
                command.args(["-euc", words]);
                command
            }
            None => self.command(site, out),
        };
        let mut path = OsString::from(self.program.parent().unwrap_or(Path::new("/")));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.current_dir(&home).env("PATH", path).env("OUT", out).env("NO_COLOR", "1");
        command.env("NEXT_TELEMETRY_DISABLED", "1").env("ASTRO_TELEMETRY_DISABLED", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let child = command.spawn().map_err(|error| format!("could not start {}: {error}", self.generator.name()))?;
        let output = tokio::select! {
            output = child.wait_with_output() => output,
            () = stop.received() => return Ok(Built::Stopped),
        };
        let output = output.map_err(|error| format!("could not wait for {}: {error}", self.generator.name()))?;
        let said = [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        if !output.status.success() {
            return Ok(Built::Badly(said));
        }
        // Next.js exports only to a fixed folder.
        if self.generator == Generator::Nextra && self.command.is_none() && !self.builds_pages_alone {
            let moved = std::fs::rename(home.join("out"), out);
            moved.map_err(|error| format!("Next.js exported nothing: {error}"))?;
        }
        Ok(Built::Well(said))
    }

    fn command(&self, site: &Path, out: &Path) -> Command {
        let mut command = Command::new(&self.program);
        let script = |name: &str| site.join("node_modules").join(name);
        match self.generator {
            // Antora reads branches of git, and the working tree of the one that is checked out.
            Generator::Antora => {
                let cache = out.with_extension("cache");
                command = Command::new("sh");
                command.args(["-euc", ANTORA]).env("CACHE", cache).env("OUT", out)
            }
            Generator::Docusaurus => {
                command.arg(script("@docusaurus/core/bin/docusaurus.mjs")).args(["build", "--out-dir"]).arg(out)
            }
            Generator::Fumadocs | Generator::Nextra if self.builds_pages_alone => {
                command.env("NODE_ENV", "production").arg(self.own.join("pages.mjs")).arg(out).args(&self.content)
            }
            Generator::Gitbook => command.arg(script("honkit/bin/honkit.js")).args(["build", "."]).arg(out),
            // Ignores a Gemfile, because its gems are not installed.
            Generator::Jekyll => command
                .env("BUNDLE_GEMFILE", "")
                .env("JEKYLL_NO_BUNDLER_REQUIRE", "true")
                .args(["build", "--quiet", "--disable-disk-cache", "--destination"])
                .arg(out),
            Generator::Hugo => command.args(["--noBuildLock", "--destination"]).arg(out),
            Generator::Mdbook => command.args(["build", "--dest-dir"]).arg(out),
            Generator::Mintlify => command.arg(self.own.join("judge.mjs")).arg(".").arg(out),
            Generator::Mkdocs => command.args(["build", "--site-dir"]).arg(out),
            Generator::Fumadocs | Generator::Nextra => command.arg(script("next/dist/bin/next")).arg("build"),
            Generator::Sphinx | Generator::SphinxRst => {
                command.args(["-q", "-n", "-b", "html", "-d"]).arg(out.with_extension("doctrees")).arg(".").arg(out)
            }
            Generator::Starlight => command.arg(script("astro/bin/astro.mjs")).args(["build", "--outDir"]).arg(out),
            Generator::Vitepress => {
                command.arg(script("vitepress/bin/vitepress.js")).args(["build", "--outDir"]).arg(out)
            }
        };
        command
    }
}
