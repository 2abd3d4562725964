//! The `filter` of a question and of a search.

use serde::Deserialize;

/// Which pages to search; a field that is missing, null or empty matches all.
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
        let given = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        // An empty group is one that nobody is in, so it is not left out: no group at all would open every page.
        Self { version: given(version), language: given(language), groups: groups.unwrap_or_default(), tag: given(tag) }
    }
}
