//! The chat on sites that MkDocs, Sphinx and VitePress built, put there as docs/WIDGET.md says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use docent_tests::binary::source_root;
use docent_tests::{Site, third_party};
use serde_json::json;

use crate::sdk::{HeldModel, converse, pairs};

const WEBHOOKS: &str = "# Webhooks\n\n## Retries\n\nA webhook delivery that fails is retried five times with exponential \
                        backoff. After the fifth failure the delivery is parked for a day.\n";
const ERRORS: &str = "# Errors\n\nError `E1002`: the parcel is heavier than forty kilograms.\n";

/// A generator, and its site of the same pages.
struct Generator {
    /// As docs/WIDGET.md calls it.
    name: &'static str,
    /// Where its pages are.
    pages: &'static str,
    config: &'static str,
    /// Its configuration, with `CHAT` where the chat is put.
    settings: &'static str,
    /// The front page.
    front: &'static str,
    /// Where the script is put that `CHAT` names; empty when it names none.
    script: &'static str,
    builds: fn(&Path, &Path) -> Command,
}

const GENERATORS: [Generator; 3] = [
    Generator {
        name: "MkDocs",
        pages: "docs",
        config: "mkdocs.yml",
        settings: "site_name: Acme\nsite_url: https://docs.acme.test/\ntheme:\n  name: material\n  font: false\n  palette:\n    - scheme: default\n      \
                   toggle: {icon: material/weather-night, name: Dark}\n    - scheme: slate\n      toggle: {icon: material/weather-sunny, \
                   name: Light}\nplugins: [search]\nCHAT",
        front: "# Acme\n\nBegin with [webhooks](guides/webhooks.md), or see the [errors](reference/errors.md).\n",
        script: "docs/docent.js",
        builds: |site, out| {
            let mut command = Command::new(tool("DOCENT_MKDOCS", "mkdocs/bin/mkdocs"));
            command.current_dir(site).args(["build", "--quiet", "--site-dir"]).arg(out);
            command
        },
    },
    Generator {
        name: "Sphinx",
        pages: "",
        config: "conf.py",
        settings: "project = \"Acme\"\nhtml_title = \"Acme\"\nhtml_theme = \"furo\"\nextensions = [\"myst_parser\"]\nCHAT",
        front: "# Acme\n\n```{toctree}\nguides/webhooks\nreference/errors\n```\n",
        script: "_static/docent.js",
        builds: |site, out| {
            let mut command = Command::new(tool("DOCENT_SPHINX", "sphinx-build/bin/sphinx-build"));
            command.args(["-q", "-b", "html"]).arg(site).arg(out);
            command
        },
    },
    Generator {
        name: "VitePress",
        pages: "",
        config: ".vitepress/config.mts",
        settings: "export default {\n  title: \"Acme\",\n  cleanUrls: true,\n  CHAT\n  themeConfig: { search: { provider: \"local\" } },\n};\n",
        front: "# Acme\n\nBegin with [webhooks](/guides/webhooks), or see the [errors](/reference/errors).\n",
        script: "",
        builds: |site, out| {
            let packages = source_root().join("tests/sites/vitepress/node_modules");
            std::os::unix::fs::symlink(&packages, site.join("node_modules")).expect("link the packages");
            let node = std::env::var_os("DOCENT_NODE").unwrap_or_else(|| "node".into());
            let mut command = Command::new(node);
            command.arg(packages.join("vitepress/bin/vitepress.js")).arg("build").arg(site).arg("--outDir").arg(out);
            command
        },
    },
];

fn tool(variable: &str, installed: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| source_root().join("target/tools").join(installed), PathBuf::from)
}

/// The first example of code behind a name in docs/WIDGET.md, for this server and key.
fn snippet(of: &str, site: &Site) -> String {
    let text = fs::read_to_string(source_root().join("docs/WIDGET.md")).expect("docs/WIDGET.md");
    let behind = text.split_once(&format!("**{of}**")).unwrap_or_else(|| panic!("{of} is there")).1;
    let code = behind.split("```").nth(1).expect("an example").split_once('\n').expect("its language").1;
    assert!(code.contains("docent"), "{of}: {code}");
    let code = code.replace("https://docent.example.com", &site.server.url());
    code.replace("docent_assistant_…", &site.assistant_key)
}

impl Generator {
    fn files(&self) -> Vec<(String, String)> {
        let page = |path: &str| Path::new(self.pages).join(path).display().to_string();
        let settings = self.settings.replace("CHAT", "");
        vec![
            (self.config.to_owned(), settings),
            (page("index.md"), self.front.to_owned()),
            (page("guides/webhooks.md"), WEBHOOKS.to_owned()),
            (page("reference/errors.md"), ERRORS.to_owned()),
        ]
    }

    /// Builds the site with the chat, and returns where it is.
    fn built(&self, site: &Site) -> PathBuf {
        let folder = site.installation.root().join("site");
        let write = |path: &str, text: &str| {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().expect("a folder")).expect("make a folder");
            fs::write(file, text).expect("write a file");
        };
        self.files().iter().for_each(|(path, text)| write(path, text));
        write(self.config, &self.settings.replace("CHAT", &snippet(self.name, site)));
        if !self.script.is_empty() {
            // The others say: the line of Mintlify.
            write(self.script, &snippet("Mintlify", site));
        }
        let out = site.installation.root().join("built");
        let status =
            (self.builds)(&folder, &out).status().unwrap_or_else(|error| panic!("start {}: {error}", self.name));
        assert!(status.success(), "{} built nothing: {status}", self.name);
        out
    }
}

/// Needs what the tests beside it need, and the generators, which `cargo xtask test` installs.
#[test]
#[ignore = "needs Chromium, the packages of tests/browser and three generators: cargo xtask test --only browser"]
fn the_chat_is_at_home_on_sites_of_three_generators() {
    let model = HeldModel::start();
    let sites: Vec<Site> =
        GENERATORS.iter().map(|one| Site::with_env(&one.files(), &pairs(&model.configures()))).collect();
    let built = GENERATORS.iter().zip(&sites).map(|(one, site)| json!({ "name": one.name, "root": one.built(site) }));
    let built: Vec<_> = built.collect();
    let chromium = std::env::var_os("DOCENT_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let mut command = third_party::node("browser", "generators.mjs");
    command.arg(chromium).arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("generators")).arg(json!(built).to_string());
    let status = converse(command, |asked| model.answers(asked));
    assert!(status.success(), "the stories found fault: {status}");
    assert_eq!(model.faults(), [""; 0], "what the model's service would not take");
}
