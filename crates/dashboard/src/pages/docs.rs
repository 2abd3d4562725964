//! The pages of a project's docs as they are indexed: what readers' questions are answered from.

use docent_search::PageEntry;
use docent_types::Project;
use docent_web::Response;
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::forge_links::file_on_forge;
use crate::icon::Icon;
use crate::layout::{Section, View};
use crate::parts::{Column, empty, notice, table};
use crate::text::{Sentence, Untrusted, counted, shortened};
use crate::words::{Place, docs_page, words};

/// Pages in the list.
const MAX_LISTED: usize = 500;

/// One page of the docs, or the list of all.
pub(crate) fn docs(request: &AuthorizedRequest<'_>, project: &Project) -> Response {
    let overview = format!("/dashboard/{}", project.domain);
    let Some(docs) = request.read_docs(project) else {
        let body = unread(request, project);
        return request.show(View::new("Pages", Section::Home, Some(project)).below(overview, "Overview"), &body);
    };
    let Some(address) = request.http.query("page").filter(|page| !page.is_empty()) else {
        let body = listed(project, docs.pages().collect(), docs.page_count());
        return request.show(View::new("Pages", Section::Home, Some(project)).below(overview, "Overview"), &body);
    };
    let all = format!("/dashboard/{}/docs", project.domain);
    let Some(page) = docs.page(&address) else {
        let body = empty(
            Icon::File,
            "There is no such page",
            "The index has no page at this address; it may have moved, or be newer than the index.",
            Some((&all, "See all pages")),
        );
        return request.show(View::new("Not found", Section::Home, Some(project)).below(all.clone(), "Pages"), &body);
    };
    let place = Place::of(project, Some(&docs));
    let body = html! {
        p.facts {
            span { (Icon::File) @match file_on_forge(project, &page.file) {
                Some(url) => a href=(url) rel="noopener noreferrer" { code { (Untrusted(&page.file)) } },
                None => code { (Untrusted(&page.file)) },
            } }
            span { "served at " code { "/" (Untrusted(&docs.url_of(&address).unwrap_or_default())) } }
            @if !page.groups.is_empty() { span { "for " (Untrusted(&page.groups.join(", "))) } }
        }
        div.card { (words(below_title(&page.content, &page.title), place)) }
    };
    let title = shortened(&page.title, 120);
    request.show(View::new(&docent_types::printable(&title), Section::Home, Some(project)).below(all, "Pages"), &body)
}

/// A text without the title that stands above it.
fn below_title<'t>(text: &'t str, title: &str) -> &'t str {
    let heading = text.trim_start().strip_prefix("# ").and_then(|rest| rest.split_once('\n'));
    heading.filter(|(heading, _)| heading.trim() == title.trim()).map_or(text, |(_, rest)| rest)
}

/// The pages in the order of the navigation, below the names of its outermost groups; those that it does not name are last.
fn listed(project: &Project, mut pages: Vec<PageEntry>, count: usize) -> Markup {
    pages.sort_by_key(|page| (page.order.is_none(), page.order));
    pages.truncate(MAX_LISTED);
    let group_of = |page: &PageEntry| page.breadcrumb.first().cloned();
    let is_grouped = pages.iter().any(|page| group_of(page).is_some());
    html! {
        p.soft { (counted(count as u64, "page")) " in the index" @if count > MAX_LISTED { ", of which the first " (MAX_LISTED) " are here; search for others" } "." }
        @for group in pages.chunk_by(|one, next| group_of(one) == group_of(next)) {
            @let name = group.first().and_then(group_of).unwrap_or_else(|| "Other pages".to_owned());
            @if is_grouped { h2 { (Untrusted(&shortened(&name, 120))) } }
            (page_table(project, if is_grouped { &name } else { "Pages" }, group))
        }
    }
}

fn page_table(project: &Project, label: &str, pages: &[PageEntry]) -> Markup {
    let are_described = pages.iter().any(|page| page.description.is_some());
    let rows = pages.iter().map(|page| {
        let mut row = vec![
            html! { a.title href=(docs_page(&project.domain, &page.path)) { (Untrusted(&shortened(&page.title, 120))) } },
            html! { code { "/" (Untrusted(&page.path)) } },
        ];
        row.extend(are_described.then(|| html! { @if let Some(description) = &page.description { (Untrusted(&shortened(description, 160))) } }));
        row
    });
    let mut columns = vec![Column::Title("Page"), Column::Text("Address")];
    columns.extend(are_described.then_some(Column::Text("Description")));
    table(label, &columns, rows)
}

/// What stands where the docs are needed and were not read yet.
pub(super) fn unread(request: &AuthorizedRequest<'_>, project: &Project) -> Markup {
    let index = request.parts().operations.index(project);
    let overview = format!("/dashboard/{}", project.domain);
    html! {
        div data-live="jobs" {
            @if let Some(why) = &index.failure {
                (notice("bad", &html! { p { "The docs could not be read: " (Sentence(why)) } p { a href=(overview) { "See the overview" } } }))
            } @else {
                (notice("note", &html! { p { "The docs are still being read. " (super::home::index_line(&index, request.parts().clock.now())) " Once that is done, this page has what you look for." } }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_not_said_twice() {
        assert_eq!(below_title("\n# Retries\n\nThree times.", "Retries"), "\nThree times.");
        for other in ["# Retries of hooks\n\nx", "## Retries\n\nx", "Retries\nx"] {
            assert_eq!(below_title(other, "Retries"), other);
        }
    }
}
