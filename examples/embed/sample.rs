//! A docs repository to work on, made for the occasion.

use std::collections::BTreeMap;
use std::path::Path;

use docent_types::{
    Clock, Domain, ForgeKind, Ids, Project, ProjectId, ProjectSettings, ProjectUid, RandomIds, SystemClock,
};
use docent_workspace::{CommitMeta, create_repository};

use crate::BoxError;

const INDEX: &str = "---
title: Turnstile
description: Turnstile lets requests through one at a time.
---

# Turnstile

A turnstile stands in front of a service and counts who comes. See [the limits](/limits).
";

const LIMITS: &str = "---
title: Limits
description: How many requests pass.
---

# Limits

## Requests in a minute

At most 60 requests pass the turnstile in a minute. Those over the limit wait for the next one.

## Longest wait

A request waits for 30 seconds at most; then it is refused.
";

/// Makes a bare repository and gives its address.
pub(crate) fn repository(path: &Path) -> Result<String, BoxError> {
    let files = BTreeMap::from([
        ("index.md".to_owned(), INDEX.as_bytes().to_vec()),
        ("limits.md".to_owned(), LIMITS.as_bytes().to_vec()),
    ]);
    let meta = CommitMeta {
        name: "Turnstile".to_owned(),
        email: "docs@turnstile.example".to_owned(),
        seconds: SystemClock.now().seconds(),
        message: "Begin the docs\n".to_owned(),
        parents: Vec::new(),
    };
    create_repository(path, "main", &files, &meta)?;
    Ok(path.display().to_string())
}

/// The project: which repository, under which names, and where its pull requests live.
pub(crate) fn project(repository: &str) -> Result<Project, BoxError> {
    Ok(Project {
        uid: ProjectUid::new(RandomIds.unguessable()),
        id: ProjectId::parse("turnstile")?,
        domain: Domain::parse("turnstile-docs")?,
        repository: repository.to_owned(),
        branch: "main".to_owned(),
        docs_root: String::new(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: BTreeMap::new(),
        settings: ProjectSettings::default(),
        created_at: SystemClock.now(),
    })
}
