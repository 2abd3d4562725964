#![no_main]
//! Any bytes as the body of a question, version 1.

use std::cell::RefCell;

use docent_fuzz::{Street, is_told};
use docent_http_v1::Api;
use libfuzzer_sys::fuzz_target;

use house::House;

#[path = "../../crates/http-v1/src/tests/house.rs"]
#[allow(dead_code, reason = "the API's own tests use more of it")]
mod house;

thread_local! {
    static STREET: RefCell<Street<House>> = RefCell::new(Street::new(|runtime| runtime.block_on(House::new())));
}

fuzz_target!(|body: &[u8]| {
    let body = body.to_vec();
    let answer = STREET.with_borrow_mut(|street| {
        street.visit(async |house: &House| {
            house.model.replies("So, see [retries](/guides/retries).");
            house.reader().header("content-type", "application/json").bytes(body).await
        })
    });
    assert!(is_told(answer.status), "{answer:?}");
    let last = answer.body.lines().last().unwrap_or_default();
    assert!(answer.status != 200 || last.starts_with("d:") || last.starts_with("3:"), "{answer:?}");
});
