//! One walk through each proxy, by TLS: sign-in, a job, an answer that arrives word by word, the chat's files, what is
//! closed, the client's address, and the chat below a path of the docs site.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use docent_tests::agent::id;
use docent_tests::assistant::question_body;
use docent_tests::installation::KeyKind;
use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::third_party::{ThirdPartyServer, free_port};
use docent_tests::{ModelServer, Person, Request, Response, Site, eventually};
use serde_json::json;

use super::certificate::{Certificate, DOCS, SERVER};
use super::reader::{READER, Reader};
use super::{and_changed, changed, program};

/// Where a proxy listens, and the folder of its files.
pub(crate) struct Place<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) certificate: &'a Certificate,
    /// The port that only redirects.
    pub(crate) plain: u16,
    pub(crate) secure: u16,
}

impl<'a> Place<'a> {
    pub(crate) fn in_folder(folder: &'a Path, certificate: &'a Certificate) -> Self {
        fs::create_dir_all(folder.join("docs")).expect("make a folder");
        fs::write(folder.join("docs/index.html"), "the docs").expect("write a page");
        Self { folder, certificate, plain: free_port(), secure: free_port() }
    }

    pub(crate) fn nginx(&self, server: SocketAddr, more: &[(&str, &str)]) -> ThirdPartyServer {
        let Self { folder, certificate, plain, secure } = self;
        let (pem, key) = (certificate.pem.display().to_string(), certificate.key.display().to_string());
        let site = changed(
            "deploy/nginx.conf",
            &[
                ("listen 80;", &format!("listen 127.0.0.1:{plain};")),
                ("listen 443 ssl http2;", &format!("listen 127.0.0.1:{secure} ssl http2;")),
                ("server 127.0.0.1:8080;", &format!("server {server};")),
                ("/etc/ssl/docent.example.com.pem", &pem),
                ("/etc/ssl/docent.example.com.key", &key),
                ("/etc/ssl/docs.example.com.pem", &pem),
                ("/etc/ssl/docs.example.com.key", &key),
                ("/var/www/docs", &folder.join("docs").display().to_string()),
            ],
        );
        let site = and_changed(site, more);
        let folder = folder.display();
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {folder}/{kind};"))
            .concat();
        let whole = format!(
            "daemon off; user root; pid {folder}/pid; events {{}}\nhttp {{ access_log off; {temporary}\n{site} }}\n"
        );
        let config = self.folder.join("nginx.conf");
        fs::write(&config, whole).expect("configure nginx");
        let mut command = Command::new(program("DOCENT_NGINX"));
        command.arg("-c").arg(&config).arg("-p").arg(self.folder).args(["-e", "stderr"]);
        ThirdPartyServer::start("nginx", command, *plain, self.folder)
    }

    pub(crate) fn caddy(&self, server: SocketAddr, more: &[(&str, &str)]) -> ThirdPartyServer {
        let Self { folder, certificate, plain, secure } = self;
        let tls = format!("\ttls {} {}", certificate.pem.display(), certificate.key.display());
        let site = changed(
            "deploy/Caddyfile",
            &[
                ("\ndocent.example.com {", &format!("\ndocent.example.com {{\n{tls}")),
                ("\ndocs.example.com {", &format!("\ndocs.example.com {{\n{tls}")),
                ("127.0.0.1:8080 {", &format!("{server} {{")),
                ("/var/www/docs", &folder.join("docs").display().to_string()),
            ],
        );
        let site = and_changed(site, more);
        let config = folder.join("Caddyfile");
        let ports = format!("http_port {plain}\n\thttps_port {secure}\n\tdefault_bind 127.0.0.1");
        fs::write(&config, format!("{{\n\tadmin off\n\t{ports}\n}}\n{site}")).expect("configure Caddy");
        let mut command = Command::new(program("DOCENT_CADDY"));
        command.args(["run", "--adapter", "caddyfile", "--config"]).arg(&config);
        command.env("HOME", folder).env("XDG_DATA_HOME", folder).env("XDG_CONFIG_HOME", folder);
        ThirdPartyServer::start("caddy", command, *plain, folder)
    }

