//! Pages with the real chat hooks, in a real browser, on another origin than the server's.
//!
//! The pages and the stories are in `tests/browser`. This side runs the server with a model that can be held, and
//! answers the requests of the stories.

mod generators;

use std::collections::BTreeMap;
use std::path::Path;

use docent_tests::installation::KeyKind;
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{Site, third_party};
use serde_json::{Value, json};

use crate::sdk::{HeldModel, converse, pairs};

/// The hourly request limit at the start, and its increment whenever it is raised. Enough for polling until the docs
/// are indexed.
const LIMIT: usize = 300;

/// Needs Chromium, node and the packages of `tests/browser`, which `cargo xtask test` installs. `$DOCENT_CHROMIUM` and
/// `$DOCENT_NODE` name other programs.
#[test]
#[ignore = "needs Chromium and the packages of tests/browser: cargo xtask test --only browser"]
fn pages_with_the_real_hooks_talk_to_the_assistant() {
    let chromium = std::env::var_os("DOCENT_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let mut command = third_party::node("browser", "browser.mjs");
    command.arg(chromium).arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser"));
    let mut stage = Stage::set();
    let status = converse(command, |asked| stage.answers(asked));
    assert!(status.success(), "the pages found fault: {status}");
    assert_eq!(stage.model.faults(), [""; 0], "what the model's service would not take");
}

/// Needs what the other test needs.
#[test]
#[ignore = "needs Chromium and the packages of tests/browser: cargo xtask test --only browser"]
fn the_chat_is_at_home_on_pages_of_another_site() {
    let chromium = std::env::var_os("DOCENT_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let mut command = third_party::node("browser", "widget.mjs");
    command.arg(chromium).arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("widget"));
    let mut stage = Stage::set();
    let status = converse(command, |asked| stage.answers(asked));
    assert!(status.success(), "the stories found fault: {status}");
    assert_eq!(stage.model.faults(), [""; 0], "what the model's service would not take");
}

/// The server and its model.
struct Stage {
    model: HeldModel,
    // `None` while the server restarts with a higher limit.
    site: Option<Site>,
    /// A second server, with the pages of a story.
    pages: Option<Site>,
    limit: usize,
}

impl Stage {
    fn set() -> Self {
        let model = HeldModel::start();
        let site = Site::with_env(PAGES, &pairs(&environment(&model, LIMIT)));
        Self { model, site: Some(site), pages: None, limit: LIMIT }
    }

    fn answers(&mut self, asked: &str) -> Value {
        match asked.split_once(' ').unwrap_or((asked, "")) {
            ("open", origin) => return self.opens_for(origin),
            ("pages", pages) => return self.serves_pages(pages),
            ("use-up", _) => self.uses_up_the_limit(),
            ("raise", _) => self.raises_the_limit(),
            _ => return self.model.answers(asked),
        }
        Value::Null
    }

    fn site(&self) -> &Site {
        self.site.as_ref().expect("the server runs")
    }

    /// A key for pages of this origin, and one for pages of another.
    fn opens_for(&self, origin: &str) -> Value {
        let site = self.site();
        let mint = |origin: &str| site.installation.mint(PROJECT, KeyKind::Assistant, &["--allow-origin", origin]);
        json!({
            "server": site.server.url(),
            "domain": PROJECT,
            "key": mint(origin),
            "elsewhere": mint("https://docs.example.com"),
        })
    }

    fn serves_pages(&mut self, pages: &str) -> Value {
        let pages: BTreeMap<String, String> = serde_json::from_str(pages).expect("texts by path");
        let pages: Vec<_> = pages.into_iter().collect();
        let site = self.pages.insert(Site::with_env(&pages, &[]));
        json!({ "server": site.server.url(), "domain": PROJECT, "key": site.assistant_key })
    }

    fn uses_up_the_limit(&self) {
        let search = json!({ "query": "webhook", "pageSize": 1 });
        let refused = (0..=self.limit).any(|_| self.site().assistant().search(&search).status == 429);
        assert!(refused, "{} requests were no limit", self.limit);
    }

    /// Restarts the server with a higher limit, at the address that the pages use.
    fn raises_the_limit(&mut self) {
        self.limit += LIMIT;
        let Site { server, repository, admin_key, assistant_key, installation } = self.site.take().expect("it runs");
        let address = server.address();
        server.kill();
        let environment = environment(&self.model, self.limit);
        let environment: Vec<_> = environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = installation.serve_on(address, &environment);
        let site = Site { server, repository, admin_key, assistant_key, installation };
        site.assistant().is_ready();
        self.site = Some(site);
    }
}

fn environment(model: &HeldModel, limit: usize) -> Vec<(String, String)> {
    let mut variables = model.configures();
    variables.push(("DOCENT_LIMITS__ASSISTANT_REQUESTS_PER_HOUR".to_owned(), limit.to_string()));
    variables
}
