//! The tools of readers' agents: small answers, and addresses that exist.

use std::fmt::Write as _;
use std::net::IpAddr;

use docent_access::Reader;
use docent_assistant::ChatMessage;
use docent_discovery::{Answering, FilterBody, MarkdownPage, Outlined, Question, ReadableDocs, outline};
use docent_search::{Asker, PageEntry, Query};
use docent_types::{Passage, Role, encoded_path};
use docent_web::{HttpError, WholeNumber};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::budget::Budget;
use crate::tool::{ToolResult, ToolSet, description, read};
use crate::tool_server::may_write;

/// What the results of tools may take of a context, unless the address says less.
const SEARCH_BUDGET: Budget = Budget::tokens(2_500);
const PAGE_BUDGET: Budget = Budget::tokens(8_000);
/// What the frame of one result takes besides its texts: JSON keys, and words around.
const FRAME: &str =
    "............................................................................................................";
const MOST_RESULTS: u64 = 10;
const USUAL_RESULTS: u64 = 5;
/// In characters, as at the search endpoint.
const LONGEST_QUERY: usize = 2_000;
const LONGEST_TITLE: usize = 200;
const NEAREST: usize = 3;
/// How many headings are named where a section is not found.
const MOST_HEADINGS: usize = 30;

/// The tools for one reader of a site.
pub(crate) struct ReaderTools<'a> {
    pub(crate) answering: &'a Answering,
    pub(crate) reader: &'a Reader,
    pub(crate) client: IpAddr,
    /// What the address allows for each result.
    pub(crate) budget: Option<Budget>,
}

#[derive(Deserialize)]
struct SearchArguments {
    query: String,
    limit: Option<WholeNumber>,
    version: Option<String>,
    language: Option<String>,
}

#[derive(Deserialize)]
struct PageArguments {
    #[serde(alias = "url")]
    path: String,
    section: Option<String>,
    offset: Option<WholeNumber>,
}

#[derive(Deserialize)]
struct PrefixArguments {
    prefix: Option<String>,
}

#[derive(Deserialize)]
struct AskArguments {
    question: String,
}

impl ToolSet for ReaderTools<'_> {
    fn instructions(&self) -> String {
        format!(
            "The documentation of `{}`. `search` first, then `get_page` for what you need whole. Cite the `url` of a result.",
            self.reader.project().domain
        )
    }

    fn list(&self) -> Vec<Value> {
        let text = |about: &str| json!({"type": "string", "description": about});
        let number = |about: &str, least: u64, most: Option<u64>| {
            let mut schema = json!({"type": "integer", "description": about, "minimum": least});
            if let Some(most) = most {
                schema["maximum"] = json!(most);
            }
            schema
        };
        let mut tools = vec![
            description(
                "search",
                "Search this documentation. Returns the best passages with their pages.",
                &json!({
                    "query": text("A question or words"),
                    "limit": number("Results, 5 by default", 1, Some(MOST_RESULTS)),
                    "version": text("Only this version of the docs"),
                    "language": text("Only this language, such as `de`"),
                }),
                &["query"],
                false,
            ),
            description(
                "get_page",
                "Read a page as Markdown. A long page is cut: call again with the next offset, or for a section.",
                &json!({
                    "path": text("Path or URL of the page"),
                    "section": text("Only this section: its heading or anchor"),
                    "offset": number("Where to begin, in characters", 0, None),
                }),
                &["path"],
                false,
            ),
            description(
                "list_pages",
                "List the pages, in a large site the folders.",
                &json!({"prefix": text("Only below this path")}),
                &[],
                false,
            ),
        ];
        if self.may_ask() {
            tools.push(description(
                "ask",
                "Ask the documentation's assistant. Returns an answer with its sources; slower than search.",
                &json!({"question": text("The question")}),
                &["question"],
                false,
            ));
        }
        tools
    }

    fn is_public(&self) -> bool {
        self.reader.is_anybody()
    }

    async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<Option<ToolResult>, HttpError> {
        let done = match name {
            "search" => match read(arguments) {
                Ok(arguments) => self.search(arguments).await?,
                Err(mistake) => mistake,
            },
            "get_page" => match read(arguments) {
                Ok(arguments) => self.page(&arguments).await?,
                Err(mistake) => mistake,
            },
            "list_pages" => match read(arguments) {
                Ok(arguments) => self.pages(arguments).await?,
                Err(mistake) => mistake,
            },
            "ask" if self.may_ask() => match read(arguments) {
                Ok(arguments) => self.ask(arguments).await?,
                Err(mistake) => mistake,
            },
            _ => return Ok(None),
        };
        Ok(Some(done))
    }
}

