//! A place to ask as a reader would, and to see why each passage was found.

use std::time::Instant;

use bytes::Bytes;
use docent_assistant::{Ask, ChatMessage};
use docent_operators::OperatorRole;
use docent_search::{Explanation, Filter, Query, Snapshot};
use docent_types::{Passage, Project, Refusal, Role, StreamEvent, ToolOutput};
use docent_web::{HttpError, Response, respond};
use futures::StreamExt;
use maud::{Markup, html};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::dashboard::Visit;
use crate::guard::TOKEN;
use crate::layout::{Section, table};
use crate::text::{Foreign, exact};

/// Passages that a search shows.
const SHOWN: usize = 10;
/// Passages that an answer is made from, as where a client does not say.
const PASSAGES: usize = 5;
/// What stands for the fingerprint of an operator who tries the assistant.
const FP: &str = "dashboard-playground";
const LONGEST_QUESTION: usize = 8_000;

/// What is asked, as the form has it.
struct Wanted {
    question: String,
    version: String,
    language: String,
    page: String,
}

impl Wanted {
    fn of(text: impl Fn(&str) -> String) -> Self {
        Self { question: text("q"), version: text("version"), language: text("language"), page: text("page") }
    }

    fn in_url(visit: &Visit<'_>) -> Self {
        Self::of(|name| visit.request.query(name).map(|text| text.trim().to_owned()).unwrap_or_default())
    }

    fn in_form(visit: &Visit<'_>) -> Result<Self, HttpError> {
        let wanted = Self::of(|name| visit.form.text(name).to_owned());
        if wanted.question.is_empty() || wanted.question.chars().count() > LONGEST_QUESTION {
            let sentence = format!("Ask something, in at most {LONGEST_QUESTION} characters.");
            return Err(Refusal::invalid(sentence).into());
        }
        Ok(wanted)
    }

    fn filter(&self) -> Filter {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Filter { version: given(&self.version), language: given(&self.language), ..Filter::default() }
    }

    fn page(&self) -> Option<String> {
        Some(self.page.clone()).filter(|page| !page.is_empty())
    }

    fn query(&self) -> Query {
        Query {
            text: self.question.clone(),
            limit: SHOWN,
            filter: self.filter(),
            near: self.page(),
            ..Query::default()
        }
    }

    fn ask(&self, project: &Project, docs: Arc<Snapshot>) -> Ask {
        Ask {
            project: project.uid,
            domain: project.domain.clone(),
            docs,
            fp: FP.to_owned(),
            said: vec![ChatMessage { id: None, role: Role::User, text: self.question.clone() }],
            thread: None,
            thread_key: None,
            passages: PASSAGES,
            filter: self.filter(),
            context: Vec::new(),
            current_path: self.page(),
        }
    }
}

/// The form; with a question in the URL, what a search finds for it.
pub(crate) async fn playground(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let wanted = Wanted::in_url(visit);
    let found = if wanted.question.is_empty() {
        html! {}
    } else {
        let docs = visit.docs(project)?;
        let query = wanted.query();
        let looked = tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            let passages = docs.search(&query);
            let took = began.elapsed();
            (passages, docs.explain(&query), docs.never_mentioned(&query.text), took)
        });
        let (passages, explanations, unknown, took) = looked.await.map_err(HttpError::internal)?;
        html! {
            h2 { "Found in " (exact(took)) }
            @if !unknown.is_empty() { p { "These docs never mention: " (Foreign(&unknown.join(", "))) "." } }
            @if passages.is_empty() { p { "Nothing." } }
            ol { @for (at, passage) in passages.iter().enumerate() { li { (shown(passage, explanations.get(at))) } } }
        }
    };
    let body = html! { (form(visit, project, &wanted)) (found) (snippets(visit, project, &wanted)) };
    Ok(visit.page("Playground", Section::Playground, Some(project), &body))
}

