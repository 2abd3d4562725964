//! What the owners of each docs site ask of its assistant: `.docent/assistant.md` in the repository, as it was when the
//! repository was last fetched.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use docent_assistant::Site;
use docent_authoring::Docs;
use docent_types::Domain;
use tracing::warn;

/// Where the instructions stand, from the root of the repository.
const FILE: &str = ".docent/assistant.md";

/// The sites by domain. A clone is the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sites(Arc<RwLock<HashMap<Domain, Arc<str>>>>);

impl Sites {
    pub(crate) fn of(&self, domain: &Domain) -> Site {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Site { instructions: known.get(domain).cloned(), ..Site::default() }
    }

    /// Reads what is asked at this state of the docs. What cannot be read leaves things as they are.
    pub(crate) fn learn(&self, domain: &Domain, docs: &Docs) {
        let text = match docs.file(FILE) {
            Ok(bytes) => bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()),
            Err(error) => {
                warn!(%domain, error = &error as &dyn std::error::Error, "could not read {FILE}");
                return;
            }
        };
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match text.filter(|text| !text.is_empty()) {
            Some(text) => drop(known.insert(domain.clone(), text.into())),
            None => drop(known.remove(domain)),
        }
    }
}
