//! `docent ask`: one question to a site's assistant, answered on the terminal.
//!
//! It runs the server's assistant on the data folder: the same index, model and conversations. It works with or without
//! a running server, and needs no API key. The existing index is used; a site without one is indexed first.

mod answer_printer;

use std::sync::Arc;

use docent_assistant::{AskRequest, ChatMessage};
use docent_search::{Filter, Snapshot};
use docent_types::{CallError, FinishReason, MessageId, Passage, Project, Role, StreamEvent, ThreadId};
use futures::StreamExt;
use serde_json::{Value, json};

use self::answer_printer::AnswerPrinter;
use crate::cli::AskArgs;
use crate::commands::index;
use crate::failure::Failure;
use crate::output;
use crate::serve::shutdown_signal;
use crate::wiring::app::App;

/// The client fingerprint under which conversations of the command line are stored.
const FINGERPRINT: &str = "docent-ask";
/// The number of passages on which an answer is based, as over HTTP.
const PASSAGES: usize = 5;

/// The part of a reply received so far.
#[derive(Debug, Default)]
struct PartialReply {
    message: Option<MessageId>,
    text: String,
    sources: Vec<Passage>,
    suggestions: Vec<String>,
    end: Option<FinishReason>,
}

pub(crate) async fn run(app: &App, args: &AskArgs, json: bool) -> Result<(), Failure> {
    if args.question.trim().is_empty() {
        return Err(Failure::usage("give a question, for example `docent ask docs \"How are webhooks retried?\"`"));
    }
    let mut printer = if json { AnswerPrinter::blank() } else { AnswerPrinter::on_stdout() };
    // Dropping the future cancels the work, including a model call.
    let done = tokio::select! {
        done = ask(app, args, &mut printer) => done,
        signal = shutdown_signal() => signal.and_then(|()| Err(Failure::plain("stopped before the answer was whole"))),
    };
    printer.end_line()?;
    if let Some(value) = done?
        && json
    {
        return output::json(&value);
    }
    Ok(())
}

/// The answer as JSON; `None` if the output was closed.
async fn ask(app: &App, args: &AskArgs, printer: &mut AnswerPrinter) -> Result<Option<Value>, Failure> {
    let project = index::project_of(app, &args.domain).await?;
    let thread = match &args.thread {
        Some(id) => Some(known_thread(app, &project, id).await?),
        None => None,
    };
    let docs = docs(app, &project).await?;
    if app.models.named(&app.config.assistant.model)?.describe().is_builtin() {
        printer.note("builtin, no language model: quotes from the docs");
    }
    let said = ChatMessage { id: None, role: Role::User, text: args.question.trim().to_owned() };
    let assistant = app.assistant.for_operators();
    let reply = assistant.answer(AskRequest {
        project: project.uid,
        domain: project.domain.clone(),
        docs,
        fp: FINGERPRINT.to_owned(),
        said: vec![said],
        thread,
        thread_key: None,
        passages: PASSAGES,
        filter: Filter::default(),
        context: Vec::new(),
        current_path: None,
    });
    let mut reply = reply.await.map_err(refused)?;
    let mut answer = PartialReply::default();
    while let Some(event) = reply.events.next().await {
        answer.apply(event, printer)?;
        if printer.is_unread() {
            return Ok(None);
        }
    }
    let end = answer.end.ok_or_else(|| Failure::plain("the answer broke off; ask again"))?;
    if end == FinishReason::Length {
        printer.note("the answer was cut: the model may not say more at once");
    }
    printer.sources(&answer.sources)?;
    printer.suggestions(&answer.suggestions)?;
    printer.remark(&format!("to go on: docent ask {} --thread {} \"…\"", project.domain, reply.thread));
    Ok(Some(json!({
        "threadId": reply.thread,
        "messageId": answer.message,
        "answer": answer.text.trim_end(),
        "answered": is_answered(app, &project, reply.thread, answer.message).await?,
        "sources": answer.sources.iter().map(source).collect::<Vec<_>>(),
        "suggestions": answer.suggestions,
        "finishReason": end.as_str(),
    })))
}

impl PartialReply {
    /// Applies one event, and prints the part of it that concerns a reader.
    fn apply(&mut self, event: StreamEvent, printer: &mut AnswerPrinter) -> Result<(), Failure> {
        match event {
            StreamEvent::Start { message_id, .. } => self.message = Some(message_id),
            StreamEvent::ToolCall { input, .. } => {
                if let Some(query) = input["query"].as_str() {
                    printer.note(&format!("searching: {query}"));
                }
            }
            StreamEvent::TextStart { .. } if !self.text.is_empty() => {
                self.text.push_str("\n\n");
                printer.words("\n\n")?;
            }
            StreamEvent::TextDelta { text, .. } => {
                self.text.push_str(&text);
                printer.words(&text)?;
            }
            StreamEvent::Source { passage, .. } => self.sources.push(Arc::unwrap_or_clone(passage)),
            StreamEvent::Data { name: "suggestions", value: Value::Array(questions), .. } => {
                self.suggestions = questions.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            }
            StreamEvent::Finish { reason, .. } => {
                self.end = Some(reason);
                printer.end_line()?;
            }
            StreamEvent::Error { sentence } => return Err(Failure::plain(sentence)),
            StreamEvent::StepStart
            | StreamEvent::ToolResult { .. }
            | StreamEvent::TextStart { .. }
            | StreamEvent::TextEnd { .. }
            | StreamEvent::Data { .. }
            | StreamEvent::StepFinish { .. }
            | StreamEvent::KeepAlive => {}
        }
        Ok(())
    }
}

fn source(passage: &Passage) -> Value {
    json!({ "title": passage.title, "path": passage.path, "href": passage.href })
}

/// The site's indexed docs, and its settings for the assistant.
async fn docs(app: &App, project: &Project) -> Result<Arc<Snapshot>, Failure> {
    let docs = index::indexed(app, project).await?;
    // The settings are read at the indexed commit, so nothing is fetched.
    if let Some(files) = app.repositories.fetched_docs(project) {
        app.sites.refresh(project, &files);
    }
    Ok(docs)
}

/// The thread to continue. Access to the data folder suffices: no thread key is needed.
async fn known_thread(app: &App, project: &Project, text: &str) -> Result<ThreadId, Failure> {
    let id = ThreadId::parse(text).ok_or_else(|| {
        Failure::usage(format!(
            "--thread: `{text}` is not the id of a thread; it stands below the answer it goes on from"
        ))
    })?;
    if app.store.thread(&project.domain, id, 0).await?.is_some() {
        return Ok(id);
    }
    Err(Failure::plain(format!("--thread: `{}` has no thread `{id}`; leave it out to begin one", project.domain)))
}

/// Whether the docs contained an answer, according to the stored conversation.
async fn is_answered(
    app: &App,
    project: &Project,
    thread: ThreadId,
    message: Option<MessageId>,
) -> Result<Option<bool>, Failure> {
    let thread = app.store.thread(&project.domain, thread, 1).await?;
    let id = message.map(|id| id.to_string());
    let turns = thread.map(|thread| thread.turns).unwrap_or_default();
    Ok(turns.iter().rev().find(|turn| Some(&turn.answer_id) == id.as_ref()).map(|turn| turn.answered))
}

fn refused(error: CallError) -> Failure {
    match error {
        CallError::Refused(refusal) => Failure::plain(refusal.sentence),
        CallError::Store(error) => error.into(),
    }
}