fn form(visit: &Visit<'_>, project: &Project, wanted: &Wanted) -> Markup {
    let here = format!("/dashboard/{}/playground", project.domain);
    html! {
        form.fields #ask method="get" action=(here) data-stream=(format_args!("{here}/ask")) {
            div { label for="q" { "Question" } textarea #q name="q" rows="3" required maxlength=(LONGEST_QUESTION) { (wanted.question) } }
            details open[!wanted.filter().eq(&Filter::default()) || !wanted.page.is_empty()] {
                summary { "Filter and page" }
                div { label for="version" { "Version" } input #version name="version" value=(wanted.version); }
                div { label for="language" { "Language" } input #language name="language" value=(wanted.language); }
                div { label for="page" { "Page the reader is on" } small.hint #page-hint { "Its path on the site." } input #page aria-describedby="page-hint" name="page" value=(wanted.page); }
            }
            div {
                // The token goes with the button, so that it is in no address when only a search is wanted.
                @if visit.signed_in.operator.role >= OperatorRole::Editor {
                    button type="submit" formmethod="post" name=(TOKEN) value=(visit.signed_in.csrf.expose()) { "Ask" } " "
                }
                button.quiet type="submit" { "Search only" }
            }
        }
        p.soft #times role="status" {}
        p.said #answer aria-live="polite" {}
        ul #sources {}
    }
}

fn shown(passage: &Passage, explanation: Option<&Explanation>) -> Markup {
    html! {
        p { strong { (Foreign(&passage.title)) } @for heading in &passage.headings { " › " (Foreign(heading)) } " " code { (passage.href) } " score " (format!("{:.2}", passage.score)) @if let Some(version) = &passage.version { ", version " (version) } @if let Some(language) = &passage.language { ", " (language) } }
        details { summary { "Passage" } pre { (Foreign(&passage.content)) } }
        @if let Some(explanation) = explanation {
            details {
                summary { "Why it is here" }
                @let head = html! { th { "Word" } th { "Found in" } th.num { "Adds" } };
                @let rows = html! {
                    @for found in &explanation.matches {
                        tr { td { (Foreign(&found.word)) @if !found.instead.is_empty() { " as " (Foreign(&found.instead.join(", "))) } } td { (found.place) } td.num { (format!("{:.2}", found.weight)) } }
                    }
                };
                (table("Why it is here", &head, &rows))
                p.soft { "Linked from " (explanation.linked_from) " pages." }
            }
        }
    }
}

/// The question as programs ask it.
fn snippets(visit: &Visit<'_>, project: &Project, wanted: &Wanted) -> Markup {
    let parts = visit.parts();
    let base = parts
        .public_url
        .clone()
        .unwrap_or_else(|| format!("http://{}", visit.request.header(http::header::HOST).unwrap_or("127.0.0.1")));
    let base = base.trim_end_matches('/');
    let (domain, question) =
        (&project.domain, if wanted.question.is_empty() { "How do I …?" } else { &wanted.question });
    let body =
        json!({ "fp": "anonymous", "messages": [{ "role": "user", "parts": [{ "type": "text", "text": question }] }] });
    let quoted = body.to_string().replace('\'', "'\\''");
    let curl = format!(
        "curl -N {base}/discovery/v2/assistant/{domain}/message \\\n  -H 'Authorization: Bearer docent_assistant_…' \\\n  -H \
         'Content-Type: application/json' \\\n  -d '{quoted}'"
    );
    let script = format!(
        "import {{ Chat }} from '@ai-sdk/react'; // releases 5 to 7\nimport {{ DefaultChatTransport }} from 'ai';\n\nconst chat \
         = new Chat({{\n  transport: new DefaultChatTransport({{\n    api: '{base}/discovery/v2/assistant/{domain}/message',\n    \
         headers: {{ Authorization: 'Bearer docent_assistant_…' }},\n    body: {{ fp: 'anonymous' }},\n  }}),\n}});\nawait \
         chat.sendMessage({{ text: {} }});",
        Value::from(question)
    );
    html! {
        h2 { "From a program" }
        details { summary { "curl" } pre #curl { (curl) } button.quiet type="button" data-copy="curl" hidden { "Copy" } }
        details { summary { "TypeScript" } pre #typescript { (script) } button.quiet type="button" data-copy="typescript" hidden { "Copy" } }
    }
}

/// The whole answer on a page, for browsers without scripts.
pub(crate) async fn answered(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let wanted = Wanted::in_form(visit)?;
    let docs = visit.docs(project)?;
    let began = Instant::now();
    let answer = visit.parts().assistant.answer(wanted.ask(project, docs)).await?;
    let parts: Vec<Value> = answer.events.filter_map(|event| async move { as_json(event) }).collect().await;
    let text: String = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    let sources = parts.iter().filter_map(|part| part.get("source"));
    let member = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let body = html! {
        (form(visit, project, &wanted))
        h2 { "Answer, after " (exact(began.elapsed())) }
        p.said { (Foreign(&text)) }
        @for problem in parts.iter().filter_map(|part| part.get("error")?.as_str()) { div.box.bad role="alert" { p { (Foreign(problem)) } } }
        ul { @for source in sources { li { (Foreign(&member(source, "title"))) " (" (Foreign(&member(source, "href"))) ")" } } }
    };
    Ok(visit.page("Playground", Section::Playground, Some(project), &body))
}

/// The answer as it is written: a JSON object a line.
pub(crate) async fn stream(visit: &Visit<'_>, project: &Project) -> Result<Response, HttpError> {
    let wanted = Wanted::in_form(visit)?;
    let docs = visit.docs(project)?;
    let answer = visit.parts().assistant.answer(wanted.ask(project, docs)).await?;
    let lines = answer.events.filter_map(|event| async move { Some(Bytes::from(format!("{}\n", as_json(event)?))) });
    Ok(respond::stream("application/x-ndjson", lines))
}

/// What the page shows of an event.
fn as_json(event: StreamEvent) -> Option<Value> {
    match event {
        StreamEvent::ToolResult { output: ToolOutput::Passages(passages), .. } => {
            Some(json!({ "passages": passages.len() }))
        }
        StreamEvent::TextDelta { text, .. } => Some(json!({ "text": text })),
        StreamEvent::Source { passage, .. } => {
            Some(json!({ "source": { "title": passage.title, "href": passage.href } }))
        }
        StreamEvent::Error { sentence } => Some(json!({ "error": sentence })),
        _ => None,
    }
}
