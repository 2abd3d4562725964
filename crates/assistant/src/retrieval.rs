//! What a reply finds in the docs, and which of it an answer leans on.

use std::collections::HashSet;
use std::sync::Arc;

use docent_search::{PageContent, Query, Snapshot};
use docent_types::Passage;

use crate::ask::Ask;
use crate::site::Site;
use crate::targets::Targets;

/// Passages below this score do not hold an answer.
const FITS: f32 = 0.15;
/// When the best passage is below this, it meets so little of the question that it counts as unanswered.
const ANSWERS: f32 = 0.3;
/// A passage is a source when it scores at least this share of the best one.
const LEANS: f32 = 0.6;

/// The searches of one reply.
#[derive(Debug)]
pub(crate) struct Retrieval {
    /// The page the reader is on, when the docs have it.
    pub(crate) here: Option<PageContent>,
    pub(crate) targets: Targets,
    near: Option<String>,
    /// Everything that was found, in order.
    found: Vec<Passage>,
    /// Pages that were sent as sources.
    sent: Vec<String>,
}

impl Retrieval {
    pub(crate) fn new(ask: &Ask, site: Site) -> Self {
        let near = ask.current_path.as_deref().map(|path| path_on_site(path, &site, &ask.docs));
        let here = near.as_deref().and_then(|path| ask.docs.page(path));
        let targets = Targets::new(Arc::clone(&ask.docs), site, here.as_ref().map(|page| page.path.clone()));
        Self { here, targets, near, found: Vec::new(), sent: Vec::new() }
    }

    /// The passages that fit, best first.
    pub(crate) fn search(&mut self, ask: &Ask, query: &str) -> Vec<Passage> {
        let found = ask.docs.search(&Query {
            text: query.to_owned(),
            limit: ask.passages,
            filter: ask.filter.clone(),
            near: self.near.clone(),
        });
        let passages: Vec<Passage> = found.into_iter().filter(|passage| passage.score >= FITS).collect();
        for passage in &passages {
            self.targets.learn_passage(passage);
        }
        self.found.extend(passages.iter().cloned());
        passages
    }

    /// Of these the ones an answer leans on: the best, and those that come near it. No page twice in a reply.
    pub(crate) fn best(&mut self, passages: &[Passage]) -> Vec<Passage> {
        let best = passages.first().map_or(0.0, |passage| passage.score);
        self.send(passages.iter().filter(|passage| passage.score >= best * LEANS))
    }

    /// Of all that was found, the pages these links lead to, in the order of the links.
    pub(crate) fn linked(&mut self, links: &[String]) -> Vec<Passage> {
        let found = std::mem::take(&mut self.found);
        let passages = self.send(links.iter().filter_map(|link| cited(&found, link)));
        self.found = found;
        passages
    }

    /// Whether one of these links leads to a page that was found.
    pub(crate) fn is_cited(&self, links: &[String]) -> bool {
        links.iter().any(|link| cited(&self.found, link).is_some())
    }

    /// Whether something was found that may well hold the answer.
    pub(crate) fn may_answer(&self) -> bool {
        self.found.iter().any(|passage| passage.score >= ANSWERS)
    }

    pub(crate) fn sent(&self) -> &[String] {
        &self.sent
    }

    fn send<'p>(&mut self, passages: impl Iterator<Item = &'p Passage>) -> Vec<Passage> {
        let mut known: HashSet<&str> = HashSet::new();
        let sent = &self.sent;
        let fresh = passages.filter(|passage| !sent.contains(&passage.path) && known.insert(passage.path.as_str()));
        let fresh: Vec<Passage> = fresh.cloned().collect();
        self.sent.extend(fresh.iter().map(|passage| passage.path.clone()));
        fresh
    }
}

/// The passage a link leads to: the one with that very address, or else the page's first.
fn cited<'p>(found: &'p [Passage], link: &str) -> Option<&'p Passage> {
    let page = |href: &str| href.split('#').next().unwrap_or_default().to_owned();
    let exact = found.iter().find(|passage| passage.href == link);
    exact.or_else(|| found.iter().find(|passage| page(&passage.href) == page(link)))
}

/// The path of the page a reader says to be on, which may be a whole URL.
fn path_on_site(path: &str, site: &Site, docs: &Snapshot) -> String {
    let below = site.below(path).unwrap_or(path);
    let path = match below.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => below,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    let inside = path.strip_prefix(site.folder()).map(|rest| rest.trim_start_matches('/'));
    let known = [Some(path), inside].into_iter().flatten().find_map(|path| docs.page(path));
    known.map_or_else(|| path.to_owned(), |page| page.path)
}
