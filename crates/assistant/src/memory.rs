//! In-memory stores, for tests and for questions that are not kept.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use docent_types::{Domain, StoreError, ThreadId, Timestamp};
use parking_lot::Mutex;

use crate::analytics::{DAY, Days, Summary};
use crate::export::{AskedTurn, Export, ExportCursor, ExportQuery, PageBuilder, QuestionFacts};
use crate::searches::{MOST_TERMS_A_DAY, Search, SearchCounts, SearchTerm, SearchTerms, Searches, TermQuery};
use crate::spend::{Spend, Spends};
use crate::thread::{Feedback, NewThread, Thread, Threads, Turn};

/// Threads in memory.
#[derive(Debug, Default)]
pub struct MemoryThreads(Mutex<HashMap<ThreadId, NewThread>>);

impl MemoryThreads {
    /// The questions of a domain in a period, newest first.
    fn asked(&self, domain: &Domain, from: Option<Timestamp>, to: Option<Timestamp>) -> Vec<AskedTurn> {
        let threads = self.0.lock();
        let of_domain = threads.values().filter(|thread| thread.domain == *domain);
        let asked = |thread: &NewThread, turn: &Turn| AskedTurn {
            thread: thread.id,
            fp: thread.fp.clone(),
            turn: turn.clone(),
        };
        let turns = of_domain.flat_map(|thread| thread.turns.iter().map(move |turn| asked(thread, turn)));
        let mut found: Vec<AskedTurn> = turns
            .filter(|one| one.turn.listed_at() != Timestamp::default())
            .filter(|one| from.is_none_or(|from| one.turn.asked_at >= from))
            .filter(|one| to.is_none_or(|to| one.turn.asked_at < to))
            .collect();
        found.sort_by_key(|one| std::cmp::Reverse(position(one)));
        found
    }
}

fn position(asked: &AskedTurn) -> ExportCursor {
    ExportCursor { asked_at: asked.turn.asked_at, answer_id: asked.turn.answer_id.clone() }
}

fn touched_at(thread: &NewThread) -> Timestamp {
    let moments = thread.turns.iter().flat_map(|turn| [Some(turn.asked_at), turn.feedback.as_ref().map(|f| f.at)]);
    moments.flatten().fold(thread.created_at, Timestamp::max)
}

#[async_trait]
impl Threads for MemoryThreads {
    async fn begin(&self, thread: NewThread) -> Result<(), StoreError> {
        self.0.lock().insert(thread.id, thread);
        Ok(())
    }

    async fn thread(&self, domain: &Domain, id: ThreadId, turns: usize) -> Result<Option<Thread>, StoreError> {
        let found = self.0.lock().get(&id).filter(|thread| thread.domain == *domain).cloned();
        Ok(found.map(|mut t| {
            let turns = t.turns.split_off(t.turns.len().saturating_sub(turns));
            Thread { id: t.id, domain: t.domain, key: t.key, created_at: t.created_at, turns }
        }))
    }

    async fn put_turn(&self, id: ThreadId, turn: Turn, instead_of: Option<String>) -> Result<(), StoreError> {
        if let Some(thread) = self.0.lock().get_mut(&id) {
            let cut = instead_of.and_then(|gone| thread.turns.iter().position(|t| t.answer_id == gone));
            thread.turns.truncate(cut.unwrap_or(usize::MAX));
            match thread.turns.iter_mut().find(|t| t.answer_id == turn.answer_id) {
                Some(same) => *same = Turn { feedback: same.feedback.take(), ..turn },
                None => thread.turns.push(turn),
            }
        }
        Ok(())
    }

    async fn rate(
        &self,
        domain: &Domain,
        id: ThreadId,
        answer_id: &str,
        feedback: Feedback,
    ) -> Result<bool, StoreError> {
        let mut threads = self.0.lock();
        let thread = threads.get_mut(&id).filter(|thread| thread.domain == *domain);
        let turn = thread.and_then(|thread| thread.turns.iter_mut().find(|turn| turn.answer_id == answer_id));
        Ok(turn.map(|turn| turn.feedback = Some(feedback)).is_some())
    }

    async fn export(&self, query: ExportQuery) -> Result<Export, StoreError> {
        let after = |asked: &AskedTurn| query.after.as_ref().is_none_or(|after| position(asked) < *after);
        let mut page = PageBuilder::new(&query);
        for asked in self.asked(&query.domain, query.from, query.to).into_iter().filter(after) {
            let (turn, bytes) = (asked.clone(), asked.turn.stored_bytes());
            if !page.examine(&QuestionFacts::of(&asked.turn), || Ok::<_, StoreError>((turn, bytes)))? {
                break;
            }
        }
        Ok(page.page())
    }

    async fn summary(&self, domain: &Domain, days: Days) -> Result<Summary, StoreError> {
        let (from, to) = days.bounds();
        let asked = self.asked(domain, Some(from), Some(to));
        Ok(Summary::of(asked.iter().map(|asked| QuestionFacts::of(&asked.turn))))
    }

