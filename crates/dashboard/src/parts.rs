//! Parts that several pages are made of: buttons, messages, tables, and links between the pages of a list.

use docent_operators::SignedIn;
use maud::{Markup, html};

use crate::icon::Icon;
use crate::layout::token;
use crate::text::grouped;

/// A form with one button. `class` is empty for the primary button, `secondary` or `quiet`. Use [`danger`] for an action
/// that needs a second step.
pub(crate) fn button(signed_in: &SignedIn, action: &str, label: &str, class: &str) -> Markup {
    html! {
        form method="post" action=(action) { (token(signed_in)) button class=[Some(class).filter(|class| !class.is_empty())] type="submit" { (label) } }
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

/// A message. `kind` is `good`, `bad`, `note` or empty. Screen readers hear a bad one at once.
pub(crate) fn notice(kind: &str, body: &Markup) -> Markup {
    let icon = match kind {
        "good" => Icon::Done,
        "bad" => Icon::Failed,
        "note" => Icon::Warning,
        _ => Icon::Info,
    };
    let role = if kind == "bad" { "alert" } else { "status" };
    html! { div class=(format_args!("notice {kind}")) role=(role) { (icon) div { (body) } } }
}

/// What stands where there is nothing: what would be here, and the one thing that begins it, if this operator may.
pub(crate) fn empty(icon: Icon, title: &str, sentence: &str, begin: Option<(&str, &str)>) -> Markup {
    html! {
        div.empty {
            (icon)
            p { strong { (title) } (sentence) }
            @if let Some((address, label)) = begin { p { a.button href=(address) { (label) } } }
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column<'t> {
    /// What a row is about. On a narrow screen, where a row is a card, it has no label.
    Title(&'t str),
    Text(&'t str),
    Number(&'t str),
}

/// A table; on a narrow screen each row is a card.
pub(crate) fn table(label: &str, columns: &[Column<'_>], rows: impl IntoIterator<Item = Vec<Markup>>) -> Markup {
    html! {
        div.scroll.rows tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr { @for column in columns {
                    @match column { Column::Title(name) | Column::Text(name) => th { (name) }, Column::Number(name) => th.num { (name) } }
                } } }
                tbody { @for row in rows { tr { @for (column, cell) in columns.iter().zip(row) {
                    @match column {
                        Column::Title(_) => td { (cell) },
                        Column::Text(name) => td data-label=(name) { (cell) },
                        Column::Number(name) => td.num data-label=(name) { (cell) },
                    }
                } } } }
            }
        }
    }
}

/// The form of a list's filter, which is folded on a narrow screen unless it filters.
pub(crate) fn filters(is_open: bool, form: &Markup) -> Markup {
    html! { details.filters open[is_open] { summary { (Icon::Filter) "Filter" } (form) } }
}

/// Links that filter a list by state, with the number of rows in each state; `query` returns the query string of a
/// state. A state is its name in the address, the word that people read, and a number.
pub(crate) fn state_links<'s>(
    states: impl IntoIterator<Item = (&'s str, &'s str, u64)>,
    current: &str,
    query: impl Fn(&str) -> String,
) -> Markup {
    html! {
        nav.tabs aria-label="States" {
            @for (name, word, count) in states {
                a href=(format_args!("?{}", query(name))) aria-current=[(name == current).then_some("true")] { (word) " " (grouped(count)) }
            }
        }
    }
}

/// Links to the neighbouring pages of a list. `query` is the filter of the list; `newer` and `older` are the keys of
/// the first and the last row shown, given only if there are more rows beyond them.
pub(crate) fn page_links(query: &str, is_newest: bool, newer: Option<String>, older: Option<String>) -> Markup {
    html! {
        nav.pages aria-label="Pages of the list" {
            @if !is_newest { a href=(format_args!("?{query}")) { "Newest" } }
            @if let Some(newer) = newer { a href=(format_args!("?{query}before={newer}")) rel="prev" { "Newer" } }
            @if let Some(older) = older { a href=(format_args!("?{query}after={older}")) rel="next" { "Older" } }
        }
    }
}

/// A button that copies the text of the element with this id. It needs a script, which shows it.
pub(crate) fn copy_button(id: &str, label: &str) -> Markup {
    html! { button.secondary type="button" data-copy=(id) hidden { (label) } }
}

/// A form that was not accepted: the name of the field that the sentence is about, if it is about one.
#[derive(Debug)]
pub(crate) struct FormProblem {
    pub(crate) field: Option<&'static str>,
    pub(crate) sentence: String,
}

impl FormProblem {
    pub(crate) fn of(field: &'static str, sentence: impl Into<String>) -> Self {
        Self { field: Some(field), sentence: sentence.into() }
    }
}

/// What ties a control of a form to its label, its hint and its problem.
#[derive(Debug)]
pub(crate) struct Tie {
    pub(crate) described: Option<String>,
    pub(crate) is_wrong: bool,
}

impl Tie {
    pub(crate) fn invalid(&self) -> Option<&'static str> {
        self.is_wrong.then_some("true")
    }
}

/// A field of a form: its label, its hint if there is one, what is wrong with it, and its control, which has the name as
/// its id.
pub(crate) fn field(
    name: &str,
    label: &str,
    hint: &str,
    problem: Option<&FormProblem>,
    control: impl FnOnce(&Tie) -> Markup,
) -> Markup {
    let problem = problem.filter(|problem| problem.field == Some(name));
    let described: Vec<String> = [(problem.is_some(), "problem"), (!hint.is_empty(), "hint")]
        .into_iter()
        .filter(|(is_there, _)| *is_there)
        .map(|(_, what)| format!("{name}-{what}"))
        .collect();
    let tie = Tie { described: Some(described.join(" ")).filter(|ids| !ids.is_empty()), is_wrong: problem.is_some() };
    html! {
        div {
            label for=(name) { (label) }
            @if !hint.is_empty() { small.hint id=(format_args!("{name}-hint")) { (crate::text::Sentence(hint)) } }
            @if let Some(problem) = problem { p.problem role="alert" id=(format_args!("{name}-problem")) { (crate::text::Sentence(&problem.sentence)) } }
            (control(&tie))
        }
    }
}

/// The problem of a form that is about no field of it.
pub(crate) fn form_problem(problem: Option<&FormProblem>) -> Markup {
    html! {
        @if let Some(problem) = problem.filter(|problem| problem.field.is_none()) {
            (notice("bad", &html! { p { (crate::text::Sentence(&problem.sentence)) } }))
        }
    }
}
