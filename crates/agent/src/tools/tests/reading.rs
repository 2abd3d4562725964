use std::collections::BTreeMap;
use std::sync::{Arc, Barrier};

use docent_site::Tree;
use docent_types::Passage;
use proptest::prelude::*;

use super::*;
use crate::docs_search::DocsSearch;
use crate::files::MemoryFiles;

/// The context of docs with a context repository `api` and a published index.
fn beside_the_api() -> ToolContext {
    let api: BTreeMap<String, Vec<u8>> = [("src/retry.rs", "const TRIES: u32 = 5;\n"), ("README.md", "# API\n")]
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .into();
    ToolContext {
        docs_root: "docs".into(),
        context: BTreeMap::from([("api".to_owned(), Arc::new(api) as Arc<dyn Tree + Send + Sync>)]),
        search: Some(Arc::new(Published)),
        ..ToolContext::default()
    }
}

/// An index with one passage about retries.
struct Published;

impl DocsSearch for Published {
    fn search(&self, words: &str, limit: usize) -> Vec<Passage> {
        let passage = Passage {
            path: "guides/a".into(),
            href: "/guides/a#backoff".into(),
            title: "A".into(),
            headings: vec!["Backoff".into()],
            content: "x".repeat(5_000),
            score: 1.0,
            version: None,
            language: None,
        };
        vec![passage; limit.min(usize::from(words.contains("retries")))]
    }
}

fn answer(name: &str, input: Value) -> ToolResult {
    run_tools(&[call(name, input)], &mut docs(), &beside_the_api()).remove(0)
}

#[track_caller]
fn told(name: &str, input: Value) -> String {
    let result = answer(name, input);
    assert!(!result.is_error, "{}", result.output);
    result.output
}

#[track_caller]
fn denied(name: &str, input: Value) -> String {
    let result = answer(name, input);
    assert!(result.is_error, "{}", result.output);
    result.output
}

#[test]
fn files_are_listed_and_read() {
    let mut files = docs();
    assert_eq!(
        ok(&mut files, "list", json!({})),
        "docs.json  64 B\nguides/a.mdx  33 B\nguides/crlf.md  32 B\nindex.mdx  49 B\nlogo.png  4 B"
    );
    assert_eq!(ok(&mut files, "list", json!({"in": "guides/**"})), "guides/a.mdx  33 B\nguides/crlf.md  32 B");
    assert_eq!(
        ok(&mut files, "read", json!({"path": "/guides/a.mdx", "from_line": 5, "to_line": 6})),
        "5\tOne.\n6\tTwo.\n… 1 more lines; go on with `from_line`: 7"
    );
    assert_eq!(
        refused(&mut files, "read", json!({"path": "guides/a"})),
        "there is no file `guides/a`; the page is `guides/a.mdx`"
    );
    assert_eq!(
        refused(&mut files, "read", json!({"path": "guides"})),
        "`guides` is a folder; `list` shows what is in it"
    );
    assert!(refused(&mut files, "read", json!({"path": "index.mdx", "from_line": 99})).contains("has 7 lines"));
    assert_eq!(
        ok(&mut files, "read", json!({"path": "logo.png"})),
        "`logo.png` is not text: a binary file with the ending `.png`, 4 B."
    );
}

#[test]
fn folders_below_a_depth_are_counted() {
    let paths = ["a.md", "g/a.md", "g/b.md", "g/x/a.md", "g/x/y/a.md", "g/x/y/b.md"];
    let mut files = MemoryFiles::from_texts(paths.map(|path| (path, "")));
    let mut list = |input: Value| ok(&mut files, "list", input).replace("  0 B", "").replace('\n', " ");
    assert_eq!(list(json!({"depth": 1})), "a.md g/  5 files");
    assert_eq!(list(json!({"depth": 2})), "a.md g/a.md g/b.md g/x/  3 files");
    assert_eq!(list(json!({"depth": 1, "in": "g"})), "g/a.md g/b.md g/x/  3 files");
    assert_eq!(list(json!({"depth": "1", "in": ["g/x/**"]})), "g/x/a.md g/x/y/  2 files");
    assert_eq!(list(json!({"in": "g/x/y/"})), "g/x/y/a.md g/x/y/b.md");
}

