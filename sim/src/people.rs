//! Events from outside: people who work on the same branches and end pull requests, and faults of machines.

use std::sync::Arc;
use std::time::Duration;

use docent_forge::PullState;
use docent_types::Project;
use docent_workspace::{FileMerge, Mirrors, Remote};

use crate::node::Running;
use crate::world::{World, by_people};

/// Causes random events until the plan's window is over.
pub(crate) async fn things_happen(world: Arc<World>) {
    let people = Mirrors::new(world.mirrors_of(usize::MAX));
    let mut pushes = 0;
    while world.elapsed() < world.plan.window {
        let pause = world.chance().millis(500..=5_000);
        tokio::time::sleep(pause).await;
        let odds = &world.plan.odds;
        // The probabilities are per minute.
        let share = pause.as_secs_f64() / 60.0;
        if world.goes_wrong("power fails", odds.power_fails * share) {
            power_fails(&world);
            // Power failures come in series.
            while world.chance().happens(0.6) {
                let pause = world.chance().millis(500..=8_000);
                tokio::time::sleep(pause).await;
                power_fails(&world);
            }
        }
        if world.goes_wrong("a node stands still", odds.stalls * share * world.plan.nodes as f64)
            && let Some(running) = somebody(&world)
        {
            let time = world.chance().millis(5_000..=70_000);
            running.process.stands_still(time);
        }
        if world.goes_wrong("a clock jumps", odds.clock_jumps * share) {
            clock_jumps(&world);
        }
        if world.goes_wrong("a node is restarted", odds.restarts * share * world.plan.nodes as f64)
            && let Some(running) = somebody(&world)
        {
            world.note(format_args!("{} is to drain", running.process.name));
            running.process.drain.cancel();
        }
        if world.goes_wrong("the disk is full", odds.disk_is_full * share) {
            let time = world.chance().millis(1_000..=30_000);
            world.note(format_args!("the disk is full for {} ms", time.as_millis()));
            world.fills_the_disk(time);
        }
        if world.goes_wrong("people push", odds.people_push * share * 3.0) {
            pushes += 1;
            people_push(&world, &people, pushes);
        }
        if world.goes_wrong("people end a pull request", odds.people_end_pulls * share * 3.0) {
            people_end_a_pull_request(&world, &people);
        }
    }
}

fn somebody(world: &World) -> Option<Arc<Running>> {
    let living: Vec<Arc<Running>> = world.processes().iter().flatten().map(Arc::clone).collect();
    if living.is_empty() { None } else { Some(Arc::clone(&living[world.chance().place(living.len())])) }
}

/// A power failure: all processes die at once, and the disk keeps what was flushed.
fn power_fails(world: &World) {
    for running in world.processes().iter().flatten() {
        running.process.dies("the power failed");
    }
    let lost = {
        let mut chance = world.chance();
        world.disk.loses_power(&mut chance)
    };
    if lost > 0 {
        world.count("unflushed writes are lost");
    }
    world.note(format_args!("the power takes {lost} writes"));
    // The commands lost may include claims, on which the order of projects depends.
    world.ledger().passed_over.clear();
}

fn clock_jumps(world: &World) {
    let (node, is_forward, is_far) = {
        let mut chance = world.chance();
        (chance.place(world.plan.nodes), chance.happens(0.5), chance.happens(0.2))
    };
    let by = world.chance().within(if is_far { 60_000..=900_000 } else { 1_000..=60_000 });
    let by = i64::try_from(by).unwrap_or(0) * if is_forward { 1 } else { -1 };
    world.note(format_args!("the clock of node {node} jumps by {by} ms"));
    world.turns_clock(node, by);
    world.ledger().clock_jumped = true;
}

/// A person adds a commit to a branch that a job works on.
fn people_push(world: &World, people: &Mirrors, number: u32) {
    let rows = world.disk.rows();
    let lanes: Vec<_> = rows.iter().map(|row| (row.job.project.clone(), row.job.source.branch.clone())).collect();
    if lanes.is_empty() {
        return;
    }
    let (project, branch) = lanes[world.chance().place(lanes.len())].clone();
    let Some(project) = world.project(&project) else { return };
    let remote = Remote::new(project.repository.clone());
    let mirror = people.fetch_blocking(&remote).expect("a repository that nobody damages");
    let Some(tip) = mirror.find_branch(&branch).expect("a branch can be looked up") else { return };
    let mut overlay = mirror.overlay(tip).expect("a commit of the branch");
    let page = format!("---\ntitle: People {number}\n---\n\nBy hand.\n");
    overlay.write(&format!("docs/people-{number}.md"), page.into_bytes()).expect("a path");
    let commit = mirror.commit(&overlay, &by_people("By hand", vec![tip])).expect("it is written");
    mirror.push(&remote, &branch, commit, Some(tip)).expect("nobody pushes meanwhile");
    world.note(format_args!("people push {} to {branch}", crate::git::shorter(commit)));
    world.ledger().foreign.entry((project.repository.clone(), branch)).or_default().push(commit);
}

/// A person merges or closes a pull request, and may delete its branch.
fn people_end_a_pull_request(world: &World, people: &Mirrors) {
    let open: Vec<_> = world.forge.pulls().into_iter().filter(|pull| pull.state == PullState::Open).collect();
    if open.is_empty() {
        return;
    }
    let pull = open[world.chance().place(open.len())].clone();
    let Some(project) = world.project(&pull.project) else { return };
    let is_to_be_merged = world.chance().happens(0.5);
    let is_merged = is_to_be_merged && merges(world, people, project, &pull.head);
    let state = if is_merged { PullState::Merged } else { PullState::Closed };
    world.note(format_args!("people end {}: {}", pull.url(), state.as_str()));
    world.forge.ends(&pull, state);
    if world.chance().happens(0.3) {
        let path = std::path::Path::new(&project.repository).join("refs/heads").join(&pull.head);
        if std::fs::remove_file(path).is_ok() {
            world.note(format_args!("people delete {}", pull.head));
            world.ledger().deleted.insert((project.repository.clone(), pull.head));
        }
    }
}

fn merges(world: &World, people: &Mirrors, project: &Project, head: &str) -> bool {
    let remote = Remote::new(project.repository.clone());
    let mirror = people.fetch_blocking(&remote).expect("a repository that nobody damages");
    let Some(tip) = mirror.find_branch(head).expect("a branch can be looked up") else { return false };
    let by_lines = |_: &str, _: [&[u8]; 3]| FileMerge::ByLines;
    let merged = mirror.merge(&remote, tip, &project.branch, &by_people("Merge", Vec::new()), &by_lines);
    if let Ok(merged) = &merged {
        let key = (project.repository.clone(), project.branch.clone());
        world.ledger().foreign.entry(key).or_default().push(merged.commit());
    }
    merged.is_ok()
}

/// The longest time that a message takes to arrive.
pub(crate) const ON_ITS_WAY: Duration = Duration::from_secs(61);
