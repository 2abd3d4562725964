//! The search over everything: projects, jobs, pull requests and pages of the docs.

use docent_forge::PullSearch;
use docent_jobs::JobSearch;
use docent_search::{Asker, Filter, Query};
use docent_types::Project;
use docent_web::{HttpError, Response};
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::icon::Icon;
use crate::layout::Section;
use crate::pages::{jobs, pulls};
use crate::parts::empty;
use crate::text::{Untrusted, shortened};
use crate::words::{docs_page, first_words};

/// Results of each kind.
const MAX_OF_A_KIND: usize = 6;
/// Projects whose docs are searched, each of which takes milliseconds.
const MAX_SEARCHED_DOCS: usize = 20;
const MAX_CHARS: usize = 200;

/// A result: its icon, address and name, and what stands beside it.
struct Found {
    icon: Icon,
    address: String,
    name: String,
    beside: Markup,
}

pub(crate) async fn search(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let text = request.http.query("q").map(|text| text.trim().to_owned()).unwrap_or_default();
    let text = shortened(&text, MAX_CHARS).into_owned();
    let body = if text.is_empty() {
        empty(Icon::Search, "Search everything", "Projects, jobs, pull requests and pages of the docs.", None)
    } else {
        results(request, &text).await?
    };
    Ok(request.page("Search", Section::Elsewhere, None, &body))
}

async fn results(request: &AuthorizedRequest<'_>, text: &str) -> Result<Markup, HttpError> {
    let projects = &request.frame.projects;
    let groups = [
        ("Projects", of_projects(projects, text)),
        ("Jobs", of_jobs(request, projects, text).await?),
        ("Pull requests", of_pulls(request, projects, text).await?),
        ("Pages of the docs", of_docs(request, projects, text).await),
    ];
    let is_empty = groups.iter().all(|(_, found)| found.is_empty());
    Ok(html! {
        div data-found {
            @if projects.len() > MAX_SEARCHED_DOCS { p.soft { "Pages are looked for in the docs of the first " (MAX_SEARCHED_DOCS) " projects; those of another are searched in its playground." } }
            @if is_empty { (empty(Icon::Search, "Nothing found", "No project, job, pull request or page has these words.", None)) }
            @for (name, found) in groups.iter().filter(|(_, found)| !found.is_empty()) {
                h2 { (name) }
                ul.plain { @for Found { icon, address, name, beside } in found {
                    li { a href=(address) { (icon) " " bdi { (name) } } " " (beside) }
                } }
            }
        }
    })
}

fn of_projects(projects: &[Project], text: &str) -> Vec<Found> {
    let folded = text.to_lowercase();
    let has = |project: &&Project| {
        [project.domain.as_str(), project.id.as_str(), &project.repository]
            .iter()
            .any(|name| name.to_lowercase().contains(&folded))
    };
    let found = projects.iter().filter(has).take(MAX_OF_A_KIND).map(|project| Found {
        icon: Icon::Projects,
        address: format!("/dashboard/{}", project.domain),
        name: project.domain.to_string(),
        beside: html! {},
    });
    found.collect()
}

async fn of_jobs(request: &AuthorizedRequest<'_>, projects: &[Project], text: &str) -> Result<Vec<Found>, HttpError> {
    let projects = projects.iter().map(|project| project.id.clone()).collect();
    let search = JobSearch { projects, text: text.to_owned(), limit: MAX_OF_A_KIND, ..JobSearch::default() };
    let found = request.parts().jobs.search(search).await?;
    let found = found.jobs.into_iter().map(|found| Found {
        icon: Icon::Jobs,
        address: format!("/dashboard/{}/jobs/{}", found.job.domain, found.job.id),
        name: found
            .prompt
            .as_deref()
            .map_or_else(|| found.job.source.branch.clone(), |prompt| first_words(prompt, 100)),
        beside: html! { (jobs::state(found.job.status)) },
    });
    Ok(found.collect())
}

async fn of_pulls(request: &AuthorizedRequest<'_>, projects: &[Project], text: &str) -> Result<Vec<Found>, HttpError> {
    let ids = projects.iter().map(|project| project.id.clone()).collect();
    let search = PullSearch { projects: ids, text: text.to_owned(), limit: MAX_OF_A_KIND, ..PullSearch::default() };
    let found = request.parts().pulls.search(search).await.map_err(HttpError::internal)?;
    let found = found.pulls.iter().filter_map(|record| {
        let project = projects.iter().find(|project| project.id == record.project)?;
        Some(Found {
            icon: Icon::Pull,
            address: format!("/dashboard/{}/pulls/{}", project.domain, record.id),
            name: format!("#{} {}", record.number, first_words(&record.title, 100)),
            beside: html! { (pulls::state(record)) },
        })
    });
    Ok(found.collect())
}

async fn of_docs(request: &AuthorizedRequest<'_>, projects: &[Project], text: &str) -> Vec<Found> {
    let query = Query {
        text: text.to_owned(),
        after: None,
        beside: String::new(),
        limit: MAX_OF_A_KIND,
        filter: Filter::default(),
        near: None,
        asker: Asker::SearchBox,
    };
    let mut all = Vec::new();
    for project in projects.iter().take(MAX_SEARCHED_DOCS) {
        let Some(docs) = request.read_docs(project) else { continue };
        let found = docs.find(&query).await.into_iter().map(|passage| {
            let headings = passage.headings.join(" › ");
            let found = Found {
                icon: Icon::File,
                address: docs_page(&project.domain, &passage.path),
                name: shortened(&passage.title, 100).into_owned(),
                beside: html! { span.soft { @if !headings.is_empty() { (Untrusted(&shortened(&headings, 100))) " · " } (project.domain) } },
            };
            (passage.score, found)
        });
        all.extend(found);
    }
    all.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    all.into_iter().take(MAX_OF_A_KIND).map(|(_, found)| found).collect()
}