#[test]
fn long_listings_and_files_come_in_parts() {
    let names: Vec<String> = (0..700).map(|index| format!("p/{index:03}.md")).collect();
    let long = "word ".repeat(100) + "\n";
    let long = long.repeat(200);
    let mut files = MemoryFiles::from_texts(names.iter().map(|name| (name.as_str(), long.as_str())));
    let listed = ok(&mut files, "list", json!({}));
    assert!(listed.ends_with("… 400 more; narrow it with `in` or `depth`, or go on with `from`: 300"), "{listed}");
    assert_eq!(ok(&mut files, "list", json!({"from": 699})), "p/699.md  100.2 kB");
    let text = ok(&mut files, "read", json!({"path": "p/000.md"}));
    let next = text.lines().count();
    assert!(text.len() < 30_000 && text.ends_with(&format!("go on with `from_line`: {next}")), "{}", text.len());
    let rest = ok(&mut files, "read", json!({"path": "p/000.md", "from_line": next}));
    assert!(rest.starts_with(&format!("{next}\tword")));
}

#[test]
fn text_is_searched_by_pattern() {
    let mut files = docs();
    assert_eq!(
        ok(&mut files, "search_text", json!({"pattern": "^tw.", "ignore_case": true})),
        "guides/a.mdx:6: Two.\nguides/crlf.md:5: Two.\n"
    );
    assert_eq!(
        ok(&mut files, "search_text", json!({"pattern": "Two\\.$", "context_lines": "1", "in": "guides"})),
        "guides/a.mdx-5- One.\nguides/a.mdx:6: Two.\nguides/a.mdx-7- One.\n--\nguides/crlf.md-4- One.\n\
         guides/crlf.md:5: Two.\n"
    );
    assert_eq!(ok(&mut files, "search_text", json!({"pattern": "Two", "in": ["index"]})), "nothing matches");
    assert!(refused(&mut files, "search_text", json!({"pattern": "("})).starts_with("the pattern is not a regular"));
    assert!(refused(&mut files, "search_text", json!({"pattern": "((a{99}){99}){99}"})).contains("size limit"));
}

#[test]
fn a_search_that_finds_too_much_says_how_much() {
    let names: Vec<String> = (0..900).map(|index| format!("p/{index:03}.md")).collect();
    let mut files = MemoryFiles::from_texts(names.iter().map(|name| (name.as_str(), "one\ntwo\none\n")));
    let found = ok(&mut files, "search_text", json!({"pattern": "one"}));
    assert!(found.starts_with("p/000.md:1: one\np/000.md:3: one\np/001.md:1: one\n"), "{found}");
    assert!(found.ends_with("… 1600 more matches, 900 files in all; narrow the pattern or use `in`"), "{found}");
}

#[test]
fn repositories_beside_the_docs_are_read_and_never_changed() {
    assert_eq!(told("list", json!({"in": "@api"})), "@api/README.md  6 B\n@api/src/retry.rs  22 B");
    assert_eq!(told("list", json!({"in": "@api/src/**"})), "@api/src/retry.rs  22 B");
    assert_eq!(told("read", json!({"path": "@api/src/retry.rs"})), "1\tconst TRIES: u32 = 5;\n");
    assert_eq!(
        told("search_text", json!({"pattern": "TRIES", "in": ["@api/"]})),
        "@api/src/retry.rs:1: const TRIES: u32 = 5;\n"
    );
    assert_eq!(
        told("str_replace_based_edit_tool", json!({"command": "view", "path": "@api"})),
        "@api/README.md  6 B\n@api/src/retry.rs  22 B"
    );
    assert_eq!(
        denied("search_text", json!({"pattern": "x", "in": ["@api/", "index"]})),
        "look into one repository at a time"
    );
    assert!(denied("read", json!({"path": "@web/x"})).ends_with("no repository of that name: there is `@api`"));
    assert!(denied("read", json!({"path": "@api/../../etc/passwd"})).starts_with("there is no file"));
    let writes = [
        ("edit", json!({"path": "@api/README.md", "old": "API", "new": "x"})),
        ("insert", json!({"path": "/@api/README.md", "after_line": 0, "text": "x"})),
        ("write", json!({"path": "@api/new.md", "content": "x"})),
        ("move", json!({"from": "index.mdx", "to": "@api/x.mdx"})),
        ("move", json!({"from": "@api/README.md", "to": "x.md"})),
        ("delete", json!({"path": "@api/README.md"})),
        ("move_page", json!({"from": "index", "to": "@api/x"})),
        ("delete_page", json!({"page": "@api/README"})),
        ("add_page", json!({"path": "./@api/x", "title": "X"})),
        ("replace_text", json!({"find": "API", "replace": "x", "in": ["@api"]})),
        ("set_front_matter", json!({"field": "a", "value": "b", "in": "@api/**"})),
        ("str_replace_based_edit_tool", json!({"command": "create", "path": "@api/x.md", "file_text": "x"})),
    ];
    for (name, input) in writes {
        assert!(denied(name, input).contains("which can be read and not changed"), "{name}");
    }
}

