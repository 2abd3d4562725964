//! The sample docs site, and the git repository it is committed to.

use std::collections::BTreeMap;
use std::path::Path;

use docent_types::{Domain, ForgeKind, Project, ProjectId, ProjectSettings, ProjectUid};
use docent_workspace::{CommitMeta, create_repository};
use rust_embed::Embed;

use super::PROJECT;
use crate::failure::Failure;
use crate::wiring::app::App;

#[derive(Embed)]
#[folder = "sample/"]
struct Sample;

/// Creates the repository, unless it exists from an earlier tour, and returns the number of pages.
pub(super) fn repository(path: &Path) -> Result<usize, Failure> {
    let files: BTreeMap<String, Vec<u8>> = Sample::iter()
        .filter_map(|name| Sample::get(&name).map(|file| (name.into_owned(), file.data.into_owned())))
        .collect();
    let pages =
        files.keys().filter(|name| docent_markdown::is_page(name) && !docent_markdown::is_partial(name)).count();
    if !path.exists() {
        let meta = CommitMeta {
            name: "Larkspur docs team".to_owned(),
            email: "docs@larkspur.example".to_owned(),
            seconds: 1_767_225_600,
            message: "Add the documentation".to_owned(),
            parents: Vec::new(),
        };
        create_repository(path, "main", &files, &meta)?;
    }
    Ok(pages)
}

/// The project of the sample repository.
pub(super) fn project(app: &App, repository: &Path) -> Result<Project, Failure> {
    let repository = std::path::absolute(repository)
        .map_err(|error| Failure::new("cannot tell where the sample repository is", error))?;
    Ok(Project {
        uid: ProjectUid::new(app.ids.unguessable()),
        id: ProjectId::parse(PROJECT)?,
        domain: Domain::parse(PROJECT)?,
        repository: repository.display().to_string(),
        branch: "main".to_owned(),
        docs_root: String::new(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: BTreeMap::new(),
        settings: ProjectSettings::default(),
        created_at: app.now(),
    })
}
