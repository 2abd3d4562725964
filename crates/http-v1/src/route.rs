//! Parses a path into a route.

use docent_web::{Methods, Request};
use http::Method;

/// A group of endpoints, and the request to one of them. Each endpoint has its own file in this folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// Requires an admin key; belongs to a project.
    Agent { project: String, verb: Verb },
    /// Requires an assistant key; belongs to the assistant of a domain, and may be requested from pages of any origin.
    Message { domain: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    Create,
    Get { id: String },
    List,
}

impl Route {
    /// The route of a request; `None` when its path does not belong to this version. A server with several versions
    /// tries each.
    pub fn parse(request: &Request) -> Option<Self> {
        Self::of(&request.segments())
    }

    fn of(segments: &[&str]) -> Option<Self> {
        let agent = |project: &str, verb| Self::Agent { project: project.into(), verb };
        let route = match *segments {
            ["v1", "agent", project, "job"] => agent(project, Verb::Create),
            // An empty id comes from a superfluous slash; such a path has no route.
            ["v1", "agent", project, "job", id] if !id.is_empty() => agent(project, Verb::Get { id: id.into() }),
            ["v1", "agent", project, "jobs"] => agent(project, Verb::List),
            ["discovery", "v1", "assistant", domain, "message"] => Self::Message { domain: domain.into() },
            _ => return None,
        };
        Some(route)
    }

    pub(crate) const fn methods(&self) -> Methods {
        const ASK_OR_RESUME: Methods = Methods::new(&[Method::POST, Method::GET]);
        match self {
            Self::Agent { verb: Verb::Create, .. } => Methods::POST,
            Self::Agent { verb: Verb::Get { .. } | Verb::List, .. } => Methods::GET,
            Self::Message { .. } => ASK_OR_RESUME,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_one_verb_or_none() {
        let of = |path: &str| Route::of(&path.split('/').collect::<Vec<_>>());
        let agent = |verb| Some(Route::Agent { project: "acme".into(), verb });
        assert_eq!(of("v1/agent/acme/job"), agent(Verb::Create));
        assert_eq!(of("v1/agent/acme/job/7"), agent(Verb::Get { id: "7".into() }));
        assert_eq!(of("v1/agent/acme/jobs"), agent(Verb::List));
        assert_eq!(of("discovery/v1/assistant/docs/message"), Some(Route::Message { domain: "docs".into() }));
        for none in [
            "",
            "v1",
            "v1/agent/acme",
            "v1/agent/acme/job/",
            "v1/agent/acme/jobs/",
            "v2/agent/acme/job",
            "discovery/v1/search/docs",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
        assert_eq!(of("v1/agent/acme/job/7/message"), None);
    }
}
