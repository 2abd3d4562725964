//! A served installation with one project, its docs and its keys.

use crate::agent::Agent;
use crate::assistant::Assistant;
use crate::installation::{Installation, KeyKind};
use crate::repository::Repository;
use crate::server::Server;

/// The project's id, and its domain.
pub const PROJECT: &str = "acme";

/// A small docs site that is served, with one key of each kind.
#[derive(Debug)]
pub struct Site {
    // Field order is drop order: the server before the files it works on.
    pub server: Server,
    pub repository: Repository,
    pub admin_key: String,
    pub assistant_key: String,
    pub installation: Installation,
}

impl Site {
    /// The site of [`PAGES`].
    pub fn start() -> Self {
        Self::with_pages(PAGES)
    }

    /// A site of these files.
    pub fn with_pages<P: AsRef<str>, C: AsRef<[u8]>>(pages: &[(P, C)]) -> Self {
        Self::with_env(pages, &[])
    }

    /// A site of these files, served with these environment variables. Its docs are already indexed.
    pub fn with_env<P: AsRef<str>, C: AsRef<[u8]>>(pages: &[(P, C)], env: &[(&str, &str)]) -> Self {
        let installation = Installation::new();
        let repository = installation.repository(PROJECT, pages);
        installation.add_project(PROJECT, &repository);
        let admin_key = installation.mint(PROJECT, KeyKind::Admin, &[]);
        let assistant_key = installation.mint(PROJECT, KeyKind::Assistant, &[]);
        let server = installation.serve_with(env);
        let site = Self { server, repository, admin_key, assistant_key, installation };
        site.assistant().is_ready();
        site
    }

    /// `kill -9`, then a new start on the same data.
    #[must_use]
    pub fn killed_and_restarted(self) -> Self {
        self.restarted(Server::kill)
    }

    /// Ends the server with `end`, then starts it again on the same data.
    #[must_use]
    pub fn restarted(self, end: impl FnOnce(Server)) -> Self {
        let Self { server, repository, admin_key, assistant_key, installation } = self;
        end(server);
        let server = installation.serve();
        Self { server, repository, admin_key, assistant_key, installation }
    }

    /// The agent endpoints with the admin key.
    pub fn agent(&self) -> Agent<'_> {
        Agent::new(&self.server, PROJECT, &self.admin_key)
    }

    /// The assistant endpoints with the assistant key.
    pub fn assistant(&self) -> Assistant<'_> {
        Assistant::new(&self.server, PROJECT, &self.assistant_key)
    }
}

/// The pages that most tests use: few, and each with some unique words.
pub const PAGES: &[(&str, &str)] = &[
    (
        "docs.json",
        r#"{
  "name": "Acme",
  "navigation": {
    "groups": [
      { "group": "Start", "pages": ["index", "quickstart"] },
      { "group": "Guides", "pages": ["guides/webhooks", "guides/rate-limits", "guides/cafe"] },
      { "group": "Reference", "pages": ["reference/errors", "reference/cli"] }
    ]
  }
}
"#,
    ),
    (
        "index.mdx",
        "---\ntitle: Welcome to Acme\ndescription: What Acme is and where to begin.\n---\n\nAcme moves parcels between \
         warehouses. Begin with the [quickstart](/quickstart), then read about [webhooks](/guides/webhooks).\n",
    ),
    (
        "quickstart.mdx",
        "---\ntitle: Quickstart\ndescription: Your first parcel in five minutes.\n---\n\n## Install the client\n\nRun the \
         installer and sign in:\n\n```bash\nacme login\nacme parcel send --to oslo\n```\n\n## Send a parcel\n\nThe widget \
         endpoint takes the address of the warehouse and answers with a tracking number.\n",
    ),
    (
        "guides/webhooks.mdx",
        "---\ntitle: Webhooks\ndescription: How Acme tells your server what happened.\n---\n\n## Retries\n\nA webhook \
         delivery that fails is retried five times with exponential backoff, beginning at thirty seconds. After the fifth \
         failure the delivery is parked for a day.\n\n## Signatures\n\nEvery delivery carries an `Acme-Signature` header. \
         Verify it with your signing secret before you trust the body.\n",
    ),
    (
        "guides/rate-limits.mdx",
        "---\ntitle: Rate limits\ndescription: How many requests you may send.\n---\n\nThe widget endpoint accepts 600 \
         requests a minute. Beyond that the answer is 429, with a `Retry-After` header.\n\nSee [errors](/reference/errors) \
         for the rest.\n",
    ),
    (
        "guides/cafe.mdx",
        "---\ntitle: Das Café\ndescription: Öffnungszeiten für Gäste.\n---\n\n## Öffnungszeiten\n\nDas Café in Zürich hat \
         täglich von acht bis zwölf geöffnet. Frühstück gibt es bis elf. ☕\n",
    ),
    (
        "reference/errors.mdx",
        "---\ntitle: Errors\ndescription: Every error code and what to do about it.\n---\n\n| code | meaning |\n|---|---|\n| \
         `E1001` | The warehouse is closed on public holidays. |\n| `E1002` | The parcel is heavier than forty kilograms. \
         |\n",
    ),
    (
        "reference/cli.mdx",
        "---\ntitle: Command line\ndescription: The commands of the acme tool.\n---\n\n## acme parcel track\n\nPrints where a \
         parcel is. Pass `--json` for machines.\n",
    ),
];
