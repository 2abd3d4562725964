//! The docs and the agent as tools of the Model Context Protocol, message by message. Released clients are in `sdk.rs`.

use std::borrow::Borrow;

use docent_tests::agent::id;
use docent_tests::installation::KeyKind;
use docent_tests::{Request, Response, Site, eventually};
use serde_json::{Value, json};

use crate::site_files::site_with;

const NEW: &str = "2026-07-28";
const PUBLIC: &str = "---\npublic: true\n---\n";

/// A request of the era of `initialize`.
fn call(path: &str, method: &str, params: &Value) -> Request {
    Request::post(path).json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}

/// A request that says everything itself.
fn modern(path: &str, method: &str, mut params: Value) -> Request {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().map(str::to_owned);
    let request = call(path, method, &params).header("MCP-Protocol-Version", NEW).header("Mcp-Method", method);
    match name {
        Some(name) if method == "tools/call" => request.header("Mcp-Name", name),
        _ => request,
    }
}

fn result(response: &Response) -> Value {
    assert_eq!(response.status, 200, "{}", response.text());
    let mut message = response.json();
    assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(1)), "{message:#}");
    assert!(message.get("error").is_none(), "{message:#}");
    message["result"].take()
}

fn tool_at(site: &Site, path: &str, key: Option<&str>, name: &str, arguments: impl Borrow<Value>) -> Value {
    let request = call(path, "tools/call", &json!({"name": name, "arguments": arguments.borrow()}));
    let request = match key {
        Some(key) => request.bearer(key),
        None => request,
    };
    let result = result(&site.server.send(&request));
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(result["structuredContent"].is_object(), "the same as JSON: {result:#}");
    assert!(!text.is_empty());
    result
}

fn tool(site: &Site, name: &str, arguments: impl Borrow<Value>) -> Value {
    tool_at(site, "/mcp/acme", None, name, arguments)
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("a text")
}

/// An upper bound of the tokens of a result, of each of its two forms.
fn tokens(result: &Value) -> usize {
    text(result).len().max(result["structuredContent"].to_string().len()).div_ceil(3)
}

#[test]
fn a_client_of_either_era_is_answered_in_the_version_it_speaks() {
    let site = site_with(PUBLIC, &[]);
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let params =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let greeted = result(&site.server.send(&call("/mcp/acme", "initialize", &params)));
        assert_eq!(greeted["protocolVersion"], version);
        assert_eq!(greeted["serverInfo"]["name"], "docent");
        let listed = call("/mcp/acme", "tools/list", &json!({})).header("MCP-Protocol-Version", version);
        assert!(result(&site.server.send(&listed)).get("resultType").is_none());
    }
    let discovered = result(&site.server.send(&modern("/mcp/acme", "server/discover", json!({}))));
    assert_eq!(discovered["supportedVersions"], json!([NEW, "2025-11-25", "2025-06-18", "2025-03-26"]));
    assert_eq!(discovered["resultType"], "complete");
    assert_eq!(discovered["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "docent");
    let listed = result(&site.server.send(&modern("/mcp/acme", "tools/list", json!({}))));
    assert_eq!((&listed["cacheScope"], &listed["resultType"]), (&json!("public"), &json!("complete")));
    let searched =
        modern("/mcp/acme", "tools/call", json!({"name": "search", "arguments": {"query": "webhook retries"}}));
    assert_eq!(result(&site.server.send(&searched))["resultType"], "complete");
}

#[test]
fn a_client_that_discovers_and_then_greets_in_the_old_way_goes_on() {
    let site = site_with(PUBLIC, &[]);
    result(&site.server.send(&modern("/mcp/acme", "server/discover", json!({}))));
    let greeting = call("/mcp/acme", "initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}}));
    let greeted = result(&site.server.send(&greeting.header("MCP-Protocol-Version", NEW)));
    assert_eq!(greeted["protocolVersion"], "2025-11-25");
    let notice = Request::post("/mcp/acme").json(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let noticed = site.server.send(&notice.header("MCP-Protocol-Version", "2025-11-25"));
    assert_eq!((noticed.status, noticed.text()), (202, ""));
    result(&site.server.send(&call("/mcp/acme", "ping", &json!({}))));
}

#[test]
fn a_client_that_falls_back_to_get_is_told_that_there_is_none() {
    let site = site_with(PUBLIC, &[]);
    for method in ["GET", "DELETE"] {
        let response = site.server.send(&Request::new(method, "/mcp/acme").header("Accept", "text/event-stream"));
        assert_eq!((response.status, response.header("Allow")), (405, Some("POST, OPTIONS")), "{method}");
        assert!(!response.error().is_empty());
    }
}

#[test]
fn headers_that_do_not_say_what_the_body_says_are_refused() {
    let site = site_with(PUBLIC, &[]);
    let params = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": NEW, "io.modelcontextprotocol/clientCapabilities": {},
    }});
    let bare = || call("/mcp/acme", "tools/list", &params);
    for (request, code) in [
        (bare(), -32020),
        (bare().header("MCP-Protocol-Version", NEW), -32020),
        (bare().header("MCP-Protocol-Version", NEW).header("Mcp-Method", "tools/call"), -32020),
        (bare().header("MCP-Protocol-Version", "2025-11-25").header("Mcp-Method", "tools/list"), -32020),
        (call("/mcp/acme", "tools/list", &json!({})).header("MCP-Protocol-Version", "1900-01-01"), -32022),
        (call("/mcp/acme", "tools/list", &json!([])), -32600),
        (Request::post("/mcp/acme").header("Content-Type", "application/json").body("{"), -32700),
    ] {
        let response = site.server.send(&request);
        assert_eq!(
            (response.status, response.json()["error"]["code"].as_i64()),
            (400, Some(code)),
            "{}",
            response.text()
        );
    }
    for method in ["prompts/list", "initialize", "ping"] {
        let unknown = site.server.send(&modern("/mcp/acme", method, json!({})));
        assert_eq!((unknown.status, unknown.json()["error"]["code"].as_i64()), (404, Some(-32601)), "{method}");
    }
    let owner = site.server.send(&modern("/mcp/agent/acme", "prompts/list", json!({})).bearer(&site.admin_key));
    assert_eq!(owner.status, 404, "{}", owner.text());
    let unknown = site.server.send(&call("/mcp/acme", "prompts/list", &json!({})));
    assert_eq!((unknown.status, unknown.json()["error"]["code"].as_i64()), (200, Some(-32601)));
    let html = site.server.send(&Request::post("/mcp/acme").header("Content-Type", "text/html").body("x"));
    assert_eq!(html.status, 415);
    for accept in ["application/json", "text/html", "*/*;q=0"] {
        let response = site.server.send(&call("/mcp/acme", "ping", &json!({})).header("Accept", accept));
        assert_eq!(response.status, 200, "{accept}");
    }
}

