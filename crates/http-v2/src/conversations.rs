//! `GET /v1/analytics/{projectId}/assistant`: questions and answers, one per row, newest first; and the same limited to
//! rated (`/feedback`) or unanswered ones (`/gaps`).
//!
//! History that a client sends cannot be verified, and a public key suffices to send it, so it is not listed as
//! questions asked here.

use docent_assistant::{
    AnswerStage, AskedTurn, CitedPage, Export, ExportQuery, Feedback, MinimumWait, QuestionFilter, QuestionOutcome,
    Rating, RatingFilter,
};
use docent_types::{Project, Refusal, Timestamp};
use docent_web::{Csv, HttpError, Request, Response, respond};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api::Api;
use crate::parameter::{Format, given, page_of_table};
use crate::period::Period;
use crate::ratings::{self, PageFeedbackBody};

const MOST: u32 = 1_000;
const USUAL: u32 = 100;
/// Maximum size of a page in bytes, unless a single row is larger.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// The selection of conversations that is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConversationList {
    All,
    Rated,
    Unanswered,
}

impl ConversationList {
    /// The filter of the questions, narrowed by the parameters of the request.
    fn filter(self, request: &Request) -> Result<QuestionFilter, HttpError> {
        let one_of = |name: &str, values: &[&'static str]| {
            let Some(given) = given(request, name) else { return Ok(None) };
            let known = values.iter().position(|value| *value == given);
            known.map(Some).ok_or_else(|| Refusal::invalid(format!("{name}: it must be `{}`", values.join("`, `"))))
        };
        let status = one_of("resolutionStatus", &["answered", "unanswered"])?;
        let status = status.map(|at| [QuestionOutcome::Answered, QuestionOutcome::Unanswered][at]);
        let rating = one_of("rating", &["up", "down"])?.map(|at| RatingFilter::Only([Rating::Up, Rating::Down][at]));
        let stage = one_of("waited", &["search", "firstWord", "end"])?;
        let stage = stage.map(|at| [AnswerStage::Search, AnswerStage::FirstWord, AnswerStage::End][at]);
        let ms = request.query_number("waitedMs", 0..=u32::MAX, 0)?;
        Ok(QuestionFilter {
            outcome: match self {
                Self::Unanswered => Some(QuestionOutcome::Unanswered),
                Self::All | Self::Rated => status,
            },
            rating: match self {
                Self::Rated => rating.or(Some(RatingFilter::Any)),
                Self::All | Self::Unanswered => rating,
            },
            text: given(request, "text"),
            source: given(request, "sourceUrl"),
            page: given(request, "pageUrl"),
            language: given(request, "language"),
            waited: stage.map(|until| MinimumWait { until, ms }),
        })
    }

    /// The key of the rows, which is also the file's name.
    const fn name(self) -> &'static str {
        match self {
            Self::All => "conversations",
            Self::Rated => "feedback",
            Self::Unanswered => "gaps",
        }
    }
}

