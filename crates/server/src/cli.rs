//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A self-hosted documentation agent and assistant.
///
/// Teams keep their docs in git. Docent turns an instruction into a pull request, and a reader's question into an
/// answer from the docs, with links.
#[derive(Debug, Parser)]
#[command(name = "docent", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// The configuration file [default: docent.toml, if there is one]
    #[arg(long, global = true, env = "DOCENT_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The folder of the database, the mirrors and the indexes [default: ./docent-data]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Print JSON on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See it work: a sample docs repository, one agent job, one question
    Demo(DemoArgs),
    /// Run the server
    Serve(ServeArgs),
    /// Add, change, list and remove projects
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Make sign-in links for the people who run this server, and list them
    #[command(subcommand)]
    Operator(OperatorCommand),
    /// Fetch a docs site and bring its search index up to date
    Index(IndexArgs),
    /// Ask a docs site's assistant; the answer as it is made, and the pages it leans on
    Ask(AskArgs),
    /// Search a docs site: its passages for these words, and why they were found
    Search(SearchArgs),
    /// Have one instruction carried out on a local repository, without a server; leaves a branch
    Run(RunArgs),
    /// Copy the database to a file, while a server works on it or without one
    Backup(BackupArgs),
    /// Put a backup in the place of the database, which is kept under another name; the server must be stopped
    Restore(RestoreArgs),
    /// Ask the server on this machine whether it is ready: exit code 0 or 1
    Health(ServeArgs),
    /// Check configuration, store, git, models, forges and repositories, and say what to fix
    Doctor,
    /// Print the completions of these commands for a shell
    #[command(after_help = "For example: docent completions bash > /etc/bash_completion.d/docent")]
    Completions {
        /// The shell that reads them
        shell: clap_complete::Shell,
    },
    /// Print the manual page of docent, or write those of all its commands
    Man {
        /// Write a page for each command into this folder, such as /usr/local/share/man/man1
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

impl Command {
    /// Whether the command makes a data folder where there is none; the others say that there is none.
    pub(crate) const fn makes_data_folder(&self) -> bool {
        match self {
            // `demo` and `run` work in a temporary one.
            Self::Demo(_) | Self::Serve(_) | Self::Run(_) | Self::Restore(_) => true,
            Self::Project(command) => matches!(command, ProjectCommand::Add(_)),
            Self::Key(_)
            | Self::Operator(_)
            | Self::Index(_)
            | Self::Ask(_)
            | Self::Search(_)
            | Self::Backup(_)
            | Self::Health(_)
            | Self::Doctor
            | Self::Completions { .. }
            | Self::Man { .. } => false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Drain and exit when the tour is over
    #[arg(long)]
    pub(crate) exit: bool,
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: SocketAddr,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where the server listens; port 0 picks a free one [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Register a docs repository
    Add(ProjectAdd),
    /// Change what is known of a project; its keys, jobs and threads stay
    Set(ProjectSet),
    /// List the projects
    List,
    /// Remove a project, its keys and its index; its jobs stay in the database
    Remove {
        /// The project's id
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ProjectAdd {
    /// The id in the agent paths: lower-case letters, digits, `-`, `_`, `.`
    pub(crate) id: String,
    /// URL or path of the git repository
    #[arg(long, value_name = "URL_OR_PATH")]
    pub(crate) repo: String,
    #[command(flatten)]
    pub(crate) options: ProjectOptions,
}

#[derive(Debug, Args)]
#[command(
    after_help = "What is not given stays as it is. An empty value (`--token-env ''`) takes away what can be absent."
)]
pub(crate) struct ProjectSet {
    /// The project's id
    pub(crate) id: String,
    /// URL or path of the git repository
    #[arg(long, value_name = "URL_OR_PATH")]
    pub(crate) repo: Option<String>,
    #[command(flatten)]
    pub(crate) options: ProjectOptions,
}

#[derive(Debug, Default, Args)]
pub(crate) struct ProjectOptions {
    /// The name in the assistant paths [default: the id]
    #[arg(long)]
    pub(crate) domain: Option<String>,
    /// The branch that holds the docs and that pull requests go to [default: the repository's own]
    #[arg(long = "ref", value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
    /// The folder of the docs in the repository [default: all of it]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) docs_root: Option<String>,
    /// Where pull requests are opened [default: local]
    #[arg(long, value_enum)]
    pub(crate) forge: Option<ForgeArg>,
    /// The environment variable that holds the token for git and the forge
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) token_env: Option<String>,
    /// The file that holds this token, in place of --token-env
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<String>,
    /// Where the forge is, when that does not follow from --repo: the base of its API (GitHub Enterprise, GitLab or
    /// Gitea on another host or below a path); for the local forge, where its pages are reached
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// A repository that the agent may read besides, by a name; more than one may be given
    #[arg(long, value_name = "NAME=URL")]
    pub(crate) context: Vec<String>,
    /// Files below the docs root that the agent may change besides pages, images and navigation, such as `*.config.js` or
    /// `scripts/**`; more than one may be given
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow_path: Vec<String>,
    /// Pages, drawings and diagrams to which the agent may add code that the site does not have yet, such as
    /// `guides/*.mdx`; more than one may be given
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow_code: Vec<String>,
    /// Author and committer of the commits [default: Docent]
    #[arg(long, value_name = "NAME <EMAIL>")]
    pub(crate) author: Option<String>,
    /// Whether commits carry a `Signed-off-by` line
    #[arg(long, value_name = "YES_OR_NO", num_args = 0..=1, require_equals = true, default_missing_value = "yes")]
    pub(crate) sign_off: Option<YesOrNo>,
    /// Do not look into a repository that is not on this machine
    #[arg(long)]
    pub(crate) no_check: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesOrNo {
    /// They do
    Yes,
    /// They do not
    No,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ForgeArg {
    /// Docent shows the pull requests itself
    Local,
    /// github.com or GitHub Enterprise
    Github,
    /// gitlab.com or a GitLab of your own
    Gitlab,
    /// Gitea, Forgejo
    Gitea,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What is to be done, in your own words (without a language model: one of the chores of docs/CHORES.md)
    #[arg(allow_hyphen_values = true)]
    pub(crate) instruction: String,
    /// A git repository on this machine, bare or not; its work tree and its checked-out branch are left alone [default: the
    /// one you are in]
    #[arg(long, default_value = ".", hide_default_value = true, value_name = "PATH")]
    pub(crate) repo: PathBuf,
    /// The model to work with [default: the configuration's `agent.model`]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The branch to begin from [default: the one that is checked out]
    #[arg(long = "ref", value_name = "BRANCH")]
    pub(crate) from: Option<String>,
    /// The branch to leave; continued when it is there [default: a new one]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
    /// The folder of the docs in the repository [default: all of it]
    #[arg(long, default_value = "", hide_default_value = true, value_name = "FOLDER")]
    pub(crate) docs_root: String,
    /// Files below the docs root that the agent may change besides pages, images and navigation, such as `*.config.js` or
    /// `scripts/**`; more than one may be given
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow_path: Vec<String>,
    /// Pages, drawings and diagrams to which the agent may add code that the site does not have yet, such as
    /// `guides/*.mdx`; more than one may be given
    #[arg(long, value_name = "GLOB")]
    pub(crate) allow_code: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key and print it, once, alone on stdout
    Create(KeyCreate),
    /// List keys, without their secrets
    List {
        /// Only this project's
        #[arg(long)]
        project: Option<String>,
    },
    /// Make a key useless at once
    Revoke {
        /// The key's id, from `key list`
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct KeyCreate {
    /// The id of the project that it is for
    #[arg(long)]
    pub(crate) project: String,
    /// What it is for
    #[arg(long, value_enum)]
    pub(crate) kind: KindArg,
    /// What you call it, for `key list`
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// How long it is good: `90d`, `12h`, `never`
    #[arg(long, default_value = "90d")]
    pub(crate) expires: String,
    /// What it may do; more than one may be given [default: all]
    #[arg(long, value_enum)]
    pub(crate) scope: Vec<ScopeArg>,
    /// Only from this network; more than one may be given
    #[arg(long, value_name = "CIDR")]
    pub(crate) allow_ip: Vec<String>,
    /// Only from pages of this origin; more than one may be given
    #[arg(long, value_name = "URL")]
    pub(crate) allow_origin: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum KindArg {
    /// Secret: jobs and analytics
    Admin,
    /// Public: questions and search in the docs
    Assistant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// Reads
    Read,
    /// Writes: starts jobs, asks
    Write,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Print a link with which somebody new signs in, once and within a day
    Link {
        /// The name to sign in with [default: the person chooses one]
        #[arg(long)]
        name: Option<String>,
        /// What the person may do [default: owner for the first operator, else editor]
        #[arg(long, value_enum)]
        role: Option<RoleArg>,
    },
    /// List who can sign in
    List,
    /// Print a link with which an operator sets a new password, once and within a day
    Reset {
        /// The operator's name
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// Reads
    Viewer,
    /// Works with projects
    Editor,
    /// Decides who the operators are, too
    Owner,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The copy; its folder is made when it is not there
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The backup; it stays as it is
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// The docs site's domain
    pub(crate) domain: String,
    /// Read again what was set aside because a process ended while it read it
    #[arg(long)]
    pub(crate) retry: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The docs site's domain
    pub(crate) domain: String,
    /// The question, in your own words
    #[arg(allow_hyphen_values = true)]
    pub(crate) question: String,
    /// Go on with a conversation: its id, as told below the answer before
    #[arg(long, value_name = "ID")]
    pub(crate) thread: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The docs site's domain
    pub(crate) domain: String,
    /// What to look for: words or a question; nothing in it is syntax
    #[arg(allow_hyphen_values = true, required_unless_present = "why_not")]
    pub(crate) words: Option<String>,
    /// How many passages at most, one a page
    #[arg(long, default_value_t = 10, value_parser = number::<1, 50>, value_name = "N")]
    pub(crate) limit: u16,
    /// Only pages of this version, and those of none
    #[arg(long)]
    pub(crate) version: Option<String>,
    /// Only pages in this language, and those of none
    #[arg(long)]
    pub(crate) language: Option<String>,
    /// Only pages that carry this tag
    #[arg(long)]
    pub(crate) tag: Option<String>,
    /// Say why each passage stands where it does
    #[arg(long)]
    pub(crate) why: bool,
    /// Say of one file or address whether it is indexed, and by which rule it is not; with words, at which place it stands
    #[arg(long, value_name = "PATH", conflicts_with_all = ["why", "limit"])]
    pub(crate) why_not: Option<String>,
}

/// An address to listen on.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an IP address and a port, for example 127.0.0.1:8080 or [::1]:8080".to_owned())
}

/// A whole number in a range.
fn number<const FIRST: u16, const LAST: u16>(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|number| (FIRST..=LAST).contains(number));
    number.ok_or_else(|| format!("write a whole number from {FIRST} to {LAST}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn each_command_option_and_value_has_a_sentence() {
        let mut left = vec![Cli::command()];
        while let Some(command) = left.pop() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                let what = format!("{} {}", command.get_name(), argument.get_id());
                assert!(argument.get_help().is_some(), "{what}");
                let values = argument.get_possible_values();
                let is_flag = values.iter().any(|value| matches!(value.get_name(), "true" | "bash"));
                assert!(is_flag || values.iter().all(|value| value.get_help().is_some()), "{what}");
            }
            left.extend(command.get_subcommands().cloned());
        }
    }
}
