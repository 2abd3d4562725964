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
use docent_llm::{Event, Model, ModelErrorKind, ToolChoice};
use docent_types::{Clock, FinishReason, MessageId, StreamEvent, ToolOutput, Usage};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Value, json};
use tracing::{error, warn};

use crate::ask::{ContextItem, ContextKind};
use crate::bounds;
use crate::dialogue::Dialogue;
use crate::model_call;
use crate::prompt::{self, AnsweredCall, PromptInput, SEARCH_TOOL, Step, Tools};
use crate::query::{self, SearchWords};
use crate::question_writes::PendingQuestion;
use crate::reply_text::ReplyText;
use crate::retrieval::Retrieval;
use crate::rewrite::rewrite;
use crate::thread::Timing;

/// Maximum number of searches that a model may make, and of model calls before it has to answer.
const SEARCHES: usize = 3;
/// Maximum number of tool calls of one step that are processed.
const CALLS: usize = 2 * SEARCHES;
/// Maximum length of a query, in characters, for the model's searches and for our own.
const LONGEST_QUERY: usize = 300;
const OUR_LONGEST_QUERY: usize = 2_000;

/// The events of a reply: always a search first, displayed as a tool call; then the model.
pub(crate) fn events(
    model: Arc<dyn Model>,
    clock: Arc<dyn Clock>,
    writing: PendingQuestion,
    mut retrieval: Retrieval,
    context: Vec<ContextItem>,
    mut dialogue: Dialogue,
    answer_id: MessageId,
) -> BoxStream<'static, StreamEvent> {
    let thread_id = Some(dialogue.id);
    let mut reply_text = ReplyText::default();
    // Short-lived futures are boxed, so that a reply waiting for its model does not hold their memory.
    Box::pin(stream! {
        yield StreamEvent::Start { message_id: answer_id, thread_id };
        yield StreamEvent::StepStart;

        let is_builtin = model.describe().is_builtin();
        let mut total = Usage::default();
        let (query, mut spent) = Box::pin(look_for(model.as_ref(), &dialogue, &context)).await;
        let call_id = format!("search-{answer_id}");
        yield search_call(&call_id, &query.words());
        let passages = Box::pin(retrieval.search_first(&query)).await;
        let asked_at = dialogue.turn.asked_at;
        let since_asked = || u32::try_from(clock.now().since(asked_at).as_millis()).unwrap_or(u32::MAX);
        let search_ms = since_asked();
        let mut first_word_ms = None;
        dialogue.turn.language = passages.first().and_then(|passage| passage.language.as_deref()).map(str::to_owned);
        dialogue.turn.search_only = is_builtin;
        yield StreamEvent::ToolResult { id: call_id.clone(), output: ToolOutput::Passages(passages.clone()) };
        drop(passages);

        // The question is stored while the model answers. Only the end of the reply waits for it.
        let stored = writing.store(dialogue.asked());
        let depends_on_context = query::depends_on_context(&dialogue.question);
        let mut left_tokens = prompt::INPUT_BUDGET;
        let mut steps: Vec<Step> = Vec::new();
        let mut searches = 0;
        let mut is_first = true;
        let reason = loop {
            if !std::mem::take(&mut is_first) {
                yield StreamEvent::StepStart;
            }
            let mut tools = tools(is_builtin, searches, steps.len());
            let begun = {
                let current_page = if is_builtin { None } else { retrieval.page_asked_about(depends_on_context) };
                if let Some(page) = &current_page {
                    retrieval.targets.learn(&page.content);
                }
                let passages = match is_builtin {
                    true => retrieval.first_search_results_with_pages(&query),
                    false => retrieval.first_search_results().to_vec(),
                };
                let never_mentioned = retrieval.never_mentioned(&query);
                let input = PromptInput {
                    site: retrieval.site(),
                    turns: &dialogue.before,
                    question: &dialogue.question,
                    query: &query.text,
                    after: query.after.as_deref(),
                    call_id: &call_id,
                    passages: &passages,
                    never_mentioned: &never_mentioned,
                    context: &context,
                    current_path: retrieval.current_path(),
                    current_page: current_page.as_ref().map(|page| page.content.as_str()),
                    steps: &steps,
                    tools,
                    context_tokens: 0,
                    left_tokens,
                };
                let mut read = 0;
                let request = |context_tokens| {
                    let request = prompt::request(&PromptInput { context_tokens, ..input });
                    read = prompt::tokens(&request);
                    if tools == Tools::Offered && request.tool_choice == ToolChoice::None {
                        tools = Tools::UsedUp;
                    }
                    request
                };
                let begun = Box::pin(model_call::begin(model.as_ref(), request)).await;
                left_tokens = left_tokens.saturating_sub(read);
                begun
            };
            let mut events = match begun {
                Ok(begun) => begun.events(),
                Err(failure) => {
                    error!(thread = %dialogue.id, error = &failure as &dyn std::error::Error, "the model did not answer");
                    Box::pin(stored.unanswered()).await;
                    yield trouble(model_call::sentence(failure.kind, reply_text.has_spoken()));
                    return;
                }
            };

            let mut step = Step::default();
            let mut end = FinishReason::Other;
            let mut broken: Option<ModelErrorKind> = None;
            while let Some(event) = events.next().await {
                match event {
                    Ok(Event::TextDelta(delta)) => {
                        for event in reply_text.take(delta, &retrieval.targets) {
                            first_word_ms.get_or_insert_with(since_asked);
                            yield event;
                        }
                    }
                    Ok(Event::ToolCall { id, name, input }) if tools == Tools::Offered && step.calls.len() < CALLS => {
                        for event in reply_text.close(&retrieval.targets, &mut step) {
                            yield event;
                        }
                        let (input, answer) = match wanted(&name, &input, searches) {
                            Err(sentence) => (json!({}), Err(sentence)),
                            Ok(query) => {
                                searches += 1;
                                let call_id = format!("search-{answer_id}-{searches}");
                                yield search_call(&call_id, &query);
                                let found = Box::pin(retrieval.search(&SearchWords::only(query.as_str()))).await;
                                yield StreamEvent::ToolResult { id: call_id, output: ToolOutput::Passages(found.clone()) };
                                (json!({ "query": query }), Ok(found))
                            }
                        };
                        step.calls.push(AnsweredCall { id, name, input, answer });
                    }
                    Ok(Event::ToolCall { .. }) => warn!("the model called a tool it was not given, or too many at once"),
                    Ok(Event::Done { reason, usage }) => {
                        end = reason;
                        spent += usage;
                    }
                    Err(failure) => {
                        error!(thread = %dialogue.id, error = &failure as &dyn std::error::Error, "the answer broke off");
                        broken = Some(failure.kind);
                        break;
                    }
                }
            }
            if let Some(kind) = broken {
                Box::pin(stored.unanswered()).await;
                yield trouble(model_call::sentence(kind, reply_text.has_spoken()));
                return;
            }
            for event in reply_text.close(&retrieval.targets, &mut step) {
                yield event;
            }
            total += spent;
            let usage = std::mem::take(&mut spent);
            // A model that neither wrote nor searched is called once more, without tools.
            let says_nothing = step.said.is_empty() && !reply_text.says_unanswered();
            let is_silent = says_nothing && end != FinishReason::ContentFilter;
            if tools == Tools::Offered && (is_silent || !step.calls.is_empty()) {
                let reason = if step.calls.is_empty() { end } else { FinishReason::ToolCalls };
                yield StreamEvent::StepFinish { reason, usage };
                if step.calls.is_empty() {
                    searches = SEARCHES;
                } else {
                    steps.push(step);
                }
                continue;
            }

            let is_mute = step.said.is_empty();
            if is_mute {
                let words = without_words(end, reply_text.says_unanswered());
                let said = reply_text.say(words.to_owned());
                for event in said.into_iter().chain(reply_text.close(&retrieval.targets, &mut step)) {
                    yield event;
                }
            }
            let holds = retrieval.may_answer() || retrieval.is_cited(reply_text.links());
            dialogue.turn.answered = holds && !is_mute && !reply_text.says_unanswered();
            if dialogue.turn.answered {
                let last = steps.iter().rev().flat_map(|step| step.calls.iter().rev()).find_map(|call| call.answer.as_ref().ok());
                let sources = retrieval.sources_of(reply_text.links(), last.map(Vec::as_slice));
                for (number, passage) in (1..).zip(sources) {
                    yield StreamEvent::Source { id: format!("source-{number}"), passage };
                }
            }
            let suggestions = reply_text.suggestions().filter(|_| retrieval.site().suggestions);
            if let Some(suggestions) = suggestions {
                yield StreamEvent::Data { name: "suggestions", id: None, value: json!(suggestions) };
            }
            yield StreamEvent::StepFinish { reason: end, usage };
            break end;
        };

        dialogue.turn.sources = retrieval.cited_pages();
        dialogue.turn.answer = Some(bounds::cut(&reply_text.answer(), bounds::ANSWER).into_owned());
        dialogue.turn.answered_at = Some(clock.now());
        let end_ms = since_asked();
        // With a short answer, the link filter may release text only at its end.
        let first_word_ms = first_word_ms.unwrap_or(end_ms);
        dialogue.turn.timing = Some(Timing { search_ms, first_word_ms, end_ms });
        if !Box::pin(stored.answered(dialogue.turn)).await {
            yield trouble("The conversation could not be stored. Try again.");
            return;
        }
        yield StreamEvent::Finish { reason, usage: total, thread_id };
    })
}

