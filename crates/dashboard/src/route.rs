//! Paths below `/dashboard`, and the roles that they require.

use docent_operators::OperatorRole;
use docent_web::Methods;
use http::Method;

const GET: Methods = Methods::GET;
const POST: Methods = Methods::POST;
const BOTH: Methods = Methods::new(&[Method::GET, Method::POST]);

/// The route of a path below `/dashboard`. Pages that belong to no project are below `/dashboard/-`, since `-` is not a
/// domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageRoute<'a> {
    Asset(&'a str),
    SignIn,
    /// Redirects to the identity provider.
    SignInElsewhere,
    /// The path to which the identity provider sends browsers back.
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
    Search,
    Style,
    Project(&'a str, ProjectRoute<'a>),
}

/// The route of a path below a project's domain.
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
    Docs,
    Widget,
    Settings,
    Reindex,
    Remove,
}

/// An action on a pull request of the local forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PullAction {
    Merge,
    Squash,
    Update,
    Solve,
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
            "solve" => Self::Solve,
            "close" => Self::Close,
            "reopen" => Self::Reopen,
            "comment" => Self::Comment,
            _ => return None,
        })
    }
}

/// Who may request a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nobody,
    SignedIn(OperatorRole),
}

const NOBODY: Needs = Needs::Nobody;
const VIEWER: Needs = Needs::SignedIn(OperatorRole::Viewer);
const EDITOR: Needs = Needs::SignedIn(OperatorRole::Editor);
const OWNER: Needs = Needs::SignedIn(OperatorRole::Owner);

/// A path: its route, the methods it accepts, and who may request it. Viewers may read all pages but those that show
/// secrets or people.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PagePath<'a> {
    pub(crate) route: PageRoute<'a>,
    pub(crate) methods: Methods,
    needs: Needs,
}

impl<'a> PagePath<'a> {
    /// Parses the segments below `dashboard`.
    pub(crate) fn of(segments: &[&'a str]) -> Option<Self> {
        let (route, methods, needs) = PageRoute::of(segments)?;
        Some(Self { route, methods, needs })
    }

    pub(crate) const fn needs(&self, is_write: bool) -> Needs {
        match self.route {
            // A question writes a conversation and may cost money.
            PageRoute::Project(_, ProjectRoute::Playground) if is_write => EDITOR,
            _ => self.needs,
        }
    }
}

impl<'a> PageRoute<'a> {
    fn of(segments: &[&'a str]) -> Option<(Self, Methods, Needs)> {
        Some(match segments {
            [] => (Self::Home, GET, VIEWER),
            ["-", rest @ ..] => match rest {
                ["assets", name] => (Self::Asset(name), GET, NOBODY),
                ["sign-in"] => (Self::SignIn, BOTH, NOBODY),
                ["sign-in", "openid"] => (Self::SignInElsewhere, GET, NOBODY),
                ["sign-in", "openid", "return"] => (Self::SignInReturn, GET, NOBODY),
                ["sign-out"] => (Self::SignOut, POST, VIEWER),
                ["join", token] => (Self::Join(token), BOTH, NOBODY),
                ["live"] => (Self::Live, GET, VIEWER),
                ["jobs"] => (Self::Jobs, GET, VIEWER),
                ["pulls"] => (Self::Pulls, GET, VIEWER),
                ["projects"] => (Self::Projects, GET, VIEWER),
                ["projects", "new"] => (Self::NewProject, BOTH, OWNER),
                ["operators"] => (Self::Operators, BOTH, OWNER),
                ["operators", id, "role"] => (Self::OperatorRole(id), POST, OWNER),
                ["operators", id, "reset"] => (Self::OperatorReset(id), POST, OWNER),
                ["operators", id, "remove"] => (Self::RemoveOperator(id), POST, OWNER),
                ["audit"] => (Self::Audit, GET, OWNER),
                ["account"] => (Self::Account, BOTH, VIEWER),
                ["account", "sign-out-everywhere"] => (Self::SignOutEverywhere, POST, VIEWER),
                ["settings"] => (Self::Settings, GET, OWNER),
                ["search"] => (Self::Search, GET, VIEWER),
                ["style"] => (Self::Style, GET, OWNER),
                _ => return None,
            },
            [domain, rest @ ..] => {
                let (route, methods, needs) = ProjectRoute::of(rest)?;
                (Self::Project(domain, route), methods, needs)
            }
        })
    }
}

impl<'a> ProjectRoute<'a> {
    fn of(segments: &[&'a str]) -> Option<(Self, Methods, Needs)> {
        Some(match segments {
            [] => (Self::Home, GET, VIEWER),
            ["keys"] => (Self::Keys, BOTH, OWNER),
            ["keys", id, "revoke"] => (Self::RevokeKey(id), POST, OWNER),
            ["jobs"] => (Self::Jobs, GET, VIEWER),
            ["jobs", "new"] => (Self::NewJob, BOTH, EDITOR),
            ["jobs", id] => (Self::Job(id), GET, VIEWER),
            ["jobs", id, "events"] => (Self::JobEvents(id), GET, VIEWER),
            ["jobs", id, "changes"] => (Self::JobChanges(id), GET, VIEWER),
            ["jobs", id, "message"] => (Self::JobMessage(id), POST, EDITOR),
            ["jobs", id, "archive"] => (Self::ArchiveJob(id), POST, EDITOR),
            ["jobs", id, "journal.ndjson"] => (Self::Journal(id), GET, VIEWER),
            ["pulls"] => (Self::Pulls, GET, VIEWER),
            ["pulls", id] => (Self::Pull(id), GET, VIEWER),
            ["pulls", id, "conflicts"] => (Self::PullConflicts(id), GET, VIEWER),
            ["pulls", id, action] => (Self::ActOnPull(id, PullAction::parse(action)?), POST, EDITOR),
            ["playground"] => (Self::Playground, BOTH, VIEWER),
            ["playground", "ask"] => (Self::Ask, POST, EDITOR),
            ["conversations"] => (Self::Conversations, GET, VIEWER),
            ["conversations", id] => (Self::Conversation(id), GET, VIEWER),
            ["analytics"] => (Self::Analytics, GET, VIEWER),
            ["gaps"] => (Self::Gaps, GET, VIEWER),
            ["searches"] => (Self::Searches, GET, VIEWER),
            ["docs"] => (Self::Docs, GET, VIEWER),
            ["widget"] => (Self::Widget, GET, VIEWER),
            ["settings"] => (Self::Settings, BOTH, OWNER),
            ["reindex"] => (Self::Reindex, POST, EDITOR),
            ["remove"] => (Self::Remove, POST, OWNER),
            _ => return None,
        })
    }
}
