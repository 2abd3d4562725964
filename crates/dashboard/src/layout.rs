//! The frame of pages: the bar at the top, the menu of a project or of the server, and the head of a page.

use docent_operators::{OperatorRole, SignedIn};
use docent_types::Project;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::assets;
use crate::guard::TOKEN;
use crate::icon::Icon;
use crate::parts::notice;
use crate::text::{Untrusted, grouped};

/// Projects that the switcher names; the page of projects has all.
const MAX_SWITCHED: usize = 30;

/// The entry of the menu that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Home,
    Jobs,
    Pulls,
    Projects,
    Playground,
    Conversations,
    Analytics,
    Gaps,
    Searches,
    Widget,
    Keys,
    Operators,
    Audit,
    Settings,
    Style,
    /// None.
    Elsewhere,
}

/// An entry of the menu: what it leads to, below the address of the project or of the server.
struct Entry(Section, Icon, &'static str, &'static str);

const WORK: [Entry; 3] = [
    Entry(Section::Jobs, Icon::Jobs, "Jobs", "/jobs"),
    Entry(Section::Pulls, Icon::Pull, "Pull requests", "/pulls"),
    Entry(Section::Gaps, Icon::Gap, "Gaps", "/gaps"),
];
const READERS: [Entry; 4] = [
    Entry(Section::Conversations, Icon::Conversations, "Conversations", "/conversations"),
    Entry(Section::Searches, Icon::Searches, "Searches", "/searches"),
    Entry(Section::Analytics, Icon::Analytics, "Analytics", "/analytics"),
    Entry(Section::Playground, Icon::Playground, "Playground", "/playground"),
];
const KEYS: Entry = Entry(Section::Keys, Icon::Keys, "API keys", "/keys");
const PROJECT_SETTINGS: Entry = Entry(Section::Settings, Icon::Settings, "Project settings", "/settings");
const WIDGET: Entry = Entry(Section::Widget, Icon::Chat, "Chat on your site", "/widget");
const SERVER: [Entry; 3] = [
    Entry(Section::Jobs, Icon::Jobs, "Jobs", "/jobs"),
    Entry(Section::Pulls, Icon::Pull, "Pull requests", "/pulls"),
    Entry(Section::Projects, Icon::Projects, "Projects", "/projects"),
];
const SERVER_SET_UP: [Entry; 4] = [
    Entry(Section::Operators, Icon::Operators, "Operators", "/operators"),
    Entry(Section::Audit, Icon::Audit, "Audit", "/audit"),
    Entry(Section::Settings, Icon::Settings, "Settings", "/settings"),
    Entry(Section::Style, Icon::Style, "Style", "/style"),
];

/// What the bar of every page shows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    pub(crate) projects: Vec<Project>,
    /// Of all projects.
    pub(crate) active_jobs: ActiveJobs,
    /// What is in the field of the search.
    pub(crate) sought: String,
}

/// How many jobs are active.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ActiveJobs {
    pub(crate) all: u64,
    /// Those of them that wait: for a place, for a model, or for another attempt.
    pub(crate) waiting: u64,
}

/// What a page says about itself.
pub(crate) struct View<'p> {
    pub(crate) title: &'p str,
    pub(crate) section: Section,
    pub(crate) project: Option<&'p Project>,
    /// The page above this one: its address and name.
    pub(crate) above: Option<(String, &'p str)>,
    /// Buttons beside the title.
    pub(crate) actions: Markup,
}

impl<'p> View<'p> {
    pub(crate) fn new(title: &'p str, section: Section, project: Option<&'p Project>) -> Self {
        Self { title, section, project, above: None, actions: Markup::default() }
    }

    pub(crate) fn below(self, address: String, name: &'p str) -> Self {
        Self { above: Some((address, name)), ..self }
    }

    pub(crate) fn with(self, actions: Markup) -> Self {
        Self { actions, ..self }
    }
}

/// A page for a signed-in operator.
pub(crate) struct Page<'p> {
    pub(crate) view: View<'p>,
    pub(crate) frame: &'p Frame,
    pub(crate) signed_in: &'p SignedIn,
    /// A message about what was just done.
    pub(crate) done: Option<&'p str>,
}

