//! HAProxy before three nodes of which one drains and one dies. What the nodes share is not looked at here: each has a
//! database of its own, and the requests need none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use docent_tests::{Installation, Request};

use super::certificate::{Certificate, SERVER};
use super::proxies::Place;
use super::reader::Reader;

#[test]
#[ignore = "needs HAProxy: cargo xtask test --only deploy"]
fn no_request_is_lost_while_nodes_drain_and_die() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let certificate = Certificate::in_folder(folder.path());
    let place = Place::in_folder(folder.path(), &certificate);
    let installations = [Installation::new(), Installation::new(), Installation::new()];
    let [a, b, c] = installations.each_ref().map(Installation::serve);
    let _proxy = place.haproxy([a.address(), b.address(), c.address()]);
    let reader = Reader::of(place.secure, SERVER, certificate.trusting());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut answered = 0;
            while !done.load(Ordering::Relaxed) {
                let answer = Request::get("/openapi.json").header("Host", SERVER).send(reader.address());
                assert_eq!(answer.expect("an answer").status, 200, "after {answered} answers");
                answered += 1;
            }
            answered
        });
        // Longer than HAProxy needs to call a node up or down.
        let settle = || thread::sleep(Duration::from_secs(3));
        settle();
        a.terminate();
        assert!(a.ended().success(), "it drains");
        settle();
        b.terminate();
        assert!(b.ended().success(), "it drains");
        settle();
        done.store(true, Ordering::Relaxed);
        let answered = asking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        assert!(answered > 10, "{answered} answers");
    });
    drop(c);
}