impl ReaderTools<'_> {
    fn may_ask(&self) -> bool {
        self.answering.assistant.site(self.reader.project().uid).agents_may_ask
    }

    async fn docs(&self) -> Result<ReadableDocs, HttpError> {
        Ok(self.answering.readable(self.reader).await?)
    }

    async fn search(&self, arguments: SearchArguments) -> Result<ToolResult, HttpError> {
        let SearchArguments { query, limit, version, language } = arguments;
        if query.trim().is_empty() || query.chars().count() > LONGEST_QUERY {
            return Ok(ToolResult::failed(format!("query: it must have 1 to {LONGEST_QUERY} characters.")));
        }
        let limit = limit.map_or(USUAL_RESULTS, |WholeNumber(limit)| limit);
        if !(1..=MOST_RESULTS).contains(&limit) {
            return Ok(ToolResult::failed(format!("limit: it must be a whole number from 1 to {MOST_RESULTS}.")));
        }
        let docs = self.docs().await?;
        let filter = docs.narrowed(FilterBody { version, language, ..FilterBody::default() });
        let query = Query {
            text: query,
            after: None,
            beside: String::new(),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            filter: filter.into(),
            near: None,
            asker: Asker::Assistant,
        };
        let found = docs.docs().find(&query).await;
        let domain = &self.reader.project().domain;
        self.answering.searches.record(domain, self.client, &query.text, !found.is_empty());
        let mut budget = SEARCH_BUDGET.at_most(self.budget);
        let (mut text, mut results) = (String::new(), Vec::new());
        for (at, passage) in found.iter().enumerate() {
            let Some((words, result)) = shown(passage, &docs, &mut budget, found.len() - at) else { break };
            text.push_str(&words);
            results.push(result);
        }
        if results.is_empty() {
            text.push_str("Nothing in the docs fits. Try other words, or list_pages.");
        }
        Ok(ToolResult::done(text, json!({"results": results})))
    }

    async fn page(&self, arguments: &PageArguments) -> Result<ToolResult, HttpError> {
        let docs = self.docs().await?;
        let (path, anchor) = match arguments.path.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor).filter(|anchor| !anchor.is_empty())),
            None => (arguments.path.as_str(), None),
        };
        let Some(page) = docs.page(path) else { return Ok(no_such_page(&docs, path)) };
        let markdown = match (arguments.section.as_deref().filter(|section| !section.trim().is_empty()), anchor) {
            (Some(section), _) => match page.section(section) {
                Some(text) => text,
                None => return Ok(no_such_section(&page, section)),
            },
            // Anchors of some generators are not known by the headings alone.
            (None, Some(anchor)) => page.section(anchor).unwrap_or(&page.markdown),
            (None, None) => &page.markdown,
        };
        let offset = arguments.offset.as_ref().map_or(0, |WholeNumber(offset)| *offset);
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let length = markdown.chars().count();
        let rest = markdown.char_indices().nth(offset).map_or("", |(at, _)| &markdown[at..]);
        let (title, url) = (clipped(&page.title), docs.url_of(&page.path));
        let mut budget = PAGE_BUDGET.at_most(self.budget);
        let has_room = [&title, &url, &page.path, FRAME].into_iter().all(|text| budget.pay(text));
        let part = budget.pay_share(rest, 1).filter(|_| has_room).unwrap_or_default();
        let end = offset.min(length) + part.chars().count();
        let next = (end < length && !part.is_empty()).then_some(end);
        let mut text = part.to_owned();
        if let Some(next) = next {
            let _ = write!(text, "\n\n[Cut at {next} of {length} characters. Go on with offset {next}.]");
        }
        let structured = json!({
            "path": page.path, "url": url, "title": title, "markdown": part, "offset": offset, "nextOffset": next, "length": length,
        });
        Ok(ToolResult::done(text, structured))
    }

    async fn pages(&self, arguments: PrefixArguments) -> Result<ToolResult, HttpError> {
        let docs = self.docs().await?;
        let prefix = arguments.prefix.unwrap_or_default();
        let below = docent_types::decoded_path(prefix.trim().trim_matches('/')).into_owned();
        let is_below = |page: &PageEntry| {
            below.is_empty()
                || page.path.strip_prefix(&below).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let pages: Vec<PageEntry> = docs.pages().into_iter().filter(is_below).collect();
        if pages.is_empty() {
            return Ok(no_such_page(&docs, &prefix));
        }
        let budget = PAGE_BUDGET.at_most(self.budget);
        let listed = Listed::pages(&pages, budget).unwrap_or_else(|| Listed::folders(&pages, &below, budget));
        Ok(listed.result())
    }

    async fn ask(&self, arguments: AskArguments) -> Result<ToolResult, HttpError> {
        if let Reader::Holder(principal) = self.reader {
            may_write(&principal.key)?;
        }
        let question = arguments.question;
        if question.trim().is_empty() || question.chars().count() > LONGEST_QUERY {
            return Ok(ToolResult::failed(format!("question: it must have 1 to {LONGEST_QUERY} characters.")));
        }
        let docs = self.docs().await?;
        let said = vec![ChatMessage { id: None, role: Role::User, text: question }];
        let asked = Question::new(said, docs.narrowed(FilterBody::default()));
        let reply = self.answering.whole(asked, self.reader).await?;
        let mut budget = PAGE_BUDGET.at_most(self.budget);
        let (mut sources, mut lines) = (Vec::new(), String::new());
        for source in &reply.sources {
            let (title, url) = (clipped(&source.title), url_of_passage(&docs, source));
            if [&title, &url, FRAME].into_iter().all(|text| budget.pay(text)) {
                let _ = write!(lines, "\n- {title}: {url}");
                sources.push(json!({"title": title, "url": url}));
            }
        }
        let answer = budget.pay_share(&reply.text, 1).unwrap_or_default().trim_end();
        let text = if lines.is_empty() { answer.to_owned() } else { format!("{answer}\n\nSources:{lines}") };
        Ok(ToolResult::done(text, json!({"answer": answer, "sources": sources})))
    }
}

