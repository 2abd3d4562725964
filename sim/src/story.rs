//! One world from its beginning to its end.

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
use crate::process::Process;
use crate::world::World;
use crate::{callers, node, people};

/// How long everything has to come to rest once nothing goes wrong any more.
const REST: Duration = Duration::from_secs(3 * 3600);

/// What there is to tell of a seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryOutcome {
    pub seed: u64,
    /// Stands for the whole course: equal where and only where everything happened in the same way.
    pub digest: u64,
    /// The course, line by line, where it was wanted.
    pub trace: Vec<String>,
    /// What happened how often.
    pub counts: BTreeMap<String, u64>,
    /// The promises that were not kept.
    pub violations: Vec<String>,
}

/// Runs the world of a seed, on this thread. `is_traced` keeps its course.
///
/// # Panics
/// When there is no folder for its repositories, or no runtime.
pub fn run(seed: u64, broken: Option<BrokenEngine>, is_traced: bool) -> StoryOutcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime is made");
    let world = runtime.block_on(async {
        let world = World::new(seed, broken, is_traced);
        let watched = Arc::clone(&world);
        crash::watch(Some(Rc::new(move |point| Process::is_at(&watched, point))));
        tell(&world).await;
        world
    });
    // What is left holds on to the world.
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
    // Listeners look for the end now and then.
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
