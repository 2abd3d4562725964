//! Generates one reply, event by event.
//!
//! ```text
//!   start · search · passages ──▶ the model ──┬─▶ text ──────────────▶ sources · finish
//!     (sent before the model answers)  ▲      └─▶ search · passages ─┐
//!                                      └── at most three times ──────┘
//! ```
//!
//! In its last call the model has no tools, so that a reply always ends in text. Only then is it known whether the docs
//! contain an answer, and a reply without one has no sources. The total input of all model calls is limited.

use std::sync::Arc;

use async_stream::stream;
use docent_llm::{Event, Model, ModelError, ToolChoice};
use docent_search::{Message, is_about_account};
use docent_types::{Clock, FinishReason, MessageId, StreamEvent, ToolOutput, Usage};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Value, json};
use tracing::{error, warn};

use crate::ask::{ContextItem, ContextKind};
use crate::bounds;
use crate::dialogue::Dialogue;
use crate::model_call::{self, StartedReply};
use crate::prompt::{self, AnsweredCall, PromptInput, SEARCH_TOOL, Step, Tools};
use crate::query::{self, SearchWords};
use crate::question_writes::PendingQuestion;
use crate::reply_text::{NO_ANSWER, ReplyText};
use crate::retrieval::Retrieval;
use crate::rewrite::rewrite;
use crate::spend::{Meter, Notice};
use crate::thread::{Timing, Turn};

/// Maximum number of searches that a model may make, and of model calls before it has to answer.
const SEARCHES: usize = 3;
/// Maximum number of tool calls of one step that are processed.
const CALLS: usize = 2 * SEARCHES;
/// Maximum length of a query, in characters, for the model's searches and for our own.
const LONGEST_QUERY: usize = 300;
const OUR_LONGEST_QUERY: usize = 2_000;

/// The model that answers, and who counts what that costs.
pub(crate) struct Answerer {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) meter: Meter,
    /// Told before the answer.
    pub(crate) notice: Option<Notice>,
}

/// The events of a reply: always a search first, displayed as a tool call; then the model.
pub(crate) fn events(
    answerer: Answerer,
    clock: Arc<dyn Clock>,
    writing: PendingQuestion,
    retrieval: Retrieval,
    context: Vec<ContextItem>,
    dialogue: Dialogue,
    answer_id: MessageId,
) -> BoxStream<'static, StreamEvent> {
    let thread_id = Some(dialogue.id);
    let Answerer { model, meter, notice } = answerer;
    let mut reply = Reply {
        model,
        meter,
        clock,
        retrieval,
        context,
        dialogue,
        query: SearchWords::default(),
        call_id: format!("search-{answer_id}"),
        text: ReplyText::default(),
        steps: Vec::new(),
        searches: 0,
        left_tokens: prompt::INPUT_BUDGET,
        spent: Usage::default(),
        total: Usage::default(),
        search_ms: 0,
        first_word_ms: None,
    };
    // Short-lived futures are boxed, so that a reply waiting for its model does not hold their memory.
    Box::pin(stream! {
        yield StreamEvent::Start { message_id: answer_id, thread_id };
        yield StreamEvent::StepStart;

        Box::pin(reply.choose_words()).await;
        yield search_call(&reply.call_id, &reply.words());
        yield Box::pin(reply.search_first()).await;

        // The question is stored while the model answers. Only the end of the reply waits for it.
        let stored = writing.store(reply.dialogue.asked());
        let own_words = reply.own_words();
        if let Some(text) = &own_words {
            for event in reply.say_own(text) {
                yield event;
            }
            let usage = reply.count_step();
            yield StreamEvent::StepFinish { reason: FinishReason::Stop, usage };
        } else if let Some(notice) = notice {
            for event in reply.say_notice(notice) {
                yield event;
            }
        }
        let mut is_first = true;
        let reason = loop {
            if own_words.is_some() {
                break FinishReason::Stop;
            }
            if !std::mem::take(&mut is_first) {
                yield StreamEvent::StepStart;
            }
            let mut tools = reply.tools();
            let mut events = match Box::pin(reply.ask(&mut tools)).await {
                Ok(begun) => begun.events(),
                Err(failure) => {
                    let trouble = reply.trouble(&failure, "the model did not answer");
                    Box::pin(stored.unanswered()).await;
                    yield trouble;
                    return;
                }
            };

            let mut step = Step::default();
            let mut end = FinishReason::Other;
            while let Some(event) = events.next().await {
                match event {
                    Ok(Event::TextDelta(delta)) => {
                        for event in reply.take(delta) {
                            yield event;
                        }
                    }
                    Ok(Event::ToolCall { id, name, input }) if tools == Tools::Offered && step.calls.len() < CALLS => {
                        for event in reply.close(&mut step) {
                            yield event;
                        }
                        let (input, answer) = match wanted(&name, &input, reply.searches) {
                            Err(sentence) => (json!({}), Err(sentence)),
                            Ok(query) => {
                                reply.searches += 1;
                                let call_id = format!("search-{answer_id}-{}", reply.searches);
                                yield search_call(&call_id, &query);
                                let found = Box::pin(reply.retrieval.search(&SearchWords::only(query.as_str()))).await;
                                yield StreamEvent::ToolResult { id: call_id, output: ToolOutput::Passages(found.clone()) };
                                (json!({ "query": query }), Ok(found))
                            }
                        };
                        step.calls.push(AnsweredCall { id, name, input, answer });
                    }
                    Ok(Event::ToolCall { .. }) => warn!("the model called a tool it was not given, or too many at once"),
                    Ok(Event::Done { reason, usage }) => {
                        end = reason;
                        reply.spent += usage;
                        reply.meter.end(usage);
                    }
                    Err(failure) => {
                        let trouble = reply.trouble(&failure, "the answer broke off");
                        Box::pin(stored.unanswered()).await;
                        yield trouble;
                        return;
                    }
                }
            }
            for event in reply.close(&mut step) {
                yield event;
            }
            let usage = reply.count_step();
            if tools == Tools::Offered && (reply.is_silent(&step, end) || !step.calls.is_empty()) {
                let reason = if step.calls.is_empty() { end } else { FinishReason::ToolCalls };
                yield StreamEvent::StepFinish { reason, usage };
                reply.go_on(step);
                continue;
            }
            for event in reply.end_text(step, end) {
                yield event;
            }
            yield StreamEvent::StepFinish { reason: end, usage };
            break end;
        };

        let usage = reply.total;
        reply.meter.stored().await;
        if !Box::pin(stored.answered(reply.into_turn())).await {
            yield StreamEvent::Error { sentence: "The conversation could not be stored. Try again.".to_owned() };
            return;
        }
        yield StreamEvent::Finish { reason, usage, thread_id };
    })
}