/// A result as text and as JSON, from its share of a budget.
fn shown(passage: &Passage, docs: &ReadableDocs, budget: &mut Budget, shares: usize) -> Option<(String, Value)> {
    let (title, url) = (clipped(&passage.title), url_of_passage(docs, passage));
    if ![&title, &url, &passage.path, FRAME].into_iter().all(|text| budget.pay(text)) {
        return None;
    }
    let whole = docs.passage(passage);
    let content = budget.pay_share(&whole, shares)?;
    let mut result = json!({
        "title": title, "path": passage.path, "url": url, "content": content, "score": passage.score,
    });
    for (name, value) in [("version", &passage.version), ("language", &passage.language)] {
        if let Some(value) = value {
            result[name] = json!(value);
        }
    }
    Some((format!("{url}\n\n{}\n\n---\n\n", content.trim_end()), result))
}

/// A list of pages, or of folders where there are too many pages.
#[derive(Default)]
struct Listed {
    text: String,
    pages: Vec<Value>,
    folders: Vec<Value>,
    /// How many lines there was no room for.
    left: usize,
}

impl Listed {
    /// All pages, if the budget has room for them.
    fn pages(pages: &[PageEntry], mut budget: Budget) -> Option<Self> {
        let mut listed = Self::default();
        pages.iter().all(|page| listed.page(page, &mut budget)).then_some(listed)
    }

