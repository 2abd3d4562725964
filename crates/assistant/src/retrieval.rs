//! Searches the docs for a reply, and determines which results the answer cites.

use std::collections::HashSet;
use std::sync::Arc;

use docent_search::{Asker, Filter, PageContent, Query, Snapshot};
use docent_types::{Passage, decoded_path, encoded_path};

use crate::query::SearchWords;
use crate::site::SiteSettings;
use crate::targets::Targets;
use crate::thread::CitedPage;

/// Passages below this score are dropped.
const MIN_SCORE: f32 = 0.1;
/// If the best passage scores below this, the question counts as unanswered.
const MIN_ANSWER_SCORE: f32 = 0.25;
/// From this score on, the docs answer also a question that is usually not about them.
const SURE_ANSWER_SCORE: f32 = 0.65;
/// A passage is a source if it scores at least this share of the best one.
const SOURCE_SHARE: f32 = 0.6;
/// Maximum number of sources of one search: an answer seldom uses more. Other pages that it links become sources at its
/// end.
const SOURCES: usize = 3;
/// The number of pages of which a model gets further sections. A search returns one section per page, and the answer may be in
/// another.
const PAGES: usize = 2;
/// Maximum number of sections of each: for a model that only quotes, which gets all, and for others.
const SECTIONS: usize = 60;
const MATCHING_SECTIONS: usize = 3;
/// A model that does not only quote gets the sections with at least this share of what the best one has of the question.
const MATCHING_SHARE: f32 = 0.75;

/// Maximum number of reported words that the docs never mention, and the maximum length of such a word, in characters.
const NAMES: usize = 3;
const LONGEST_NAME: usize = 40;

/// The searches of one reply.
#[derive(Debug)]
pub(crate) struct Retrieval {
    pub(crate) targets: Targets,
    /// Maximum number of passages of a search.
    limit: usize,
    filter: Filter,
    /// The path that the reader is on according to the client, and the page of the site at that path.
    current_path: Option<String>,
    near: Option<String>,
    /// All passages found, in order.
    found: Vec<Arc<Passage>>,
    /// The number of those passages that our own search found.
    first_search_count: usize,
    /// The passages sent as sources, one per page.
    sent: Vec<Arc<Passage>>,
}

impl Retrieval {
    pub(crate) fn new(
        docs: Arc<Snapshot>,
        limit: usize,
        filter: Filter,
        current_path: Option<String>,
        site: SiteSettings,
    ) -> Self {
        let near = current_path.as_deref().map(|path| path_on_site(path, &site, &docs));
        let here = near.as_deref().and_then(|path| docs.path_of(path)).map(str::to_owned);
        let targets = Targets::new(docs, site, here);
        let (found, sent) = (Vec::new(), Vec::new());
        Self { targets, limit, filter, current_path, near, found, first_search_count: 0, sent }
    }

    pub(crate) const fn site(&self) -> &SiteSettings {
        self.targets.site()
    }

    /// The path that the reader is on according to the client.
    pub(crate) fn current_path(&self) -> Option<&str> {
        self.current_path.as_deref()
    }

    /// The title of the page the reader is on.
    pub(crate) fn title_here(&self) -> Option<String> {
        let here = self.targets.here()?;
        self.targets.docs().page(&encoded_path(here)).map(|page| page.title)
    }

    /// The page the reader is on, if the question is about it: the question is incomplete alone, or its search found
    /// that page.
    pub(crate) fn page_asked_about(&self, depends_on_context: bool) -> Option<PageContent> {
        let here = self.targets.here()?;
        let about = depends_on_context || self.first_search_results().iter().any(|passage| passage.path == here);
        if about { self.targets.docs().page(&encoded_path(here)) } else { None }
    }

    /// Makes our own search, before any of the model's: returns the passages above the score limit, best first.
    pub(crate) async fn search_first(&mut self, query: &SearchWords) -> Vec<Arc<Passage>> {
        let passages = self.search(query).await;
        self.first_search_count = passages.len();
        passages
    }

    /// Searches; returns the passages above the score limit, best first.
    pub(crate) async fn search(&mut self, query: &SearchWords) -> Vec<Arc<Passage>> {
        let passages = self.look_up(query).await;
        for passage in &passages {
            self.targets.learn_passage(passage);
        }
        self.found.extend(passages.iter().cloned());
        passages
    }

    /// The first few words of the query that the docs never mention.
    pub(crate) fn never_mentioned(&self, query: &SearchWords) -> Vec<String> {
        let mut words = self.targets.docs().never_mentioned(&query.text);
        words.retain(|word| word.chars().count() <= LONGEST_NAME);
        words.truncate(NAMES);
        words
    }

    /// The result of our own search, and further sections of its best pages: all for a model that only quotes.
    pub(crate) fn first_search_results_with_pages(&mut self, query: &SearchWords, quotes: bool) -> Vec<Arc<Passage>> {
        let mut all = self.first_search_results().to_vec();
        let limit = if quotes { SECTIONS } else { MATCHING_SECTIONS };
        let query = Query { limit, ..self.query(query) };
        for page in self.first_search_results().iter().take(PAGES) {
            let docs = self.targets.docs();
            let sections = match quotes {
                true => docs.sections(&query, &page.href),
                false => docs.matching_sections(&query, &page.href, MATCHING_SHARE),
            };
            for section in sections {
                let is_known =
                    |known: &&mut Arc<Passage>| (&known.href, &known.headings) == (&section.href, &section.headings);
                match all.iter_mut().find(is_known) {
                    // A model that quotes needs the whole section, of which a passage is an excerpt.
                    Some(known) if quotes => {
                        let score = known.score;
                        *known = Arc::new(Passage { score, ..section });
                    }
                    Some(_) => {}
                    None => all.push(Arc::new(section)),
                }
            }
        }
        for passage in &all[self.first_search_count..] {
            self.targets.learn_passage(passage);
        }
        all
    }

