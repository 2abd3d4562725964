//! The clients: they make jobs through whichever node answers, and follow each from its start to its end.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use docent_tests::agent::{Event, id};
use docent_tests::installation::KeyKind;
use docent_tests::site::PAGES;
use docent_tests::{Installation, Repository, Request, Response, eventually};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::chance::Chance;

/// Clients at a time, so many as the workers of the nodes.
pub(super) const CLIENTS: usize = 24;
/// How long the model takes for each of a job's two replies.
pub(super) const THINKING: Duration = Duration::from_millis(500);
/// How long a client waits before it tries again.
const PAUSE: Duration = Duration::from_millis(100);

/// A project and its repository.
#[derive(Debug)]
pub(super) struct Docs {
    pub(super) project: String,
    pub(super) repository: Repository,
    key: String,
}

impl Docs {
    pub(super) fn add(home: &Installation, n: usize) -> Self {
        let project = format!("acme-{n}");
        let repository = home.repository(&project, PAGES);
        home.add_project(&project, &repository);
        let key = home.mint(&project, KeyKind::Admin, &[]);
        Self { project, repository, key }
    }

    fn request(&self, method: &str, suffix: &str) -> Request {
        Request::new(method, format!("/v2/agent/{}/{suffix}", self.project)).bearer(&self.key)
    }
}

/// Where the nodes take requests: what a balancer knows.
#[derive(Debug, Default)]
pub(super) struct Doors(Mutex<Vec<SocketAddr>>);

impl Doors {
    pub(super) fn are(&self, doors: Vec<SocketAddr>) {
        *self.0.lock() = doors;
    }

    fn any(&self, chance: &mut Chance) -> SocketAddr {
        let doors = self.0.lock();
        doors[chance.below(doors.len())]
    }
}

/// A job that is asked for.
#[derive(Debug)]
pub(super) struct Order {
    /// The number of its [`Docs`].
    pub(super) docs: usize,
    /// The page that it adds.
    pub(super) page: String,
}

/// What became of an order that was not refused.
#[derive(Debug)]
pub(super) struct EndedOrder<'a> {
    pub(super) order: &'a Order,
    /// The job's id.
    pub(super) id: String,
    /// The events, as they were followed.
    pub(super) followed: Vec<Event>,
    /// The job, and its events as they are told afterwards.
    pub(super) job: Value,
    pub(super) told: Vec<Event>,
}

pub(super) struct Traffic<'a> {
    docs: &'a [Docs],
    doors: &'a Doors,
    orders: Vec<Order>,
    next: AtomicUsize,
    ended: AtomicUsize,
    /// The ids and events of the orders that were accepted.
    accepted: Mutex<Vec<(usize, String, Vec<Event>)>>,
    refusals: AtomicUsize,
    tries: AtomicUsize,
    reconnections: AtomicUsize,
}

/// The page that a prompt of these orders asks for.
pub(super) fn page_of(prompt: &str) -> Option<String> {
    let (_, rest) = prompt.split_once("Add the page <")?;
    Some(rest.split_once('>')?.0.to_owned())
}

impl<'a> Traffic<'a> {
    /// A tenth more jobs for each project than its limit allows.
    pub(super) fn new(docs: &'a [Docs], doors: &'a Doors, limit: usize, chance: &mut Chance) -> Self {
        let asked = limit + limit.div_ceil(10);
        let order = |n: usize| Order { docs: n % docs.len(), page: format!("page-{n}.mdx") };
        let mut orders: Vec<Order> = (0..asked * docs.len()).map(order).collect();
        chance.shuffle(&mut orders);
        Self {
            docs,
            doors,
            orders,
            next: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            accepted: Mutex::default(),
            refusals: AtomicUsize::new(0),
            tries: AtomicUsize::new(0),
            reconnections: AtomicUsize::new(0),
        }
    }

    /// The jobs that have ended.
    pub(super) fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    /// Waits until so many have.
    pub(super) fn has_ended(&self, count: usize) {
        while self.ended() < count {
            let before = self.ended();
            eventually(&format!("job {} to end", before + 1), || (self.ended() > before).then_some(()));
        }
    }

