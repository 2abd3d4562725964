//! The layout of pages, and elements that several pages use.

use docent_operators::{OperatorRole, SignedIn};
use docent_types::Project;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::assets;
use crate::guard::TOKEN;
use crate::text::grouped;

/// The entry of the navigation that a page belongs to.
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
    Account,
}

/// A page for a signed-in operator.
pub(crate) struct Page<'p> {
    pub(crate) title: &'p str,
    pub(crate) section: Section,
    pub(crate) project: Option<&'p Project>,
    pub(crate) signed_in: &'p SignedIn,
    /// A message about what was just done.
    pub(crate) done: Option<&'p str>,
}

impl Page<'_> {
    pub(crate) fn html(&self, body: &Markup) -> Markup {
        let project = self.project;
        html! {
            (head(self.title, project))
            body {
                a.skip href="#main" { "Skip to the page" }
                div.frame {
                    nav.side aria-label="Docent" {
                        p.brand { a href="/dashboard" { "Docent" } }
                        @if let Some(project) = project { (self.project_links(project)) }
                        (self.links())
                        form method="post" action="/dashboard/-/sign-out" {
                            (token(self.signed_in))
                            button type="submit" { "Sign out " (self.signed_in.operator.name) }
                        }
                    }
                    main #main tabindex="-1" {
                        @if let Some(done) = self.done { div.box.good role="status" { p { (done) } } }
                        h1 { (self.title) }
                        (body)
                    }
                }
            }
        }
    }

    fn links(&self) -> Markup {
        let is_owner = self.signed_in.operator.role == OperatorRole::Owner;
        let here = |section| self.project.is_none() && self.section == section;
        html! {
            h2 #server-links { "Server" }
            ul aria-labelledby="server-links" {
                (link("/dashboard", "Home", here(Section::Home)))
                (link("/dashboard/-/jobs", "Jobs", here(Section::Jobs)))
                (link("/dashboard/-/pulls", "Pull requests", here(Section::Pulls)))
                (link("/dashboard/-/projects", "Projects", here(Section::Projects)))
                @if is_owner {
                    (link("/dashboard/-/operators", "Operators", here(Section::Operators)))
                    (link("/dashboard/-/audit", "Audit", here(Section::Audit)))
                    (link("/dashboard/-/settings", "Settings", here(Section::Settings)))
                }
                (link("/dashboard/-/account", "Your account", here(Section::Account)))
            }
        }
    }

    fn project_links(&self, project: &Project) -> Markup {
        let role = self.signed_in.operator.role;
        let domain = &project.domain;
        let to = |page: &str| format!("/dashboard/{domain}{page}");
        let here = |section| self.section == section;
        html! {
            h2 #project-links { (project.domain) }
            ul aria-labelledby="project-links" {
                (link(&to(""), "Overview", here(Section::Home)))
                (link(&to("/jobs"), "Jobs", here(Section::Jobs)))
                (link(&to("/pulls"), "Pull requests", here(Section::Pulls)))
                (link(&to("/playground"), "Playground", here(Section::Playground)))
                (link(&to("/conversations"), "Conversations", here(Section::Conversations)))
                (link(&to("/analytics"), "Analytics", here(Section::Analytics)))
                (link(&to("/gaps"), "Gaps", here(Section::Gaps)))
                (link(&to("/searches"), "Searches", here(Section::Searches)))
                (link(&to("/widget"), "Chat on your site", here(Section::Widget)))
                @if role == OperatorRole::Owner {
                    (link(&to("/keys"), "API keys", here(Section::Keys)))
                    (link(&to("/settings"), "Project settings", here(Section::Settings)))
                }
            }
        }
    }
}

fn link(href: &str, text: &str, is_here: bool) -> Markup {
    html! { li { a href=(href) aria-current=[is_here.then_some("page")] { (text) } } }
}

/// A page for a visitor who is not signed in.
pub(crate) fn bare(title: &str, body: &Markup) -> Markup {
    html! {
        (head(title, None))
        body {
            main.narrow #main {
                h1 { (title) }
                (body)
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
            link rel="icon" href="data:,";
            script src=(assets::SCRIPT.path()) defer {}
        }
    }
}

/// The hidden field with the CSRF token, for every form of a signed-in operator.
pub(crate) fn token(signed_in: &SignedIn) -> Markup {
    html! { input type="hidden" name=(TOKEN) value=(signed_in.csrf.expose()); }
}

/// A form with one button. Use [`danger`] for an action that needs a second step.
pub(crate) fn button(signed_in: &SignedIn, action: &str, label: &str) -> Markup {
    html! {
        form method="post" action=(action) { (token(signed_in)) button.quiet type="submit" { (label) } }
    }
}

/// A button that cannot be pressed by mistake: it must be opened first, below a sentence that says what it will do.
pub(crate) fn danger(signed_in: &SignedIn, action: &str, label: &str, sentence: &Markup) -> Markup {
    html! {
        details {
            summary { (label) }
            p { (sentence) }
            form method="post" action=(action) { (token(signed_in)) button.danger type="submit" { (label) } }
        }
    }
}

/// A table that scrolls on its own in a narrow window.
pub(crate) fn table(label: &str, head: &Markup, rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table { thead { tr { (head) } } tbody { (rows) } }
        }
    }
}

/// Links that filter a list by state, with the number of rows in each state; `query` returns the query string of a
/// state.
pub(crate) fn state_links<'s>(
    states: impl IntoIterator<Item = (&'s str, u64)>,
    current: &str,
    query: impl Fn(&str) -> String,
) -> Markup {
    html! {
        nav.pages aria-label="States" {
            @for (name, count) in states {
                a href=(format_args!("?{}", query(name))) aria-current=[(name == current).then_some("true")] {
                    @if name.is_empty() { "all" } @else { (name) } " " (grouped(count))
                }
            }
        }
    }
}

/// Links to the neighbouring pages of a list. `query` is the filter of the list; `newer` and `older` are the keys of
/// the first and the last row shown, given only if there are more rows beyond them.
pub(crate) fn page_links(query: &str, is_newest: bool, newer: Option<String>, older: Option<String>) -> Markup {
    html! {
        nav.pages aria-label="Pages" {
            @if !is_newest { a href=(format_args!("?{query}")) { "Newest" } }
            @if let Some(newer) = newer { a href=(format_args!("?{query}before={newer}")) rel="prev" { "Newer" } }
            @if let Some(older) = older { a href=(format_args!("?{query}after={older}")) rel="next" { "Older" } }
        }
    }
}
