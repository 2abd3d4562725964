//! The playground: asks the assistant as a reader would, and shows why each passage was found.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use docent_assistant::{AskRequest, Assistant, ChatMessage};
use docent_operators::TokenHash;
use docent_search::{Asker, Explanation, Filter, Query, Snapshot};
use docent_types::{Domain, Passage, Project, Refusal, Role, StreamEvent, ToolOutput};
use docent_web::{HttpError, Response, respond};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};
use maud::{Markup, html};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::dashboard::AuthorizedRequest;
use crate::guard::TOKEN;
use crate::layout::Section;
use crate::pages::conversations::source_link;
use crate::pages::docs::unread;
use crate::pages::snippets::SampleCall;
use crate::parts::{Column, notice, table};
use crate::text::{Sentence, Untrusted, counted, precise_duration};
use crate::words::{GrowingWords, Place, docs_page, opening, words};

/// Number of passages that a search shows.
const SHOWN_PASSAGES: usize = 10;
/// Number of passages that an answer is made from, as if a client did not set it.
const ANSWER_PASSAGES: usize = 5;
/// Number of passages that are explained: passages found by meaning may rank far lower by words.
const EXPLAINED_PASSAGES: usize = 20;
/// The beginning of a passage that is not folded, in characters.
const MAX_OPENING_CHARS: usize = 200;
/// Used as the fingerprint of an operator who tries the assistant.
const FINGERPRINT: &str = "dashboard-playground";
const MAX_QUESTION_CHARS: usize = 8_000;

/// Number of answers given without scripts that are kept.
const MAX_KEPT_ANSWERS: usize = 32;

/// The fields of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PlaygroundForm {
    question: String,
    model: String,
    version: String,
    language: String,
    tag: String,
    page: String,
}

impl PlaygroundForm {
    fn of(text: impl Fn(&str) -> String) -> Self {
        Self {
            question: text("q"),
            model: text("model"),
            version: text("version"),
            language: text("language"),
            tag: text("tag"),
            page: text("page"),
        }
    }

    fn in_url(request: &AuthorizedRequest<'_>) -> Self {
        Self::of(|name| request.http.query(name).map(|text| text.trim().to_owned()).unwrap_or_default())
    }

    fn in_form(request: &AuthorizedRequest<'_>) -> Result<Self, HttpError> {
        let fields = Self::of(|name| request.form.text(name).to_owned());
        if fields.question.is_empty() || fields.question.chars().count() > MAX_QUESTION_CHARS {
            let sentence = format!("Ask something, in at most {MAX_QUESTION_CHARS} characters.");
            return Err(Refusal::invalid(sentence).into());
        }
        Ok(fields)
    }

    fn filter(&self) -> Filter {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Filter {
            version: given(&self.version),
            language: given(&self.language),
            tag: given(&self.tag),
            ..Filter::default()
        }
    }

    fn page(&self) -> Option<String> {
        Some(self.page.clone()).filter(|page| !page.is_empty())
    }

    fn query(&self, text: &str, limit: usize) -> Query {
        Query {
            text: text.to_owned(),
            after: None,
            beside: String::new(),
            limit,
            filter: self.filter(),
            near: self.page(),
            asker: Asker::Assistant,
        }
    }

    fn ask(&self, project: &Project, docs: Arc<Snapshot>) -> AskRequest {
        AskRequest {
            project: project.uid,
            domain: project.domain.clone(),
            docs,
            fp: FINGERPRINT.to_owned(),
            said: vec![ChatMessage { id: None, role: Role::User, text: self.question.clone() }],
            thread: None,
            thread_key: None,
            passages: ANSWER_PASSAGES,
            filter: self.filter(),
            context: Vec::new(),
            current_path: self.page(),
        }
    }

    /// The assistant with the selected model.
    fn assistant(&self, request: &AuthorizedRequest<'_>) -> Result<Arc<Assistant>, HttpError> {
        let parts = request.parts();
        if self.model.is_empty() {
            return Ok(Arc::clone(&parts.assistant));
        }
        let chosen = parts.assistants.iter().find(|(name, _)| *name == self.model);
        let missing = || Refusal::invalid("Model: choose one of the list.");
        Ok(chosen.map(|(_, assistant)| Arc::clone(assistant)).ok_or_else(missing)?)
    }

    /// The same question for code samples.
    fn sample_call(&self, request: &AuthorizedRequest<'_>, project: &Project) -> SampleCall {
        let mut options = Map::new();
        options.insert("fp".to_owned(), "anonymous".into());
        let filter: Map<String, Value> = [("version", &self.version), ("language", &self.language), ("tag", &self.tag)]
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(name, text)| (name.to_owned(), text.as_str().into()))
            .collect();
        if !filter.is_empty() {
            options.insert("filter".to_owned(), filter.into());
        }
        options.extend(self.page().map(|page| ("currentPath".to_owned(), page.into())));
        SampleCall {
            base: request.base_url(),
            domain: project.domain.to_string(),
            question: if self.question.is_empty() { "How do I …?" } else { &self.question }.to_owned(),
            options,
        }
    }
}

