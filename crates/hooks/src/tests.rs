//! Deliveries to real receivers on the loopback interface, from the outbox in memory.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use docent_jobs::conformance::sample_job;
use docent_jobs::memory::MemoryStore;
use docent_jobs::{DeliveryAttempt, HookState, Instruction, Outbox, Row, Store, WriteGuards, state};
use docent_types::{Clock, Message, Role, SystemClock};
use parking_lot::Mutex;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::{DeliveryCounts, Hook, HookUrl, Hooks, SigningSecret};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A receiver that verifies each event, and answers with these statuses and then with 200.
#[derive(Clone)]
struct Receiver {
    address: SocketAddr,
    statuses: Arc<Mutex<VecDeque<u16>>>,
    received: Arc<Mutex<Vec<(String, Value)>>>,
}

/// The status of a receiver that does not answer.
const SILENCE: u16 = 0;

impl Receiver {
    async fn answering(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let receiver = Self {
            address: listener.local_addr().expect("an address"),
            statuses: Arc::new(Mutex::new(statuses.iter().copied().collect())),
            received: Arc::default(),
        };
        let serving = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(BufReader::new(stream)));
            }
        });
        receiver
    }

    async fn serve(self, mut stream: BufReader<TcpStream>) {
        let (mut headers, mut length) = (http::HeaderMap::new(), 0);
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.expect("a line");
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                if line.trim_end().is_empty() { break } else { continue }
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().expect("a length");
            }
            let name: http::HeaderName = name.parse().expect("a name");
            headers.insert(name, value.parse().expect("a value"));
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.expect("the body");
        Webhook::new(SECRET).expect("a secret").verify(&body, &headers).expect("a signature");
        let id = headers["webhook-id"].to_str().expect("text").to_owned();
        self.received.lock().push((id, serde_json::from_slice(&body).expect("JSON")));
        let status = self.statuses.lock().pop_front();
        match status.unwrap_or(200) {
            SILENCE => std::future::pending().await,
            status => {
                let head = format!("HTTP/1.1 {status} S\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                stream.write_all(head.as_bytes()).await.expect("answered");
            }
        }
    }

    fn hook(&self, name: &str) -> Hook {
        let url = HookUrl::parse(&format!("http://{}/{name}?key=s3cret", self.address)).expect("an address");
        Hook { name: name.to_owned(), url, secret: SigningSecret::parse(SECRET).expect("a secret") }
    }

    fn ids(&self) -> Vec<String> {
        self.received.lock().iter().map(|(id, _)| id.clone()).collect()
    }
}

async fn hooks(store: &Arc<MemoryStore>, hooks: Vec<Hook>) -> Hooks {
    let show = |job: &docent_types::AgentJob| json!({ "id": job.id, "status": job.status.as_str() });
    let hooks = Hooks::new(Arc::clone(store) as _, hooks, show, Arc::new(SystemClock));
    hooks.register().await.expect("registered");
    hooks.with_waits(&[Duration::from_millis(1); 2])
}

/// Creates and archives a job; returns its id.
async fn ended(store: &MemoryStore, n: u128) -> String {
    let instruction = Instruction::new(vec![Message::text(Role::User, "Fix broken links")]);
    let (row, entries) = state::create(sample_job(n), instruction);
    let (id, now) = (row.id(), SystemClock.now());
    let guards = WriteGuards { now, quota: None, key: None };
    store.create(row, entries, guards.clone()).await.expect("created");
    store.change(id, guards, Arc::new(move |row: &Row| state::archive(row, now))).await.expect("archived");
    id.to_string()
}

/// Delivers until the states of the hooks satisfy `is_reached`.
async fn deliver_until(hooks: Hooks, store: &MemoryStore, is_reached: impl Fn(&[HookState]) -> bool) -> Vec<HookState> {
    let stop = CancellationToken::new();
    let running = tokio::spawn(hooks.run(stop.clone()));
    let reached = async {
        loop {
            let states = store.hook_states().await.expect("the states");
            if is_reached(&states) {
                return states;
            }
            tokio::task::yield_now().await;
        }
    };
    let states = tokio::time::timeout(TEST_TIMEOUT, reached).await.expect("the outbox is so in time");
    stop.cancel();
    running.await.expect("the hooks end");
    states
}

