//! A forge in memory, and a connection to it that loses requests and answers at random.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use docent_authoring::record::Record;
use docent_forge::{Forge, ForgeError, PullRequest, PullRequestSpec, PullState};
use docent_types::{Project, ProjectId};
use parking_lot::Mutex;

use crate::broken::BrokenEngine;
use crate::git::records;
use crate::process::{Process, RequestKind};
use crate::world::World;

/// The forge, with the pull requests of all projects.
#[derive(Debug, Default)]
pub(crate) struct Server(Mutex<Vec<Pull>>);

/// One pull request.
#[derive(Debug, Clone)]
pub(crate) struct Pull {
    pub(crate) project: ProjectId,
    pub(crate) number: u64,
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) state: PullState,
}

impl Pull {
    fn told(&self) -> PullRequest {
        PullRequest { number: self.number, url: self.url(), state: self.state, draft: false }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://forge.test/{}/{}", self.project, self.number)
    }
}

impl Server {
    pub(crate) fn pulls(&self) -> Vec<Pull> {
        self.0.lock().clone()
    }

    /// Merges or closes an open pull request.
    pub(crate) fn ends(&self, ended: &Pull, state: PullState) {
        let mut pulls = self.0.lock();
        let of = |pull: &&mut Pull| pull.url() == ended.url() && pull.state == PullState::Open;
        if let Some(pull) = pulls.iter_mut().find(of) {
            pull.state = state;
        }
    }

    fn find(&self, project: &ProjectId, head: &str) -> Option<Pull> {
        self.0.lock().iter().rev().find(|pull| pull.project == *project && pull.head == head).cloned()
    }

    fn opens(&self, project: &ProjectId, request: &PullRequestSpec) -> Pull {
        let mut pulls = self.0.lock();
        let number = pulls.iter().filter(|pull| pull.project == *project).count() as u64 + 1;
        let (head, body, project) = (request.head.clone(), request.body.clone(), project.clone());
        let pull = Pull { project, number, head, body, state: PullState::Open };
        pulls.push(pull.clone());
        pull
    }

    fn updates(&self, project: &ProjectId, number: u64, request: &PullRequestSpec) -> Option<Pull> {
        let mut pulls = self.0.lock();
        let of = |pull: &&mut Pull| pull.project == *project && pull.number == number && pull.state == PullState::Open;
        let pull = pulls.iter_mut().find(of)?;
        pull.body.clone_from(&request.body);
        Some(pull.clone())
    }
}

/// A project's forge as a process sees it.
#[derive(Debug, Clone)]
pub(crate) struct ProcessForge {
    process: Arc<Process>,
    project: Project,
}

/// A request to the forge.
#[derive(Debug, Clone)]
enum Wish {
    Open(PullRequestSpec),
    Update(u64, PullRequestSpec),
}

impl ProcessForge {
    pub(crate) fn new(process: Arc<Process>, project: Project) -> Self {
        Self { process, project }
    }

    fn world(&self) -> &World {
        &self.process.world
    }

    /// Carries out the request at the forge.
    fn arrives(&self, wish: &Wish) -> Result<PullRequest, ForgeError> {
        let (world, server, id) = (self.world(), &self.world().forge, &self.project.id);
        let (Wish::Open(request) | Wish::Update(_, request)) = wish;
        must_be_written_down(world, request);
        let found = server.find(id, &request.head).filter(|pull| pull.state == PullState::Open);
        let pull = match (wish, found) {
            (Wish::Update(number, _), _) => match server.updates(id, *number, request) {
                Some(pull) => pull,
                None => return Err(ForgeError::Refused { sentence: "the pull request is not open".to_owned() }),
            },
            // A forge allows one open pull request for a pair of branches.
            (Wish::Open(_), Some(found)) if world.broken != Some(BrokenEngine::OpensBlindly) => found,
            (Wish::Open(_), found) => {
                self.must_have_changes(request)?;
                if let Some(found) = found {
                    world.violated(format_args!(
                        "{} has a pull request, {}, and gets another",
                        request.head,
                        found.url()
                    ));
                }
                server.opens(id, request)
            }
        };
        world.note(format_args!("{} {} {}", self.process.name, name(wish), pull.url()));
        Ok(pull.told())
    }