/// The form; with a question in the URL, also what a search finds for it.
pub(crate) async fn playground(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let fields = PlaygroundForm::in_url(request);
    let Some(docs) = request.read_docs(project) else {
        let body = html! { (unread(request, project)) (form(request, project, &fields)) (snippets(request, project, &fields)) };
        return Ok(request.page("Playground", Section::Playground, Some(project), &body));
    };
    let found = if fields.question.is_empty() {
        html! {}
    } else {
        let query = fields.query(&fields.question, SHOWN_PASSAGES);
        let began = Instant::now();
        let passages: Vec<_> = docs.find(&query).await.into_iter().map(Arc::new).collect();
        let took = began.elapsed();
        let unknown = docs.never_mentioned(&query.text);
        html! {
            h2 { "Found in " (precise_duration(took)) }
            @if !unknown.is_empty() { p { "These docs never mention: " (Untrusted(&unknown.join(", "))) "." } }
            (explained(project, docs, query, passages).await?)
        }
    };
    let body = html! { (form(request, project, &fields)) (found) (snippets(request, project, &fields)) };
    Ok(request.page("Playground", Section::Playground, Some(project), &body))
}

fn form(request: &AuthorizedRequest<'_>, project: &Project, fields: &PlaygroundForm) -> Markup {
    let here = format!("/dashboard/{}/playground", project.domain);
    let assistants = &request.parts().assistants;
    let has_options = !fields.filter().eq(&Filter::default()) || !fields.page.is_empty() || !fields.model.is_empty();
    html! {
        form.fields #ask method="get" action=(here) data-stream=(format_args!("{here}/ask")) {
            div { label for="q" { "Question" } textarea #q name="q" rows="3" required maxlength=(MAX_QUESTION_CHARS) { (fields.question) } }
            details open[has_options] {
                summary { "Filter, model and page" }
                @if assistants.len() > 1 {
                    div {
                        label for="model" { "Model" }
                        select #model name="model" {
                            option value="" { "the one readers get" }
                            @for (name, _) in assistants { option value=(name) selected[*name == fields.model] { (request.model_name(name)) } }
                        }
                    }
                }
                div { label for="version" { "Version" } input #version name="version" value=(fields.version); }
                div { label for="language" { "Language" } input #language name="language" value=(fields.language); }
                div { label for="tag" { "Tag" } input #tag name="tag" value=(fields.tag); }
                div { label for="page" { "Page the reader is on" } small.hint #page-hint { "Its path on the site." } input #page aria-describedby="page-hint" name="page" value=(fields.page); }
            }
            div.actions {
                // The button holds the token, so that the token is not in the URL of a search; and what tells a reload from another
                // question.
                @if request.is_editor() {
                    @let asked = request.parts().clock.now().millis();
                    button type="submit" formmethod="post" formaction=(format_args!("?asked={asked}")) name=(TOKEN) value=(request.signed_in.csrf.expose()) { "Ask" }
                }
                button.secondary type="submit" { "Search only" }
                span.soft.small { kbd { "Ctrl" } " " kbd { "Enter" } }
            }
        }
        p.soft #times role="status" {}
        div #answer aria-live="polite" {}
        p.small.soft #sources {}
        div #found {}
    }
}

/// Passages with their scores, and with the words that contributed to them.
async fn explained(
    project: &Project,
    docs: Arc<Snapshot>,
    query: Query,
    passages: Vec<Arc<Passage>>,
) -> Result<Markup, HttpError> {
    let query = Query { limit: query.limit.max(EXPLAINED_PASSAGES), ..query };
    let project = project.clone();
    let work = move || {
        let explanations = docs.explain(&query);
        let place = Place::of(&project, Some(&docs));
        html! {
            @if passages.is_empty() { p.soft { "Nothing was found." } }
            ol.plain {
                @for passage in &passages {
                    li.card { (passage_markup(passage, place, explanations.iter().find(|explanation| explanation.path == passage.path))) }
                }
            }
        }
    };
    tokio::task::spawn_blocking(work).await.map_err(HttpError::internal)
}

fn passage_markup(passage: &Passage, place: Place<'_>, explanation: Option<&Explanation>) -> Markup {
    html! {
        p { strong { a href=(docs_page(place.domain, &passage.path)) { (Untrusted(&passage.title)) } } @for heading in &passage.headings { " › " (Untrusted(heading)) } }
        p.facts.small { code { (Untrusted(&passage.href)) } span { "score " (format!("{:.2}", passage.score)) } @if let Some(version) = &passage.version { span { "version " (Untrusted(version)) } } @if let Some(language) = &passage.language { span { (Untrusted(language)) } } }
        p.soft { bdi { (opening(&passage.content, MAX_OPENING_CHARS)) } }
        details { summary { "Passage" } (words(&passage.content, place)) }
        details {
            summary { "Why it is here" }
            @if let Some(explanation) = explanation {
                (table("Why it is here", &[Column::Title("Word"), Column::Text("Found in"), Column::Number("Adds")], explanation.matches.iter().map(|found| vec![
                    html! { (Untrusted(&found.word)) @if !found.instead.is_empty() { " as " (Untrusted(&found.instead.join(", "))) } },
                    html! { (found.place) },
                    html! { (format!("{:.2}", found.weight)) },
                ])))
                p.soft { "Linked from " (counted(explanation.linked_from.into(), "page")) "." }
            } @else {
                p { "For what it means: its words alone would not have brought it here." }
            }
        }
    }
}

fn snippets(request: &AuthorizedRequest<'_>, project: &Project, fields: &PlaygroundForm) -> Markup {
    let keys = request.is_owner().then(|| format!("/dashboard/{}/keys", project.domain));
    html! { div #snippets { (fields.sample_call(request, project).html(keys.as_deref())) } }
}

/// A part of a reply, as the page shows it.
enum ReplyPart {
    Found { query: String, count: usize, list: Markup },
    Text(String),
    Source { title: String, href: String },
    Problem(String),
}

/// The names of the parts of a line that are markup.
const MARKUP_PARTS: [&str; 4] = ["snippets", "found", "source", "rendered"];

/// Makes the parts of a reply the lines of a stream: one JSON object each. The answer comes rendered, all that is there of it each
/// time.
struct ReplyLines {
    project: Project,
    docs: Arc<Snapshot>,
    answer: GrowingWords,
}

impl ReplyLines {
    fn line(&mut self, part: ReplyPart) -> Option<Value> {
        let place = Place::of(&self.project, Some(&self.docs));
        Some(match part {
            ReplyPart::Found { query, count, list } => {
                let title = html! { h2 { "Found for “" (Untrusted(&query)) "”" } (list) };
                json!({ "passages": count, "found": title.into_string() })
            }
            ReplyPart::Text(text) => json!({ "rendered": self.answer.push(&text, place)?.into_string() }),
            ReplyPart::Source { title, href } => json!({ "source": source_link(&title, &href, place).into_string() }),
            ReplyPart::Problem(sentence) => json!({ "error": sentence }),
        })
    }

    fn end(&self) -> Value {
        let place = Place::of(&self.project, Some(&self.docs));
        json!({ "rendered": self.answer.all(place).into_string(), "end": true })
    }
}

/// Converts the events of a reply into the parts that the page shows.
fn reply_parts(
    events: BoxStream<'static, StreamEvent>,
    project: Project,
    docs: Arc<Snapshot>,
    fields: PlaygroundForm,
) -> impl Stream<Item = ReplyPart> + Send + 'static {
    stream::unfold((events, String::new()), move |(mut events, mut query)| {
        let (docs, all, project) = (Arc::clone(&docs), fields.query("", ANSWER_PASSAGES), project.clone());
        async move {
            loop {
                let part = match events.next().await? {
                    StreamEvent::ToolCall { input, .. } => {
                        input.get("query").and_then(Value::as_str).unwrap_or_default().clone_into(&mut query);
                        continue;
                    }
                    StreamEvent::ToolResult { output: ToolOutput::Passages(passages), .. } => {
                        let (count, search_query) = (passages.len(), Query { text: query.clone(), ..all.clone() });
                        let list = explained(&project, Arc::clone(&docs), search_query, passages).await;
                        // An answer continues even if its passages cannot be explained.
                        let list = list.unwrap_or_else(|_| html! {});
                        ReplyPart::Found { query: query.clone(), count, list }
                    }
                    StreamEvent::TextDelta { text, .. } => ReplyPart::Text(text),
                    StreamEvent::Source { passage, .. } => {
                        ReplyPart::Source { title: passage.title.clone(), href: passage.href.clone() }
                    }
                    StreamEvent::Error { sentence } => ReplyPart::Problem(sentence),
                    _ => continue,
                };
                return Some((part, (events, query)));
            }
        }
    })
}

/// Answers given without scripts, the newest last: a page that is loaded again asks nothing again.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeptAnswers(Arc<Mutex<VecDeque<(AskedOnce, Markup)>>>);

/// What a reload repeats: the session, the project, the time of the form, and the fields.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AskedOnce {
    session: TokenHash,
    domain: Domain,
    form: String,
    fields: PlaygroundForm,
}

impl KeptAnswers {
    fn get(&self, asked: &AskedOnce) -> Option<Markup> {
        self.0.lock().iter().find(|(kept, _)| kept == asked).map(|(_, answer)| answer.clone())
    }

    fn keep(&self, asked: AskedOnce, answer: Markup) {
        let mut kept = self.0.lock();
        if kept.len() >= MAX_KEPT_ANSWERS {
            kept.pop_front();
        }
        kept.push_back((asked, answer));
    }
}

/// The whole answer on a page, for browsers without scripts.
pub(crate) async fn answered(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let fields = PlaygroundForm::in_form(request)?;
    let asked = request.http.query("asked").map(|form| AskedOnce {
        session: request.signed_in.session,
        domain: project.domain.clone(),
        form: form.into_owned(),
        fields: fields.clone(),
    });
    let (form, snippets) = (form(request, project, &fields), snippets(request, project, &fields));
    let Some(docs) = request.read_docs(project) else {
        let body = html! { (unread(request, project)) (form) (snippets) };
        return Ok(request.page("Playground", Section::Playground, Some(project), &body));
    };
    let shown = |answer: Markup| {
        let body = html! { (form) (answer) (snippets) };
        request.page("Playground", Section::Playground, Some(project), &body)
    };
    if let Some(answer) = asked.as_ref().and_then(|asked| request.dashboard.answers.get(asked)) {
        return Ok(shown(answer));
    }
    let began = Instant::now();
    let answer = fields.assistant(request)?.unrecorded().answer(fields.ask(project, Arc::clone(&docs))).await?;
    let mut parts = Box::pin(reply_parts(answer.events, project.clone(), Arc::clone(&docs), fields));
    let (mut text, mut searches, mut sources, mut problems) = (String::new(), Vec::new(), Vec::new(), Vec::new());
    let mut first_word: Option<Duration> = None;
    while let Some(part) = parts.next().await {
        match part {
            ReplyPart::Found { query, list, .. } => searches.push((query, list, began.elapsed())),
            ReplyPart::Text(more) => {
                first_word.get_or_insert_with(|| began.elapsed());
                text.push_str(&more);
            }
            ReplyPart::Source { title, href } => sources.push((title, href)),
            ReplyPart::Problem(sentence) => problems.push(sentence),
        }
    }
    let place = Place::of(project, Some(&docs));
    let answer = html! {
        h2 { "Answer" }
        p.soft {
            @if let Some((_, _, after)) = searches.first() { "searched: " (precise_duration(*after)) " · " }
            @if let Some(after) = first_word { "first word: " (precise_duration(after)) " · " }
            "end: " (precise_duration(began.elapsed()))
        }
        div.card { (words(&text, place)) }
        @for problem in &problems { (notice("bad", &html! { p { (Sentence(problem)) } })) }
        @if !sources.is_empty() { p.small.soft { "From: " @for (at, (title, href)) in sources.iter().enumerate() { @if at > 0 { " · " } (source_link(title, href, place)) } } }
        @for (query, list, _) in &searches { h2 { "Found for “" (Untrusted(query)) "”" } (list) }
    };
    if let Some(asked) = asked.filter(|_| problems.is_empty()) {
        request.dashboard.answers.keep(asked, answer.clone());
    }
    Ok(shown(answer))
}

/// Streams the answer while it is written: one JSON object per line.
pub(crate) async fn stream(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let fields = PlaygroundForm::in_form(request)?;
    let docs = match request.docs(project) {
        Ok(docs) => docs,
        // A script asked: it shows the sentence.
        Err(error) => return Ok(respond::json(error.status(), &json!({ "error": error.to_string() }))),
    };
    let snippets = json!({ "snippets": snippets(request, project, &fields).into_string() });
    let answer = fields.assistant(request)?.unrecorded().answer(fields.ask(project, Arc::clone(&docs))).await?;
    let lines = ReplyLines { project: project.clone(), docs: Arc::clone(&docs), answer: GrowingWords::default() };
    let parts = reply_parts(answer.events, project.clone(), docs, fields).map(Some).chain(stream::once(async { None }));
    let lines = parts.scan(lines, |lines, part| {
        let line = match part {
            Some(part) => lines.line(part),
            None => Some(lines.end()),
        };
        std::future::ready(Some(line))
    });
    let lines = lines.filter_map(std::future::ready);
    let prefix = request.dashboard.prefix.clone();
    let lines = stream::once(async { snippets }).chain(lines).map(move |mut line| {
        for name in MARKUP_PARTS {
            if let Some(Value::String(html)) = line.get_mut(name) {
                *html = prefix.in_html(html);
            }
        }
        Bytes::from(format!("{line}\n"))
    });
    let lines = lines.take_until(Box::pin(request.session_ended()));
    Ok(respond::stream("application/x-ndjson", lines))
}
