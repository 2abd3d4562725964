//! Inspects a project's repository before the project is stored.

use docent_authoring::Docs;
use docent_types::Project;

use crate::failure::Failure;
use crate::wiring::app::App;

/// An inspected project, and the number of its pages.
pub(crate) struct InspectedProject {
    pub(crate) project: Project,
    pub(crate) pages: usize,
}

/// Fetches the repository and checks that it has the branch, the docs root and pages in it. `branch` is the requested
/// branch; without one, the repository's default branch is used.
pub(crate) async fn inspect(
    app: &App,
    mut project: Project,
    branch: Option<&str>,
) -> Result<InspectedProject, Failure> {
    let mirror = app.repositories.fetch(&project).await?;
    if branch.is_none() {
        project.branch = mirror.default_branch().ok_or_else(|| {
            let sentence =
                format!("{} names no default branch; give the branch that holds the docs", project.repository);
            Failure::plain(sentence).of("--ref")
        })?;
    }
    let docs = Docs::at_tip(&mirror, &project)?;
    match docs.page_count()? {
        0 => Err(Failure::plain(no_pages(&project)).of("--docs-root")),
        pages => Ok(InspectedProject { project, pages }),
    }
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
