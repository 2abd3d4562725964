//! What must hold at the end of a run.

use std::collections::{BTreeMap, BTreeSet};

use docent_tests::agent::Event;
use docent_tests::wait::in_time;
use docent_tests::{HookReceiver, Postgres};
use serde_json::Value;

use super::fleet::Fleet;
use super::traffic::{Docs, EndedOrder, is_end};

/// A run that is over.
pub(super) struct Run<'a> {
    pub(super) docs: &'a [Docs],
    pub(super) orders: Vec<EndedOrder<'a>>,
    /// The jobs that each project may have.
    pub(super) limit: usize,
    pub(super) hook: HookReceiver,
    pub(super) database: &'a Postgres,
    pub(super) fleet: &'a Fleet<'a>,
}

impl Run<'_> {
    /// What does not hold, a sentence each.
    pub(super) fn broken_promises(&self) -> Vec<String> {
        let checks = [
            Self::each_project_had_exactly_its_jobs,
            Self::each_job_ended_once,
            Self::each_job_has_one_commit_and_one_pull_request,
            Self::each_end_was_told_to_the_hook,
            Self::each_stream_was_whole,
            Self::nothing_is_left_over,
            Self::no_node_panicked,
        ];
        let mut broken = Vec::new();
        checks.iter().for_each(|check| check(self, &mut broken));
        broken
    }

    fn each_project_had_exactly_its_jobs(&self, broken: &mut Vec<String>) {
        for (n, docs) in self.docs.iter().enumerate() {
            let accepted = self.orders.iter().filter(|ended| ended.order.docs == n).count();
            let stored = self.database.query(&format!("SELECT count(*) FROM jobs WHERE project = '{}'", docs.project));
            if accepted != self.limit || stored != self.limit.to_string() {
                let limit = self.limit;
                broken.push(format!("{}: {accepted} accepted and {stored} stored of {limit}", docs.project));
            }
        }
        let ids: BTreeSet<&str> = self.orders.iter().map(|ended| &*ended.id).collect();
        if ids.len() != self.orders.len() {
            broken.push(format!("{} jobs for {} orders", ids.len(), self.orders.len()));
        }
    }

    fn each_job_ended_once(&self, broken: &mut Vec<String>) {
        for ended in &self.orders {
            let ends = ended.told.iter().filter(|event| is_end(event)).count();
            let is_last = ended.told.last().is_some_and(is_end);
            if ended.job["status"] != "completed" || ends != 1 || !is_last {
                broken.push(format!("{} ended {ends} times, as {}: {:#}", ended.id, ended.job["status"], ended.job));
            }
        }
        let gaps = self.database.query("SELECT job FROM entries GROUP BY job HAVING sum(count) <> max(last)");
        broken.extend(gaps.lines().map(|job| format!("the journal of {job} has a gap")));
    }

    fn each_job_has_one_commit_and_one_pull_request(&self, broken: &mut Vec<String>) {
        let pulls = self.database.query("SELECT project || ' ' || head, count(*) FROM pulls GROUP BY 1");
        let mut pulls: BTreeMap<&str, &str> = pulls.lines().filter_map(|line| line.split_once('|')).collect();
        for (n, docs) in self.docs.iter().enumerate() {
            let mut branches: BTreeSet<String> = docs.repository.branches().into_iter().collect();
            for ended in self.orders.iter().filter(|ended| ended.order.docs == n) {
                let branch = ended.job["source"]["ref"].as_str().unwrap_or_default();
                let count = pulls.remove(&*format!("{} {branch}", docs.project)).unwrap_or("0");
                if count != "1" || !branches.remove(branch) {
                    broken.push(format!("{}: {count} pull requests from {branch}: {:#}", ended.id, ended.job));
                    continue;
                }
                let (ahead, files) = (docs.repository.commits_ahead(branch), docs.repository.changed_files(branch));
                if ahead != 1 || files != [ended.order.page.as_str()] {
                    broken.push(format!("{}: {ahead} commits on {branch}, which change {files:?}", ended.id));
                }
            }
            broken.extend(branches.iter().map(|branch| format!("{}: branch {branch} is of no job", docs.project)));
        }
        broken.extend(pulls.keys().map(|pull| format!("a pull request of no job: {pull}")));
    }

    fn each_end_was_told_to_the_hook(&self, broken: &mut Vec<String>) {
        if in_time(|| (self.queued() == "0").then_some(())).is_none() {
            broken.push(format!("{} events are not delivered", self.queued()));
        }
        // Job → the ids under which its end was told: an event may come twice, under one id.
        let mut told = BTreeMap::<String, BTreeSet<String>>::new();
        for delivery in self.hook.deliveries() {
            let event: Value = serde_json::from_slice(&delivery.body).expect("an event is JSON");
            let job = event["data"]["id"].as_str().unwrap_or_default().to_owned();
            told.entry(job).or_default().insert(format!("{} {}", delivery.id(), event["type"]));
        }
        for ended in &self.orders {
            let events = told.remove(&ended.id).unwrap_or_default();
            let completed = events.iter().filter(|event| event.ends_with("\"job.completed\"")).count();
            if completed != 1 || events.len() != 1 {
                broken.push(format!("the hook was told of {}: {events:?}", ended.id));
            }
        }
        broken.extend(told.keys().map(|job| format!("the hook was told of {job}, which is no job of the run")));
    }

    fn each_stream_was_whole(&self, broken: &mut Vec<String>) {
        for ended in &self.orders {
            if let Some((followed, told)) = difference(&ended.followed, &ended.told) {
                broken.push(format!("{}: followed {followed:#?}, told afterwards {told:#?}", ended.id));
            }
        }
    }

    fn nothing_is_left_over(&self, broken: &mut Vec<String>) {
        // A lease ends with the job, or right after.
        let leased = "SELECT count(*) FROM queue WHERE is_leased OR is_active";
        let is_released = || (self.database.query(leased) == "0").then_some(());
        if in_time(is_released).is_none() {
            broken
                .push(format!("jobs that are over are in the queue: {}", self.database.query("SELECT job FROM queue")));
        }
    }

    fn no_node_panicked(&self, broken: &mut Vec<String>) {
        for log in self.fleet.logs() {
            broken.extend(log.lines().filter(|line| line.contains("panicked")).map(str::to_owned));
        }
    }

    fn queued(&self) -> String {
        self.database.query("SELECT count(*) FROM outbox")
    }

    pub(super) fn figures(&self) -> String {
        let said = |what: &str| self.fleet.logs().iter().map(|log| log.matches(what).count()).sum::<usize>();
        format!(
            "{} nodes at the end; {} frozen ones found their leases gone; {} jobs taken over, {} left to be rescued; \
             {} deliveries to the hook",
            self.fleet.len(),
            self.fleet.refused_late(),
            said("taken over by another"),
            said("job left to be rescued"),
            self.hook.deliveries().len()
        )
    }
}

/// The first events that differ.
fn difference<'a>(one: &'a [Event], other: &'a [Event]) -> Option<(Option<&'a Event>, Option<&'a Event>)> {
    let longest = one.len().max(other.len());
    (0..longest).map(|n| (one.get(n), other.get(n))).find(|(one, other)| one != other)
}
