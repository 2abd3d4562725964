//! Everything outside the processes: time, random numbers, the disk, the repositories, the forge, and the ledger.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use docent_types::{Clock, Domain, ForgeKind, Ids, Project, ProjectId, ProjectSettings, ProjectUid, Timestamp};
use docent_workspace::{CommitMeta, Mirror, Mirrors, Remote, create_repository};
use parking_lot::{Mutex, MutexGuard};
use tempfile::TempDir;
use tokio::time::Instant;
use uuid::Uuid;

use crate::broken::BrokenEngine;
use crate::chance::Chance;
use crate::disk::{Disk, Stores};
use crate::forge::Server;
use crate::ledger::Ledger;
use crate::node::Running;
use crate::plan::Plan;
use crate::trace::Trace;

/// The time at which every run begins.
const BEGINNING: Timestamp = Timestamp::from_millis(1_795_000_000_000);

/// One world.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) broken: Option<BrokenEngine>,
    pub(crate) disk: Disk,
    pub(crate) forge: Server,
    pub(crate) projects: Vec<Project>,
    ledger: Mutex<Ledger>,
    /// The running process of each node.
    processes: Mutex<Vec<Option<Arc<Running>>>>,
    dir: TempDir,
    /// The mirrors with which the checks read the repositories.
    look: Mirrors,
    began: Instant,
    /// How far each node's clock is off, in milliseconds.
    off: Vec<AtomicI64>,
    full_until: Mutex<Instant>,
    is_calm: AtomicBool,
    chance: Mutex<Chance>,
    trace: Mutex<Trace>,
    counts: Mutex<BTreeMap<String, u64>>,
    violations: Mutex<Vec<String>>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl World {
    pub(crate) fn new(seed: u64, broken: Option<BrokenEngine>, is_traced: bool, stores: Stores) -> Arc<Self> {
        let mut chance = Chance::new(seed);
        let mut plan = Plan::of(&mut chance);
        if broken == Some(BrokenEngine::TellsWhatMayBeLost) {
            // The fault shows only when the power fails between a takeover and the next flush.
            plan.odds.power_fails = 10.0;
        }
        let dir = folder().expect("a folder for the repositories");
        let projects = (0..plan.projects).map(|number| project(&dir, number)).collect();
        Arc::new(Self {
            broken,
            disk: Disk::of(stores),
            forge: Server::default(),
            projects,
            ledger: Mutex::default(),
            processes: Mutex::new(vec![None; plan.nodes]),
            look: Mirrors::new(dir.path().join("look")),
            dir,
            began: Instant::now(),
            off: (0..plan.nodes).map(|_| AtomicI64::new(0)).collect(),
            full_until: Mutex::new(Instant::now()),
            is_calm: AtomicBool::new(false),
            chance: Mutex::new(chance),
            trace: Mutex::new(Trace::new(is_traced)),
            counts: Mutex::default(),
            violations: Mutex::default(),
            plan,
        })
    }

    pub(crate) fn chance(&self) -> MutexGuard<'_, Chance> {
        self.chance.lock()
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock()
    }

    pub(crate) fn processes(&self) -> MutexGuard<'_, Vec<Option<Arc<Running>>>> {
        self.processes.lock()
    }

    /// Whether a fault of this probability occurs now. An occurrence is counted under its name.
    pub(crate) fn goes_wrong(&self, what: &str, odds: f64) -> bool {
        let happens = odds > 0.0 && !self.is_calm() && self.chance().happens(odds);
        if happens {
            self.count(what);
        }
        happens
    }

    /// Ends the faults.
    pub(crate) fn calms_down(&self) {
        self.note(format_args!("calm from here on"));
        self.is_calm.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::SeqCst)
    }

    pub(crate) fn fills_the_disk(&self, time: Duration) {
        *self.full_until.lock() = Instant::now() + time;
    }

    pub(crate) fn is_disk_full(&self) -> bool {
        !self.is_calm() && Instant::now() < *self.full_until.lock()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn note(&self, line: fmt::Arguments<'_>) {
        let millis = self.elapsed().as_millis();
        self.trace.lock().line(format_args!("{millis:>8} {line}"));
    }

    pub(crate) fn count(&self, what: &str) {
        *self.counts.lock().entry(what.to_owned()).or_default() += 1;
    }

    /// Records a violation of a guarantee.
    pub(crate) fn violated(&self, promise: fmt::Arguments<'_>) {
        self.note(format_args!("VIOLATED: {promise}"));
        self.violations.lock().push(promise.to_string());
    }

    /// The report at the end: the digest of the trace, the trace, the counted faults, and the violations.
    pub(crate) fn told(&self) -> (u64, Vec<String>, BTreeMap<String, u64>, Vec<String>) {
        let mut trace = self.trace.lock();
        let (counts, violations) = (std::mem::take(&mut *self.counts.lock()), self.violations.lock().clone());
        (trace.digest(), trace.take(), counts, violations)
    }

    pub(crate) fn project(&self, id: &ProjectId) -> Option<&Project> {
        self.projects.iter().find(|project| project.id == *id)
    }

    pub(crate) fn mirrors_of(&self, node: usize) -> PathBuf {
        self.dir.path().join(format!("mirrors-{node}"))
    }

    /// The present state of a project's repository.
    pub(crate) fn look(&self, project: &Project) -> Mirror {
        self.look.fetch_blocking(&Remote::new(project.repository.clone())).expect("a repository that nobody damages")
    }

    /// Shifts a node's clock.
    pub(crate) fn turns_clock(&self, node: usize, by_millis: i64) {
        self.off[node].fetch_add(by_millis, Ordering::SeqCst);
    }

    fn now(&self, node: usize) -> Timestamp {
        let right = BEGINNING.plus(self.elapsed()).millis();
        Timestamp::from_millis(right + self.off[node].load(Ordering::SeqCst))
    }
}

