//! What goes wrong in a run, and when.

use std::thread;
use std::time::Duration;

use docent_tests::{CommitCut, DatabaseProxy, Postgres, eventually};

use super::chance::Chance;
use super::fleet::{Fleet, no_job_is_left};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// A node dies, and is started again.
    Kill,
    /// A node stands still past its leases, and goes on.
    Freeze,
    /// A node is told to end.
    Drain,
    /// One more node.
    Add,
    /// No session of any node can LISTEN for some time.
    CutListeners,
    /// The connections of the next commits are cut, before and after the server gets the COMMIT.
    CutCommits,
    /// All connections to the database are cut.
    CutAll,
    /// The database dies, and is started again.
    RestartDatabase,
    /// The database dies, and its standby takes over.
    FailOver,
}

impl Fault {
    /// Whether it takes the database from all nodes.
    pub(super) fn is_of_the_database(self) -> bool {
        matches!(self, Self::RestartDatabase | Self::FailOver)
    }
}

/// Jobs for which each fault of a node and of the network comes once.
const JOBS_PER_ROUND: usize = 100;
/// Commits that are cut.
const CUTS: usize = 6;
/// How long the database is away, beside the time that it takes to start.
const AWAY: Duration = Duration::from_secs(1);

/// The faults of a run.
pub(super) fn plan(jobs: usize, chance: &mut Chance) -> Vec<Fault> {
    let mut plan = Vec::new();
    for _ in 0..(jobs / JOBS_PER_ROUND).max(1) {
        let mut round =
            vec![Fault::Kill, Fault::Drain, Fault::Add, Fault::CutListeners, Fault::CutCommits, Fault::CutAll];
        chance.shuffle(&mut round);
        // One joins before one leaves, so that some node always takes requests.
        let at = |fault| round.iter().position(|other| *other == fault);
        if let (Some(drain), Some(add)) = (at(Fault::Drain), at(Fault::Add))
            && drain < add
        {
            round.swap(drain, add);
        }
        // First, as it lasts longest: the others happen meanwhile.
        plan.push(Fault::Freeze);
        plan.extend(round);
    }
    // In the first half: towards the end the faults come later than the jobs.
    for fault in [Fault::RestartDatabase, Fault::RestartDatabase, Fault::FailOver] {
        plan.insert(1 + chance.below(plan.len() / 2), fault);
    }
    plan
}

/// Everything to which something can happen.
pub(super) struct Stage<'a> {
    fleet: Fleet<'a>,
    proxy: DatabaseProxy,
    /// The server to which the proxy leads.
    primary: Postgres,
    standby: Option<Postgres>,
    /// The server that failed.
    failed: Option<Postgres>,
    deaf: Duration,
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        fleet: Fleet<'a>,
        proxy: DatabaseProxy,
        primary: Postgres,
        standby: Postgres,
        jobs: usize,
    ) -> Self {
        let deaf = Duration::from_secs(if jobs < 1000 { 10 } else { 60 });
        Self { fleet, proxy, primary, standby: Some(standby), failed: None, deaf }
    }

    /// Lets something go wrong. Returns when it is over, but for a frozen node, sessions that cannot LISTEN and commits that
    /// are still to come.
    pub(super) fn strike(&mut self, fault: Fault, chance: &mut Chance) {
        match fault {
            Fault::Kill => self.fleet.kill(chance),
            Fault::Freeze => self.fleet.freeze(&self.primary, chance),
            Fault::Drain => self.fleet.drain(chance),
            Fault::Add => self.fleet.add(),
            Fault::CutListeners => self.proxy.cut_listeners_for(self.deaf),
            Fault::CutCommits => self.cut_commits(),
            Fault::CutAll => self.proxy.cut_all(),
            Fault::RestartDatabase => self.restart_database(),
            Fault::FailOver => self.fail_over(),
        }
    }

    pub(super) fn thaw(&mut self) {
        self.fleet.thaw();
    }

    fn cut_commits(&self) {
        let kinds = [CommitCut::After, CommitCut::Before];
        self.proxy.cut_commits(kinds.into_iter().cycle().take(CUTS));
        eventually("the commits to be cut", || {
            (self.proxy.cuts_left() == 0 || no_job_is_left(&self.primary)).then_some(())
        });
    }

    fn restart_database(&mut self) {
        self.primary.stop();
        thread::sleep(AWAY);
        self.primary.start_again();
        if self.standby.is_some() {
            self.primary.is_followed();
        }
    }

    fn fail_over(&mut self) {
        let standby = self.standby.take().expect("the database fails over once");
        // After a restart, commits are visible that were never acknowledged. No standby that lacks them takes over.
        self.primary.is_followed();
        self.primary.stop();
        standby.promote();
        self.proxy.leads_to(standby.address());
        self.failed = Some(std::mem::replace(&mut self.primary, standby));
    }

    /// The server that is the primary one now.
    pub(super) fn database(&self) -> &Postgres {
        &self.primary
    }

    pub(super) fn fleet(&self) -> &Fleet<'a> {
        &self.fleet
    }
}
