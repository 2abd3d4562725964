#![no_main]
//! Any bytes as the body of a search, of a page that is wanted, of feedback and of a chat completion; the first byte says which.

use std::cell::RefCell;

use docent_fuzz::{Harness, is_expected};
use docent_http_v2::Api;
use libfuzzer_sys::fuzz_target;

use fixture::TestApi;

#[path = "../../crates/http-v2/src/tests/fixture.rs"]
#[allow(dead_code, reason = "the API's own tests use more of it")]
mod fixture;

const DOORS: [&str; 4] = [
    "/discovery/v1/search/acme",
    "/discovery/v1/page/acme",
    "/discovery/v1/assistant/acme/feedback",
    "/discovery/v2/openai/acme/chat/completions",
];

thread_local! {
    static HARNESS: RefCell<Harness<TestApi>> = RefCell::new(Harness::new(|runtime| runtime.block_on(TestApi::new())));
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, body)) = bytes.split_first() else { return };
    let (door, body) = (DOORS[usize::from(*which) % DOORS.len()], body.to_vec());
    let answer = HARNESS.with_borrow_mut(|harness| {
        harness.run(async |fixture: &TestApi| {
            fixture.reader(door).header("content-type", "application/json").bytes(body).await
        })
    });
    assert!(is_expected(answer.status), "{door} {answer:?}");
});