    async fn forget(&self, untouched_since: Timestamp, limit: u32) -> Result<u32, StoreError> {
        let mut threads = self.0.lock();
        let old = threads.values().filter(|thread| touched_at(thread) < untouched_since).map(|thread| thread.id);
        let old: Vec<ThreadId> = old.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
        for id in &old {
            threads.remove(id);
        }
        Ok(u32::try_from(old.len()).unwrap_or(u32::MAX))
    }
}

/// In-memory counts of searches, keyed by domain, day and term.
#[derive(Debug, Default)]
pub struct MemorySearches(Mutex<BTreeMap<(Domain, i64, String), SearchTerm>>);

#[async_trait]
impl Searches for MemorySearches {
    async fn count(&self, searches: Vec<Search>) -> Result<(), StoreError> {
        let mut counted = self.0.lock();
        // The number of terms by domain and day.
        let mut terms: HashMap<(Domain, i64), u64> = HashMap::new();
        for search in searches {
            let day = search.day();
            let Search { domain, term, at, has_results } = search;
            let terms = terms
                .entry((domain.clone(), day))
                .or_insert_with(|| counted.keys().filter(|(of, on, _)| *of == domain && *on == day).count() as u64);
            let key = (domain, day, term.clone());
            let is_new = !counted.contains_key(&key);
            if is_new && *terms == MOST_TERMS_A_DAY {
                continue;
            }
            *terms += u64::from(is_new);
            let fresh = SearchTerm { term, counts: SearchCounts::default(), last_at: at };
            let counted = counted.entry(key).or_insert(fresh);
            counted.counts.add(SearchCounts { searches: 1, without_results: (!has_results).into() });
            counted.last_at = at.max(counted.last_at);
        }
        Ok(())
    }

    async fn terms(&self, query: TermQuery) -> Result<SearchTerms, StoreError> {
        let mut terms: BTreeMap<String, SearchTerm> = BTreeMap::new();
        let mut all = SearchCounts::default();
        for ((domain, day, term), on_day) in self.0.lock().iter() {
            if *domain == query.domain && (query.days.first..query.days.end).contains(day) {
                all.add(on_day.counts);
                let fresh = SearchTerm { counts: SearchCounts::default(), ..on_day.clone() };
                let sum = terms.entry(term.clone()).or_insert(fresh);
                sum.counts.add(on_day.counts);
                sum.last_at = sum.last_at.max(on_day.last_at);
            }
        }
        let order = |count: u64, term: &str| (std::cmp::Reverse(count), term.to_owned());
        let place = |one: &SearchTerm| order(query.key(one.counts), &one.term);
        let after = query.after.as_ref().map(|after| order(after.count, &after.term));
        let mut terms: Vec<SearchTerm> = terms
            .into_values()
            .filter(|one| query.key(one.counts) > 0 && after.as_ref().is_none_or(|after| place(one) > *after))
            .collect();
        terms.sort_by_key(place);
        Ok(query.page(all, terms))
    }

    async fn term_by_day(
        &self,
        domain: &Domain,
        days: Days,
        term: &str,
    ) -> Result<Vec<(Timestamp, SearchCounts)>, StoreError> {
        let counted = self.0.lock();
        let of_term = counted
            .iter()
            .filter(|((of, day, text), _)| of == domain && text == term && (days.first..days.end).contains(day));
        Ok(of_term.map(|((_, day, _), on_day)| (Timestamp::from_millis(day * DAY), on_day.counts)).collect())
    }

    async fn forget(&self, before: i64, limit: u32) -> Result<u32, StoreError> {
        let mut gone = 0;
        self.0.lock().retain(|(_, day, _), _| {
            let stays = *day >= before || gone == limit;
            gone += u32::from(!stays);
            stays
        });
        Ok(gone)
    }
}

/// What was spent, in memory.
#[derive(Debug, Default)]
pub struct MemorySpends(Mutex<HashMap<(Domain, i64), Spend>>);

#[async_trait]
impl Spends for MemorySpends {
    async fn spend(&self, domain: &Domain, day: i64, spend: Spend) -> Result<(), StoreError> {
        let mut spends = self.0.lock();
        let of_day = spends.entry((domain.clone(), day)).or_default();
        of_day.tokens += spend.tokens;
        of_day.cost_micros += spend.cost_micros;
        Ok(())
    }

    async fn spent(&self, domain: &Domain, day: i64) -> Result<Spend, StoreError> {
        Ok(self.0.lock().get(&(domain.clone(), day)).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn the_twin_conforms() {
        crate::conformance::threads(&super::MemoryThreads::default()).await;
        crate::conformance::searches(&super::MemorySearches::default()).await;
        crate::conformance::spends(&super::MemorySpends::default()).await;
    }
}