/// The search words, and the tokens used to determine them: only a question that is incomplete alone uses any.
async fn look_for(model: &dyn Model, dialogue: &Dialogue, context: &[ContextItem]) -> (SearchWords, Usage) {
    let (question, before) = (dialogue.question.as_str(), dialogue.before.as_slice());
    let selected = context.iter().find(|item| item.kind == ContextKind::TextSelection);
    let selected = selected.map(|item| item.value.as_str());
    if query::depends_on_context(question)
        && !before.is_empty()
        && !model.describe().is_builtin()
        && let Some((better, spent)) = rewrite(model, before, question, selected).await
    {
        return (SearchWords::only(better), spent);
    }
    let earlier = before.iter().rev().map(|turn| turn.question.as_str());
    let SearchWords { text, after } = query::query(question, selected, earlier);
    let short = |words: String| words.chars().take(OUR_LONGEST_QUERY).collect();
    (SearchWords { text: short(text), after: after.map(short) }, Usage::default())
}

const fn tools(is_builtin: bool, searches: usize, steps: usize) -> Tools {
    if is_builtin {
        Tools::Hidden
    } else if searches < SEARCHES && steps < SEARCHES {
        Tools::Offered
    } else {
        Tools::UsedUp
    }
}

fn search_call(id: &str, query: &str) -> StreamEvent {
    StreamEvent::ToolCall { id: id.to_owned(), name: SEARCH_TOOL.to_owned(), input: json!({ "query": query }) }
}

fn trouble(sentence: impl Into<String>) -> StreamEvent {
    StreamEvent::Error { sentence: sentence.into() }
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
        _ if unanswered => "The docs do not answer this.",
        _ => "The model gave no answer. Ask again, or in other words.",
    }
}
