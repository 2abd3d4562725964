//! `docent run`: carries out one instruction on a local repository, without a server. The result is a branch.
//!
//! It runs a job on the job engine with a temporary data folder. Only committed content is read; the new branch is
//! written in one step at the end. The working tree, git's index and the checked-out branch are never changed.

mod checkout;
mod outcome;
mod progress;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use docent_authoring::job_events;
use docent_jobs::{Engine, EngineConfig, JobUpdate, NewJob, Watch};
use docent_types::{
    AgentJob, BranchName, CallError, Domain, ForgeKind, JobStatus, Message, Project, ProjectId, ProjectSettings,
    ProjectUid, Role,
};
use docent_workspace::CommitId;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use self::checkout::{is_checked_out, repository};
use crate::cli::RunArgs;
use crate::commands::projects::{allowed, docs_root};
use crate::config::{Config, StoreConfig};
use crate::failure::Failure;
use crate::output;
use crate::serve::{second_signal, shutdown_signal};
use crate::wiring::app::{App, quoted};

/// The id of the only project.
const PROJECT: &str = "run";
/// Timeout for the engine to release the job that ended or was stopped.
const PATIENCE: Duration = Duration::from_secs(20);

/// The job to run, and its repository.
struct Task {
    project: Project,
    /// The folder of the repository.
    path: PathBuf,
    branch: Option<BranchName>,
    /// The commit of `branch` before the run.
    before: Option<CommitId>,
}

pub(crate) async fn run(args: &RunArgs, mut config: Config, json: bool) -> Result<(), Failure> {
    if args.instruction.trim().is_empty() {
        return Err(Failure::usage("give an instruction, for example `docent run --repo . \"Fix broken links\"`"));
    }
    let folder = tempfile::Builder::new()
        .prefix("docent-run-")
        .tempdir()
        .map_err(|error| Failure::new("could not make a temporary folder to work in", error))?;
    (config.data, config.store) = (folder.path().to_owned(), StoreConfig::Sqlite);
    config.rerun = Some(rerun(std::env::args_os().skip(1)));
    let model = model(args, &config)?;
    let app = Arc::new(App::open(config).await?);
    let task = tokio::select! {
        task = task(args, &app, &model) => task?,
        signal = shutdown_signal() => {
            signal?;
            return Err(Failure::plain("stopped; nothing was left in the repository"));
        }
    };
    let job = carry_out(&app, &task, &args.instruction, model).await;
    let outcome = match job {
        Ok((job, stopped)) => outcome::of(&app, &task, job, stopped).await,
        Err(failure) => Err(failure),
    };
    app.store.close().await?;
    outcome?.show(json)
}

/// The command line without what it allows, which is repeated where more is allowed.
fn rerun(args: impl Iterator<Item = OsString>) -> String {
    let mut command = "docent".to_owned();
    let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
    while let Some(arg) = args.next() {
        if arg == "--allow-path" || arg == "--allow-code" {
            args.next();
        } else if !arg.starts_with("--allow-path=") && !arg.starts_with("--allow-code=") {
            let is_plain = arg.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:@".contains(c)) && !arg.is_empty();
            command.push_str(&format!(" {}", if is_plain { arg } else { quoted(&arg) }));
        }
    }
    command
}

fn model(args: &RunArgs, config: &Config) -> Result<String, Failure> {
    let Some(wanted) = &args.model else { return Ok(config.agent.model.clone()) };
    if config.offered.contains_key(wanted) {
        return Ok(wanted.clone());
    }
    let known = config.offered.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Err(Failure::usage(format!("--model: there is no model `{wanted}` in the configuration; known: {known}")))
}

