//! Names of resources: `version@component:module:family$path`.

use docent_markdown::joined;

use super::{AntoraOptions, Component};
use crate::layout::below;
use crate::tree::from_root;

/// The families of resources, each with its folders in a module.
const FAMILIES: [(&str, &[&str]); 5] = [
    ("page", &["pages"]),
    ("partial", &["partials", "pages/_partials"]),
    ("example", &["examples"]),
    ("image", &["images", "assets/images"]),
    ("attachment", &["attachments", "assets/attachments"]),
];

/// A parsed resource name; omitted parts are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResourceId<'a> {
    pub(super) version: Option<&'a str>,
    pub(super) component: Option<&'a str>,
    pub(super) module: Option<&'a str>,
    pub(super) family: Option<&'a str>,
    pub(super) path: &'a str,
}

impl<'a> ResourceId<'a> {
    pub(super) fn read(written: &'a str) -> Option<Self> {
        let (version, rest) = match written.split_once('@') {
            Some((version, rest)) => (Some(version), rest),
            None => (None, written),
        };
        let (qualifier, path) = rest.rsplit_once(':').map_or((None, rest), |(qualifier, path)| (Some(qualifier), path));
        let (component, module) = match qualifier.map(|qualifier| qualifier.split_once(':').ok_or(qualifier)) {
            None => (None, None),
            Some(Ok((component, module))) => {
                (Some(component), Some(module).filter(|module| !module.is_empty()).or(Some("ROOT")))
            }
            Some(Err(module)) => (None, Some(module)),
        };
        let (family, path) = path.split_once('$').map_or((None, path), |(family, path)| (Some(family), path));
        let is_valid = [version, component, module, family]
            .into_iter()
            .flatten()
            .all(|part| !part.is_empty() && !part.contains(['@', ':', '$']));
        (is_valid && !path.is_empty() && !path.contains(['@', '$'])).then_some(Self {
            version,
            component,
            module,
            family,
            path,
        })
    }

    /// The path of a page without extension; for an index, the path of its folder.
    pub(super) fn stem(&self) -> &'a str {
        let stem = self.path.strip_suffix(".adoc").unwrap_or(self.path);
        match stem.strip_suffix("index") {
            Some("") => "",
            Some(folder) if folder.ends_with('/') => folder.trim_end_matches('/'),
            _ => stem,
        }
    }
}

/// The component, module and family that a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Resource<'o, 'f> {
    pub(super) component: &'o Component,
    /// Empty for a file in no module, such as a navigation file of the component.
    pub(super) module: &'f str,
    /// `None` for a file that is in the folder of no family.
    pub(super) family: Option<&'static str>,
    pub(super) path: &'f str,
}

/// The result of resolving a resource name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResolvedResource {
    /// Candidate files, relative to the docs root.
    Files(Vec<String>, ResourceAddress),
    /// The component or version is not in this repository, or the family or path is invalid.
    Elsewhere,
}

/// Where a resource is served, and whether it is a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResourceAddress {
    pub(super) address: String,
    pub(super) is_page: bool,
}

impl AntoraOptions {
    /// The resource that a file is; its path is relative to the repository. `None` if it is in no component.
    pub(super) fn resource<'o, 'f>(&'o self, repository_path: &'f str) -> Option<Resource<'o, 'f>> {
        let path_in_component = |component: &Component| match component.start_path.as_str() {
            "" => Some(repository_path),
            start_path => repository_path.strip_prefix(start_path)?.strip_prefix('/'),
        };
        let containing =
            self.components.iter().filter_map(|component| Some((component, path_in_component(component)?)));
        let (component, path) = containing.max_by_key(|(component, _)| component.start_path.len())?;
        let Some((module, path)) = path.strip_prefix("modules/").and_then(|rest| rest.split_once('/')) else {
            return Some(Resource { component, module: "", family: None, path });
        };
        let folders =
            FAMILIES.iter().flat_map(|(family, folders)| folders.iter().map(move |folder| (*family, *folder)));
        // The longest folder wins: a file in `pages/_partials` is a partial, not a page.
        let of_family = folders
            .filter_map(|(family, folder)| Some((folder.len(), family, path.strip_prefix(folder)?.strip_prefix('/')?)));
        Some(match of_family.max_by_key(|(length, ..)| *length) {
            Some((_, family, path)) => Resource { component, module, family: Some(family), path },
            None => Resource { component, module, family: None, path },
        })
    }

    /// The latest version of a component. Prereleases count only if there is no other version.
    pub(super) fn latest(&self, name: &str) -> Option<&Component> {
        let numbers = |version: &str| -> Vec<u64> {
            version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
        };
        let of_name = self.components.iter().filter(|component| component.name == name);
        of_name.max_by_key(|component| {
            (!component.is_prerelease, component.version.is_empty(), numbers(&component.version))
        })
    }

    /// Resolves a resource name in the file `from`; `family` is the default family.
    pub(super) fn resolve(
        &self,
        root: &str,
        from: &Resource<'_, '_>,
        id: &ResourceId<'_>,
        family: &str,
    ) -> ResolvedResource {
        let version = id.version.map(|version| if version == "_" { "" } else { version });
        let component_of = |name: &str, version: &str| {
            self.components.iter().find(|component| component.name == name && component.version == version)
        };
        let component = match (id.component, version) {
            (None, None) => Some(from.component),
            (None, Some(version)) => component_of(&from.component.name, version),
            (Some(name), Some(version)) => component_of(name, version),
            (Some(name), None) => self.latest(name),
        };
        let Some(component) = component else { return ResolvedResource::Elsewhere };
        let module =
            id.module.unwrap_or(if id.component.is_some() || from.module.is_empty() { "ROOT" } else { from.module });
        let family = id.family.unwrap_or(family);
        let Some((_, folders)) = FAMILIES.iter().find(|(name, _)| *name == family) else {
            return ResolvedResource::Elsewhere;
        };
        let base_folder = if id.path.starts_with("./") { docent_markdown::folder(from.path) } else { "" };
        let Some(path) = joined(base_folder, id.path) else { return ResolvedResource::Elsewhere };
        let files = folders
            .iter()
            .map(|folder| from_root(root, &below(&component.start_path, &format!("modules/{module}/{folder}/{path}"))));
        let page = ResourceId { path: &path, ..*id };
        let address = below(&below(&component.base_path, if module == "ROOT" { "" } else { module }), page.stem());
        ResolvedResource::Files(files.collect(), ResourceAddress { address, is_page: family == "page" })
    }
}
