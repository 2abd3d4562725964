//! The scripted model server as a program, for agents that are not part of this project:
//!
//! ```text
//! cargo run --package docent-tests --example model_server -- 4010
//! ```
//!
//! It serves Anthropic Messages at `/v1/messages` and chat completions at `/v1/chat/completions`, accepts the key that
//! it prints, and carries out instructions of one form: it reads the page, replaces the words, and finishes, with the
//! tools that it is offered.

use std::thread;

use docent_tests::ModelServer;
use docent_tests::model_server::brain::{Edit, read_edit_finish};
use docent_tests::model_server::{KEY, Wire};

fn main() {
    let port = std::env::args().nth(1).map_or(0, |port| port.parse().expect("the argument is a port"));
    let model = ModelServer::on_port(port);
    model.forgets().replies_with(read_edit_finish);
    println!("listening on http://{}", model.address());
    println!("base of chat completions: {}", model.url(Wire::OpenAi));
    println!("key: {KEY}");
    println!("an instruction: {}", Edit::new("index.md", "old words", "new words").prompt());
    loop {
        thread::park();
    }
}
