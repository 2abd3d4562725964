//! `GET /v1/analytics/{projectId}/summary`: the numbers of questions asked and answered in a period, by day.

use docent_assistant::{DayCount, Days, Latency, NewestQuestions, Percentiles, QuestionCounts, Summary};
use docent_types::Project;
use docent_web::{Csv, HttpError, Request, Response, respond};
use http::StatusCode;
use serde::Serialize;

use crate::api::Api;
use crate::parameter::Format;
use crate::period::Period;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryBody<'a> {
    #[serde(flatten)]
    counts: CountsBody,
    by_day: Vec<DayBody>,
    newest: NewestBody<'a>,
}

#[derive(Debug, Serialize)]
struct CountsBody {
    questions: u64,
    answered: u64,
    unanswered: u64,
    up: u64,
    down: u64,
}

#[derive(Debug, Serialize)]
struct DayBody {
    date: String,
    #[serde(flatten)]
    counts: CountsBody,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NewestBody<'a> {
    questions: u64,
    languages: Vec<LanguageBody<'a>>,
    latency_ms: Option<LatencyBody>,
    sources: Vec<SourceBody<'a>>,
    unanswered_pages: Vec<PageBody<'a>>,
}

#[derive(Debug, Serialize)]
struct LanguageBody<'a> {
    language: Option<&'a str>,
    questions: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LatencyBody {
    answers: u64,
    search: PercentilesBody,
    first_word: PercentilesBody,
    end: PercentilesBody,
}

#[derive(Debug, Serialize)]
struct PercentilesBody {
    p50: u32,
    p95: u32,
}

#[derive(Debug, Serialize)]
struct SourceBody<'a> {
    title: &'a str,
    url: &'a str,
    answers: u64,
    down: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PageBody<'a> {
    page_url: &'a str,
    questions: u64,
}

pub(crate) async fn summary(api: &Api, request: &Request, project: &Project) -> Result<Response, HttpError> {
    let period = Period::given(request)?;
    let format = Format::of(request)?;
    let summary = api.answering.assistant.summary(&project.domain, Days::touched(period.from, period.to)).await?;
    match format {
        Format::Json => Ok(respond::json(StatusCode::OK, &SummaryBody::from(&summary))),
        Format::Csv => table(&summary).response("summary"),
    }
}

fn table(summary: &Summary) -> Csv {
    let mut table = Csv::new(["date", "questions", "answered", "unanswered", "up", "down"]);
    for day in &summary.by_day {
        let DayBody { date, counts } = DayBody::from(day);
        let CountsBody { questions, answered, unanswered, up, down } = counts;
        let numbers = [questions, answered, unanswered, up, down].map(|number| number.to_string());
        let [questions, answered, unanswered, up, down] = numbers.each_ref().map(String::as_str);
        table.row([&date, questions, answered, unanswered, up, down]);
    }
    table
}

impl<'a> From<&'a Summary> for SummaryBody<'a> {
    fn from(summary: &'a Summary) -> Self {
        Self {
            counts: summary.counts.into(),
            by_day: summary.by_day.iter().map(DayBody::from).collect(),
            newest: NewestBody::from(&summary.newest),
        }
    }
}

impl From<QuestionCounts> for CountsBody {
    fn from(counts: QuestionCounts) -> Self {
        let QuestionCounts { questions, answered, up, down } = counts;
        Self { questions, answered, unanswered: counts.unanswered(), up, down }
    }
}

impl From<&DayCount> for DayBody {
    fn from(DayCount { day, counts }: &DayCount) -> Self {
        let moment = day.to_string();
        Self { date: moment.split('T').next().unwrap_or_default().to_owned(), counts: (*counts).into() }
    }
}

impl<'a> From<&'a NewestQuestions> for NewestBody<'a> {
    fn from(newest: &'a NewestQuestions) -> Self {
        let language = |(language, questions): &'a (Option<String>, u64)| LanguageBody {
            language: language.as_deref(),
            questions: *questions,
        };
        let page = |(page_url, questions): &'a (String, u64)| PageBody { page_url, questions: *questions };
        let sources = newest.sources.iter().map(|source| SourceBody {
            title: &source.title,
            url: &source.url,
            answers: source.answers,
            down: source.down,
        });
        Self {
            questions: newest.questions,
            languages: newest.languages.iter().map(language).collect(),
            latency_ms: newest.latency.map(LatencyBody::from),
            sources: sources.collect(),
            unanswered_pages: newest.unanswered_pages.iter().map(page).collect(),
        }
    }
}

impl From<Latency> for LatencyBody {
    fn from(Latency { answers, search, first_word, end }: Latency) -> Self {
        let body = |Percentiles { p50, p95 }| PercentilesBody { p50, p95 };
        Self { answers, search: body(search), first_word: body(first_word), end: body(end) }
    }
}
