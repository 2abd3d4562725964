//! API operations named by a navigation.

use std::sync::Arc;

/// API operations that the navigation shows without a page file of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operations {
    /// The API description; `None` for any that has the operation.
    pub(crate) file: Option<String>,
    /// `GET /users`; `None` for all operations.
    pub(crate) operation: Option<String>,
    /// The folder that their pages are served in, if the navigation sets one.
    pub(crate) directory: Option<String>,
    pub(crate) groups: Arc<[String]>,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
}
