//! The nodes of a run. The clock of the first is five minutes ahead.

use std::process::Command;
use std::time::{Duration, Instant};

use docent_tests::{Installation, Postgres, eventually};

use super::super::{LEASE, Node};
use super::chance::Chance;
use super::traffic::Doors;

/// Longer than a lease lasts.
const FROZEN: Duration = LEASE.saturating_add(Duration::from_secs(5));

#[derive(Debug)]
pub(super) struct Fleet<'a> {
    members: Vec<Member>,
    /// What is left of nodes that ended.
    retired: Vec<Installation>,
    env: Vec<(String, String)>,
    doors: &'a Doors,
    refused_late: usize,
}

#[derive(Debug)]
struct Member {
    node: Node,
    /// Until when it stands still, and how long its log was when that began.
    frozen: Option<(Instant, usize)>,
}

/// The variables that put the clock of a process forward, by libfaketime. `$DOCENT_FAKETIME` is its program.
fn ahead() -> [(String, String); 3] {
    let program = std::env::var_os("DOCENT_FAKETIME").expect("$DOCENT_FAKETIME names the program faketime");
    let asked = Command::new(program).args(["-f", "+5m", "printenv", "LD_PRELOAD"]).output().expect("faketime runs");
    let library = String::from_utf8(asked.stdout).expect("a path").trim().to_owned();
    assert!(!library.is_empty(), "faketime names no library");
    // The steady clock stays: time passes there as everywhere.
    [("LD_PRELOAD", &*library), ("FAKETIME", "+5m"), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
}

impl<'a> Fleet<'a> {
    pub(super) fn start(count: usize, env: Vec<(String, String)>, doors: &'a Doors) -> Self {
        let mut fleet = Self { members: Vec::new(), retired: Vec::new(), env, doors, refused_late: 0 };
        let first = fleet.env.iter().cloned().chain(ahead());
        fleet.join(Installation::with_variables(first));
        for _ in 1..count {
            fleet.add();
        }
        fleet
    }

    /// One more node.
    pub(super) fn add(&mut self) {
        self.join(Installation::with_variables(self.env.iter().cloned()));
    }

    fn join(&mut self, installation: Installation) {
        let node = Node { server: installation.serve(), installation };
        self.members.push(Member { node, frozen: None });
        self.open_doors();
    }

    /// `kill -9`, and a new start on the same data folder.
    pub(super) fn kill(&mut self, chance: &mut Chance) {
        let at = self.any(0, chance);
        let Member { node: Node { server, installation }, .. } = self.members.remove(at);
        self.open_doors();
        server.kill();
        let node = Node { server: installation.serve(), installation };
        self.members.insert(at, Member { node, frozen: None });
        self.open_doors();
    }

    /// SIGTERM; the node leaves when it has drained.
    pub(super) fn drain(&mut self, chance: &mut Chance) {
        let at = self.any(1, chance);
        let Member { node: Node { server, installation }, .. } = self.members.remove(at);
        self.open_doors();
        server.terminate();
        assert!(server.ended().success(), "a node drains");
        self.retired.push(installation);
    }

    /// SIGSTOP to a node that works on a job, if there are any jobs. [`thaw`](Self::thaw) lets it go on when its leases are
    /// over.
    pub(super) fn freeze(&mut self, database: &Postgres, chance: &mut Chance) {
        self.thaw();
        let found = eventually("a node to work on a job", || {
            let at = self.any(0, chance);
            let server = &self.members[at].node.server;
            server.freeze();
            let leases = format!(
                "SELECT count(*) FROM queue WHERE is_leased AND is_active AND lease_holder LIKE '{}-%'
                 AND lease_until > extract(epoch FROM clock_timestamp()) * 1000 + 5000",
                server.pid()
            );
            if database.query(&leases) != "0" {
                return Some(Some(at));
            }
            server.thaw();
            // The rest may have ended while the node that was frozen before was waited for.
            no_job_is_left(database).then_some(None)
        });
        let Some(at) = found else { return };
        let read = self.members[at].node.server.log().len();
        self.members[at].frozen = Some((Instant::now() + FROZEN, read));
        self.open_doors();
    }

    /// Waits until the frozen node's leases are over, lets it go on, and waits until it sees that its jobs are not its own.
    pub(super) fn thaw(&mut self) {
        let frozen = self.members.iter_mut().find_map(|member| Some((member.frozen.take()?, &member.node.server)));
        let Some(((until, read), server)) = frozen else { return };
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        server.thaw();
        eventually("the thawed node to see that its jobs are not its own", || {
            let log = server.log();
            let said = &log[read..];
            (said.contains("taken over by another") || said.contains("job left to be rescued")).then_some(())
        });
        self.refused_late += 1;
        self.open_doors();
    }

    /// A node that is not frozen, from this one on.
    fn any(&self, from: usize, chance: &mut Chance) -> usize {
        let awake: Vec<usize> = (from..self.members.len()).filter(|at| self.members[*at].frozen.is_none()).collect();
        awake[chance.below(awake.len())]
    }

    fn open_doors(&self) {
        let awake = self.members.iter().filter(|member| member.frozen.is_none());
        self.doors.are(awake.map(|member| member.node.server.address()).collect());
    }

    /// Nodes that were frozen and found their leases gone.
    pub(super) fn refused_late(&self) -> usize {
        self.refused_late
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// What all nodes that there were have logged.
    pub(super) fn logs(&self) -> Vec<String> {
        let running = self.members.iter().map(|member| &member.node.installation);
        let all = running.chain(&self.retired);
        let log = |installation: &Installation| std::fs::read(installation.root().join("server.log")).expect("a log");
        all.map(|installation| String::from_utf8_lossy(&log(installation)).into_owned()).collect()
    }
}

/// Whether every job that was made has ended, so that faults that wait for work would wait for ever.
pub(super) fn no_job_is_left(database: &Postgres) -> bool {
    database.query("SELECT count(*) FROM queue WHERE is_active") == "0"
}
