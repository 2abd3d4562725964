//! The description of the API is held against the routes of the source and the answers of a running server.

mod coverage;
mod refusals;

use std::collections::BTreeSet;
use std::fs;

use docent_tests::agent::id;
use docent_tests::api_description::{Operation, api_description, faults, operations};
use docent_tests::binary::source_root;
use docent_tests::{Request, Response, Site};
use serde_json::{Value, json};

use crate::site_files::site_with;

/// Where paths are matched against patterns.
const ROUTES: [&str; 6] = [
    "crates/http-v1/src/route.rs",
    "crates/http-v2/src/route.rs",
    "crates/mcp/src/audience.rs",
    "crates/api-docs/src/lib.rs",
    "crates/server/src/serve/mod.rs",
    "crates/dashboard/src/dashboard.rs",
];

fn description(site: &Site) -> Value {
    let response = site.server.send(&Request::get("/openapi.json"));
    assert_eq!(response.status, 200);
    response.json()
}

/// The shape of a path: every name in it is `_`.
fn shape(path: &str) -> String {
    let parts = path.trim_matches('/').split('/').map(|part| if part.starts_with('{') { "_" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// The shapes of the slice patterns of a source file, without those of tests.
fn patterns(source: &str) -> Vec<String> {
    let source = source.split("mod tests {").next().unwrap_or_default();
    let lists = source.match_indices('[').filter_map(|(at, _)| source[at + 1..].split_once(']')).map(|(list, _)| list);
    let is_pattern = |list: &&str| list.starts_with('"') && !list.contains(['\n', ':', ';']);
    let part = |part: &str| match part.trim() {
        "" | "\"\"" => None,
        part => Some(part.strip_prefix('"').and_then(|part| part.strip_suffix('"')).unwrap_or("_").to_owned()),
    };
    lists.filter(is_pattern).map(|list| list.split(',').filter_map(part).collect::<Vec<_>>().join("/")).collect()
}

#[test]
fn the_description_has_every_route_and_no_other() {
    let site = Site::start();
    let api = description(&site);
    let described: BTreeSet<String> = api["paths"].as_object().expect("paths").keys().map(|path| shape(path)).collect();
    let mut routes = BTreeSet::new();
    for file in ROUTES {
        let source = fs::read_to_string(source_root().join(file)).expect("a source file");
        let found = patterns(&source);
        assert!(!found.is_empty(), "{file} has patterns");
        routes.extend(found);
    }
    // The rest of a path below a site is the address of a page; an action on a pull request is one of three.
    let actions = ["merge", "close", "update"].map(|action| format!("pulls/_/_/{action}"));
    routes.retain(|route| !["pulls/_/_/_", "sites/_/_/_", "dashboard"].contains(&route.as_str()));
    routes.extend(actions);
    routes.extend(["sites/_/llms.txt".to_owned(), "sites/_/_".to_owned()]);
    let unknown: Vec<_> = routes.difference(&described).collect();
    let gone: Vec<_> = described.difference(&routes).collect();
    assert_eq!((unknown, gone), (vec![], vec![]), "routes without a description, and descriptions without a route");
    for (path, item) in api["paths"].as_object().expect("paths") {
        let sample: Vec<_> = path.split('/').map(|part| if part.starts_with('{') { "acme" } else { part }).collect();
        let options = site.server.send(&Request::new("OPTIONS", sample.join("/")));
        let allowed = options.header("Allow").unwrap_or_else(|| panic!("{path}: {}", options.status)).to_owned();
        let allowed: BTreeSet<&str> =
            allowed.split(", ").filter(|method| !["HEAD", "OPTIONS"].contains(method)).collect();
        let methods = ["get", "post", "delete"].into_iter().filter(|method| item[method].is_object());
        let methods: BTreeSet<String> = methods.map(str::to_uppercase).collect();
        assert_eq!(allowed, methods.iter().map(String::as_str).collect(), "{path}");
    }
}

#[test]
fn the_table_of_the_documentation_names_what_is_described() {
    let site = Site::start();
    let api = description(&site);
    let text = fs::read_to_string(source_root().join("docs/API.md")).expect("docs/API.md");
    let table = text.split("\n\n").find(|part| part.starts_with("| method and path |")).expect("the table");
    for path in api["paths"].as_object().expect("paths").keys() {
        let written = path.replace("{pullId}", "{id}").replace("{page}", "{page}.md").replace("{model}", "{domain}");
        // A row may name further paths by their ends: `…/close`, `/gaps`.
        let ends = written.match_indices('/').map(|(at, _)| &written[at..]);
        let is_named = |end: &str| table.contains(&format!("`…{end}`")) || table.contains(&format!("`{end}`"));
        assert!(table.contains(&format!(" {written}`")) || ends.into_iter().any(is_named), "{path}");
    }
}

/// One server, and the operations that were seen to answer.
struct Described {
    site: Site,
    seen: BTreeSet<&'static str>,
}

fn operation(name: &str) -> Operation {
    operations(api_description())
        .find(|operation| operation.name() == name)
        .unwrap_or_else(|| panic!("{name} is described"))
}

impl Described {
    /// Sends a request for an operation. `names` are those of its path, in order; the answer must have this status. That it
    /// is as described, whoever reads it checks.
    fn answers(
        &mut self,
        name: &str,
        names: &[&str],
        query: &str,
        key: Option<&str>,
        body: Option<&Value>,
        status: u16,
    ) -> Response {
        let operation = operation(name);
        let mut names = names.iter();
        let path: Vec<&str> = operation
            .path
            .split('/')
            .map(|part| if part.starts_with('{') { names.next().expect("a name") } else { part })
            .collect();
        let mut request = Request::new(&operation.method.to_uppercase(), format!("{}{query}", path.join("/")));
        if let Some(key) = key {
            request = request.bearer(key);
        }
        if let Some(body) = body {
            let schema = &operation.value["requestBody"]["content"]["application/json"]["schema"];
            let faults = faults(api_description(), schema, body);
            assert_eq!(faults.is_empty(), status != 400, "{name}: {faults:#?} in {body:#}");
            request = request.json(body);
        }
        let response = self.site.server.send(&request);
        assert_eq!(response.status, status, "{name}: {}", response.text());
        self.seen.insert(operation.name());
        response
    }
}

#[test]
fn every_operation_answers_as_described() {
    let site = site_with("---\npublic: true\nagentsMayAsk: true\n---\n", &[]);
    let (admin, reader) = (site.admin_key.clone(), site.assistant_key.clone());
    let (admin, reader) = (Some(admin.as_str()), Some(reader.as_str()));
    let mut at = Described { site, seen: BTreeSet::new() };

    let prompt = json!({"prompt": "Replace \"widget\" with \"gadget\""});
    let job = at.answers("createJob", &["acme"], "", admin, Some(&prompt), 201).json();
    at.answers("createJob", &["acme"], "", admin, Some(&json!({"prompt": ""})), 400);
    at.answers("createJob", &["acme"], "", None, Some(&prompt), 401);
    at.answers("createJob", &["acme"], "", reader, Some(&prompt), 403);
    at.site.agent().reaches(id(&job), "completed");
    let done = at.answers("getJob", &["acme", id(&job)], "?wait=5", admin, None, 200).json();
    at.answers("getJob", &["acme", "none"], "", admin, None, 404);
    at.answers("listJobs", &["acme"], "", admin, None, 200);
    at.answers("listJobs", &["acme"], "?limit=0", admin, None, 400);
    at.answers("streamJobEvents", &["acme", id(&job)], "", admin, None, 200);
    at.answers("getSession", &["acme", id(&job)], "", admin, None, 200);
    at.answers("listSessions", &["acme"], "", admin, None, 200);
    let pull = done["prLink"].as_str().and_then(|link| link.rsplit('/').next()).expect("a pull request").to_owned();
    at.answers("showPull", &["acme", &pull], "", None, None, 303);
    at.answers("updatePull", &["acme", &pull], "", admin, None, 200);
    at.answers("mergePull", &["acme", &pull], "", admin, None, 200);
    at.answers("closePull", &["acme", &pull], "", admin, None, 409);
    at.answers(
        "messageJob",
        &["acme", id(&job)],
        "",
        admin,
        Some(&json!({"prompt": "Replace \"gadget\" with \"gizmo\""})),
        200,
    );
    at.site.agent().reaches(id(&job), "completed");
    at.answers("archiveJob", &["acme", id(&job)], "", admin, None, 200);
    at.answers("messageJob", &["acme", id(&job)], "", admin, Some(&prompt), 409);
    let session = json!({"messages": [{"role": "user", "content": "Replace \"gizmo\" with \"widget\""}]});
    at.answers("createSession", &["acme"], "", admin, Some(&session), 200);

    let question = |content: &str| {
        json!({"fp": "anonymous", "messages": [{
        "role": "user", "content": content, "parts": [{"type": "text", "text": content}]}]})
    };
    let retried = question("How often is a webhook delivery retried?");
    let answer = at.answers("ask", &["acme"], "", reader, Some(&retried), 200);
    at.answers("ask", &["acme"], "", reader, Some(&json!({"fp": "anonymous", "messages": []})), 400);
    at.answers("askV1", &["acme"], "", reader, Some(&question("What is a quibblefrotz?")), 200);
    at.answers("resume", &["acme", "no-such-chat"], "", reader, None, 204);
    at.answers("stopReply", &["acme", "no-such-chat"], "", reader, None, 204);
    at.answers("resumeV1", &["acme"], "?chatId=none", reader, None, 200);
    let thread = answer.header("X-Thread-Id").expect("a thread").to_owned();
    let message = answer
        .text()
        .split("\"messageId\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("an id")
        .to_owned();
    let rating = json!({"threadId": thread, "messageId": message, "rating": "down", "comment": null});
    at.answers("rate", &["acme"], "", reader, Some(&rating), 204);
    let asked = json!({"messages": [{"role": "user", "content": "How often is a webhook delivery retried?"}]});
    at.answers("completeChat", &["acme"], "", reader, Some(&asked), 200);
    at.answers("listModels", &["acme"], "", reader, None, 200);
    at.answers("getModel", &["acme", "acme"], "", reader, None, 200);
    at.answers("search", &["acme"], "", reader, Some(&json!({"query": "webhook retries"})), 200);
    at.answers("search", &["acme"], "", reader, Some(&json!({"query": ""})), 400);
    at.answers("readPage", &["acme"], "", reader, Some(&json!({"path": "guides/webhooks"})), 200);
    at.answers("readPage", &["acme"], "", reader, Some(&json!({"path": "none"})), 404);

    at.answers("listPagesAsText", &["acme"], "", None, None, 200);
    at.answers("readFrontPage", &["acme"], "", None, None, 200);
    at.answers("readAllPages", &["acme"], "", None, None, 200);
    at.answers("readPageAsMarkdown", &["acme", "guides/webhooks.md"], "", None, None, 200);
    at.answers("readPageAsMarkdown", &["acme", "none.md"], "", None, None, 404);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    at.answers("callReaderTools", &["acme"], "", None, Some(&call), 200);
    at.answers("callReaderTools", &["acme"], "", None, Some(&json!({"jsonrpc": "1.0"})), 400);
    at.answers("callOwnerTools", &["acme"], "", admin, Some(&call), 200);
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    at.answers("callOwnerTools", &["acme"], "", admin, Some(&notice), 202);

    at.answers("listConversations", &["acme"], "", admin, None, 200);
    at.answers("listConversations", &["acme"], "?format=csv", admin, None, 200);
    at.answers("listConversations", &["acme"], "?limit=0", admin, None, 400);
    at.answers("listFeedback", &["acme"], "", admin, None, 200);
    at.answers("countFeedbackByPage", &["acme"], "", admin, None, 200);
    at.answers("listGaps", &["acme"], "", admin, None, 200);
    at.answers("groupGaps", &["acme"], "", admin, None, 200);
    at.answers("summarise", &["acme"], "", admin, None, 200);
    at.answers("listSearches", &["acme"], "", admin, None, 200);
    at.answers("getThread", &["acme", &thread], "", admin, None, 200);
    at.answers("getThread", &["acme", "none"], "", admin, None, 404);

    at.answers("isAlive", &[], "", None, None, 200);
    at.answers("isReady", &[], "", None, None, 200);
    at.answers("measure", &[], "", None, None, 200);
    at.answers("describe", &[], "", None, None, 200);
    let page = at.answers("showDescription", &[], "", None, None, 200);
    assert!(page.text().contains("id=\"createJob\"") && !page.text().contains("<script"));
    let untried: Vec<_> = operations(api_description())
        .map(|operation| operation.name())
        .filter(|name| !at.seen.contains(name))
        .collect();
    assert_eq!(untried, [""; 0], "operations that nobody tried");
}

#[test]
fn a_value_that_does_not_fit_is_told() {
    let api = json!({"components": {"schemas": {"Name": {"type": "string", "minLength": 1, "maxLength": 3}}}});
    let schema = json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"$ref": "#/components/schemas/Name"},
            "at": {"type": "string", "format": "date-time"},
            "kinds": {"type": ["array", "null"], "minItems": 1, "maxItems": 2, "items": {"enum": ["a", "b"]}},
            "size": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 9}, {"const": "none"}]},
        },
        "oneOf": [{"required": ["kinds"]}, {"required": ["size"]}],
        "allOf": [{"type": "object", "description": "d"}],
    });
    for (value, expected) in [
        (json!({"name": "abc", "size": 9, "more": 1}), 0),
        (json!({"name": "abc", "size": "none", "at": "2026-11-28T15:00:00.000Z"}), 0),
        (json!({"name": "abc", "kinds": null}), 0),
        (json!({"name": "abc", "kinds": ["a"], "size": 1}), 1),
        (json!({"size": 1}), 1),
        (json!({"name": "", "size": 1}), 1),
        (json!({"name": "abcd", "size": 10}), 2),
        (json!({"name": 5, "kinds": ["c", "a", "b"]}), 3),
        (json!({"name": "a", "kinds": []}), 1),
        (json!({"name": "a", "size": 1.5, "at": "yesterday"}), 2),
    ] {
        let found = faults(&api, &schema, &value);
        assert_eq!(found.len(), expected, "{value}: {found:?}");
    }
}