#[test]
fn the_list_of_tools_is_short_and_always_the_same() {
    let site = site_with("---\npublic: true\nagentsMayAsk: true\n---\n", &[]);
    let list = || site.server.send(&call("/mcp/acme", "tools/list", &json!({})));
    let first = list();
    assert!(first.text().len() < 900 * 3, "{} bytes", first.text().len());
    assert_eq!(first.text(), list().text());
    let tools = result(&first);
    let names: Vec<_> = tools["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["search", "get_page", "list_pages", "ask"]);
    for tool in tools["tools"].as_array().expect("tools") {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool:#}");
    }
}

#[test]
fn a_search_is_small_and_its_urls_exist() {
    let long = format!("---\ntitle: Long\n---\n\n{}", "The parcel robot \"moves\" boxes.\n\n".repeat(400));
    let pages: Vec<(String, String)> =
        (0..12).map(|n| (format!("robots/r{n}.mdx"), long.replace("Long", &format!("Robot {n}")))).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(path, page)| (path.as_str(), page.as_str())).collect();
    let site = site_with("---\npublic: true\naddress: https://acme.test/docs\n---\n", &pages);
    let found = tool(&site, "search", json!({"query": "webhook delivery retries"}));
    let best = &found["structuredContent"]["results"][0];
    assert_eq!(best["url"], "https://acme.test/docs/guides/webhooks#retries", "{found:#}");
    assert!(text(&found).contains("retried five times"));
    let linked = tool(&site, "search", json!({"query": "requests a minute 429 header"}));
    assert!(text(&linked).contains("[errors](https://acme.test/docs/reference/errors)"), "{linked:#}");
    let page = tool(&site, "get_page", json!({"path": best["url"]}));
    assert!(text(&page).starts_with("## Retries"), "{page:#}");
    let many = tool(&site, "search", json!({"query": "parcel robot boxes", "limit": 10}));
    assert!(tokens(&many) <= 2_500, "{}", tokens(&many));
    assert!(many["structuredContent"]["results"].as_array().is_some_and(|results| results.len() > 2), "{many:#}");
    let few = tool_at(&site, "/mcp/acme?max_tokens=300", None, "search", json!({"query": "parcel robot boxes"}));
    assert!(tokens(&few) <= 300, "{}", tokens(&few));
    let none = tool(&site, "search", json!({"query": "quibblefrotz"}));
    assert_eq!((&none["structuredContent"]["results"], &none["isError"]), (&json!([]), &json!(false)));
    for wrong in [json!({}), json!({"query": " "}), json!({"query": "a", "limit": 11}), json!({"query": 5})] {
        assert_eq!(tool(&site, "search", wrong.clone())["isError"], true, "{wrong}");
    }
    assert_eq!(site.server.send(&call("/mcp/acme?max_tokens=9", "ping", &json!({}))).status, 400);
}