impl Page<'_> {
    pub(crate) fn html(&self, body: &Markup) -> Markup {
        let View { title, project, above, actions, .. } = &self.view;
        html! {
            (head(title, *project))
            body {
                a.skip href="#main" { "Skip to the page" }
                (self.bar())
                div.frame {
                    nav.side #menu popover aria-label="Pages" { (self.menu()) }
                    main #main tabindex="-1" {
                        @if let Some(done) = self.done { (notice("good", &html! { p { (done) } })) }
                        header.head {
                            div {
                                @if let Some((address, name)) = above { p.crumb { a href=(address) { "← " (name) } } }
                                h1 { (title) }
                            }
                            @if !actions.0.is_empty() { div.actions { (actions) } }
                        }
                        (body)
                    }
                }
            }
        }
    }

    fn bar(&self) -> Markup {
        let sought = &self.frame.sought;
        html! {
            header.bar {
                button.menu-button type="button" popovertarget="menu" aria-label="Menu" { (Icon::Menu) }
                a.brand href="/dashboard" aria-label="Docent" { (mark()) span { "Docent" } }
                (self.switcher())
                form.find action="/dashboard/-/search" role="search" data-find {
                    (Icon::Search)
                    input #find type="search" name="q" value=(sought) aria-label="Search" placeholder="Search" autocomplete="off" spellcheck="false" maxlength="200";
                    kbd aria-hidden="true" { "/" }
                    div.panel #found-anywhere popover="manual" {}
                }
                (now(self.frame))
                button.tool type="button" popovertarget="account" aria-label=(format_args!("Account of {}", self.signed_in.operator.name)) {
                    (Icon::Account) bdi.name { (self.signed_in.operator.name) }
                }
                div.panel.right #account popover { (self.account()) }
            }
        }
    }

    fn switcher(&self) -> Markup {
        let current = self.view.project;
        html! {
            span.slash aria-hidden="true" { "/" }
            button.tool type="button" popovertarget="projects" {
                bdi { @match current { Some(project) => (project.domain), None => "All projects" } } span.unseen { ": switch project" } (Icon::Choose)
            }
            nav.panel #projects popover aria-label="Projects" {
                ul {
                    @for project in self.frame.projects.iter().take(MAX_SWITCHED) {
                        li { a href=(format_args!("/dashboard/{}", project.domain)) aria-current=[current.is_some_and(|here| here.id == project.id).then_some("true")] { (Icon::Projects) bdi { (project.domain) } } }
                    }
                    li { a href="/dashboard/-/projects" { (Icon::Menu) "All projects" } }
                    @if self.is_owner() { li { a href="/dashboard/-/projects/new" { (Icon::Add) "Add a project" } } }
                }
            }
        }
    }

    fn account(&self) -> Markup {
        let operator = &self.signed_in.operator;
        html! {
            p.soft.small { (Untrusted(operator.name.as_str())) ", " (operator.role.as_str()) }
            ul { li { a href="/dashboard/-/account" { (Icon::Person) "Your account" } } }
            form method="post" action="/dashboard/-/sign-out" {
                (token(self.signed_in))
                button type="submit" { (Icon::Leave) "Sign out" }
            }
        }
    }

    fn is_owner(&self) -> bool {
        self.signed_in.operator.role == OperatorRole::Owner
    }

    fn menu(&self) -> Markup {
        let section = self.view.section;
        let Some(project) = self.view.project else {
            return html! {
                ul { (entry("/dashboard", section, &Entry(Section::Home, Icon::Home, "Home", ""))) (entries("/dashboard/-", section, &SERVER)) }
                @if self.is_owner() { (group("Server", "/dashboard/-", section, &SERVER_SET_UP)) }
            };
        };
        let base = format!("/dashboard/{}", project.domain);
        html! {
            ul { (entry(&base, section, &Entry(Section::Home, Icon::Overview, "Overview", ""))) }
            (group("Work", &base, section, &WORK))
            (group("Readers", &base, section, &READERS))
            @if self.is_owner() { (group("Set-up", &base, section, &[KEYS, PROJECT_SETTINGS, WIDGET])) }
            @else { (group("Set-up", &base, section, &[WIDGET])) }
            hr;
            ul { li { a href="/dashboard" { (Icon::Server) "Server" } } }
        }
    }
}

/// How many jobs run and wait. A live page puts it in the place of what the bar has.
pub(crate) fn now(Frame { active_jobs: ActiveJobs { all, waiting }, .. }: &Frame) -> Markup {
    let running = all.saturating_sub(*waiting);
    html! {
        a.now.busy[*all > 0].waits[running == 0 && *waiting > 0] #now data-part href="/dashboard/-/jobs?status=active" {
            @if *all == 0 { (Icon::Done) "Nothing runs" }
            @if running > 0 { (Icon::Running) (grouped(running)) span.unit { @if running == 1 { "job runs" } @else { "jobs run" } } }
            @if *waiting > 0 { (Icon::Waiting) (grouped(*waiting)) span.unit { @if running > 0 { @if *waiting == 1 { "waits" } @else { "wait" } } @else if *waiting == 1 { "job waits" } @else { "jobs wait" } } }
        }
    }
}

fn group(name: &str, base: &str, here: Section, of: &[Entry]) -> Markup {
    html! { h2 { (name) } ul aria-label=(name) { (entries(base, here, of)) } }
}

fn entries(base: &str, here: Section, of: &[Entry]) -> Markup {
    html! { @for each in of { (entry(base, here, each)) } }
}

fn entry(base: &str, here: Section, Entry(section, icon, name, path): &Entry) -> Markup {
    html! { li { a href=(format_args!("{base}{path}")) aria-current=[(here == *section).then_some("page")] { (icon) (name) } } }
}

/// The mark: a page in the form of a D.
pub(crate) fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 16 16" aria-hidden="true" {
            path fill-rule="evenodd" d="M2 1h5.5a7 7 0 0 1 0 14H2zm2.6 4.1v1.7h5.3V5.1zm0 4.1v1.7h3.6V9.2z" {}
        }
    }
}

/// A page for a visitor who is not signed in.
pub(crate) fn bare(title: &str, body: &Markup) -> Markup {
    html! {
        (head(title, None))
        body {
            div.narrow {
                p.brand { (mark()) "Docent" }
                main #main {
                    header.head { h1 { (title) } }
                    (body)
                }
            }
        }
    }
}

fn head(title: &str, project: Option<&Project>) -> Markup {
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) @if let Some(project) = project { " · " (project.domain) } " · Docent" }
            link rel="stylesheet" href=(assets::STYLE.path());
            link rel="icon" type="image/svg+xml" href=(assets::MARK.path());
            script src=(assets::SCRIPT.path()) defer {}
        }
    }
}

/// The hidden field with the CSRF token, for every form of a signed-in operator.
pub(crate) fn token(signed_in: &SignedIn) -> Markup {
    html! { input type="hidden" name=(TOKEN) value=(signed_in.csrf.expose()); }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_the_pages_is_that_of_the_favicon() {
        let path =
            mark().into_string().split(" d=\"").nth(1).and_then(|rest| rest.split('"').next().map(str::to_owned));
        let file = include_str!("assets/mark.svg");
        assert!(file.contains(&path.expect("a path")), "{file}");
    }
}
