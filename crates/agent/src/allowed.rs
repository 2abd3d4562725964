//! The files besides documents that the owner of a project allows an agent to change.

use docent_site::Glob;

use crate::paths::is_sensitive;

/// Globs, relative to the docs root; `*` stays within a folder.
pub(crate) struct Allowed(Vec<(String, Glob)>);

impl Allowed {
    /// A glob that does not parse allows nothing.
    pub(crate) fn of(globs: &[String]) -> Self {
        Self(globs.iter().filter_map(|glob| Some((glob.to_lowercase(), Glob::new(glob).ok()?))).collect())
    }

    /// Whether a glob allows a path. Files of build services and hidden files are allowed only by a pattern that names
    /// them: `**` does not match them.
    pub(crate) fn has(&self, path: &str) -> bool {
        let own: Vec<String> = path.split('/').map(str::to_lowercase).filter(|part| is_sensitive(part)).collect();
        self.0.iter().any(|(glob, matcher)| {
            matcher.is_match(path) && own.iter().all(|part| glob.split('/').any(|written| written == part))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_allows_what_it_names() {
        for (glob, path, is_allowed) in [
            ("scripts/**", "scripts/a/b.py", true),
            ("*.config.js", "docusaurus.config.js", true),
            ("*.config.js", "a/docusaurus.config.js", false),
            ("**", "package.json", true),
            ("**", ".circleci/config.yml", false),
            ("**/*.yml", "azure-pipelines.yml", false),
            ("azure-pipelines.yml", "azure-pipelines.yml", true),
            (".circleci/**", ".circleci/config.yml", true),
            (".vscode/*", ".vscode/tasks.json", true),
            ("**", ".vscode/tasks.json", false),
            ("[", "[", false),
        ] {
            assert_eq!(Allowed::of(&[glob.to_owned()]).has(path), is_allowed, "{glob} {path}");
        }
    }
}