#[test]
fn a_search_is_narrowed_to_a_version_and_a_language() {
    let page = |head: &str, word: &str| format!("---\ntitle: Install\n{head}---\n\nInstall the {word} engine.\n");
    let site = Site::with_pages(&[
        (".docent/assistant.md", PUBLIC),
        ("v1/install.md", &page("version: v1\n", "steam")),
        ("v2/install.md", &page("version: v2\n", "electric")),
    ]);
    let found = tool(&site, "search", json!({"query": "install engine", "version": "v1"}));
    assert_eq!(found["structuredContent"]["results"][0]["path"], "v1/install", "{found:#}");
    let found = tool(&site, "search", json!({"query": "install engine", "version": "v3"}));
    assert_eq!(found["structuredContent"]["results"], json!([]));
}

#[test]
fn a_page_is_read_whole_in_parts_and_by_section() {
    let lines: String = (0..3_000).map(|n| format!("Line {n} of the \"long\" page.\n\n")).collect();
    let long = format!("---\ntitle: Long\n---\n\n## First\n\nShort.\n\n## Second\n\n{lines}");
    let site = site_with(PUBLIC, &[("guides/long.mdx", &long)]);
    let (mut offset, mut whole, mut calls) = (json!(0), String::new(), 0);
    while !offset.is_null() {
        let part = tool(&site, "get_page", json!({"path": "/guides/long", "offset": offset}));
        assert!(tokens(&part) <= 8_000, "{}", tokens(&part));
        whole.push_str(part["structuredContent"]["markdown"].as_str().expect("a part"));
        offset = part["structuredContent"]["nextOffset"].clone();
        calls += 1;
    }
    assert!(calls > 2 && whole.contains("Line 2999 of"), "{calls}");
    assert_eq!(whole.matches("\nLine ").count(), 3_000);
    let section = tool(&site, "get_page", json!({"path": "guides/long", "section": "First"}));
    assert_eq!(text(&section), "## First\n\nShort.");
    let missed = tool(&site, "get_page", json!({"path": "guides/long", "section": "Third"}));
    assert!(missed["isError"] == true && text(&missed).contains("First · Second"), "{missed:#}");
    let missed = tool(&site, "get_page", json!({"path": "https://docs.acme.test/guides/webhook"}));
    assert_eq!(missed["isError"], true);
    let nearest = missed["structuredContent"]["nearest"].as_array().expect("pages");
    assert_eq!((nearest.len(), &nearest[0]["path"]), (3, &json!("guides/webhooks")), "{missed:#}");
    assert!(text(&missed).contains("/guides/webhooks"));
}

#[test]
fn pages_are_listed_and_many_are_folders() {
    let pages: Vec<(String, String)> = (0..900)
        .map(|n| (format!("many/f{}/page-{n}.mdx", n % 30), format!("---\ntitle: A page of number {n}\n---\n\nx\n")))
        .collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(path, page)| (path.as_str(), page.as_str())).collect();
    let site = site_with(PUBLIC, &pages);
    let listed = tool(&site, "list_pages", json!({"prefix": "/guides/"}));
    assert_eq!(text(&listed), "/guides/webhooks: Webhooks\n/guides/rate-limits: Rate limits\n/guides/cafe: Das Café\n");
    let all = tool(&site, "list_pages", json!({}));
    assert!(tokens(&all) <= 8_000 && text(&all).contains("/many/: 900 pages"), "{}", text(&all));
    let folders = tool(&site, "list_pages", json!({"prefix": "many"}));
    assert_eq!(folders["structuredContent"]["folders"].as_array().map(Vec::len), Some(30), "{folders:#}");
    let one = tool(&site, "list_pages", json!({"prefix": "many/f7"}));
    assert_eq!(one["structuredContent"]["pages"].as_array().map(Vec::len), Some(30));
    assert_eq!(tool(&site, "list_pages", json!({"prefix": "nowhere"}))["isError"], true);
}

