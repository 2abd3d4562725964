//! `GET /v1/analytics/{projectId}/gaps/groups`: questions that the docs do not answer, grouped by subject.

use docent_assistant::{Gap, GapQuestion};
use docent_types::{Project, Timestamp};
use docent_web::{Csv, HttpError, Request, Response, respond};
use http::StatusCode;
use serde::Serialize;
use serde_json::json;

use crate::api::Api;
use crate::parameter::Format;
use crate::period::Period;

const MOST: u32 = 100;
const USUAL: u32 = 20;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct GapBody<'a> {
    questions: usize,
    down: usize,
    /// The ids of the replies to all questions of the group, newest first.
    ids: Vec<&'a str>,
    words: &'a [String],
    unknown_words: &'a [String],
    examples: Vec<ExampleBody<'a>>,
    suggestion: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExampleBody<'a> {
    /// The id of the reply.
    id: &'a str,
    thread_id: String,
    timestamp: Timestamp,
    query: &'a str,
}

pub(crate) async fn gap_groups(api: &Api, request: &Request, project: &Project) -> Result<Response, HttpError> {
    let period = Period::given(request)?;
    let limit = request.query_number("limit", 1..=MOST, USUAL)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let format = Format::of(request)?;
    let docs = api.answering.docs.snapshot(project).await?;
    let gaps = api.answering.assistant.gaps(&project.domain, docs, period.from, period.to, limit).await?;
    match format {
        Format::Json => {
            let groups: Vec<GapBody<'_>> = gaps.iter().map(GapBody::from).collect();
            Ok(respond::json(StatusCode::OK, &json!({ "groups": groups })))
        }
        Format::Csv => table(&gaps).response("gap-groups"),
    }
}

fn table(gaps: &[Gap]) -> Csv {
    let mut table = Csv::new(["questions", "down", "words", "unknownWords", "examples", "suggestion"]);
    for gap in gaps {
        let examples: Vec<&str> = gap.examples().into_iter().map(|example| example.question.as_str()).collect();
        table.row([
            gap.questions.len().to_string().as_str(),
            &gap.down().to_string(),
            &gap.words.join(" "),
            &gap.unknown_words.join(" "),
            &examples.join("\n"),
            &gap.suggestion,
        ]);
    }
    table
}

impl<'a> From<&'a Gap> for GapBody<'a> {
    fn from(gap: &'a Gap) -> Self {
        Self {
            questions: gap.questions.len(),
            down: gap.down(),
            ids: gap.questions.iter().map(|question| question.answer_id.as_str()).collect(),
            words: &gap.words,
            unknown_words: &gap.unknown_words,
            examples: gap.examples().into_iter().map(ExampleBody::from).collect(),
            suggestion: &gap.suggestion,
        }
    }
}

impl<'a> From<&'a GapQuestion> for ExampleBody<'a> {
    fn from(example: &'a GapQuestion) -> Self {
        Self {
            id: &example.answer_id,
            thread_id: example.thread.to_string(),
            timestamp: example.asked_at,
            query: &example.question,
        }
    }
}