    /// The folders and the pages that lie in a folder itself.
    fn folders(pages: &[PageEntry], folder: &str, mut budget: Budget) -> Self {
        let paths = pages.iter().map(|page| (page.path[folder.len()..].trim_start_matches('/'), page));
        let mut listed = Self::default();
        for line in outline(paths) {
            let fits = match line {
                Outlined::Page(page) => listed.page(page, &mut budget),
                Outlined::Folder(name, count) => {
                    listed.folder(format!("{folder}/{name}").trim_start_matches('/'), count, &mut budget)
                }
            };
            listed.left += usize::from(!fits);
        }
        listed
    }

    fn page(&mut self, page: &PageEntry, budget: &mut Budget) -> bool {
        let title = clipped(&page.title);
        let line = format!("/{}: {title}\n", encoded_path(&page.path));
        // The keys of JSON are about as long as the line's own marks.
        let fits = budget.pay(&line) && budget.pay("{'path':'','title':''},");
        if fits {
            self.text.push_str(&line);
            self.pages.push(json!({"path": page.path, "title": title}));
        }
        fits
    }

    fn folder(&mut self, path: &str, count: usize, budget: &mut Budget) -> bool {
        let line = format!("/{}/: {count} pages\n", encoded_path(path));
        let fits = budget.pay(&line) && budget.pay("{'prefix':'','pages':},");
        if fits {
            self.text.push_str(&line);
            self.folders.push(json!({"prefix": path, "pages": count}));
        }
        fits
    }

    fn result(mut self) -> ToolResult {
        if !self.folders.is_empty() {
            self.text.push_str("\nCall again with one of these folders as the prefix.\n");
        }
        if self.left > 0 {
            let _ = writeln!(self.text, "\n{} more have no room here. Search, or name a longer prefix.", self.left);
        }
        let structured = json!({"pages": self.pages, "folders": self.folders, "left": self.left});
        ToolResult::done(self.text, structured)
    }
}

fn no_such_page(docs: &ReadableDocs, wanted: &str) -> ToolResult {
    let shown: String = wanted.chars().take(200).collect();
    let nearest = docs.nearest(wanted, NEAREST);
    let error = format!("There is no page `{shown}`.");
    let mut sentence = format!("{error} The nearest are:");
    for page in &nearest {
        let _ = write!(sentence, "\n- /{}: {}", encoded_path(&page.path), clipped(&page.title));
    }
    if nearest.is_empty() {
        sentence = format!("{error} There are no pages to read.");
    }
    let nearest: Vec<_> =
        nearest.iter().map(|page| json!({"path": page.path, "title": clipped(&page.title)})).collect();
    ToolResult { structured: json!({"error": error, "nearest": nearest}), text: sentence, is_error: true }
}

fn no_such_section(page: &MarkdownPage, wanted: &str) -> ToolResult {
    let shown: String = wanted.chars().take(200).collect();
    let headings: Vec<String> = page.headings().iter().take(MOST_HEADINGS).map(|heading| clipped(heading)).collect();
    let sentence = format!("The page has no section `{shown}`. Its headings: {}", headings.join(" · "));
    ToolResult { structured: json!({"error": sentence, "headings": headings}), text: sentence, is_error: true }
}

fn url_of_passage(docs: &ReadableDocs, passage: &Passage) -> String {
    let anchor = passage.href.split_once('#').map_or_else(String::new, |(_, anchor)| format!("#{anchor}"));
    docs.url_of(&passage.path) + &anchor
}

fn clipped(title: &str) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    match title.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title,
    }
}
