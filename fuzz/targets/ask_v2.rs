#![no_main]
//! Any bytes as the body of a question, version 2.

use std::cell::RefCell;

use docent_fuzz::{Street, is_told};
use docent_http_v2::Api;
use libfuzzer_sys::fuzz_target;

use fixture::Fixture;

#[path = "../../crates/http-v2/src/tests/fixture.rs"]
#[allow(dead_code, reason = "the API's own tests use more of it")]
mod fixture;

thread_local! {
    static STREET: RefCell<Street<Fixture>> = RefCell::new(Street::new(|runtime| runtime.block_on(Fixture::new())));
}

fuzz_target!(|body: &[u8]| {
    let body = body.to_vec();
    let answer = STREET.with_borrow_mut(|street| {
        street.visit(async |fixture: &Fixture| {
            fixture.model.replies("So, see [retries](/guides/retries).");
            let ask = fixture.reader("/discovery/v2/assistant/acme/message");
            ask.header("content-type", "application/json").bytes(body).await
        })
    });
    assert!(is_told(answer.status), "{answer:?}");
    assert!(answer.status != 200 || answer.body.ends_with("data: [DONE]\n\n"), "{answer:?}");
});
