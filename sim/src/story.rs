//! One run from its beginning to its end.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use docent_jobs::crash;
use docent_types::JobStatus;
use futures::future::join_all;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::broken::BrokenEngine;
use crate::checks;
use crate::disk::Stores;
use crate::process::Process;
use crate::world::World;
use crate::{callers, node, people};

/// The time that all jobs have to end once there are no more faults.
const REST: Duration = Duration::from_secs(3 * 3600);

/// The report of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryOutcome {
    pub seed: u64,
    /// The digest of the trace: equal for equal runs.
    pub digest: u64,
    /// The trace, line by line, if it was asked for.
    pub trace: Vec<String>,
    /// The number of occurrences of each fault and event.
    pub counts: BTreeMap<String, u64>,
    /// The guarantees that were violated.
    pub violations: Vec<String>,
}

/// Runs a seed on this thread. `is_traced` keeps the trace.
///
/// # Panics
/// When the folder of its repositories or the runtime cannot be made.
pub fn run(seed: u64, broken: Option<BrokenEngine>, is_traced: bool) -> StoryOutcome {
    run_on(Stores::in_memory(), seed, broken, is_traced)
}

/// The same, with the contents of the disk in these stores.
pub(crate) fn run_on(stores: Stores, seed: u64, broken: Option<BrokenEngine>, is_traced: bool) -> StoryOutcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime is made");
    let world = runtime.block_on(async {
        let world = World::new(seed, broken, is_traced, stores);
        let watched = Arc::clone(&world);
        crash::watch(Some(Rc::new(move |point| Process::is_at(&watched, point))));
        tell(&world).await;
        world
    });
    // The remaining tasks hold references to the world.
    drop(runtime);
    crash::watch(None);
    Process::nobody_runs();
    let (digest, trace, counts, violations) = world.told();
    StoryOutcome { seed, digest, trace, counts, violations }
}

async fn tell(world: &Arc<World>) {
    world.note(format_args!("{:?}", world.plan));
    let closing = CancellationToken::new();
    let nodes = (0..world.plan.nodes).map(|node| tokio::spawn(node::lives(Arc::clone(world), node, closing.clone())));
    let nodes: Vec<_> = nodes.collect();
    let happening = tokio::spawn(people::things_happen(Arc::clone(world)));
    let callers: Vec<_> = (0..world.plan.jobs).map(|_| tokio::spawn(callers::calls(Arc::clone(world)))).collect();

    let _ = happening.await;
    world.calms_down();
    if tokio::time::timeout(REST, join_all(callers)).await.is_err() {
        world.violated(format_args!("somebody is still waiting for an answer"));
    }
    if tokio::time::timeout(REST, all_have_ended(world)).await.is_err() {
        world.violated(format_args!("not all jobs have ended"));
    }
    tokio::time::sleep(people::ON_ITS_WAY).await;
    closing.cancel();
    if tokio::time::timeout(REST, join_all(nodes)).await.is_err() {
        world.violated(format_args!("a process does not drain"));
    }
    // Watchers check for the end at intervals.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let left = Handle::current().metrics().num_alive_tasks();
    if left > 0 {
        world.violated(format_args!("{left} tasks are left over"));
    }
    checks::check(world);
    for row in world.disk.rows() {
        world.count(&format!("job is {}", row.job.status.as_str()));
    }
}

async fn all_have_ended(world: &World) {
    while world.disk.rows().iter().any(|row| row.job.status == JobStatus::Active) {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