    /// Takes one order after another, until there are no more.
    pub(super) fn carry_out(&self, mut chance: Chance) {
        loop {
            let number = self.next.fetch_add(1, Ordering::SeqCst);
            let Some(order) = self.orders.get(number) else { break };
            match self.make(order, &mut chance) {
                Some(id) => {
                    let followed = self.follow(order, &id, &mut chance);
                    self.accepted.lock().push((number, id, followed));
                    self.ended.fetch_add(1, Ordering::SeqCst);
                }
                None => drop(self.refusals.fetch_add(1, Ordering::SeqCst)),
            }
        }
    }

    /// Asks until there is an answer; returns the job's id, or `None` if the project has had all its jobs.
    fn make(&self, order: &Order, chance: &mut Chance) -> Option<String> {
        let request = self.docs[order.docs].request("POST", "job").header("Idempotency-Key", &order.page);
        let request = request.json(&json!({ "prompt": format!("Add the page <{}>.", order.page) }));
        let answer = self.answer(&request, chance);
        match answer.status {
            201 => Some(id(&answer.json()).to_owned()),
            429 => None,
            other => panic!("{other}: {}", answer.text()),
        }
    }

    /// Follows a job to its end, and goes on with the next node where a stream broke off.
    fn follow(&self, order: &Order, id: &str, chance: &mut Chance) -> Vec<Event> {
        let (mut events, mut after) = (Vec::new(), None);
        loop {
            let mut body = Vec::new();
            // An error means what the end of a stream means.
            let _ = self.read(order, id, after, &mut body, chance);
            let (kept, last) = Event::kept(Event::read(&body));
            events.extend(kept.into_iter().filter(|event| event.kind != "delta"));
            after = last.or(after);
            if events.last().is_some_and(is_end) {
                return events;
            }
            self.reconnections.fetch_add(1, Ordering::SeqCst);
            thread::sleep(PAUSE);
        }
    }

    fn read(
        &self,
        order: &Order,
        id: &str,
        after: Option<u64>,
        body: &mut Vec<u8>,
        chance: &mut Chance,
    ) -> io::Result<()> {
        let request = self.docs[order.docs].request("GET", &format!("job/{id}/events"));
        let request = match after {
            Some(after) => request.header("Last-Event-ID", after.to_string()),
            None => request,
        };
        let mut stream = request.open(self.doors.any(chance))?;
        assert!([200, 503].contains(&stream.status), "{} for the events of {id} after {after:?}", stream.status);
        while let Some(piece) = stream.piece()? {
            if stream.status == 200 {
                body.extend_from_slice(&piece);
            }
        }
        Ok(())
    }

    /// The answer of the first node that gives one.
    fn answer(&self, request: &Request, chance: &mut Chance) -> Response {
        loop {
            self.tries.fetch_add(1, Ordering::SeqCst);
            match request.send(self.doors.any(chance)) {
                Ok(answer) if answer.status != 503 => return answer,
                // 503 says that nothing was done; without an answer, the idempotency key finds what was.
                Ok(_) | Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// The orders that were accepted, as they are told now.
    pub(super) fn told_again(&self) -> Vec<EndedOrder<'_>> {
        let mut chance = Chance::of(0);
        let accepted = self.accepted.lock();
        let mut tell = |(number, id, followed): &(usize, String, Vec<Event>)| {
            let order = &self.orders[*number];
            let docs = &self.docs[order.docs];
            let job = self.answer(&docs.request("GET", &format!("job/{id}")), &mut chance).json();
            let told = self.answer(&docs.request("GET", &format!("job/{id}/events")), &mut chance);
            EndedOrder { order, id: id.clone(), followed: followed.clone(), job, told: Event::read(&told.body) }
        };
        accepted.iter().map(&mut tell).collect()
    }

    pub(super) fn figures(&self) -> String {
        let count = |of: &AtomicUsize| of.load(Ordering::SeqCst);
        format!(
            "{} jobs accepted and {} refused in {} tries, {} streams taken up again",
            self.accepted.lock().len(),
            count(&self.refusals),
            count(&self.tries),
            count(&self.reconnections)
        )
    }
}

/// Whether a job has ended with this event.
pub(super) fn is_end(event: &Event) -> bool {
    event.kind == "status" && event.data["status"] != "active"
}
