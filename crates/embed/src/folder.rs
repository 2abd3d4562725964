//! Finds the folder of a model, and reads its files with a size limit.

#[cfg(feature = "static")]
use std::fs::File;
#[cfg(feature = "static")]
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::ModelError;

/// A model's folder: a path, or a name that is looked up in the cache of the Hugging Face hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelFolder {
    Folder(PathBuf),
    /// `organisation/model`. Nothing is downloaded.
    Name(String),
}

impl ModelFolder {
    /// The folder that holds the files. `cache` is the hub's cache; [`hub_cache`] gives its default path.
    pub fn folder(&self, cache: &Path) -> Result<PathBuf, ModelError> {
        match self {
            Self::Folder(folder) if folder.is_dir() => Ok(folder.clone()),
            Self::Folder(folder) => Err(ModelError::NoFolder(folder.clone())),
            Self::Name(name) => cached(name, cache),
        }
    }
}

/// The folder where models are cached: `$HF_HUB_CACHE`, `$HF_HOME/hub`, `$XDG_CACHE_HOME/huggingface/hub` or
/// `$HOME/.cache/huggingface/hub`, for the first of these variables that is set. `variable` looks up an environment
/// variable.
pub fn hub_cache(variable: impl Fn(&str) -> Option<String>) -> PathBuf {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("HF_HUB_CACHE")
        .or_else(|| set("HF_HOME").map(|home| home.join("hub")))
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("huggingface/hub")))
        .unwrap_or_else(|| set("HOME").unwrap_or_default().join(".cache/huggingface/hub"))
}

/// The snapshot of a model in the cache: the one that `refs/main` names, else the most recently modified.
fn cached(name: &str, cache: &Path) -> Result<PathBuf, ModelError> {
    let is_valid_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let parts: Vec<&str> = name.split('/').collect();
    if parts.len() > 2 || !parts.iter().copied().all(is_valid_part) {
        return Err(ModelError::BadName(name.to_owned()));
    }
    let missing = || ModelError::NotCached { name: name.to_owned(), cache: cache.to_owned() };
    let model = cache.join(format!("models--{}", parts.join("--")));
    let snapshots = model.join("snapshots");
    let ref_commit = std::fs::read_to_string(model.join("refs/main")).ok().map(|commit| commit.trim().to_owned());
    if let Some(folder) = ref_commit.filter(|commit| is_valid_part(commit)).map(|commit| snapshots.join(commit))
        && folder.is_dir()
    {
        return Ok(folder);
    }
    let folders = std::fs::read_dir(&snapshots).map_err(|_| missing())?.filter_map(Result::ok);
    let newest = folders.filter(|entry| entry.path().is_dir()).max_by_key(|entry| {
        let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        (changed, entry.file_name())
    });
    newest.map(|entry| entry.path()).ok_or_else(missing)
}

/// A whole file of at most `limit` bytes.
#[cfg(feature = "static")]
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, ModelError> {
    let file = |source| ModelError::File { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let open = File::open(path).map_err(file)?;
    let length = open.metadata().map_err(file)?.len();
    if length > limit {
        return Err(ModelError::unusable(path, format!("it has {length} bytes, and {limit} are the most")));
    }
    bytes.reserve_exact(usize::try_from(length).unwrap_or_default());
    open.take(limit).read_to_end(&mut bytes).map_err(file)?;
    Ok(bytes)
}
