//! Inspects a project's repository before the project is stored.

use std::path::Path;

use docent_authoring::{Docs, DocsOverview};
use docent_site::Generator;
use docent_types::Project;

use crate::failure::Failure;
use crate::wiring::app::App;

/// Maximum number of sites that are listed.
const MAX_SITES: usize = 8;

/// An inspected project, and what stands below its docs root.
pub(crate) struct InspectedProject {
    pub(crate) project: Project,
    pub(crate) docs: DocsOverview,
}

/// Fetches the repository and checks that it has the branch, the docs root and pages in it. `branch` is the requested
/// branch; without one, the repository's default branch is used.
pub(crate) async fn inspect(
    app: &App,
    mut project: Project,
    branch: Option<&str>,
) -> Result<InspectedProject, Failure> {
    if is_own_mirror(app, &project) {
        let sentence = format!(
            "{} is a copy that this server keeps of another repository: give the repository itself",
            project.repository
        );
        return Err(Failure::plain(sentence).of("--repo"));
    }
    let mirror = app.repositories.fetch(&project).await.map_err(|error| Failure::from(error).of("--repo"))?;
    if branch.is_none() {
        project.branch = mirror.default_branch().ok_or_else(|| {
            let sentence =
                format!("{} names no default branch; give the branch that holds the docs", project.repository);
            Failure::plain(sentence).of("--ref")
        })?;
        project.settings.follows_default = true;
    }
    let docs = Docs::at_tip(&mirror, &project).map_err(|error| Failure::from(error).of("--ref"))?;
    let docs = overview(app, docs).await?;
    match docs.pages {
        0 => {
            let none = no_pages(&project);
            let none = skipped(&docs).map_or_else(|| none.clone(), |skipped| format!("{none}; {skipped}"));
            let failure = Failure::plain(none).of("--docs-root");
            Err(match other_sites(&docs) {
                Some(sites) => failure.then(&sites),
                None => failure,
            })
        }
        _ => Ok(InspectedProject { project, docs }),
    }
}

/// Reads the site of a docs root, which takes seconds where it is large.
pub(crate) async fn overview(app: &App, docs: Docs) -> Result<DocsOverview, Failure> {
    let quarantine = app.quarantine.clone();
    let overview = tokio::task::spawn_blocking(move || docs.overview(&quarantine));
    Ok(overview.await.map_err(|error| Failure::new("cannot read the docs", error))??)
}

/// “skipped: 100 not in the navigation, 1 configuration”, the reasons of the index; `None` where it skips nothing.
pub(super) fn skipped(docs: &DocsOverview) -> Option<String> {
    let skipped: Vec<String> =
        docs.skipped.iter().map(|(reason, files)| format!("{files} {}", reason.label())).collect();
    (!skipped.is_empty()).then(|| format!("skipped: {}", skipped.join(", ")))
}

/// How the docs are read: as which generator's site, or as plain files.
pub(crate) fn read_as(docs: &DocsOverview) -> String {
    match docs.generator {
        Generator::Plain => "plain files".to_owned(),
        generator => format!("a site of {}", generator.name()),
    }
}

/// Docs roots to propose: the folders below one that is no site itself in which a site is configured.
pub(crate) struct ProposedRoots {
    /// At least one.
    pub(crate) folders: Vec<String>,
    /// The folders with their generators, as people read them.
    pub(crate) listed: String,
}

pub(crate) fn proposed_roots(docs: &DocsOverview) -> Option<ProposedRoots> {
    let below: Vec<&(String, Generator)> = docs.sites.iter().filter(|(folder, _)| !folder.is_empty()).collect();
    if below.is_empty() || (docs.generator != Generator::Plain && below.len() < 2) {
        return None;
    }
    let shown = below.iter().take(MAX_SITES);
    let listed: Vec<String> =
        shown.clone().map(|(folder, generator)| format!("`{folder}` ({})", generator.name())).collect();
    let more = if below.len() > MAX_SITES { format!(" and {} more", below.len() - MAX_SITES) } else { String::new() };
    Some(ProposedRoots {
        folders: shown.map(|(folder, _)| folder.clone()).collect(),
        listed: format!("{}{more}", listed.join(", ")),
    })
}

/// The folder of a repository on this machine.
fn folder(project: &Project) -> Option<&Path> {
    let path = project.repository.strip_prefix("file://").unwrap_or(&project.repository);
    is_folder(project).then_some(Path::new(path))
}

/// Whether the repository is one of those that the server keeps for itself.
fn is_own_mirror(app: &App, project: &Project) -> bool {
    let mirrors = app.config.mirrors().canonicalize();
    let repository = folder(project).and_then(|path| path.canonicalize().ok());
    repository.zip(mirrors.ok()).is_some_and(|(repository, mirrors)| repository.starts_with(mirrors))
}

/// What a repository on this machine is warned of that has a work tree: it stays behind when a branch is moved.
pub(crate) fn work_tree(project: &Project) -> Option<String> {
    let path = folder(project)?;
    let has_one = path.join(".git").exists();
    has_one.then(|| {
        format!(
            "{} has a work tree, which does not follow when a pull request is merged here, and shows the merge as changes \
             to undo",
            path.display()
        )
    })
}

/// What to do about it.
pub(crate) const BARE_CLONE: &str = "serve a bare clone of it, as from `git clone --bare`, and pull from that";

/// The sites below a docs root that is none of them, and how to have one of them.
pub(crate) fn other_sites(docs: &DocsOverview) -> Option<String> {
    let ProposedRoots { folders, listed } = proposed_roots(docs)?;
    let read_as = match docs.generator {
        Generator::Plain => "The docs root is read as plain files".to_owned(),
        generator => format!("The docs root is read as one site ({})", generator.name()),
    };
    Some(format!(
        "{read_as}, and sites are configured in {listed}. To serve one of them as its generator does, give its folder, as in \
         --docs-root {}",
        folders[0]
    ))
}

/// The sentence for a project without a page.
pub(crate) fn no_pages(project: &Project) -> String {
    let Project { repository, branch, docs_root, .. } = project;
    let place = if docs_root.is_empty() { String::new() } else { format!(" below `{docs_root}`") };
    format!(
        "there is no page on `{branch}`{place} in {repository}: pages are Markdown, MDX, reStructuredText and notebooks; \
         look at the branch and at the folder of the docs"
    )
}

/// Whether the repository is a folder of this machine.
pub(super) fn is_folder(project: &Project) -> bool {
    project.repository.starts_with('/') || project.repository.starts_with("file://")
}
