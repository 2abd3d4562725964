//! Names of repositories, branches and files as links to the forge that has them.

use docent_types::{ForgeKind, Project, repository_url};
use maud::{Markup, html};

use crate::text::{in_url, long_name};

/// The name of a branch; a link to it on the forge that has it, or to the page of this server that is about it.
pub(crate) fn branch(project: &Project, name: &str, here: Option<&str>) -> Markup {
    let url = on_forge(project, name, None).or_else(|| here.map(str::to_owned));
    let code = long_name(name);
    html! { @match url { Some(url) => a href=(url) rel="noopener noreferrer" { (code) }, None => (code) } }
}

/// The repository of a project; a link to it on the forge that has it.
pub(crate) fn repository(project: &Project) -> Markup {
    let url = repository_url(&project.repository);
    let is_link = project.forge != ForgeKind::Local && url.starts_with("https://");
    html! { @if is_link { a href=(url) rel="noopener noreferrer" { code { (url) } } } @else { code { (url) } } }
}

/// The address of a branch, or of a file on it, on the forge that has the repository.
pub(crate) fn on_forge(project: &Project, branch: &str, file: Option<&str>) -> Option<String> {
    let (branches, files) = match project.forge {
        ForgeKind::Local => return None,
        ForgeKind::Github => ("tree", "blob"),
        ForgeKind::Gitlab => ("-/tree", "-/blob"),
        ForgeKind::Gitea => ("src/branch", "src/branch"),
    };
    let url = repository_url(&project.repository);
    let base = Some(url.trim_end_matches('/').trim_end_matches(".git")).filter(|url| url.starts_with("https://"))?;
    let below = if file.is_some() { files } else { branches };
    let parts = branch.split('/').chain(file.into_iter().flat_map(|file| file.split('/')));
    let path: Vec<String> = parts.map(|part| in_url(part).to_string()).collect();
    Some(format!("{base}/{below}/{}", path.join("/")))
}

/// The address of a file of the docs on the forge that has the repository.
pub(crate) fn file_on_forge(project: &Project, file: &str) -> Option<String> {
    let below = [project.docs_root.as_str(), file].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    on_forge(project, &project.branch, Some(&below.join("/")))
}
