//! Which verb a path means.

use docent_web::{ErrorShape, Methods};

/// A door and what is asked for behind it. Each verb is one file beside this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// With an admin key, into a project.
    Agent { project: String, verb: AgentVerb },
    /// With an admin key, to the conversations of a project's docs site.
    Analytics { project: String },
    /// With an assistant key, to the docs of a domain, from pages of anybody's.
    Discovery { domain: String, verb: DiscoveryVerb },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentVerb {
    Create,
    List,
    Get { id: String },
    Events { id: String },
    Message { id: String },
    Archive { id: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DiscoveryVerb {
    Ask,
    Resume { chat: String },
    Feedback,
    Search,
    Page,
}

impl Route {
    pub(crate) fn of(segments: &[&str]) -> Option<Self> {
        let agent = |project: &str, verb| Self::Agent { project: project.into(), verb };
        let discovery = |domain: &str, verb| Self::Discovery { domain: domain.into(), verb };
        let route = match *segments {
            ["v2", "agent", project, "job"] => agent(project, AgentVerb::Create),
            ["v2", "agent", project, "jobs"] => agent(project, AgentVerb::List),
            // An empty id is a slash too many: such a path names nothing.
            ["v2", "agent", _, "job", "", ..] => return None,
            ["v2", "agent", project, "job", id] => agent(project, AgentVerb::Get { id: id.into() }),
            ["v2", "agent", project, "job", id, "events"] => agent(project, AgentVerb::Events { id: id.into() }),
            ["v2", "agent", project, "job", id, "message"] => agent(project, AgentVerb::Message { id: id.into() }),
            ["v2", "agent", project, "job", id, "archive"] => agent(project, AgentVerb::Archive { id: id.into() }),
            ["v1", "analytics", project, "assistant"] => Self::Analytics { project: project.into() },
            ["discovery", "v2", "assistant", domain, "message"] => discovery(domain, DiscoveryVerb::Ask),
            ["discovery", "v2", "assistant", domain, "message", chat, "stream"] => {
                discovery(domain, DiscoveryVerb::Resume { chat: chat.into() })
            }
            ["discovery", "v1", "assistant", domain, "feedback"] => discovery(domain, DiscoveryVerb::Feedback),
            ["discovery", "v1", "search", domain] => discovery(domain, DiscoveryVerb::Search),
            ["discovery", "v1", "page", domain] => discovery(domain, DiscoveryVerb::Page),
            _ => return None,
        };
        Some(route)
    }

    pub(crate) const fn methods(&self) -> Methods {
        match self {
            Self::Agent { verb: AgentVerb::List | AgentVerb::Get { .. } | AgentVerb::Events { .. }, .. }
            | Self::Analytics { .. }
            | Self::Discovery { verb: DiscoveryVerb::Resume { .. }, .. } => Methods::GET,
            Self::Agent { .. } | Self::Discovery { .. } => Methods::POST,
        }
    }

    /// Whether browsers may ask this from pages of anybody's.
    pub(crate) const fn is_shared(&self) -> bool {
        matches!(self, Self::Discovery { .. })
    }

    /// Clients of the search and page endpoints look for an error under `message`.
    pub(crate) const fn shape(&self) -> ErrorShape {
        match self {
            Self::Discovery { verb: DiscoveryVerb::Search | DiscoveryVerb::Page, .. } => ErrorShape::ErrorAndMessage,
            _ => ErrorShape::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_one_verb_or_none() {
        let of = |path: &str| Route::of(&path.split('/').collect::<Vec<_>>());
        assert_eq!(of("v2/agent/acme/job"), Some(Route::Agent { project: "acme".into(), verb: AgentVerb::Create }));
        assert_eq!(of("v1/analytics/acme/assistant"), Some(Route::Analytics { project: "acme".into() }));
        assert_eq!(
            of("discovery/v2/assistant/docs/message/c1/stream"),
            Some(Route::Discovery { domain: "docs".into(), verb: DiscoveryVerb::Resume { chat: "c1".into() } })
        );
        for none in [
            "",
            "v2",
            "v2/agent/acme/job/",
            "v2/agent/acme/job//message",
            "v2/agent/acme/job//archive",
            "v2/agent/acme/job//events",
            "v2/agent/acme/jobs/",
            "v2/agent/acme/job/1/stop",
            "v1/analytics/acme",
            "v1/analytics/acme/assistant/",
            "v2/analytics/acme/assistant",
            "discovery/v3/search/docs",
            "V2/agent/a/job",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
