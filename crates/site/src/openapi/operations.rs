//! Operations that a navigation names.

use std::sync::Arc;

/// Operations of an API that the navigation shows without a page of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operations {
    /// The description of the API; `None` for whichever has the operation.
    pub(crate) file: Option<String>,
    /// `GET /users`; `None` for all of them.
    pub(crate) operation: Option<String>,
    /// The folder their pages are served in, if the navigation chooses one.
    pub(crate) directory: Option<String>,
    pub(crate) groups: Arc<[String]>,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
}