/// A reply that is being made.
struct Reply {
    model: Arc<dyn Model>,
    meter: Meter,
    clock: Arc<dyn Clock>,
    retrieval: Retrieval,
    context: Vec<ContextItem>,
    dialogue: Dialogue,
    /// The words of the first search, and the id of its call.
    query: SearchWords,
    call_id: String,
    text: ReplyText,
    /// The model calls that were not the last.
    steps: Vec<Step>,
    /// How many searches the model made.
    searches: usize,
    /// The remaining input budget, in tokens.
    left_tokens: u32,
    /// What the present step used, and what all steps before it did.
    spent: Usage,
    total: Usage,
    search_ms: u32,
    first_word_ms: Option<u32>,
}

impl Reply {
    fn is_builtin(&self) -> bool {
        self.model.describe().is_builtin()
    }

    fn since_asked(&self) -> u32 {
        let since = self.clock.now().since(self.dialogue.turn.asked_at);
        u32::try_from(since.as_millis()).unwrap_or(u32::MAX)
    }

    /// The words of the first search, for display.
    fn words(&self) -> String {
        if self.query.text.is_empty() { self.dialogue.question.trim().to_owned() } else { self.query.words() }
    }

    fn is_about_account(&self) -> bool {
        is_about_account(&self.query.text) && !self.retrieval.answers_surely()
    }

    /// The site owner's reply to a message that asks nothing of the docs, if there is one.
    fn own_words(&self) -> Option<Arc<str>> {
        let site = self.retrieval.site();
        match self.query.text.is_empty() {
            true => site.small_talk.clone(),
            false => site.account.clone().filter(|_| self.is_about_account()),
        }
    }

    /// The events of such a reply.
    fn say_own(&mut self, text: &str) -> Vec<StreamEvent> {
        let mut events = self.text.say(text.to_owned());
        events.extend(self.close(&mut Step::default()));
        self.first_word_ms = Some(self.since_asked());
        self.dialogue.turn.answered = true;
        events
    }

    /// The events of a sentence before the answer.
    fn say_notice(&mut self, notice: Notice) -> Vec<StreamEvent> {
        let Notice { name, sentence, until } = notice;
        let value = json!({"name": name, "until": until.to_string(), "sentence": sentence});
        let mut events = vec![StreamEvent::Data { name: "notice", id: None, value }];
        events.extend(self.text.say(sentence.to_owned()));
        events.extend(self.close(&mut Step::default()));
        events
    }

