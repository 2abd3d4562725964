//! Pages that a build makes without a file in the tree, by the folders that plug-ins write them to.

use docent_markdown::{folder, stem};

/// Where a build makes pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GeneratedPages {
    /// In these folders or at these paths without ending, relative to the folder of the pages.
    Below(Vec<String>),
    /// Only a build knows.
    Anywhere,
}

impl Default for GeneratedPages {
    fn default() -> Self {
        Self::Below(Vec::new())
    }
}

impl GeneratedPages {
    /// Adds the folders of a plug-in; `None` if it may make pages anywhere.
    pub(crate) fn add(&mut self, folders: Option<Vec<String>>) {
        match (&mut *self, folders) {
            (Self::Below(known), Some(folders)) if folders.iter().all(|folder| !folder.is_empty()) => {
                known.extend(folders);
            }
            _ => *self = Self::Anywhere,
        }
    }

    /// Whether the build may make what is missing at a path or an address. A language may be before the folder.
    pub(crate) fn may_include(&self, path: &str) -> bool {
        let path = format!("/{}/", stem(path).unwrap_or(path).trim_matches('/'));
        match self {
            Self::Below(folders) => folders.iter().any(|folder| path.contains(&format!("/{folder}/"))),
            Self::Anywhere => true,
        }
    }
}

/// The folder of a path that a program writes in its source, or the path without ending if it is in none. `{` begins
/// what only the program knows. `None` if that is the folder.
pub(crate) fn written_folder(path: &str) -> Option<String> {
    let known = path.split('{').next().unwrap_or_default();
    let above = folder(known).trim_start_matches("./").trim_matches('/');
    match (above.is_empty(), known.len() == path.len()) {
        (false, _) => Some(above.to_owned()),
        (true, true) => Some(stem(path).unwrap_or(path).trim_matches(['.', '/']).to_owned()),
        (true, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_from_the_paths_that_programs_write() {
        for (path, folder) in [
            ("reference/SUMMARY.md", Some("reference")),
            ("reference", Some("reference")),
            ("changelog.md", Some("changelog")),
            ("./api/{name}.md", Some("api")),
            ("{name}.md", None),
            ("api-{name}.md", None),
        ] {
            assert_eq!(written_folder(path).as_deref(), folder, "{path}");
        }
    }
}