    pub(crate) fn haproxy(&self, nodes: [SocketAddr; 3]) -> ThirdPartyServer {
        let Self { folder, certificate, plain, secure } = self;
        let config = folder.join("haproxy.cfg");
        let site = changed(
            "examples/three_nodes/haproxy.cfg",
            &[
                ("bind :80\n", &format!("bind 127.0.0.1:{plain}\n")),
                ("bind :443 ", &format!("bind 127.0.0.1:{secure} ")),
                ("/etc/haproxy/docent.example.com.pem", &certificate.both.display().to_string()),
                ("maxconn 20000", "maxconn 1000"),
                ("server a a:8080", &format!("server a {}", nodes[0])),
                ("server b b:8080", &format!("server b {}", nodes[1])),
                ("server c c:8080", &format!("server c {}", nodes[2])),
            ],
        );
        fs::write(&config, site).expect("configure HAProxy");
        let mut command = Command::new(program("DOCENT_HAPROXY"));
        command.arg("-db").arg("-f").arg(&config);
        ThirdPartyServer::start("haproxy", command, *plain, folder)
    }
}

/// A server that is reached through a proxy alone, and the model that it calls.
fn stage() -> (Site, ModelServer) {
    stage_at(&format!("https://{SERVER}"))
}

fn stage_at(public_url: &str) -> (Site, ModelServer) {
    let model = ModelServer::start();
    let mut env = model.configures(Wire::Anthropic);
    env.push(("DOCENT_PUBLIC_URL".to_owned(), public_url.to_owned()));
    env.push(("DOCENT_TRUSTED_PROXIES".to_owned(), "127.0.0.1".to_owned()));
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    (Site::with_env(PAGES, &env), model)
}

struct Walk<'a> {
    site: &'a Site,
    model: &'a ModelServer,
    reader: Reader,
}

impl Walk<'_> {
    fn sends(&self, request: Request) -> Response {
        request.header("Host", SERVER).send(self.reader.address()).expect("the proxy answers")
    }

    fn whole(&self) {
        self.signs_in();
        self.has_a_job_done();
        self.reads_word_by_word("/discovery/v2/assistant/acme/message");
        self.reads_word_by_word("/discovery/v1/assistant/acme/message");
        self.finds_the_chat_and_no_metrics();
        self.is_known_by_address();
    }

    fn signs_in(&self) {
        let Site { server, installation, .. } = self.site;
        let mut person = Person::new(server).through(self.reader.address(), SERVER);
        person.signs_up(installation, "ann", "owner");
        let home = person.gets("/dashboard");
        assert_eq!(home.status, 200, "{}", home.text());
        assert!(person.cookies.iter().any(|(name, _)| name == "__Host-docent-session"), "{:?}", person.cookies);
    }

    fn has_a_job_done(&self) {
        let Self { site, model, .. } = self;
        model.replies(Reply::text("Nothing to do.").finish("Nothing"));
        let create = Request::post(format!("/v2/agent/{PROJECT}/job"));
        let create = create.bearer(&site.admin_key).json(&json!({ "prompt": "Look at the docs" }));
        let created = self.sends(create);
        assert_eq!(created.status, 201, "{}", created.text());
        site.agent().ends(id(&created.json()));
    }

    fn reads_word_by_word(&self, path: &str) {
        let (site, gate) = (self.site, Gate::new());
        let left = || {
            let metrics = site.server.send(&Request::get("/metrics")).text().to_owned();
            let count = metrics.lines().find_map(|line| line.strip_prefix("docent_replies_total{outcome=\"left\"} "));
            count.expect("a count").parse::<u64>().expect("a number")
        };
        let before = left();
        self.model.replies(Reply::text("Five ").waits_at(&gate).say("times."));
        let question = "How often is a webhook delivery retried?";
        let body = match path {
            v1 if v1.contains("/v1/") => {
                json!({ "fp": "ann", "messages": [{ "role": "user", "content": question }] })
            }
            _ => question_body(question, &json!({})),
        };
        let request = Request::post(path).bearer(&site.assistant_key).json(&body).header("Host", SERVER);
        let mut stream = request.open(self.reader.address()).expect("an answer");
        let mut body = Vec::new();
        // The model says nothing more until the gate opens, so a proxy that collects words would hang here.
        while !String::from_utf8_lossy(&body).contains("Five") {
            let piece = stream.piece().expect("more").expect("the words come before the end");
            body.extend_from_slice(&piece);
        }
        drop(stream);
        eventually("the server to notice that the reader left", || (left() > before).then_some(()));
        gate.open();
    }

    fn finds_the_chat_and_no_metrics(&self) {
        for (path, status) in [
            ("/widget.js", 200),
            ("/widget/panel.js", 200),
            ("/docs/api", 200),
            ("/healthz", 200),
            ("/metrics", 403),
            ("/readyz", 403),
        ] {
            assert_eq!(self.sends(Request::get(path).of_others()).status, status, "{path}");
        }
    }

    fn is_known_by_address(&self) {
        let Site { installation, .. } = self.site;
        let search = |allowed: &str| {
            let key = installation.mint(PROJECT, KeyKind::Assistant, &["--allow-ip", allowed]);
            let search = Request::post(format!("/discovery/v1/search/{PROJECT}")).bearer(&key);
            // The reader says to be somebody else.
            let search = search.header("X-Forwarded-For", "203.0.113.9").json(&json!({ "query": "webhook" }));
            self.sends(search).status
        };
        assert_eq!((search(&READER.to_string()), search("203.0.113.9"), search("127.0.0.1")), (200, 403, 403));
    }
}

