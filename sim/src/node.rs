//! A node: runs one process after the other, each with its own engine on the state that the previous one left.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_authoring::{Author, AuthorConfig, Forges, Projects, Repositories};
use docent_forge::Forge;
use docent_jobs::{Engine, EngineConfig, JobLimits, Jobs};
use docent_llm::Model;
use docent_types::{Project, ProjectId, StoreError};
use docent_workspace::Mirrors;
use futures::FutureExt;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::forge::ProcessForge;
use crate::git::{NodeGit, loses_mirrors};
use crate::model::{Local, Writer};
use crate::process::{Process, ProcessWorker, RequestKind};
use crate::store::NodeStore;
use crate::world::{NodeClock, SeededIds, World};

/// A running process, as callers see it.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) process: Arc<Process>,
    pub(crate) jobs: Jobs,
}

/// Runs processes on this node, one after the other, until `closing`.
pub(crate) async fn lives(world: Arc<World>, node: usize, closing: CancellationToken) {
    for life in 1.. {
        let process = Process::new(&world, node, life);
        let engine = starts(&process);
        ends(&process, engine, &closing).await;
        world.processes()[node] = None;
        if closing.is_cancelled() {
            return;
        }
        if process.is_dead() && world.goes_wrong("mirror is lost", world.plan.odds.mirror_is_lost) {
            loses_mirrors(&world, &world.mirrors_of(node));
        }
        let pause = world.chance().millis(100..=8_000);
        tokio::time::sleep(pause).await;
    }
}

/// Waits until the process is dead, or was asked to drain and has done so.
async fn ends(process: &Process, mut engine: JoinHandle<()>, closing: &CancellationToken) {
    tokio::select! {
        biased;
        () = process.dead.cancelled() => {}
        () = process.drain.cancelled() => {}
        () = closing.cancelled() => process.drain.cancel(),
    }
    tokio::select! {
        biased;
        () = process.dead.cancelled() => engine.abort(),
        _ = &mut engine => return process.world.note(format_args!("{} has drained", process.name)),
    }
    // The engine's task was aborted, or killed at a named point.
    let _ = engine.await;
}

fn starts(process: &Arc<Process>) -> JoinHandle<()> {
    let (world, node) = (&process.world, process.node);
    world.note(format_args!("{} starts", process.name));
    let clock = Arc::new(NodeClock(Arc::clone(world), node));
    let limits = JobLimits { creates_per_hour: world.plan.quota, messages_per_hour: 100 };
    let store = Arc::new(NodeStore(Arc::clone(process)));
    let jobs = Jobs::new(store, clock, Arc::new(SeededIds(Arc::clone(world))), limits);
    let config = EngineConfig {
        workers: world.plan.workers,
        per_project: world.plan.per_project,
        attempts: world.plan.attempts,
        ..EngineConfig::new(process.name.clone())
    };
    let worker = ProcessWorker { process: Arc::clone(process), worker: author(process) };
    let engine = Engine::new(jobs.clone(), Arc::new(worker), config);
    world.processes()[node] = Some(Arc::new(Running { process: Arc::clone(process), jobs }));
    let process = Arc::clone(process);
    tokio::spawn(async move {
        while process.is_alone() && engine.take_over().await.is_err() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        engine.run(process.drain.clone()).await;
    })
}

fn author(process: &Arc<Process>) -> Author {
    let mirrors = Mirrors::new(process.world.mirrors_of(process.node));
    let git = NodeGit { process: Arc::clone(process), mirrors };
    let repositories = Repositories::with_transport(Arc::new(git), Arc::new(|_| std::future::ready(Ok(None)).boxed()));
    let at = Arc::clone(process);
    let forges: Forges = Arc::new(move |project: &Project| -> Arc<dyn Forge> {
        Arc::new(ProcessForge::new(Arc::clone(&at), project.clone()))
    });
    let models: BTreeMap<String, Arc<dyn Model>> = BTreeMap::from([
        ("sonnet".to_owned(), Arc::new(Writer(Arc::clone(process))) as Arc<dyn Model>),
        ("builtin".to_owned(), Arc::new(Local(Arc::clone(process))) as Arc<dyn Model>),
    ]);
    let projects = Arc::new(Registry(Arc::clone(process)));
    Author::new(projects, repositories, forges, models, AuthorConfig::default())
}

/// The projects, as a process sees them.
#[derive(Debug)]
struct Registry(Arc<Process>);

#[async_trait]
impl Projects for Registry {
    async fn project(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        let (process, world) = (&self.0, &self.0.world);
        process.sends(RequestKind::Read).await;
        if world.goes_wrong("read fails", world.plan.odds.read_fails) {
            return Err(StoreError::new("read", "the disk failed"));
        }
        process.receives(RequestKind::Read).await;
        Ok(world.project(id).cloned())
    }
}
