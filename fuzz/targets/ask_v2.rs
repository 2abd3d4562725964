#![no_main]
//! Any bytes as the body of a question, version 2.

use std::cell::RefCell;

use docent_fuzz::{Harness, is_expected};
use docent_http_v2::Api;
use libfuzzer_sys::fuzz_target;

use fixture::TestApi;

#[path = "../../crates/http-v2/src/tests/fixture.rs"]
#[allow(dead_code, reason = "the API's own tests use more of it")]
mod fixture;

thread_local! {
    static HARNESS: RefCell<Harness<TestApi>> = RefCell::new(Harness::new(|runtime| runtime.block_on(TestApi::new())));
}

fuzz_target!(|body: &[u8]| {
    let body = body.to_vec();
    let answer = HARNESS.with_borrow_mut(|harness| {
        harness.run(async |fixture: &TestApi| {
            fixture.model.replies("So, see [retries](/guides/retries).");
            let ask = fixture.reader("/discovery/v2/assistant/acme/message");
            ask.header("content-type", "application/json").bytes(body).await
        })
    });
    assert!(is_expected(answer.status), "{answer:?}");
    assert!(answer.status != 200 || answer.body.ends_with("data: [DONE]\n\n"), "{answer:?}");
});