/// The chat below `/docent` of the docs site, and nothing else there.
fn is_below_a_path(site: &Site, reader: &Reader) {
    let sends = |request: Request| request.header("Host", DOCS).send(reader.address()).expect("the proxy answers");
    assert_eq!(sends(Request::get("/index.html")).text(), "the docs");
    for (path, status) in [
        ("/docent/widget.js?v=1", 200),
        ("/docent/widget/panel.js", 200),
        ("/docent/dashboard", 404),
        ("/docent/metrics", 404),
        ("/docent/v2/agent/acme/jobs", 404),
    ] {
        assert_eq!(sends(Request::get(path).of_others()).status, status, "{path}");
    }
    let search = Request::post(format!("/docent/discovery/v1/search/{PROJECT}")).bearer(&site.assistant_key);
    assert_eq!(sends(search.json(&json!({ "query": "webhook" }))).status, 200);
}

/// All of the server below `/docent` of the docs site: every page that a person is led to, and what it loads.
fn all_is_below_a_path(site: &Site, reader: &Reader) {
    let agent = site.agent();
    let job = agent.create("Look at the docs");
    agent.ends(id(&job));
    let mut person = Person::new(&site.server).through(reader.address(), DOCS).below("/docent");
    person.signs_up(&site.installation, "ann", "owner");
    assert!(person.cookies.iter().any(|(name, _)| name == "__Secure-docent-session"), "{:?}", person.cookies);
    let mut seen = BTreeSet::new();
    let mut next = vec!["/dashboard".to_owned()];
    while let Some(path) = next.pop() {
        let page = person.gets(&path);
        assert!(matches!(page.status, 200 | 303), "{path}: {}: {}", page.status, page.text());
        if let Some(to) = page.header("location") {
            assert!(to.starts_with("/docent/"), "{path} redirects to {to}");
        }
        if !page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            continue;
        }
        for (attribute, address) in addresses(page.text()) {
            assert!(!address.starts_with('/') || address.starts_with("/docent/"), "{path}: {attribute} {address}");
            let Some(own) = address.strip_prefix("/docent") else { continue };
            let own = own.split('#').next().unwrap_or_default().replace("&amp;", "&");
            let follows = !matches!(attribute, "action" | "data-stream") && seen.len() < 150;
            if follows && seen.insert(own.clone()) {
                next.push(own);
            }
        }
    }
    assert!(seen.len() > 40 && seen.iter().any(|path| path.contains("/-/assets/")), "{seen:?}");
    person.gets(&format!("/dashboard/{PROJECT}"));
    let written = person.posts(&format!("/dashboard/{PROJECT}/reindex"), &[]);
    let back = format!("/docent/dashboard/{PROJECT}");
    assert_eq!((written.status, written.header("location")), (303, Some(back.as_str())));
    assert!(agent.create("Look again")["id"].is_string());
    let sends = |request: Request| request.header("Host", DOCS).send(reader.address()).expect("the proxy answers");
    let jobs = Request::get(format!("/docent/v2/agent/{PROJECT}/jobs")).bearer(&site.admin_key);
    assert_eq!(sends(jobs).status, 200, "the API is there, too");
}