/// Every key is always present; one without a value is null.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RowBody<'a> {
    /// The id of the reply, as in its stream.
    id: &'a str,
    timestamp: Timestamp,
    query: &'a str,
    /// Empty while the reply is in progress, and if it was never completed.
    response: &'a str,
    response_type: ResponseType,
    sources: &'a [CitedPage],
    resolution_status: ResolutionStatus,
    /// Always null: questions have no categories.
    query_category: Option<&'a str>,
    page_url: Option<&'a str>,
    thread_id: String,
    fp: &'a str,
    feedback: Option<FeedbackBody<'a>>,
    /// In the list of rated ones.
    #[serde(flatten)]
    page_feedback: Option<PageFeedbackBody<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ResponseType {
    Answer,
    ClarifyingQuestion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum ResolutionStatus {
    Answered,
    Unanswered,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FeedbackBody<'a> {
    rating: Rating,
    comment: Option<&'a str>,
    rated_at: Timestamp,
}

pub(crate) async fn conversations(
    api: &Api,
    request: &Request,
    project: &Project,
    list: ConversationList,
) -> Result<Response, HttpError> {
    let period = Period::given(request)?;
    let limit = request.query_number("limit", 1..=MOST, USUAL)?;
    let format = Format::of(request)?;
    let after = given(request, "cursor").map(|cursor| period.place(&cursor)).transpose()?;
    let query = ExportQuery {
        domain: project.domain.clone(),
        which: list.filter(request)?,
        from: period.from,
        to: period.to,
        after,
        limit,
        most_bytes: MOST_BYTES,
    };
    let found = if list != ConversationList::Rated || ratings::are_selected(request)? {
        api.answering.assistant.export(query).await?
    } else {
        Export { turns: Vec::new(), next: None }
    };
    let rows: Vec<RowBody<'_>> = found.turns.iter().map(|asked| RowBody::of(asked, list)).collect();
    let next = found.next.as_ref().map(|place| period.cursor(place));
    if format == Format::Csv {
        return page_of_table(table(&rows), list.name(), next);
    }
    let mut body = Map::new();
    body.insert(list.name().to_owned(), serde_json::to_value(rows).map_err(HttpError::internal)?);
    body.insert("hasMore".to_owned(), Value::Bool(next.is_some()));
    body.insert("nextCursor".to_owned(), json!(next));
    Ok(respond::json(StatusCode::OK, &body))
}

/// A page as a table. The sources of an answer are the addresses of the cited pages.
fn table(rows: &[RowBody<'_>]) -> Csv {
    let mut table = Csv::new([
        "id", "timestamp", "query", "response", "resolutionStatus", "sources", "pageUrl", "threadId", "fp", "rating",
        "comment", "ratedAt",
    ]);
    for row in rows {
        let sources: Vec<&str> = row.sources.iter().map(|source| source.url.as_str()).collect();
        let feedback = row.feedback.as_ref();
        table.row([
            row.id,
            &row.timestamp.to_string(),
            row.query,
            row.response,
            match row.resolution_status {
                ResolutionStatus::Answered => "answered",
                ResolutionStatus::Unanswered => "unanswered",
            },
            &sources.join(" "),
            row.page_url.unwrap_or_default(),
            &row.thread_id,
            row.fp,
            feedback.map_or("", |feedback| match feedback.rating {
                Rating::Up => "up",
                Rating::Down => "down",
            }),
            feedback.and_then(|feedback| feedback.comment).unwrap_or_default(),
            &feedback.map(|feedback| feedback.rated_at.to_string()).unwrap_or_default(),
        ]);
    }
    table
}

impl<'a> RowBody<'a> {
    fn of(AskedTurn { thread, fp, turn }: &'a AskedTurn, list: ConversationList) -> Self {
        let response = turn.answer.as_deref().unwrap_or_default();
        // The answer is a clarifying question: it ends with a question mark and cites no page.
        let asks_back = !turn.answered && response.trim_end().ends_with(['?', '？', '؟']);
        Self {
            id: &turn.answer_id,
            timestamp: turn.asked_at,
            query: &turn.question,
            response,
            response_type: if asks_back { ResponseType::ClarifyingQuestion } else { ResponseType::Answer },
            sources: &turn.sources,
            resolution_status: if turn.answered { ResolutionStatus::Answered } else { ResolutionStatus::Unanswered },
            query_category: None,
            page_url: turn.page.as_deref(),
            thread_id: thread.to_string(),
            fp,
            feedback: turn.feedback.as_ref().map(FeedbackBody::from),
            page_feedback: PageFeedbackBody::of(turn).filter(|_| list == ConversationList::Rated),
        }
    }
}

impl<'a> From<&'a Feedback> for FeedbackBody<'a> {
    fn from(feedback: &'a Feedback) -> Self {
        Self { rating: feedback.rating, comment: feedback.comment.as_deref(), rated_at: feedback.at }
    }
}

#[cfg(test)]
mod tests {
    use docent_assistant::Turn;
    use docent_types::ThreadId;

    use super::*;

    #[test]
    fn a_reply_that_asks_back_is_told_from_an_answer() {
        let row = |answer: Option<&str>, answered| {
            let turn = Turn { answer: answer.map(str::to_owned), answered, ..Turn::default() };
            let thread = ThreadId::parse("01a1fd8d-2218-4d86-9497-980848f99d9b").expect("an id");
            let asked = AskedTurn { thread, fp: "ann".into(), turn };
            let row = RowBody::of(&asked, ConversationList::All);
            (row.response.len(), row.response_type, row.resolution_status)
        };
        use ResolutionStatus::{Answered, Unanswered};
        use ResponseType::{Answer, ClarifyingQuestion};
        assert_eq!(row(Some("So. More?"), true), (9, Answer, Answered));
        assert_eq!(row(Some("Which version?\n"), false), (15, ClarifyingQuestion, Unanswered));
        assert_eq!(row(Some("The docs do not say."), false), (20, Answer, Unanswered));
        assert_eq!(row(None, false), (0, Answer, Unanswered));
    }
}
