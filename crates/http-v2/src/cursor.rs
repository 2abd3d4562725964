//! The position in a list as an opaque text: the list's filter, and the last job of the previous page.
//!
//! The position is a job and not a number, so a page neither repeats nor skips jobs when others are created meanwhile.

use docent_types::{JobId, JobStatus, Refusal};

/// `9` for a list of all jobs, otherwise the index of the status in [`JobStatus::ALL`]; then the id.
pub(crate) fn cursor(status: Option<JobStatus>, last: JobId) -> String {
    format!("{}{last}", mark(status))
}

/// The job after which to continue.
///
/// # Errors
/// A text that [`cursor`] never returned, or a cursor of a list with another filter.
pub(crate) fn read(text: &str, status: Option<JobStatus>) -> Result<JobId, Refusal> {
    // A position has one canonical encoding; any other text that parses is invalid.
    let id = text.get(1..).and_then(JobId::parse).filter(|id| cursor(status, *id) == text);
    id.ok_or_else(|| {
        Refusal::invalid(
            "cursor: it is not a `nextCursor` of this list with the same `status`; send one as it was received, or leave it \
             out to begin with the newest job",
        )
    })
}

fn mark(status: Option<JobStatus>) -> String {
    let place = status.and_then(|status| JobStatus::ALL.iter().position(|known| *known == status));
    place.unwrap_or(9).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cursor_goes_on_in_the_list_it_was_made_for() {
        let id = JobId::parse("01a1fd8d-2218-7d86-9497-980848f99d9b").unwrap();
        let lists = JobStatus::ALL.into_iter().map(Some).chain([None]);
        for (made, used) in lists.clone().flat_map(|made| lists.clone().map(move |used| (made, used))) {
            assert_eq!(read(&cursor(made, id), used).ok(), (made == used).then_some(id), "{made:?} {used:?}");
        }
    }

    #[test]
    fn foreign_cursors_are_refused() {
        for bad in [
            "",
            "9",
            "é",
            "901a1fd8d-2218-7d86-9497-980848f99d9",
            "901A1FD8D-2218-7D86-9497-980848F99D9B",
            "901a1fd8d22187d869497980848f99d9b",
            "90000-0000",
        ] {
            assert!(read(bad, None).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_cursor_or_refused(text in any::<String>()) {
            if let Ok(id) = read(&text, None) {
                prop_assert_eq!(cursor(None, id), text);
            }
        }
    }
}
