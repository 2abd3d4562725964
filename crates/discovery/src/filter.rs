//! The `filter` of a question and of a search.

use serde::Deserialize;

/// Which pages to search; a field that is missing or null matches all.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
pub struct FilterBody {
    pub version: Option<String>,
    pub language: Option<String>,
    pub groups: Option<Vec<String>>,
    pub tag: Option<String>,
}

impl From<FilterBody> for docent_search::Filter {
    fn from(body: FilterBody) -> Self {
        let FilterBody { version, language, groups, tag } = body;
        Self { version, language, groups: groups.unwrap_or_default(), tag }
    }
}
