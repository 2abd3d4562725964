//! Paths below `/dashboard`, and who may ask for them.

use docent_operators::OperatorRole;
use docent_web::Methods;
use http::Method;

const BOTH: Methods = Methods::new(&[Method::GET, Method::POST]);

/// The target of a path below `/dashboard`. What belongs to no project lies below `/dashboard/-`, which is no domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageRoute<'a> {
    Asset(&'a str),
    SignIn,
    /// Leads to the identity provider.
    SignInElsewhere,
    /// Where the identity provider sends browsers back to.
    SignInReturn,
    SignOut,
    Join(&'a str),
    Home,
    Live,
    Jobs,
    Pulls,
    Projects,
    NewProject,
    Operators,
    OperatorRole(&'a str),
    OperatorReset(&'a str),
    RemoveOperator(&'a str),
    Audit,
    Account,
    SignOutEverywhere,
    Settings,
    Project(&'a str, ProjectRoute<'a>),
}

/// The target of a path below a project's domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectRoute<'a> {
    Home,
    Keys,
    RevokeKey(&'a str),
    Jobs,
    NewJob,
    Job(&'a str),
    JobEvents(&'a str),
    JobChanges(&'a str),
    JobMessage(&'a str),
    ArchiveJob(&'a str),
    Journal(&'a str),
    Pulls,
    Pull(&'a str),
    PullConflicts(&'a str),
    ActOnPull(&'a str, PullAction),
    Playground,
    Ask,
    Conversations,
    Conversation(&'a str),
    Analytics,
    Gaps,
    Searches,
    Settings,
    Reindex,
    Remove,
}

/// What is done to a pull request of the local forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PullAction {
    Merge,
    Squash,
    Update,
    Close,
    Reopen,
    Comment,
}

impl PullAction {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "merge" => Self::Merge,
            "squash" => Self::Squash,
            "update" => Self::Update,
            "close" => Self::Close,
            "reopen" => Self::Reopen,
            "comment" => Self::Comment,
            _ => return None,
        })
    }
}

/// Who may ask for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nobody,
    SignedIn(OperatorRole),
}

impl<'a> PageRoute<'a> {
    /// The target of the segments below `dashboard`.
    pub(crate) fn of(segments: &[&'a str]) -> Option<Self> {
        Some(match segments {
            [] => Self::Home,
            ["-", rest @ ..] => match rest {
                ["assets", name] => Self::Asset(name),
                ["sign-in"] => Self::SignIn,
                ["sign-in", "openid"] => Self::SignInElsewhere,
                ["sign-in", "openid", "return"] => Self::SignInReturn,
                ["sign-out"] => Self::SignOut,
                ["join", token] => Self::Join(token),
                ["live"] => Self::Live,
                ["jobs"] => Self::Jobs,
                ["pulls"] => Self::Pulls,
                ["projects"] => Self::Projects,
                ["projects", "new"] => Self::NewProject,
                ["operators"] => Self::Operators,
                ["operators", id, "role"] => Self::OperatorRole(id),
                ["operators", id, "reset"] => Self::OperatorReset(id),
                ["operators", id, "remove"] => Self::RemoveOperator(id),
                ["audit"] => Self::Audit,
                ["account"] => Self::Account,
                ["account", "sign-out-everywhere"] => Self::SignOutEverywhere,
                ["settings"] => Self::Settings,
                _ => return None,
            },
            [domain, rest @ ..] => Self::Project(domain, ProjectRoute::of(rest)?),
        })
    }

    pub(crate) const fn methods(&self) -> Methods {
        match self {
            Self::Asset(_)
            | Self::SignInElsewhere
            | Self::SignInReturn
            | Self::Home
            | Self::Live
            | Self::Jobs
            | Self::Pulls
            | Self::Projects
            | Self::Audit
            | Self::Settings => Methods::GET,
            Self::SignOut
            | Self::OperatorRole(_)
            | Self::OperatorReset(_)
            | Self::RemoveOperator(_)
            | Self::SignOutEverywhere => Methods::POST,
            Self::SignIn | Self::Join(_) | Self::NewProject | Self::Operators | Self::Account => BOTH,
            Self::Project(_, route) => route.methods(),
        }
    }

    /// Who may ask for this path by this method. Reading is a viewer's, but for what shows secrets or people.
    pub(crate) const fn needs(&self, is_write: bool) -> Needs {
        Needs::SignedIn(match self {
            Self::Asset(_) | Self::SignIn | Self::SignInElsewhere | Self::SignInReturn | Self::Join(_) => {
                return Needs::Nobody;
            }
            Self::SignOut
            | Self::SignOutEverywhere
            | Self::Account
            | Self::Home
            | Self::Live
            | Self::Jobs
            | Self::Pulls
            | Self::Projects => OperatorRole::Viewer,
            Self::NewProject
            | Self::Operators
            | Self::OperatorRole(_)
            | Self::OperatorReset(_)
            | Self::RemoveOperator(_)
            | Self::Audit
            | Self::Settings => OperatorRole::Owner,
            Self::Project(_, route) => route.needs(is_write),
        })
    }
}

impl<'a> ProjectRoute<'a> {
    fn of(segments: &[&'a str]) -> Option<Self> {
        Some(match segments {
            [] => Self::Home,
            ["keys"] => Self::Keys,
            ["keys", id, "revoke"] => Self::RevokeKey(id),
            ["jobs"] => Self::Jobs,
            ["jobs", "new"] => Self::NewJob,
            ["jobs", id] => Self::Job(id),
            ["jobs", id, "events"] => Self::JobEvents(id),
            ["jobs", id, "changes"] => Self::JobChanges(id),
            ["jobs", id, "message"] => Self::JobMessage(id),
            ["jobs", id, "archive"] => Self::ArchiveJob(id),
            ["jobs", id, "journal.ndjson"] => Self::Journal(id),
            ["pulls"] => Self::Pulls,
            ["pulls", id] => Self::Pull(id),
            ["pulls", id, "conflicts"] => Self::PullConflicts(id),
            ["pulls", id, action] => Self::ActOnPull(id, PullAction::parse(action)?),
            ["playground"] => Self::Playground,
            ["playground", "ask"] => Self::Ask,
            ["conversations"] => Self::Conversations,
            ["conversations", id] => Self::Conversation(id),
            ["analytics"] => Self::Analytics,
            ["gaps"] => Self::Gaps,
            ["searches"] => Self::Searches,
            ["settings"] => Self::Settings,
            ["reindex"] => Self::Reindex,
            ["remove"] => Self::Remove,
            _ => return None,
        })
    }

    const fn methods(&self) -> Methods {
        match self {
            Self::Home
            | Self::Jobs
            | Self::Job(_)
            | Self::JobEvents(_)
            | Self::JobChanges(_)
            | Self::Journal(_)
            | Self::Pulls
            | Self::Pull(_)
            | Self::PullConflicts(_)
            | Self::Conversations
            | Self::Conversation(_)
            | Self::Analytics
            | Self::Gaps
            | Self::Searches => Methods::GET,
            Self::RevokeKey(_)
            | Self::JobMessage(_)
            | Self::ArchiveJob(_)
            | Self::ActOnPull(..)
            | Self::Ask
            | Self::Reindex
            | Self::Remove => Methods::POST,
            Self::Keys | Self::NewJob | Self::Playground | Self::Settings => BOTH,
        }
    }

    const fn needs(&self, is_write: bool) -> OperatorRole {
        match self {
            Self::Home
            | Self::Jobs
            | Self::Job(_)
            | Self::JobEvents(_)
            | Self::JobChanges(_)
            | Self::Journal(_)
            | Self::Pulls
            | Self::Pull(_)
            | Self::PullConflicts(_)
            | Self::Conversations
            | Self::Conversation(_)
            | Self::Analytics
            | Self::Gaps
            | Self::Searches => OperatorRole::Viewer,
            // A question writes a conversation and may cost money.
            Self::Playground if !is_write => OperatorRole::Viewer,
            Self::Playground
            | Self::Ask
            | Self::NewJob
            | Self::JobMessage(_)
            | Self::ArchiveJob(_)
            | Self::ActOnPull(..)
            | Self::Reindex => OperatorRole::Editor,
            Self::Keys | Self::RevokeKey(_) | Self::Settings | Self::Remove => OperatorRole::Owner,
        }
    }
}
