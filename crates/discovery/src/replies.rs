//! The replies of a server: how many run at a time, how they ended, and which can be resumed.
//!
//! A reply holds a model call for as long as it runs. A site beyond its limit is refused at once: waiting in a queue
//! for an answer that takes time itself is worse than asking again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use docent_types::{DurationCounts, ProjectUid, QuotaStatus, Refusal, RefusalKind};
use parking_lot::RwLock;

use crate::chats::Chats;
use crate::permit::{Counters, Permit};

/// Default limit of concurrent replies of one project.
const DEFAULT_LIMIT: usize = 100;
/// Value of `Retry-After`: replies end all the time, most within seconds.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Default time that a reply without a reader continues for a chat that resumes.
const DEFAULT_RESUME_TIMEOUT: Duration = Duration::from_secs(30);

/// The replies of a server. Clones share them.
#[derive(Debug, Clone)]
pub struct Replies {
    at_once: usize,
    counters: Arc<Counters>,
    /// How many run on other servers of the same site, as last said.
    elsewhere: Arc<RwLock<BTreeMap<ProjectUid, usize>>>,
    pub(crate) chats: Arc<Chats>,
}

/// Counters of a server's replies since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyCounts {
    /// Currently running, with or without a reader.
    pub running: u64,
    /// Completed.
    pub finished: u64,
    /// Ended in an error.
    pub failed: u64,
    /// Cancelled after their readers left.
    pub left: u64,
    /// Refused because too many were running.
    pub refused: u64,
}

impl Default for Replies {
    fn default() -> Self {
        Self::at_once(DEFAULT_LIMIT)
    }
}

impl Replies {
    /// At most `limit` concurrent replies of each project.
    pub fn at_once(limit: usize) -> Self {
        let chats = Arc::new(Chats::new(DEFAULT_RESUME_TIMEOUT, limit));
        Self { at_once: limit, counters: Arc::default(), elsewhere: Arc::default(), chats }
    }

    /// How long a reply without a reader continues, and then waits to be read, when its chat has declared that it
    /// resumes. The default is 30 seconds. With zero it is cancelled as soon as for any other chat. Applies only to
    /// replies begun with the returned value.
    #[must_use]
    pub fn resumable_for(mut self, timeout: Duration) -> Self {
        self.chats = Arc::new(Chats::new(timeout, self.at_once));
        self
    }

    pub fn counts(&self) -> ReplyCounts {
        let Counters { running, finished, failed, left, refused, first_words: _ } = &*self.counters;
        let running = running.lock().values().sum::<usize>();
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ReplyCounts {
            running: running as u64,
            finished: count(finished),
            failed: count(failed),
            left: count(left),
            refused: count(refused),
        }
    }

    /// How many run at the moment, by project.
    pub fn running(&self) -> BTreeMap<ProjectUid, usize> {
        self.counters.running.lock().clone()
    }

    /// Counts replies of other servers towards the limits of their projects, in place of those that were named before.
    pub fn count_elsewhere(&self, running: BTreeMap<ProjectUid, usize>) {
        *self.elsewhere.write() = running;
    }

    /// How long replies took from the admission of the question to their first words.
    pub fn first_words(&self) -> DurationCounts {
        self.counters.first_words.counts()
    }

    /// Takes a permit for a reply; it is released on drop.
    ///
    /// # Errors
    /// 429 when the project has none left.
    pub(crate) fn permit(&self, project: ProjectUid) -> Result<Permit, Refusal> {
        let elsewhere = self.elsewhere.read().get(&project).copied().unwrap_or(0);
        let mut running = self.counters.running.lock();
        let here = running.get(&project).copied().unwrap_or(0);
        if here + elsewhere >= self.at_once {
            self.counters.refused.fetch_add(1, Ordering::Relaxed);
            let quota_status = QuotaStatus {
                limit: u32::try_from(self.at_once).unwrap_or(u32::MAX),
                window: RETRY_AFTER,
                remaining: 0,
                retry_after: RETRY_AFTER,
            };
            let sentence = format!(
                "this docs site is answering {} questions at this moment, as many as it may; ask again in {} seconds",
                self.at_once,
                RETRY_AFTER.as_secs()
            );
            return Err(Refusal::new(RefusalKind::Limited(quota_status), sentence));
        }
        running.insert(project, here + 1);
        Ok(Permit::new(Arc::clone(&self.counters), project))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::permit::ReplyOutcome;

    fn project(number: u128) -> ProjectUid {
        ProjectUid::new(Uuid::from_u128(number))
    }

    #[test]
    fn each_project_has_its_places_and_a_place_that_was_left_is_free() {
        let replies = Replies::at_once(2);
        let (acme, other) = (project(1), project(2));
        let first = replies.permit(acme).expect("a place");
        let _second = replies.permit(acme).expect("a place");
        let refused = replies.permit(acme).expect_err("no place");
        assert!(matches!(refused.kind, RefusalKind::Limited(quota_status) if quota_status.limit == 2), "{refused:?}");
        let _theirs = replies.permit(other).expect("a place of its own");
        assert_eq!((replies.counts().running, replies.counts().refused), (3, 1));
        drop(first);
        assert!(replies.permit(acme).is_ok());
        assert_eq!(replies.counts().running, 2, "a place is as long as whoever holds it");
    }

    #[test]
    fn replies_of_other_servers_take_places() {
        let replies = Replies::at_once(3);
        let acme = project(1);
        let _here = replies.permit(acme).expect("a place");
        replies.count_elsewhere([(acme, 2), (project(2), 1)].into());
        assert!(replies.permit(acme).is_err(), "three run in all");
        assert!(replies.permit(project(2)).is_ok());
        replies.count_elsewhere([(acme, 1)].into());
        assert!(replies.permit(acme).is_ok());
        assert_eq!(replies.running(), [(acme, 1)].into());
    }

    #[test]
    fn replies_are_counted_by_how_they_ended() {
        let replies = Replies::default();
        let outcomes = [
            ReplyOutcome::NotBegun,
            ReplyOutcome::Begun,
            ReplyOutcome::Finished,
            ReplyOutcome::Finished,
            ReplyOutcome::Failed,
        ];
        for outcome in outcomes {
            replies.permit(project(1)).expect("a place").set_outcome(outcome);
        }
        assert_eq!(replies.counts(), ReplyCounts { running: 0, finished: 2, failed: 1, left: 1, refused: 0 });
    }

    #[test]
    fn only_the_first_words_of_a_reply_are_timed() {
        let replies = Replies::default();
        let mut permit = replies.permit(project(1)).expect("a place");
        permit.has_words();
        permit.has_words();
        drop(replies.permit(project(1)).expect("a place"));
        assert_eq!(replies.first_words().count, 1);
    }
}
