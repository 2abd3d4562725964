//! Passages that replies have in common, kept once.
//!
//! A reply keeps what its searches found for as long as it runs, for readers who come late, and passages are the largest
//! part of that. Readers of a site ask about the same things, so replies that run at the same time share many.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use docent_types::Passage;

/// Below this many nobody looks for passages that no reply keeps any more.
const FEW: usize = 256;

/// The passages that running replies keep.
#[derive(Default)]
pub(crate) struct Shelf(Mutex<Passages>);

#[derive(Default)]
struct Passages {
    known: HashSet<Known>,
    /// At how many those are dropped that no reply keeps any more.
    full_at: usize,
}

/// A passage that may be shared: without its score, which is the question's and not the page's.
#[derive(Debug, Clone, PartialEq)]
struct Known(Arc<Passage>);

/// A passage as a reply keeps it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    passage: Known,
    score: f32,
}

impl Shelf {
    pub(crate) fn keep(&self, passage: &Passage) -> Kept {
        let score = passage.score;
        let known = Known(Arc::new(Passage { score: 0.0, ..passage.clone() }));
        let mut passages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = passages.known.get(&known) {
            return Kept { passage: same.clone(), score };
        }
        if passages.known.len() >= passages.full_at {
            passages.known.retain(|Known(passage)| Arc::strong_count(passage) > 1);
            passages.full_at = FEW.max(passages.known.len() * 2);
        }
        passages.known.insert(known.clone());
        Kept { passage: known, score }
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").finish_non_exhaustive()
    }
}

impl Kept {
    /// The passage as it was found.
    pub(crate) fn passage(&self) -> Arc<Passage> {
        Arc::new(Passage { score: self.score, ..Passage::clone(&self.passage.0) })
    }
}

// Two are the same when all they say is; a score of zero is equal to itself.
impl Eq for Known {}

impl Hash for Known {
    /// What tells nearly all passages apart, without reading any to its end.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.href.hash(state);
        self.0.content.len().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(page: usize, score: f32) -> Passage {
        let path = format!("page-{page}");
        Passage {
            href: format!("/{path}"),
            path,
            title: "Retries".to_owned(),
            headings: Vec::new(),
            content: "A delivery that fails is tried again.".to_owned(),
            score,
            version: None,
            language: None,
        }
    }

    #[test]
    fn replies_that_found_the_same_keep_it_once_each_with_its_score() {
        let shelf = Shelf::default();
        let (one, other) = (shelf.keep(&passage(1, 0.5)), shelf.keep(&passage(1, 0.25)));
        assert!(Arc::ptr_eq(&one.passage.0, &other.passage.0));
        assert_eq!((one.passage(), other.passage()), (Arc::new(passage(1, 0.5)), Arc::new(passage(1, 0.25))));
        let elsewhere =
            shelf.keep(&Passage { content: "Not at all the same, but as long as it.".to_owned(), ..passage(1, 0.5) });
        assert!(!Arc::ptr_eq(&one.passage.0, &elsewhere.passage.0));
    }

    #[test]
    fn what_no_reply_keeps_is_dropped_in_time() {
        let shelf = Shelf::default();
        let kept = shelf.keep(&passage(0, 0.5));
        for page in 1..20 * FEW {
            shelf.keep(&passage(page, 0.5));
        }
        assert!(shelf.0.lock().unwrap().known.len() <= FEW);
        assert!(
            Arc::ptr_eq(&kept.passage.0, &shelf.keep(&passage(0, 0.5)).passage.0),
            "this one was kept all the time"
        );
    }
}