/// Inspects the repository, and refuses a branch that could not be written. `model` is the name of the job's model.
async fn task(args: &RunArgs, app: &App, model: &str) -> Result<Task, Failure> {
    let path = repository(&args.repo)?;
    let text = path.to_str().ok_or_else(|| Failure::usage("--repo: the path of the repository must be valid UTF-8"))?;
    let mut project = Project {
        uid: ProjectUid::new(app.ids.unguessable()),
        id: ProjectId::parse(PROJECT)?,
        domain: Domain::parse(PROJECT)?,
        repository: text.to_owned(),
        branch: String::new(),
        docs_root: docs_root(&args.docs_root)?,
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: std::collections::BTreeMap::new(),
        settings: ProjectSettings {
            allow_paths: allowed("--allow-path", &args.allow_path)?,
            allow_code: allowed("--allow-code", &args.allow_code)?,
            ..ProjectSettings::default()
        },
        created_at: app.now(),
    };
    let branch = args.branch.as_deref().map(BranchName::parse).transpose();
    let branch = branch.map_err(|error| Failure::usage(format!("--branch: {error}")))?;
    let mirror = app.repositories.fetch(&project).await?;
    project.branch = match &args.from {
        Some(from) => from.clone(),
        None => mirror.default_branch().ok_or_else(|| {
            Failure::usage(format!("no branch is checked out in {}; name one with --ref", path.display()))
        })?,
    };
    mirror.branch(&project.branch)?;
    may_be_left(branch.as_ref(), &project, &path)?;
    let before = branch.as_ref().map(|branch| mirror.find_branch(branch.as_str())).transpose()?.flatten();
    app.projects().add(project.clone()).await?;
    // The index is for the agent's searches; `builtin` makes none.
    if !app.models.named(model)?.describe().is_builtin() {
        app.index(&project, |_| ()).await?;
    }
    Ok(Task { project, path, branch, before })
}

/// Git would refuse to move a checked-out branch; this is checked before the job starts.
fn may_be_left(branch: Option<&BranchName>, project: &Project, path: &Path) -> Result<(), Failure> {
    let Some(branch) = branch.map(BranchName::as_str) else { return Ok(()) };
    if branch == project.branch {
        return Err(Failure::usage(format!("--branch: `{branch}` is the branch to begin from; name another one")));
    }
    if is_checked_out(path, branch) {
        return Err(Failure::usage(format!(
            "--branch: `{branch}` is checked out, and is left alone; name another one"
        )));
    }
    Ok(())
}

/// Whether a job was stopped before it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stopped {
    Yes,
    No,
}

/// Runs the job until it ends or Ctrl-C stops it.
async fn carry_out(
    app: &Arc<App>,
    task: &Task,
    instruction: &str,
    model: String,
) -> Result<(AgentJob, Stopped), Failure> {
    let new = NewJob {
        project: &task.project,
        messages: vec![Message::text(Role::User, instruction)],
        branch: task.branch.clone(),
        as_draft: false,
        model,
    };
    let id = app.jobs.submit(new, None).await.map_err(refused)?.job.id;
    let mut watch = app.jobs.watch(&task.project.id, id, 0).await.map_err(refused)?;
    let drain = CancellationToken::new();
    let config = EngineConfig { workers: 1, ..EngineConfig::new("run") };
    let engine = Engine::new(app.jobs.clone(), Arc::new(app.author("")), config);
    let engine = tokio::spawn(engine.run(drain.clone()));

    let mut stopped = Stopped::No;
    let mut second = None;
    {
        let mut ended = pin!(follow(&mut watch));
        tokio::select! {
            ended = &mut ended => ended?,
            signal = shutdown_signal() => {
                signal?;
                stopped = Stopped::Yes;
                output::print_note("stopping; a second Ctrl-C stops at once");
                second = Some(AbortOnDropHandle::new(tokio::spawn(async {
                    if second_signal().await.is_ok() {
                        std::process::exit(1);
                    }
                })));
                app.jobs.archive(&task.project.id, id).await.map_err(refused)?;
                ended.await?;
            }
        }
    }
    drain.cancel();
    if tokio::time::timeout(PATIENCE, engine).await.is_err() {
        output::print_note("the work under way did not stop in time, and is cut");
    }
    drop(second);
    let job = app.jobs.job(&task.project.id, id).await.map_err(refused)?;
    // The signal may have come after the job ended.
    let stopped = if job.halt == Some(docent_types::Halt::Completed) { Stopped::No } else { stopped };
    debug_assert!(job.status != JobStatus::Active, "what is watched to its end has ended");
    Ok((Arc::unwrap_or_clone(job), stopped))
}

/// Prints the events of the job until it ends.
async fn follow(watch: &mut Watch) -> Result<(), Failure> {
    let mut progress = progress::Progress::on_a_terminal();
    while let Some(news) = watch.next().await? {
        if let JobUpdate::Entry(entry) = news {
            job_events(&entry).iter().for_each(|event| progress.apply(event));
        }
    }
    Ok(())
}

fn refused(error: CallError) -> Failure {
    match error {
        CallError::Refused(refusal) => Failure::plain(refusal.to_string()),
        CallError::Store(error) => error.into(),
    }
}
