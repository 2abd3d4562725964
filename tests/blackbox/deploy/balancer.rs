//! HAProxy before three nodes of which two drain. What the nodes share is not looked at here: each has a
//! database of its own, and the requests need none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use docent_tests::{Installation, Request, eventually};

use super::certificate::{Certificate, SERVER};
use super::proxies::Place;
use super::reader::Reader;

#[test]
#[ignore = "needs HAProxy: cargo xtask test --only deploy"]
fn no_request_is_lost_while_nodes_drain() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let certificate = Certificate::in_folder(folder.path());
    let place = Place::in_folder(folder.path(), &certificate);
    let installations = [Installation::new(), Installation::new(), Installation::new()];
    let [a, b, c] = installations.each_ref().map(Installation::serve);
    let proxy = place.haproxy([a.address(), b.address(), c.address()]);
    let reader = Reader::of(place.secure, SERVER, certificate.trusting());
    let (done, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let answer = Request::get("/openapi.json").header("Host", SERVER).send(reader.address());
                assert_eq!(answer.expect("an answer").status, 200);
                answered.fetch_add(1, Ordering::Relaxed);
            }
        });
        let go_on = || {
            let enough = answered.load(Ordering::Relaxed) + 10;
            eventually("more answers", || (answered.load(Ordering::Relaxed) >= enough).then_some(()));
        };
        go_on();
        for (name, node) in [("a", a), ("b", b)] {
            node.terminate();
            assert!(node.ended().success(), "it drains");
            // Requests come while HAProxy still takes the node to be up, and afterwards.
            let down = format!("Server nodes/{name} is DOWN");
            eventually("HAProxy to call the node down", || proxy.said().contains(&down).then_some(()));
            go_on();
        }
        done.store(true, Ordering::Relaxed);
    });
    drop(c);
}