#[test]
fn the_published_docs_are_searched() {
    let found = told("search_docs", json!({"query": "retries", "limit": 3}));
    assert!(found.starts_with("## A > Backoff (/guides/a#backoff)\n\nxxx"), "{found}");
    assert!(found.len() < 1_400);
    assert!(told("search_docs", json!({"query": "nothing"})).starts_with("nothing published fits"));
    assert!(refused(&mut docs(), "search_docs", json!({"query": "retries"})).contains("use `search_text`"));
}

#[test]
fn paths_may_name_the_docs_root() {
    assert!(told("read", json!({"path": "docs/index.mdx"})).contains("# Acme"));
    assert!(told("read", json!({"file_path": "/docs/index.mdx"})).contains("# Acme"));
    for root in ["docs", "/docs/", ".", "/", "./"] {
        let listed = told("str_replace_based_edit_tool", json!({"command": "view", "path": root}));
        assert!(listed.starts_with("docs.json  64 B\nguides/a.mdx"), "{root}: {listed}");
    }
    let mut files = docs();
    run_tools(&[call("move_page", json!({"from": "docs/guides/a", "to": "docs/b"}))], &mut files, &beside_the_api());
    assert!(files.text("b.mdx").is_some());
}

#[test]
fn malformed_calls_are_answered_with_what_was_wrong() {
    let mut files = docs();
    let mut wrong = |name: &str, input: Value| refused(&mut files, name, input);
    assert!(wrong("nope", json!({})).starts_with("there is no tool `nope`; there are list, read"));
    let missing = wrong("read", json!({}));
    assert!(missing.contains("missing field `path`; `read` takes {"), "{missing}");
    assert!(missing.contains("path: string") && missing.contains("from_line?: integer"), "{missing}");
    assert!(wrong("read", json!({"path": 1})).contains("expected a string"));
    assert!(wrong("read", json!({"path": "index.mdx", "from_line": "x"})).contains("whole number"));
    assert!(wrong("read", json!("{\"path\": ")).contains("not a JSON object"));
    assert!(wrong("read", json!(null)).contains("missing field `path`"));
    assert!(wrong("read", json!([1])).contains("not a JSON object"));
    assert!(
        wrong("insert", json!({"path": "index.mdx", "after_line": null, "text": "x"})).contains("`after_line` is null")
    );
    let todo = wrong("todo_write", json!({"todos": [{"content": "x", "status": "later"}]}));
    assert!(todo.contains("unknown variant") && todo.contains("\"pending\" | \"in_progress\""), "{todo}");
    assert!(wrong("finish", json!({"outcome": "maybe", "title": "t", "summary": "s"})).contains("unknown variant"));
    assert!(wrong("finish", json!({"outcome": "done", "title": "t", "summary": " "})).contains("summary is empty"));
    let editor = "str_replace_based_edit_tool";
    assert!(wrong(editor, json!({"command": "undo", "path": "index.mdx"})).contains("unknown variant"));
    assert!(wrong(editor, json!({"command": "create", "path": "x.md"})).contains("missing field `file_text`"));
    assert!(wrong(editor, json!({"command": "insert", "path": "x.md", "insert_text": "x"})).contains("`insert_line`"));
    assert!(
        wrong(editor, json!({"command": "view", "path": "index.mdx", "view_range": [1]})).contains("such as [1, 40]")
    );
}

#[test]
fn common_slips_are_understood() {
    let mut files = docs();
    let mut read = |input: Value| ok(&mut files, "read", input);
    let line = "6\tTwo.\n… 1 more lines; go on with `from_line`: 7";
    assert_eq!(read(json!({"path": "guides/a.mdx", "from_line": "6", "to_line": "6"})), line);
    assert_eq!(read(json!({"file_path": "./guides/a.mdx", "start_line": 6, "end_line": 6, "why": "x"})), line);
    assert_eq!(read(json!("{\"path\": \"guides/a.mdx\", \"from_line\": 6, \"to_line\": 6}")), line);
    ok(
        &mut files,
        "edit",
        json!({"path": "index.mdx", "old_string": "Acme", "new_string": "A", "replace_all": "true"}),
    );
    assert_eq!(ok(&mut files, "list", json!({"in": "[\"guides/a\"]"})), "guides/a.mdx  33 B");
    assert_eq!(ok(&mut files, "check_docs", json!(null)), "Your changes broke nothing.");
}