fn empty(states: &[HookState]) -> bool {
    states.iter().all(|state| state.queued == 0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_fails_twice_hears_the_same_event_again() {
    let (store, receiver) = (Arc::new(MemoryStore::new()), Receiver::answering(&[500, 302]).await);
    let hooks = hooks(&store, vec![receiver.hook("hooks.0")]).await;
    let job = ended(&store, 1).await;
    let states = deliver_until(hooks.clone(), &store, empty).await;
    let received = receiver.received.lock().clone();
    let (id, body) = &received[0];
    assert_eq!(received, vec![(id.clone(), body.clone()); 3]);
    assert_eq!(*id, format!("{job}-3"));
    assert_eq!((&body["type"], &body["data"]), (&json!("job.archived"), &json!({ "id": job, "status": "archived" })));
    assert!(docent_types::Timestamp::parse(body["timestamp"].as_str().expect("text")).is_some(), "{body}");
    assert_eq!(hooks.counts(), DeliveryCounts { delivered: 1, failed: 2, given_up: 0 });
    assert!(matches!(&states[0].last, Some(DeliveryAttempt { delivered: true, answer, .. }) if answer == "200"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_given_up_after_the_last_wait_and_at_once_when_the_receiver_is_gone() {
    for (statuses, failed) in [(&[500, 500, 500][..], 2), (&[410], 0)] {
        let (store, receiver) = (Arc::new(MemoryStore::new()), Receiver::answering(statuses).await);
        let hooks = hooks(&store, vec![receiver.hook("hooks.0")]).await;
        ended(&store, 1).await;
        deliver_until(hooks.clone(), &store, empty).await;
        assert_eq!(hooks.counts(), DeliveryCounts { delivered: 0, failed, given_up: 1 });
        ended(&store, 2).await;
        deliver_until(hooks.clone(), &store, empty).await;
        assert_eq!(hooks.counts().delivered, 1, "the next event is delivered all the same");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_receiver_delays_neither_others_nor_the_end_and_hears_it_at_the_next_start() {
    let store = Arc::new(MemoryStore::new());
    let (silent, good) = (Receiver::answering(&[SILENCE]).await, Receiver::answering(&[]).await);
    let dead = HookUrl::parse("http://127.0.0.1:1/").expect("an address");
    let dead = Hook { name: "hooks.2".to_owned(), url: dead, ..good.hook("dead") };
    let all = vec![silent.hook("hooks.0"), good.hook("hooks.1"), dead];
    let hooks = hooks(&store, all).await.with_waits(&[Duration::from_secs(3600)]);
    let id = format!("{}-3", ended(&store, 1).await);
    let of = |states: &[HookState], hook: &str| states.iter().find(|state| state.hook.contains(hook)).cloned();
    let reached = |states: &[HookState]| {
        let (good, dead) = (of(states, "/hooks.1").expect("there"), of(states, ":1/").expect("there"));
        good.queued == 0 && dead.last.is_some() && !silent.ids().is_empty()
    };
    let states = deliver_until(hooks.clone(), &store, reached).await;
    assert_eq!(good.ids(), std::slice::from_ref(&id));
    let dead = of(&states, ":1/").expect("there");
    let answer = dead.last.expect("an attempt").answer;
    assert!(dead.queued == 1 && answer.contains("could not connect to 127.0.0.1:1"), "{answer}");
    let heard = |states: &[HookState]| of(states, "/hooks.0").is_some_and(|state| state.queued == 0);
    deliver_until(hooks, &store, heard).await;
    assert_eq!(silent.ids(), [id.clone(), id], "the attempt that was cut is made again, under the same id");
}

#[tokio::test]
async fn a_probe_tells_of_nothing_and_says_who_is_there() {
    let (store, receiver) = (Arc::new(MemoryStore::new()), Receiver::answering(&[]).await);
    let hooks = hooks(&store, Vec::new()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let there = HookUrl::parse(&format!("http://{}/", listener.local_addr().expect("an address"))).expect("an address");
    let answered = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        let (mut stream, mut line) = (BufReader::new(stream), String::new());
        stream.read_line(&mut line).await.expect("a line");
        stream.write_all(b"HTTP/1.1 405 S\r\nContent-Length: 0\r\n\r\n").await.expect("answered");
        line
    });
    let hook = Hook { url: there, ..receiver.hook("hooks.0") };
    assert_eq!(hooks.probe(&hook).await.expect("an answer"), 405);
    assert_eq!(answered.await.expect("a line"), "HEAD / HTTP/1.1\r\n");
    let nobody = Hook { url: HookUrl::parse("http://127.0.0.1:1/").expect("an address"), ..hook };
    assert!(hooks.probe(&nobody).await.is_err());
}

#[tokio::test]
async fn shown_hooks_hold_no_secret() {
    let receiver = Receiver::answering(&[]).await;
    let hook = receiver.hook("hooks.0");
    let shown = format!("{hook:?} {hook:#?} {}", hook.url);
    assert!(!shown.contains("s3cret") && !shown.contains("MfKQ") && shown.contains("hooks.0"), "{shown}");
}
