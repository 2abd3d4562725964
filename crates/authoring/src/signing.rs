//! The author of a project's commits.

use docent_types::{Project, Signature};
use docent_workspace::{CommitId, CommitMeta};
use serde::{Deserialize, Serialize};

/// Author and committer of a project's commits. A turn keeps the values that it began with, so that its commit is the
/// same each time it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signing {
    pub author: Signature,
    /// Whether commits carry a `Signed-off-by` line of the author.
    pub sign_off: bool,
}

impl Default for Signing {
    fn default() -> Self {
        let author = Signature { name: "Docent".to_owned(), email: "docent@localhost".to_owned() };
        Self { author, sign_off: false }
    }
}

impl Signing {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn of(project: &Project) -> Self {
        let author = project.settings.author.clone().unwrap_or_else(|| Self::default().author);
        Self { author, sign_off: project.settings.sign_off }
    }

    /// As [`of`](Self::of), with this person as the author. If the name is no email address, the project's address is
    /// used.
    pub(crate) fn by(project: &Project, person: &str) -> Self {
        let Self { author, sign_off } = Self::of(project);
        let is_address = person.contains('@') && !person.contains(|c: char| c.is_whitespace() || "<>".contains(c));
        let email = if is_address { person.to_owned() } else { author.email };
        Self { author: Signature { name: person.to_owned(), email }, sign_off }
    }

    /// The metadata of a commit. `message` has no trailers; they are appended.
    pub(crate) fn meta(
        &self,
        seconds: i64,
        message: &str,
        trailers: Vec<String>,
        parents: Vec<CommitId>,
    ) -> CommitMeta {
        let sign_off = self.sign_off.then(|| format!("Signed-off-by: {}", self.author));
        let trailers: Vec<String> = trailers.into_iter().chain(sign_off).collect();
        let paragraphs = [message.trim_end().to_owned(), trailers.join("\n")];
        let message: Vec<String> = paragraphs.into_iter().filter(|text| !text.is_empty()).collect();
        let Signature { name, email } = self.author.clone();
        CommitMeta { name, email, seconds, message: message.join("\n\n"), parents }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_off_is_the_last_of_the_trailers() {
        let author: Signature = "Docs Bot <docs@example.com>".parse().expect("a signature");
        let signing = Signing { author, sign_off: true };
        let meta = signing.meta(7, "Title\n\nBody\n", vec!["Docent-Job: 1".to_owned()], Vec::new());
        assert_eq!((meta.name.as_str(), meta.email.as_str()), ("Docs Bot", "docs@example.com"));
        assert_eq!(meta.message, "Title\n\nBody\n\nDocent-Job: 1\nSigned-off-by: Docs Bot <docs@example.com>");
        assert_eq!(signing.meta(7, "M", vec![], vec![]).message, "M\n\nSigned-off-by: Docs Bot <docs@example.com>");
        assert_eq!(Signing::default().meta(7, "M\n", vec![], vec![]).message, "M");
    }
}