#[test]
fn the_assistant_is_asked_where_the_owner_allows_it() {
    let closed = site_with(PUBLIC, &[]);
    let asked = json!({"name": "ask", "arguments": {"question": "How often is a webhook delivery retried?"}});
    let refused = closed.server.send(&call("/mcp/acme", "tools/call", &asked));
    assert_eq!(refused.json()["error"]["code"], -32602, "{}", refused.text());
    let open = site_with("---\npublic: true\nagentsMayAsk: true\n---\n", &[]);
    let answer = tool(&open, "ask", json!({"question": "How often is a webhook delivery retried?"}));
    assert!(
        text(&answer).contains("retried five times") && text(&answer).contains("/guides/webhooks#retries"),
        "{answer:#}"
    );
    assert_eq!(answer["structuredContent"]["sources"][0]["url"], "/guides/webhooks#retries", "{answer:#}");
    let reader = open.installation.mint("acme", KeyKind::Assistant, &["--scope", "read"]);
    let refused = open.server.send(&call("/mcp/acme", "tools/call", &asked).bearer(&reader));
    assert_eq!(refused.status, 403, "asking writes: {}", refused.text());
}

#[test]
fn a_key_is_needed_unless_the_docs_are_public_and_a_foreign_page_needs_one_always() {
    let closed = Site::start();
    let ping = || call("/mcp/acme", "ping", &json!({}));
    let refused = closed.server.send(&ping());
    assert_eq!((refused.status, refused.header("WWW-Authenticate")), (401, Some("Bearer")));
    assert!(!refused.error().is_empty());
    assert_eq!(closed.server.send(&ping().bearer("docent_assistant_nonsense")).status, 401);
    assert_eq!(closed.server.send(&ping().bearer(&closed.admin_key)).status, 403);
    assert_eq!(closed.server.send(&ping().bearer(&closed.assistant_key)).status, 200);
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp/acme"] {
        assert_eq!(closed.server.send(&Request::get(path)).status, 404, "{path}");
    }
    let open = site_with("---\npublic: true\naddress: https://acme.test/docs\n---\n", &[]);
    for (origin, status) in [
        ("https://evil.test", 403),
        ("null", 403),
        ("https://acme.test.evil.test", 403),
        ("https://acme.test", 200),
        ("http://localhost:6274", 200),
    ] {
        let response = open.server.send(&ping().header("Origin", origin));
        assert_eq!(response.status, status, "{origin}");
        assert_eq!(response.header("Access-Control-Allow-Origin"), (status == 200).then_some("*"), "{origin}");
    }
    let with_key = open.server.send(&ping().header("Origin", "https://evil.test").bearer(&open.assistant_key));
    assert_eq!(with_key.status, 200, "a key that names no origins allows all");
    let asked = Request::new("OPTIONS", "/mcp/acme").header("Access-Control-Request-Headers", "mcp-protocol-version");
    let preflight = open.server.send(&asked.header("Origin", "https://acme.test"));
    assert_eq!(preflight.header("Access-Control-Allow-Headers"), Some("mcp-protocol-version"));
}

#[test]
fn a_page_for_a_group_is_not_found_without_a_key() {
    let site = site_with(
        "---\npublic: true\nagentsMayAsk: true\n---\n",
        &[("guides/inner.mdx", "---\ntitle: Inner\ngroups: [staff]\n---\n\nThe magenta vault opens at noon.\n")],
    );
    let found = tool(&site, "search", json!({"query": "magenta vault"}));
    let page = tool(&site, "get_page", json!({"path": "guides/inner"}));
    let listed = tool(&site, "list_pages", json!({}));
    let answer = tool(&site, "ask", json!({"question": "When does the magenta vault open?"}));
    for result in [&found, &page, &listed, &answer] {
        assert!(!text(result).contains("noon") && !text(result).contains("Inner"), "{result:#}");
    }
    let member = tool_at(&site, "/mcp/acme", Some(&site.assistant_key), "search", json!({"query": "magenta vault"}));
    assert!(text(&member).contains("noon"), "{member:#}");
}