    /// The result of our own search.
    pub(crate) fn first_search_results(&self) -> &[Arc<Passage>] {
        &self.found[..self.first_search_count]
    }

    async fn look_up(&self, query: &SearchWords) -> Vec<Arc<Passage>> {
        let found = self.targets.docs().find(&self.query(query)).await;
        found.into_iter().filter(|passage| passage.score >= MIN_SCORE).map(Arc::new).collect()
    }

    fn query(&self, query: &SearchWords) -> Query {
        let SearchWords { text, after, beside } = query.clone();
        Query {
            text,
            after,
            beside,
            limit: self.limit,
            filter: self.filter.clone(),
            near: self.near.clone(),
            asker: Asker::Assistant,
        }
    }

    /// The sources of an answer with these links: the best of our own search, and the linked pages; without links, the
    /// best of the model's last search.
    pub(crate) fn sources_of(&mut self, links: &[String], last: Option<&[Arc<Passage>]>) -> Vec<Arc<Passage>> {
        let first_results = self.first_search_results().to_vec();
        let mut sources = self.best(&first_results);
        sources.extend(self.linked(links));
        if let Some(last) = last.filter(|_| !self.is_cited(links)) {
            sources.extend(self.best(last));
        }
        sources
    }

    /// Sends the sources among these passages: the best, and those with a score close to it. No page occurs twice in a
    /// reply.
    fn best(&mut self, passages: &[Arc<Passage>]) -> Vec<Arc<Passage>> {
        let best = passages.first().map_or(0.0, |passage| passage.score);
        self.send(passages.iter().filter(|passage| passage.score >= best * SOURCE_SHARE), SOURCES)
    }

    /// Sends the passages of the linked pages among all that were found, in the order of the links.
    fn linked(&mut self, links: &[String]) -> Vec<Arc<Passage>> {
        let found = std::mem::take(&mut self.found);
        let passages = self.send(links.iter().filter_map(|link| cited(&found, link)), usize::MAX);
        self.found = found;
        passages
    }

    /// Whether one of these links leads to a page that was found.
    pub(crate) fn is_cited(&self, links: &[String]) -> bool {
        links.iter().any(|link| cited(&self.found, link).is_some())
    }

    /// Whether a passage was found that probably contains the answer.
    pub(crate) fn may_answer(&self) -> bool {
        self.found.iter().any(|passage| passage.score >= MIN_ANSWER_SCORE)
    }

    /// Whether the docs hardly fail to answer.
    pub(crate) fn answers_surely(&self) -> bool {
        self.found.iter().any(|passage| passage.score >= SURE_ANSWER_SCORE)
    }

    /// Links to the pages that come nearest to an answer, in a line below what was said; empty if none is near.
    pub(crate) fn nearest_pages(&self) -> String {
        let mut links: Vec<String> = Vec::new();
        for passage in self.first_search_results().iter().filter(|passage| passage.score >= MIN_ANSWER_SCORE) {
            let title: String = passage.title.chars().filter(|c| !c.is_control()).collect();
            let title = title.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
            links.push(format!("[{title}]({})", passage.href));
        }
        links.dedup();
        links.truncate(SOURCES);
        if links.is_empty() { String::new() } else { format!("\n\n{}", links.join(" · ")) }
    }

    /// The pages that were sent as sources.
    pub(crate) fn cited_pages(&self) -> Vec<CitedPage> {
        self.sent.iter().map(|passage| CitedPage { title: passage.title.clone(), url: passage.href.clone() }).collect()
    }

    fn send<'p>(&mut self, passages: impl Iterator<Item = &'p Arc<Passage>>, most: usize) -> Vec<Arc<Passage>> {
        let mut known: HashSet<&str> = HashSet::new();
        let sent = &self.sent;
        let is_sent = |passage: &Passage| sent.iter().any(|sent| sent.path == passage.path);
        let fresh = passages.filter(|passage| !is_sent(passage) && known.insert(passage.path.as_str()));
        let fresh: Vec<Arc<Passage>> = fresh.take(most).cloned().collect();
        self.sent.extend(fresh.iter().cloned());
        fresh
    }
}

/// The passage that a link leads to: the one with exactly that address, otherwise the first one of the page.
fn cited<'p>(found: &'p [Arc<Passage>], link: &str) -> Option<&'p Arc<Passage>> {
    fn page(href: &str) -> String {
        decoded_path(href.split('#').next().unwrap_or_default()).into_owned()
    }
    let exact = found.iter().find(|passage| passage.href == link);
    exact.or_else(|| found.iter().find(|passage| page(&passage.href) == page(link)))
}

/// The address, without outer slashes, of the page the reader is on; the client may send a whole URL.
fn path_on_site(path: &str, site: &SiteSettings, docs: &Snapshot) -> String {
    let below = site.below(path).unwrap_or(path);
    let path = match below.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => below,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    let inside = path.strip_prefix(site.folder()).map(|rest| rest.trim_start_matches('/'));
    let known = [Some(path), inside].into_iter().flatten().find_map(|path| docs.path_of(path));
    known.map_or_else(|| path.to_owned(), |path| encoded_path(path).into_owned())
}
