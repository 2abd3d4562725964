//! Parses a path into a route.

use docent_web::{ErrorShape, Methods, Request};
use http::Method;

use crate::llms_txt;

/// A group of endpoints, and the request to one of them. Each endpoint has its own file in this folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// Requires an admin key; belongs to a project.
    Agent(AgentVerb),
    /// Requires an admin key; reads the conversations of a project's docs site.
    Analytics(AnalyticsVerb),
    /// Requires an assistant key; belongs to the docs of a domain, and may be requested from pages of any origin.
    Discovery(DiscoveryVerb),
    /// Requires an assistant key unless the docs are public; reads the docs of a domain as files.
    Site(SiteVerb),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentVerb {
    Create,
    List,
    Get,
    Events,
    Message,
    Archive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnalyticsVerb {
    Conversations,
    Feedback,
    FeedbackByPage,
    Gaps,
    GapGroups,
    Searches,
    Summary,
    Thread,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscoveryVerb {
    Ask,
    /// Or stop.
    Resume,
    Feedback,
    Search,
    Page,
    Complete,
    Models,
    Model,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteVerb {
    Page,
    List,
    Full,
}

/// An id in the path, by the position of its segment; the request has the text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NamedResource {
    Project,
    Domain,
    Site,
    Job,
    Chat,
    Thread,
    Model,
}

impl NamedResource {
    pub(crate) fn by(self, request: &Request) -> &str {
        request.segment(match self {
            Self::Site => 1,
            Self::Project => 2,
            Self::Domain => 3,
            Self::Job => 4,
            Self::Chat | Self::Thread | Self::Model => 5,
        })
    }
}

impl Route {
    /// The route of a request; `None` when its path does not belong to this version. A server with several versions
    /// tries each.
    pub fn parse(request: &Request) -> Option<Self> {
        Self::of(&request.segments())
    }

    fn of(segments: &[&str]) -> Option<Self> {
        let route = match *segments {
            ["v2", "agent", _, "job"] => Self::Agent(AgentVerb::Create),
            ["v2", "agent", _, "jobs"] => Self::Agent(AgentVerb::List),
            // An empty id comes from a superfluous slash; such a path has no route.
            ["v2", "agent", _, "job", "", ..] => return None,
            ["v2", "agent", _, "job", _] => Self::Agent(AgentVerb::Get),
            ["v2", "agent", _, "job", _, "events"] => Self::Agent(AgentVerb::Events),
            ["v2", "agent", _, "job", _, "message"] => Self::Agent(AgentVerb::Message),
            ["v2", "agent", _, "job", _, "archive"] => Self::Agent(AgentVerb::Archive),
            ["v1", "analytics", _, "assistant"] => Self::Analytics(AnalyticsVerb::Conversations),
            ["v1", "analytics", _, "feedback"] => Self::Analytics(AnalyticsVerb::Feedback),
            ["v1", "analytics", _, "feedback", "by-page"] => Self::Analytics(AnalyticsVerb::FeedbackByPage),
            ["v1", "analytics", _, "gaps"] => Self::Analytics(AnalyticsVerb::Gaps),
            ["v1", "analytics", _, "gaps", "groups"] => Self::Analytics(AnalyticsVerb::GapGroups),
            ["v1", "analytics", _, "searches"] => Self::Analytics(AnalyticsVerb::Searches),
            ["v1", "analytics", _, "summary"] => Self::Analytics(AnalyticsVerb::Summary),
            ["v1", "analytics", _, "assistant", "threads", id] if !id.is_empty() => {
                Self::Analytics(AnalyticsVerb::Thread)
            }
            ["discovery", "v2", "assistant", _, "message"] => Self::Discovery(DiscoveryVerb::Ask),
            ["discovery", "v2", "assistant", _, "message", _, "stream"] => Self::Discovery(DiscoveryVerb::Resume),
            ["discovery", "v2", "openai", _, "chat", "completions"] => Self::Discovery(DiscoveryVerb::Complete),
            ["discovery", "v2", "openai", _, "models"] => Self::Discovery(DiscoveryVerb::Models),
            ["discovery", "v2", "openai", _, "models", id] if !id.is_empty() => Self::Discovery(DiscoveryVerb::Model),
            ["discovery", "v1", "assistant", _, "feedback"] => Self::Discovery(DiscoveryVerb::Feedback),
            ["discovery", "v1", "search", _] => Self::Discovery(DiscoveryVerb::Search),
            ["discovery", "v1", "page", _] => Self::Discovery(DiscoveryVerb::Page),
            ["sites", "", ..] => return None,
            ["sites", _, "llms-full.txt"] => Self::Site(SiteVerb::Full),
            ["sites", _, .., file] if llms_txt::part(file).is_some() => Self::Site(SiteVerb::List),
            ["sites", _, ..] => Self::Site(SiteVerb::Page),
            _ => return None,
        };
        Some(route)
    }

    pub(crate) const fn methods(self) -> Methods {
        match self {
            Self::Agent(AgentVerb::List | AgentVerb::Get | AgentVerb::Events)
            | Self::Analytics(_)
            | Self::Site(_)
            | Self::Discovery(DiscoveryVerb::Models | DiscoveryVerb::Model) => Methods::GET,
            Self::Discovery(DiscoveryVerb::Resume) => Methods::new(&[Method::GET, Method::DELETE]),
            Self::Agent(_) | Self::Discovery(_) => Methods::POST,
        }
    }

    /// Whether scripts on pages of any origin may send this request.
    pub(crate) const fn is_shared(self) -> bool {
        matches!(self, Self::Discovery(_) | Self::Site(_))
    }

    /// The keys of an error: clients of the search and page endpoints look for it under `message`, those of analytics
    /// under `details`.
    pub(crate) const fn shape(self) -> ErrorShape {
        match self {
            Self::Discovery(DiscoveryVerb::Search | DiscoveryVerb::Page) => ErrorShape::ErrorAndMessage,
            Self::Analytics(_) => ErrorShape::ErrorAndDetails,
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
        assert_eq!(of("v2/agent/acme/job"), Some(Route::Agent(AgentVerb::Create)));
        assert_eq!(of("v1/analytics/acme/assistant"), Some(Route::Analytics(AnalyticsVerb::Conversations)));
        let thread = Some(Route::Analytics(AnalyticsVerb::Thread));
        assert_eq!(of("v1/analytics/acme/assistant/threads/7"), thread);
        assert_eq!(of("discovery/v2/assistant/docs/message/c1/stream"), Some(Route::Discovery(DiscoveryVerb::Resume)));
        assert_eq!(of("sites/acme/guides/llms-2.txt"), Some(Route::Site(SiteVerb::List)));
        assert_eq!(of("sites/acme"), Some(Route::Site(SiteVerb::Page)));
        for none in [
            "",
            "sites",
            "sites//llms.txt",
            "v2",
            "v2/agent/acme/job/",
            "v2/agent/acme/job//message",
            "v2/agent/acme/job//archive",
            "v2/agent/acme/job//events",
            "v2/agent/acme/jobs/",
            "v2/agent/acme/job/1/stop",
            "v1/analytics/acme",
            "v1/analytics/acme/assistant/",
            "v1/analytics/acme/gaps/",
            "v1/analytics/acme/assistant/threads",
            "v1/analytics/acme/assistant/threads/",
            "v2/analytics/acme/assistant",
            "discovery/v3/search/docs",
            "V2/agent/a/job",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
