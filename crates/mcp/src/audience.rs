//! Who is served at a path.

use docent_web::Request;

/// Who is served at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// `/mcp/{domain}`: whoever may read the docs of a domain.
    Reader,
    /// `/mcp/agent/{projectId}`: the holder of an admin key.
    Owner,
}

impl Audience {
    /// The audience of a request; `None` when its path does not belong to this crate.
    pub fn parse(request: &Request) -> Option<Self> {
        match *request.segments().as_slice() {
            ["mcp", "agent", project] if !project.is_empty() => Some(Self::Owner),
            ["mcp", domain] if !domain.is_empty() => Some(Self::Reader),
            _ => None,
        }
    }

    /// The domain or the project id in the path.
    pub(crate) fn name(self, request: &Request) -> &str {
        request.segment(match self {
            Self::Reader => 1,
            Self::Owner => 2,
        })
    }
}
