//! Asks a model one question over the network and prints the events of its reply as they come.
//!
//! ```text
//! cargo run -p docent-llm-http --example ask -- --provider openai --base http://127.0.0.1:8080 --model qwen "Who are you?"
//! ```
//!
//! Flags: `--provider anthropic|openai`, `--base URL`, `--model NAME`, `--key-env VARIABLE`, `--idle SECONDS`, `--tools`
//! (offers a tool `read`), `--force-tools`, `--text-calls`, `--check` (only asks whether the model would answer).

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use docent_http_client::{Client, ClientOptions, Secret};
use docent_llm::{Event, Model, Request, ToolChoice, ToolSpec};
use docent_llm_http::{Anthropic, Dialect, Endpoint, OpenAi};
use docent_types::{Message, Role};
use futures::StreamExt;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut endpoint = Endpoint::new("model");
    let mut dialect = Dialect::default();
    let (mut is_anthropic, mut tools, mut only_check, mut question) = (false, Vec::new(), false, String::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--provider" => is_anthropic = value()? == "anthropic",
            "--base" => endpoint.base_url = Some(value()?),
            "--model" => endpoint.model = value()?,
            "--key-env" => {
                let name = value()?;
                endpoint.key = Some(Secret::parse(&std::env::var(&name)?)?);
                endpoint.key_source = Some(name);
            }
            "--idle" => endpoint.idle = Duration::from_secs(value()?.parse()?),
            "--tools" => tools.push(read()),
            "--force-tools" => dialect.force_tools = true,
            "--text-calls" => dialect.text_tool_calls = true,
            "--check" => only_check = true,
            _ => question = argument,
        }
    }
    let client = Client::new(ClientOptions::default());
    let request = Request {
        system: "You are terse.".into(),
        messages: vec![Message::text(Role::User, question)],
        tools,
        tool_choice: ToolChoice::Auto,
        max_tokens: 1024,
    };
    let result = if is_anthropic {
        let model = Anthropic::new(client, endpoint)?;
        if only_check { model.check().await.map(|said| println!("{said}")) } else { ask(&model, request).await }
    } else {
        let model = OpenAi::new(client, endpoint, dialect)?;
        if only_check { model.check().await.map(|said| println!("{said}")) } else { ask(&model, request).await }
    };
    if let Err(error) = result {
        println!("{:?}, {:?}: {}", error.kind, error.kind.retry(), docent_types::error_chain(&error));
        std::process::exit(1);
    }
    Ok(())
}

async fn ask(model: &dyn Model, request: Request) -> Result<(), docent_llm::ModelError> {
    let mut events = model.stream(request).await?;
    while let Some(event) = events.next().await {
        match event? {
            Event::TextDelta(text) => print!("{text}"),
            Event::ToolCall { id, name, input } => println!("\n[{id}] {name} {input}"),
            Event::Done { reason, usage } => println!("\n{reason:?} {usage:?}"),
        }
        // What cannot be shown is no reason to stop listening.
        let _ = std::io::stdout().flush();
    }
    Ok(())
}

fn read() -> ToolSpec {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    ToolSpec { name: "read".into(), description: "Reads a file.".into(), schema }
}
