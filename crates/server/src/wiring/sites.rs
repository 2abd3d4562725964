//! The settings of each docs site for its assistant: `.docent/assistant.md` in the last fetched state of the
//! repository, which overrides the configuration for all sites. Where there is none, the instructions of
//! `.mintlify/Assistant.md` apply.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use docent_assistant::SiteSettings;
use docent_authoring::Docs;
use docent_quarantine::{Quarantine, Subject};
use docent_types::{Project, ProjectUid};
use parking_lot::RwLock;
use tracing::warn;

use crate::wiring::site_file::{FILE, MINTLIFY_FILE, SiteFile};

/// The settings of the sites by project. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Sites {
    /// Whether answers end with suggested questions, on sites without a setting of their own.
    suggestions: bool,
    known: Arc<RwLock<HashMap<ProjectUid, SiteFile>>>,
    quarantine: Quarantine,
}

impl Sites {
    pub(crate) fn new(suggestions: bool) -> Self {
        Self { suggestions, known: Arc::default(), quarantine: Quarantine::default() }
    }

    /// Sets the quarantine for a file of settings that ends the process.
    pub(crate) fn with_quarantine(self, quarantine: Quarantine) -> Self {
        Self { quarantine, ..self }
    }

    pub(crate) fn of(&self, project: ProjectUid) -> SiteSettings {
        let known = self.known.read();
        let said = known.get(&project);
        SiteSettings {
            address: said.and_then(|file| file.address.clone()),
            instructions: said.and_then(|file| file.instructions.clone()),
            suggestions: said.and_then(|file| file.suggestions).unwrap_or(self.suggestions),
            small_talk: said.and_then(|file| file.small_talk.clone()),
            account: said.and_then(|file| file.account.clone()),
            public: said.and_then(|file| file.public).unwrap_or(false),
            agents_may_ask: said.and_then(|file| file.agents_may_ask).unwrap_or(false),
        }
    }

    /// Whether this site's settings were ever read.
    pub(crate) fn has_read(&self, project: ProjectUid) -> bool {
        self.known.read().contains_key(&project)
    }

    /// Reads the settings at this commit. On failure the previous settings remain.
    pub(crate) fn refresh(&self, project: &Project, docs: &Docs) {
        match docs.file(FILE) {
            Ok(Some(bytes)) => self.take(project, self.read(project, &bytes, SiteFile::read)),
            Ok(None) => self.refresh_by_mintlify_file(project, docs),
            Err(error) => {
                warn!(domain = %project.domain, error = &error as &dyn std::error::Error, "could not read {FILE}");
            }
        }
    }

    /// Reads the instructions that a site of Mintlify may have, beside its configuration.
    fn refresh_by_mintlify_file(&self, project: &Project, docs: &Docs) {
        let path = match project.docs_root.as_str() {
            "" => MINTLIFY_FILE.to_owned(),
            root => format!("{root}/{MINTLIFY_FILE}"),
        };
        match docs.file(&path) {
            Ok(Some(bytes)) => self.take(project, self.read(project, &bytes, SiteFile::instructions_alone)),
            Ok(None) => self.take(project, SiteFile::default()),
            Err(error) => {
                warn!(domain = %project.domain, error = &error as &dyn std::error::Error, "could not read {path}");
            }
        }
    }

    fn read(&self, project: &Project, bytes: &[u8], read: fn(&[u8]) -> SiteFile) -> SiteFile {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let subject = Subject::content(project.uid.to_string(), FILE, format!("settings {:016x}", hasher.finish()));
        match self.quarantine.set_aside(&subject.key) {
            Some(_) => SiteFile::default(),
            None => self.quarantine.run(&subject, |_| read(bytes)),
        }
    }

    /// Removes all projects except these.
    pub(crate) fn keep(&self, projects: &HashSet<ProjectUid>) {
        self.known.write().retain(|project, _| projects.contains(project));
    }

    /// Stores the settings. A problem is logged only when it is new, because docs are read again and again.
    fn take(&self, project: &Project, file: SiteFile) {
        let mut known = self.known.write();
        let reported = known.get(&project.uid).map(|before| before.problems.as_slice()).unwrap_or_default();
        for problem in file.problems.iter().filter(|problem| !reported.contains(problem)) {
            warn!(domain = %project.domain, "{problem}");
        }
        known.insert(project.uid, file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_its_own_say_over_the_configuration() {
        let project = docent_access::conformance::sample_project("docs");
        for (everywhere, here, expected) in [
            (false, "Be kind.", false),
            (true, "Be kind.", true),
            (true, "---\nsuggestions: false\n---\nBe kind.", false),
            (false, "---\nsuggestions: true\n---\nBe kind.", true),
        ] {
            let sites = Sites::new(everywhere);
            assert_eq!(sites.of(project.uid), SiteSettings { suggestions: everywhere, ..SiteSettings::default() });
            sites.take(&project, SiteFile::read(here.as_bytes()));
            let site = sites.of(project.uid);
            assert_eq!((site.suggestions, site.instructions.as_deref()), (expected, Some("Be kind.")), "{here}");
            sites.take(&project, SiteFile::default());
            assert_eq!(
                sites.of(project.uid),
                SiteSettings { suggestions: everywhere, ..SiteSettings::default() },
                "what was asked is over"
            );
        }
    }
}