/// A repository whose files can only be read by several threads at once.
struct Together(Barrier);

impl Tree for Together {
    fn paths(&self) -> Vec<String> {
        Vec::new()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.wait();
        Some(path.as_bytes().to_vec())
    }
}

#[test]
fn reads_run_side_by_side_and_are_answered_in_order() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    let together: Arc<dyn Tree + Send + Sync> = Arc::new(Together(Barrier::new(2)));
    let context = ToolContext { context: BTreeMap::from([("api".to_owned(), together)]), ..ToolContext::default() };
    let read = |path: &str| call("read", json!({"path": path}));
    let mut calls = vec![
        read("@api/1"),
        read("@api/2"),
        call("write", json!({"path": "new.md", "content": "new\n"})),
        read("new.md"),
        call("nope", json!({})),
        read("@api/3"),
        read("@api/4"),
    ];
    for (index, call) in calls.iter_mut().enumerate() {
        call.id = format!("c{index}");
    }
    let results = run_tools(&calls, &mut docs(), &context);
    let told: Vec<(&str, &str)> =
        results.iter().map(|result| (result.call_id.as_str(), result.output.split(';').next().unwrap_or(""))).collect();
    assert_eq!(
        told,
        [
            ("c0", "1\t1\n"),
            ("c1", "1\t2\n"),
            ("c2", "Made `new.md`, 1 lines."),
            ("c3", "1\tnew\n"),
            ("c4", "there is no tool `nope`"),
            ("c5", "1\t3\n"),
            ("c6", "1\t4\n"),
        ]
    );
}

#[test]
fn more_calls_than_a_reply_may_make_are_refused() {
    let calls: Vec<Call> = (0..=MOST_CALLS).map(|_| call("read", json!({"path": "index.mdx"}))).collect();
    let results = run_tools(&calls, &mut docs(), &ToolContext::default());
    let (first, last) = (&results[MOST_CALLS - 1], &results[MOST_CALLS]);
    assert!(!first.is_error && last.is_error && last.output.contains("a reply may make 256 calls"), "{last:?}");
}

#[test]
fn the_answers_to_one_reply_are_bounded_together() {
    let long: String = (0..1_000).map(|line| format!("Line {line} is one of many.\n")).collect();
    let mut files = MemoryFiles::from_texts([("long.md", long.as_str()), ("short.md", "Short.\n")]);
    let reads = (0..200).map(|_| call("read", json!({"path": "long.md"})));
    let calls: Vec<Call> = reads.chain([call("read", json!({"path": "short.md"}))]).collect();
    let results = run_tools(&calls, &mut files, &ToolContext::default());
    assert!(results.iter().map(|result| result.output.len()).sum::<usize>() < LONGEST_TOGETHER + 200 * 100);
    assert!(results[0].output.contains("Line 1 is"), "{}", results[0].output);
    assert!(results[199].output.starts_with("too long: "), "{}", results[199].output);
    assert_eq!(results[200].output, "1\tShort.\n");
}

fn any_input() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(vec!["", "index.mdx", "@api", "../x", "view", "create", "done", "[1, 2]", "é\u{0}"])
            .prop_map(Value::from),
    ];
    let names = vec![
        "path", "in", "pattern", "command", "view_range", "depth", "from", "from_line", "context_lines", "old", "new",
        "file_text", "insert_line", "new_str", "old_str", "query", "limit", "todos", "outcome", "title", "summary",
    ];
    let value = leaf.prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Value::from));
    let object = prop::collection::btree_map(prop::sample::select(names), value.clone(), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()));
    prop_oneof![4 => object, 1 => value]
}

proptest! {
    #[test]
    fn any_call_is_answered_once_and_briefly(
        calls in prop::collection::vec((0..=TOOLS.len(), any_input()), 1..6)
    ) {
        let calls: Vec<Call> = calls
            .into_iter()
            .enumerate()
            .map(|(index, (tool, input))| {
                let name = TOOLS.get(tool).map_or("nope", |tool| tool.name).to_owned();
                Call { id: format!("c{index}"), name, input }
            })
            .collect();
        let results = run_tools(&calls, &mut docs(), &beside_the_api());
        let ids = |call: &Call| call.id.clone();
        prop_assert_eq!(calls.iter().map(ids).collect::<Vec<_>>(), results.iter().map(|result| result.call_id.clone()).collect::<Vec<_>>());
        for result in results {
            prop_assert!(result.output.len() < 31_000 && !result.output.is_empty());
        }
    }
}