    async fn choose_words(&mut self) {
        let names_nothing = || query::names_nothing(&Message::read(&self.dialogue.question).question);
        let is_about_page = self.dialogue.before.is_empty() && self.context.is_empty() && names_nothing();
        let page = if is_about_page { self.retrieval.title_here() } else { None };
        (self.query, self.spent) = look_for(self.model.as_ref(), &self.dialogue, &self.context, page).await;
        self.meter.end(self.spent);
    }

    /// Makes the first search, and returns its result.
    async fn search_first(&mut self) -> StreamEvent {
        let passages = self.retrieval.search_first(&self.query).await;
        self.search_ms = self.since_asked();
        self.dialogue.turn.language =
            passages.first().and_then(|passage| passage.language.as_deref()).map(str::to_owned);
        self.dialogue.turn.search_only = self.is_builtin();
        StreamEvent::ToolResult { id: self.call_id.clone(), output: ToolOutput::Passages(passages) }
    }

    fn tools(&self) -> Tools {
        if self.is_builtin() {
            Tools::Hidden
        } else if self.searches < SEARCHES && self.steps.len() < SEARCHES {
            Tools::Offered
        } else {
            Tools::UsedUp
        }
    }

    /// Asks the model. Where the input leaves no room for another search, `tools` are used up.
    async fn ask(&mut self, tools: &mut Tools) -> Result<StartedReply, ModelError> {
        let is_builtin = self.is_builtin();
        let depends_on_context = query::depends_on_context(&self.query.text);
        let current_page = if is_builtin { None } else { self.retrieval.page_asked_about(depends_on_context) };
        if let Some(page) = &current_page {
            self.retrieval.targets.learn(&page.content);
        }
        let passages = self.retrieval.first_search_results_with_pages(&self.query, is_builtin);
        let never_mentioned = self.retrieval.never_mentioned(&self.query);
        let input = PromptInput {
            site: self.retrieval.site(),
            turns: &self.dialogue.before,
            question: &self.dialogue.question,
            query: &self.query.text,
            after: self.query.after.as_deref(),
            call_id: &self.call_id,
            passages: &passages,
            never_mentioned: &never_mentioned,
            about_account: self.is_about_account(),
            context: &self.context,
            current_path: self.retrieval.current_path(),
            current_page: current_page.as_ref().map(|page| page.content.as_str()),
            steps: &self.steps,
            tools: *tools,
            context_tokens: 0,
            left_tokens: self.left_tokens,
        };
        let mut read = 0;
        let meter = &mut self.meter;
        let request = |context_tokens| {
            let request = prompt::request(&PromptInput { context_tokens, ..input });
            read = prompt::tokens(&request);
            meter.begin(read);
            if *tools == Tools::Offered && request.tool_choice == ToolChoice::None {
                *tools = Tools::UsedUp;
            }
            request
        };
        let begun = model_call::begin(self.model.as_ref(), request).await;
        self.left_tokens = self.left_tokens.saturating_sub(read);
        if begun.is_err() {
            self.meter.end(Usage::default());
        }
        begun
    }

    /// The events of more text of the model.
    fn take(&mut self, delta: String) -> Vec<StreamEvent> {
        self.meter.wrote(delta.len());
        let events = self.text.take(delta, &self.retrieval.targets);
        if !events.is_empty() && self.first_word_ms.is_none() {
            self.first_word_ms = Some(self.since_asked());
        }
        events
    }

    /// The events of the text that was held back, which belongs to the step.
    fn close(&mut self, step: &mut Step) -> Vec<StreamEvent> {
        self.text.close(&self.retrieval.targets, step)
    }

    /// The event of a failure, which is logged.
    fn trouble(&self, failure: &ModelError, what: &str) -> StreamEvent {
        error!(thread = %self.dialogue.id, error = failure as &dyn std::error::Error, "{what}");
        StreamEvent::Error { sentence: model_call::sentence(failure.kind, self.text.has_spoken()) }
    }

    /// Adds the usage of the present step to the total, and returns it.
    fn count_step(&mut self) -> Usage {
        self.total += self.spent;
        std::mem::take(&mut self.spent)
    }

    /// Whether the model neither wrote nor searched: it is called once more, without tools.
    fn is_silent(&self, step: &Step, end: FinishReason) -> bool {
        step.said.is_empty() && !self.text.says_unanswered() && end != FinishReason::ContentFilter
    }

    /// Keeps a step after which the model is called again. After one without a search it has no tools.
    fn go_on(&mut self, step: Step) {
        if step.calls.is_empty() {
            self.searches = SEARCHES;
        } else {
            self.steps.push(step);
        }
    }