/// The addresses in a page, with the attributes that hold them.
fn addresses(html: &str) -> Vec<(&'static str, String)> {
    let of = |name: &'static str| {
        let begin = format!(" {name}=\"");
        let values = html.split(&begin).skip(1).filter_map(|rest| rest.split('"').next().map(str::to_owned));
        values.map(move |value| (name, value)).collect::<Vec<_>>()
    };
    ["href", "src", "action", "data-load", "data-events", "data-stream"].into_iter().flat_map(of).collect()
}

fn redirects(proxy: &ThirdPartyServer) {
    let redirect = proxy.send(&Request::get("/dashboard?a=b").header("Host", SERVER));
    let to = redirect.header("location").expect("a redirect");
    assert!(matches!(redirect.status, 301 | 308) && to.starts_with(&format!("https://{SERVER}")), "{to}");
    assert!(to.ends_with("/dashboard?a=b"), "{to}");
}

#[test]
#[ignore = "needs nginx: cargo xtask test --only deploy"]
fn nginx_passes_everything_on() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let certificate = Certificate::in_folder(folder.path());
    let place = Place::in_folder(folder.path(), &certificate);
    let (site, model) = stage();
    let proxy = place.nginx(site.server.address(), &[]);
    redirects(&proxy);
    let reader = Reader::of(place.secure, SERVER, certificate.trusting());
    Walk { site: &site, model: &model, reader }.whole();
    is_below_a_path(&site, &Reader::of(place.secure, DOCS, certificate.trusting()));
}

#[test]
#[ignore = "needs nginx: cargo xtask test --only deploy"]
fn nginx_serves_all_of_it_below_a_path() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let certificate = Certificate::in_folder(folder.path());
    let place = Place::in_folder(folder.path(), &certificate);
    let (site, model) = stage_at(&format!("https://{DOCS}/docent"));
    model.replies_with(|_| Reply::text("Nothing to do.").finish("Nothing"));
    let _proxy = place.nginx(
        site.server.address(),
        &[
            (r"location ~ ^/docent/(?<rest>(discovery|sites|mcp|widget)/.*|widget\.js)$ {", "location /docent/ {"),
            ("proxy_pass http://docent/$rest$is_args$args;", "proxy_pass http://docent/;"),
        ],
    );
    all_is_below_a_path(&site, &Reader::of(place.secure, DOCS, certificate.trusting()));
}

#[test]
#[ignore = "needs Caddy: cargo xtask test --only deploy"]
fn caddy_serves_all_of_it_below_a_path() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let certificate = Certificate::in_folder(folder.path());
    let place = Place::in_folder(folder.path(), &certificate);
    let (site, model) = stage_at(&format!("https://{DOCS}/docent"));
    model.replies_with(|_| Reply::text("Nothing to do.").finish("Nothing"));
    let paths = "/docent/discovery/* /docent/sites/* /docent/mcp/* /docent/widget/* /docent/widget.js";
    let _proxy = place.caddy(site.server.address(), &[(paths, "/docent/*")]);
    all_is_below_a_path(&site, &Reader::of(place.secure, DOCS, certificate.trusting()));
}

#[test]
#[ignore = "needs Caddy: cargo xtask test --only deploy"]
fn caddy_passes_everything_on() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let certificate = Certificate::in_folder(folder.path());
    let place = Place::in_folder(folder.path(), &certificate);
    let (site, model) = stage();
    let proxy = place.caddy(site.server.address(), &[]);
    redirects(&proxy);
    let reader = Reader::of(place.secure, SERVER, certificate.trusting());
    Walk { site: &site, model: &model, reader }.whole();
    is_below_a_path(&site, &Reader::of(place.secure, DOCS, certificate.trusting()));
}

#[test]
#[ignore = "needs HAProxy: cargo xtask test --only deploy"]
fn haproxy_passes_everything_on() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let certificate = Certificate::in_folder(folder.path());
    let place = Place::in_folder(folder.path(), &certificate);
    let (site, model) = stage();
    // The walk is of one data folder, so one server stands for all three nodes.
    let proxy = place.haproxy([site.server.address(); 3]);
    redirects(&proxy);
    let reader = Reader::of(place.secure, SERVER, certificate.trusting());
    Walk { site: &site, model: &model, reader }.whole();
}
