//! The files besides documents that the owner of a project allows an agent to change.

use docent_site::Glob;

use crate::paths::is_sensitive;

/// What the owner of a project allows an agent besides documents.
#[derive(Debug, Clone, Default)]
pub struct Allowances {
    /// Globs of files that may be changed in any way, relative to the docs root.
    pub paths: Vec<String>,
    /// Globs of pages, drawings and diagrams that may get new code.
    pub code: Vec<String>,
    /// The command line that takes `--allow-path` and `--allow-code`, up to these. Empty for `docent project set ID`.
    pub command: String,
}

/// What would allow a refused change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// `--allow-path`.
    Path,
    /// `--allow-code`.
    Code,
}

impl Allowances {
    /// The command that allows these besides what is allowed already.
    pub(crate) fn command_for(&self, files: &[(&str, Remedy)]) -> String {
        let mut command = match self.command.as_str() {
            "" => "docent project set ID".to_owned(),
            command => command.to_owned(),
        };
        for (option, wanted, globs) in
            [("--allow-path", Remedy::Path, &self.paths), ("--allow-code", Remedy::Code, &self.code)]
        {
            let new = files.iter().filter(|(_, remedy)| *remedy == wanted).map(|(path, _)| literal(path));
            let mut new: Vec<String> = new.filter(|glob| !globs.contains(glob)).collect();
            new.dedup();
            if new.is_empty() {
                continue;
            }
            // The option replaces what it was given before.
            for glob in globs.iter().chain(&new) {
                command.push_str(&format!(" {option} {}", quoted(glob)));
            }
        }
        command
    }
}

/// A glob that matches one path.
fn literal(path: &str) -> String {
    path.chars().map(|c| if "[]{}*?".contains(c) { format!("[{c}]") } else { c.to_string() }).collect()
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

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
    fn a_command_allows_what_was_refused_and_keeps_the_rest() {
        let mut allowances = Allowances::default();
        let files = [("package.json", Remedy::Path), ("a/it's [id].md", Remedy::Code)];
        assert_eq!(
            allowances.command_for(&files),
            r"docent project set ID --allow-path 'package.json' --allow-code 'a/it'\''s [[]id[]].md'"
        );
        assert!(Allowed::of(&[literal("a/it's [id].md")]).has("a/it's [id].md"));
        allowances.paths = vec!["scripts/**".to_owned()];
        allowances.command = "docent project set acme".to_owned();
        assert_eq!(
            allowances.command_for(&files[..1]),
            "docent project set acme --allow-path 'scripts/**' --allow-path 'package.json'"
        );
    }

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