/// A folder for the repositories, in memory where possible: durability is simulated and needs no real disk.
fn folder() -> std::io::Result<TempDir> {
    let mut folder = tempfile::Builder::new();
    folder.prefix("docent-sim");
    folder.tempdir_in("/dev/shm").or_else(|_| folder.tempdir())
}

fn project(dir: &TempDir, number: usize) -> Project {
    let path = dir.path().join(format!("docs-{number}.git"));
    let page = |title: &str| format!("---\ntitle: {title}\n---\n\nWords about {title}.\n").into_bytes();
    let files =
        BTreeMap::from([("docs/index.md".to_owned(), page("Home")), ("docs/setup.md".to_owned(), page("Setup"))]);
    create_repository(&path, "main", &files, &by_people("First", Vec::new())).expect("a repository is made");
    let name = format!("project-{number}");
    Project {
        uid: ProjectUid::new(Uuid::from_u128(number as u128)),
        id: ProjectId::parse(&name).expect("a name"),
        domain: Domain::parse(&name).expect("a name"),
        repository: path.display().to_string(),
        branch: "main".to_owned(),
        docs_root: "docs".to_owned(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: BTreeMap::new(),
        settings: ProjectSettings::default(),
        created_at: BEGINNING,
    }
}

/// The author and message of a commit that a person made.
pub(crate) fn by_people(message: &str, parents: Vec<docent_workspace::CommitId>) -> CommitMeta {
    let seconds = BEGINNING.seconds();
    CommitMeta {
        name: "Ann".to_owned(),
        email: "ann@example.test".to_owned(),
        seconds,
        message: message.to_owned(),
        parents,
    }
}

/// A node's clock.
#[derive(Debug)]
pub(crate) struct NodeClock(pub(crate) Arc<World>, pub(crate) usize);

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        self.0.now(self.1)
    }
}

/// Generates ids from the seed.
#[derive(Debug)]
pub(crate) struct SeededIds(pub(crate) Arc<World>);

impl Ids for SeededIds {
    fn ordered(&self, now: Timestamp) -> Uuid {
        let number = self.0.chance().wide();
        let mut random = [0; 10];
        random.copy_from_slice(&number.to_be_bytes()[..10]);
        uuid::Builder::from_unix_timestamp_millis(u64::try_from(now.millis()).unwrap_or(0), &random).into_uuid()
    }

    fn unguessable(&self) -> Uuid {
        uuid::Builder::from_random_bytes(self.0.chance().wide().to_be_bytes()).into_uuid()
    }
}