    /// The events of the end of the text: words where the model had none, and what belongs to an answer.
    fn end_text(&mut self, mut step: Step, end: FinishReason) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        let (is_mute, says_no) = (step.said.is_empty(), self.text.says_unanswered());
        if is_mute {
            let words = without_words(end, says_no);
            events.extend(self.text.say(words.to_owned()));
            events.extend(self.close(&mut step));
        }
        // `builtin` names the nearest pages itself.
        if says_no && self.text.links().is_empty() && !self.is_builtin() {
            let nearest = self.retrieval.nearest_pages();
            events.extend(self.text.say(nearest));
            events.extend(self.close(&mut step));
        }
        let holds = self.retrieval.may_answer() || self.retrieval.is_cited(self.text.links());
        let answered = holds && !is_mute && !says_no;
        // What the docs are not about is no gap in them.
        self.dialogue.turn.answered = answered || self.query.text.is_empty() || self.is_about_account();
        if answered {
            let mut calls = self.steps.iter().rev().flat_map(|step| step.calls.iter().rev());
            let last = calls.find_map(|call| call.answer.as_ref().ok());
            let sources = self.retrieval.sources_of(self.text.links(), last.map(Vec::as_slice));
            let source = |(number, passage)| StreamEvent::Source { id: format!("source-{number}"), passage };
            events.extend((1..).zip(sources).map(source));
        }
        let suggestions = self.text.suggestions().filter(|_| self.retrieval.site().suggestions);
        let suggestions =
            suggestions.map(|value| StreamEvent::Data { name: "suggestions", id: None, value: json!(value) });
        events.extend(suggestions);
        events
    }

    /// The turn as it is stored.
    fn into_turn(mut self) -> Turn {
        let end_ms = self.since_asked();
        let turn = &mut self.dialogue.turn;
        turn.sources = self.retrieval.cited_pages();
        turn.answer = Some(bounds::cut(&self.text.answer(), bounds::ANSWER).into_owned());
        turn.answered_at = Some(self.clock.now());
        // With a short answer, the link filter may release text only at its end.
        let first_word_ms = self.first_word_ms.unwrap_or(end_ms);
        turn.timing = Some(Timing { search_ms: self.search_ms, first_word_ms, end_ms });
        self.dialogue.turn
    }
}

/// The search words, and the tokens used to determine them: only a question that is incomplete alone uses any.
///
/// `page`: the title of the page that the reader is on, if the question is about that.
async fn look_for(
    model: &dyn Model,
    dialogue: &Dialogue,
    context: &[ContextItem],
    page: Option<String>,
) -> (SearchWords, Usage) {
    let (message, before) = (Message::read(&dialogue.question), dialogue.before.as_slice());
    let of_kind = |kind: ContextKind| context.iter().find(|item| item.kind == kind);
    let selected = of_kind(ContextKind::TextSelection).or_else(|| of_kind(ContextKind::Code));
    let selected = selected.map(|item| item.value.as_str());
    if !message.question.is_empty()
        && query::depends_on_context(&message.question)
        && !before.is_empty()
        && !model.describe().is_builtin()
        && let Some((better, spent)) = rewrite(model, before, &message.question, selected).await
    {
        return (SearchWords::only(better), spent);
    }
    let earlier = before.iter().rev().map(|turn| turn.question.as_str());
    let SearchWords { text, after, beside } = query::query(message, selected.or(page.as_deref()), earlier);
    let short = |words: String| words.chars().take(OUR_LONGEST_QUERY).collect();
    (SearchWords { text: short(text), after: after.map(short), beside: short(beside) }, Usage::default())
}

fn search_call(id: &str, query: &str) -> StreamEvent {
    StreamEvent::ToolCall { id: id.to_owned(), name: SEARCH_TOOL.to_owned(), input: json!({ "query": query }) }
}

/// The query of a tool call, or an error for the model.
fn wanted(name: &str, input: &Value, searches: usize) -> Result<String, String> {
    if name != SEARCH_TOOL {
        let name: String = name.chars().take(60).collect();
        return Err(format!("There is no tool `{name}`. There is `{SEARCH_TOOL}`, with a `query`."));
    }
    if searches == SEARCHES {
        return Err("No more searches can be made. Answer from the passages you have.".to_owned());
    }
    let query = input.get("query").and_then(Value::as_str).map(str::trim).filter(|query| !query.is_empty());
    let query =
        query.ok_or_else(|| "The input must be an object with a `query`, a string with words in it.".to_owned())?;
    Ok(query.chars().take(LONGEST_QUERY).collect())
}

/// The text of a reply if the model wrote nothing.
const fn without_words(end: FinishReason, unanswered: bool) -> &'static str {
    match end {
        FinishReason::ContentFilter => "The model declines to answer this. Ask in other words.",
        _ if unanswered => NO_ANSWER,
        _ => "The model gave no answer. Ask again, or in other words.",
    }
}
