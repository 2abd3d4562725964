//! `[forges]`: the tokens that owners may choose for a project in the dashboard.

use std::path::{Path, PathBuf};

use docent_types::TokenLocation;
use serde::Deserialize;

use super::keys::words;
use super::variable::is_variable;
use super::{Config, ConfigError};
use docent_http_client::SecretSource;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ForgesKeys {
    #[serde(deserialize_with = "words")]
    token_env: Vec<String>,
    #[serde(deserialize_with = "words")]
    token_file: Vec<String>,
}

/// The tokens that owners may choose for a project in the dashboard. On the command line any may be named.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfferedTokens {
    variables: Vec<String>,
    /// Absolute paths of files, or of folders whose files are all offered.
    paths: Vec<PathBuf>,
}

impl ForgesKeys {
    pub(super) fn validate(self) -> Result<OfferedTokens, ConfigError> {
        // An invalid name may be the token itself, so it is not shown.
        if !self.token_env.iter().all(|name| is_variable(name)) {
            let sentence =
                "has what is no name of a variable; give the names of the variables that hold tokens, not the tokens";
            return Err(ConfigError::wrong("forges.token_env", sentence));
        }
        let paths = self.token_file.iter().map(std::path::absolute).collect::<Result<_, _>>();
        let paths = paths.map_err(|error| ConfigError::wrong("forges.token_file", error.to_string()))?;
        Ok(OfferedTokens { variables: self.token_env, paths })
    }
}

impl OfferedTokens {
    /// What is offered now. A folder is read each time, so that a token for a new project needs no restart.
    pub(crate) fn now(&self) -> Vec<TokenLocation> {
        let variables = self.variables.iter().cloned().map(TokenLocation::Variable);
        let files = self.paths.iter().flat_map(|path| files_of(path.as_path()));
        let files = files.filter_map(|path| path.into_os_string().into_string().ok()).map(TokenLocation::File);
        variables.chain(files).collect()
    }

    /// Refuses a token that is another secret of this server: an owner could have it sent to a server of their own.
    pub(super) fn are_no_other_secrets(&self, config: &Config) -> Result<(), ConfigError> {
        for (key, secret) in config.secrets() {
            let (own, is_offered) = match secret {
                SecretSource::Variable(name) => ("forges.token_env", self.variables.contains(name)),
                SecretSource::File(path) => ("forges.token_file", self.holds(path)),
            };
            if is_offered {
                let sentence =
                    format!("offers {secret}, which is `{key}`; keep tokens of forges apart from other secrets");
                return Err(ConfigError::wrong(own, sentence));
            }
        }
        Ok(())
    }

    fn holds(&self, path: &Path) -> bool {
        let real = |path: &Path| {
            path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
        };
        let secret = real(path);
        self.paths.iter().any(|offered| secret.starts_with(real(offered)))
    }
}

/// The file, or the files of the folder by name, without hidden ones.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    let is_hidden = |path: &PathBuf| path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| !is_hidden(path) && path.is_file());
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_folder_are_offered_as_they_are_now() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let keys = ForgesKeys { token_env: vec!["T".to_owned()], token_file: vec![path(""), path("later")] };
        let offered = keys.validate().expect("valid");
        std::fs::write(path("b"), "t").expect("written");
        std::fs::write(path(".hidden"), "t").expect("written");
        std::fs::create_dir(path("inner")).expect("made");
        let names: Vec<String> = offered.now().iter().map(|token| token.name().to_owned()).collect();
        assert_eq!(names, ["T".to_owned(), path("b"), path("later")]);
    }
}