    fn must_have_changes(&self, request: &PullRequestSpec) -> Result<(), ForgeError> {
        let mirror = self.world().look(&self.project);
        let tip = |branch: &str| mirror.find_branch(branch).expect("a branch can be looked up");
        let Some(head) = tip(&request.head) else { return Err(ForgeError::HeadMissing { head: request.head.clone() }) };
        let is_held = tip(&request.base).is_none_or(|base| mirror.is_ancestor(head, base).expect("commits are there"));
        if is_held {
            return Err(ForgeError::NoChanges { head: request.head.clone(), base: request.base.clone() });
        }
        Ok(())
    }

    async fn wishes(&self, wish: Wish) -> Result<PullRequest, ForgeError> {
        let (process, world) = (&self.process, self.world());
        let odds = &world.plan.odds;
        process.sends(RequestKind::Forge).await;
        if world.goes_wrong("forge fails", odds.forge_fails) {
            let wait = world.chance().happens(0.3).then_some(Duration::from_secs(45));
            return Err(unavailable("it is overloaded", wait));
        }
        if world.goes_wrong("forge is late", odds.forge_late) {
            self.arrives_later(wish, 60_000);
            return Err(unavailable("no answer came in time", None));
        }
        let answer = self.arrives(&wish);
        if world.goes_wrong("forge is asked twice", odds.forge_twice) {
            self.arrives_later(wish, 500);
        }
        process.receives(RequestKind::Forge).await;
        if world.goes_wrong("forge is unconfirmed", odds.forge_unconfirmed) {
            return Err(unavailable("the connection broke off", None));
        }
        answer
    }

    fn arrives_later(&self, wish: Wish, most_millis: u64) {
        let (forge, wait) = (self.clone(), self.world().chance().millis(1..=most_millis));
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            // Its result reaches no caller.
            let _ = forge.arrives(&wish);
        });
    }
}

fn name(wish: &Wish) -> &'static str {
    match wish {
        Wish::Open(_) => "opens",
        Wish::Update(..) => "updates",
    }
}

fn unavailable(why: &str, retry_after: Option<Duration>) -> ForgeError {
    ForgeError::Unavailable { retry_after, source: why.into() }
}

/// Checks that a pull request is opened only when its job's flushed journal records its commit.
fn must_be_written_down(world: &World, request: &PullRequestSpec) {
    let rows = world.disk.rows();
    let asked_by = rows.iter().find(|row| request.body.contains(&row.id().to_string()));
    let is_written = asked_by.is_some_and(|row| {
        let journal = world.disk.lasting_journal(row.id());
        records(journal.iter().map(|entry| &entry.body)).any(|record| matches!(record, Record::Committed { .. }))
    });
    if !is_written {
        world.violated(format_args!(
            "a pull request from {} is asked for, and no journal on the disk says why",
            request.head
        ));
    }
}

#[async_trait]
impl Forge for ProcessForge {
    async fn find(&self, head: &str) -> Result<Option<PullRequest>, ForgeError> {
        let (process, world) = (&self.process, self.world());
        process.sends(RequestKind::Forge).await;
        if world.goes_wrong("forge fails", world.plan.odds.forge_fails) {
            return Err(unavailable("it is overloaded", None));
        }
        let found = world.forge.find(&self.project.id, head).map(|pull| pull.told());
        process.receives(RequestKind::Forge).await;
        Ok(found.filter(|_| world.broken != Some(BrokenEngine::OpensBlindly)))
    }

    async fn open(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        self.wishes(Wish::Open(request.clone())).await
    }

    async fn update(&self, found: &PullRequest, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        self.wishes(Wish::Update(found.number, request.clone())).await
    }
}