#[test]
fn an_owner_runs_a_job_with_tools() {
    let site = Site::start();
    let path = "/mcp/agent/acme";
    let admin = site.admin_key.as_str();
    let tool = |name: &str, arguments: Value| tool_at(&site, path, Some(admin), name, arguments);
    let listed = result(&site.server.send(&modern(path, "tools/list", json!({})).bearer(admin)));
    let names: Vec<_> = listed["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["create_job", "get_job", "list_jobs", "message_job"]);
    assert_eq!(listed["cacheScope"], "private");
    let created = tool("create_job", json!({"prompt": "Replace \"widget\" with \"gadget\""}));
    let job = created["structuredContent"].clone();
    assert_eq!(job["status"], "active");
    let done = eventually("the job to end", || {
        let job = tool("get_job", json!({"id": id(&job), "wait": 5}))["structuredContent"].clone();
        (job["status"] != "active").then_some(job)
    });
    assert_eq!(done["status"], "completed", "{done:#}");
    assert!(done["prLink"].is_string(), "{done:#}");
    assert_eq!(site.agent().job(id(&job))["prLink"], done["prLink"], "the same job as the API has");
    let again = tool("message_job", json!({"id": id(&job), "prompt": "Replace \"gadget\" with \"gizmo\""}));
    assert_eq!(again["structuredContent"]["status"], "active", "{again:#}");
    site.agent().reaches(id(&job), "completed");
    assert_eq!(tool("list_jobs", json!({"status": "completed"}))["structuredContent"]["jobs"][0]["id"], job["id"]);
    for (name, arguments) in [
        ("create_job", json!({"prompt": " "})),
        ("create_job", json!({"prompt": "x", "model": "gpt"})),
        ("get_job", json!({"id": "00000000-0000-0000-0000-000000000000"})),
        ("list_jobs", json!({"status": "lost"})),
    ] {
        assert_eq!(tool(name, arguments.clone())["isError"], true, "{name} {arguments}");
    }
    let reader = site.installation.mint("acme", KeyKind::Admin, &["--scope", "read"]);
    let list = call(path, "tools/call", &json!({"name": "list_jobs"})).bearer(&reader);
    assert_eq!(site.server.send(&list).status, 200);
    let create = call(path, "tools/call", &json!({"name": "create_job", "arguments": {"prompt": "x"}})).bearer(&reader);
    assert_eq!(site.server.send(&create).status, 403);
    assert_eq!(site.server.send(&call(path, "ping", &json!({}))).status, 401);
    assert_eq!(site.server.send(&call(path, "ping", &json!({})).bearer(&site.assistant_key)).status, 403);
}

#[test]
fn clients_that_open_and_vanish_leave_nothing() {
    let site = site_with("---\npublic: true\nagentsMayAsk: true\n---\n", &[]);
    let asked = json!({"name": "ask", "arguments": {"question": "How often is a webhook delivery retried?"}});
    for n in 0..1_000 {
        let request = call("/mcp/acme", "tools/call", &asked);
        request.send_only(if n % 2 == 0 { 20 } else { 10_000 }, site.server.address()).expect("the server takes it");
    }
    eventually("all replies to end", || {
        let metrics = site.server.send(&Request::get("/metrics"));
        metrics.text().contains("\ndocent_replies_live 0\n").then_some(())
    });
    assert!(text(&tool(&site, "search", json!({"query": "webhook retries"}))).contains("retried five times"));
}

#[test]
fn a_thousand_clients_that_open_and_vanish_leave_nothing() {
    let site = site_with("---\npublic: true\nagentsMayAsk: true\n---\n", &[]);
    let address = site.server.address();
    let open = || std::fs::read_dir(format!("/proc/{}/fd", site.server.pid())).expect("the open files").count();
    let asked = |tool: &str, argument: &str| {
        call(
            "/mcp/acme",
            "tools/call",
            &json!({"name": tool, "arguments": {argument: "How often is a webhook retried?"}}),
        )
    };
    let vanishing = |requests: usize| {
        for n in 0..requests {
            match n % 4 {
                0 => drop(std::net::TcpStream::connect(address).expect("a connection")),
                1 => drop(asked("search", "query").begin(address).expect("a connection")),
                2 => asked("search", "query").send_only(20, address).expect("a part of a request"),
                _ => asked("ask", "question").send_only(usize::MAX, address).expect("a request"),
            }
        }
    };
    // What a first few open for good, such as the segments of the index, is no leak.
    vanishing(40);
    result(&site.server.send(&asked("search", "query")));
    let (files, memory) = (open(), site.server.resident());
    vanishing(1_000);
    eventually("all connections to be closed", || (open() <= files + 2).then_some(()));
    let live = || site.server.send(&Request::get("/metrics")).text().contains("\ndocent_replies_live 0\n");
    eventually("all replies to be dropped", || live().then_some(()));
    let more = site.server.resident().saturating_sub(memory) >> 20;
    assert!(more < 64, "the server has {more} MiB more");
    result(&site.server.send(&asked("ask", "question")));
}

#[test]
fn public_docs_are_public_from_the_first_answer_of_a_start_on() {
    let mut site = site_with(PUBLIC, &[]);
    for _ in 0..5 {
        site = site.killed_and_restarted();
        // Nothing is waited for: this is the first request.
        let page = site.server.send(&Request::get("/sites/acme/guides/webhooks.md"));
        assert_eq!(page.status, 200, "{}", page.text());
    }
}
