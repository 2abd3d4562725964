mod reading;

use proptest::prelude::*;

use super::*;
use crate::files::MemoryFiles;
use crate::turn_settings::TurnLimits;
use docent_site::Tree;

pub(super) fn docs() -> MemoryFiles {
    MemoryFiles::from_texts([
        ("docs.json", r#"{"navigation": [{"group": "G", "pages": ["index", "guides/a"]}]}"#),
        ("index.mdx", "---\ntitle: Home\n---\n\n# Acme\n\nSee [a](/guides/a).\n"),
        ("guides/a.mdx", "---\ntitle: A\n---\n\nOne.\nTwo.\nOne.\n"),
        ("guides/crlf.md", "---\r\ntitle: C\r\n---\r\nOne.\r\nTwo.\r\n"),
        ("logo.png", "\0PNG"),
    ])
}

pub(super) fn call(name: &str, input: Value) -> Call {
    Call { id: "c".into(), name: name.into(), input }
}

fn answer(files: &mut MemoryFiles, name: &str, input: Value) -> ToolResult {
    run_tools(&[call(name, input)], files, &ToolContext::default()).remove(0)
}

#[track_caller]
pub(super) fn ok(files: &mut MemoryFiles, name: &str, input: Value) -> String {
    let result = answer(files, name, input);
    assert!(!result.is_error, "{}", result.output);
    result.output
}

#[track_caller]
pub(super) fn refused(files: &mut MemoryFiles, name: &str, input: Value) -> String {
    let before = files.now().clone();
    let result = answer(files, name, input);
    assert!(result.is_error, "{}", result.output);
    assert_eq!(files.now(), &before, "a refused call changes nothing");
    result.output
}

#[test]
fn an_edit_is_exact_and_unique() {
    let mut files = docs();
    ok(&mut files, "edit", json!({"path": "guides/a.mdx", "old": "Two.", "new": "2."}));
    assert_eq!(files.text("guides/a.mdx"), Some("---\ntitle: A\n---\n\nOne.\n2.\nOne.\n"));
    assert!(
        refused(&mut files, "edit", json!({"path": "guides/a.mdx", "old": "One.", "new": "1."}))
            .contains("at lines 5, 7")
    );
    assert!(
        refused(&mut files, "edit", json!({"path": "guides/a.mdx", "old": "Three", "new": "3"}))
            .contains("does not occur")
    );
    assert!(refused(&mut files, "edit", json!({"path": "guides/a.mdx", "old": "", "new": "3"})).contains("is empty"));
    ok(&mut files, "edit", json!({"path": "guides/a.mdx", "old": "One.", "new": "1.", "all": true}));
    assert_eq!(files.text("guides/a.mdx"), Some("---\ntitle: A\n---\n\n1.\n2.\n1.\n"));
    ok(&mut files, "edit", json!({"path": "guides/crlf.md", "old": "One.\nTwo.", "new": "1.\n2."}));
    assert_eq!(files.text("guides/crlf.md"), Some("---\r\ntitle: C\r\n---\r\n1.\r\n2.\r\n"));
}

#[test]
fn one_refused_place_leaves_the_rest_of_a_chore() {
    let mut files = MemoryFiles::from_texts([
        (
            "docs.json",
            "{\n  \"name\": \"Acme\",\n  \"navigation\": [{\"group\": \"Acme\", \"pages\": [\"index\"]}]\n}\n",
        ),
        ("index.mdx", "# Acme\n\nAcme is here.\n\n{f(\"the Acme way\")}\n"),
    ]);
    let output = ok(&mut files, "replace_text", json!({"find": "Acme", "replace": "Zenith"}));
    assert_eq!(files.text("index.mdx"), Some("# Zenith\n\nZenith is here.\n\n{f(\"the Acme way\")}\n"), "{output}");
    let data = files.text("docs.json").unwrap_or_default();
    assert!(data.contains("\"name\": \"Acme\"") && data.contains("\"group\": \"Zenith\""), "{data}");
    assert!(output.contains("- `docs.json`: line 2, `\"name\": \"Acme\",`: "), "{output}");
    assert!(output.contains("can allow it: `docent project set ID --allow-path 'docs.json'"), "{output}");
    let mut alone = MemoryFiles::from_texts([
        ("docs.json", "{\"name\": \"Acme\", \"navigation\": [\"index\"]}\n"),
        ("index.mdx", "# Home\n"),
    ]);
    let output = refused(&mut alone, "replace_text", json!({"find": "Acme", "replace": "Zenith"}));
    assert!(output.starts_with("Nothing was changed. Not allowed:"), "{output}");
}

#[test]
fn a_text_that_was_copied_wrongly_is_told_how() {
    let mut files = docs();
    let mut wrong = |old: &str| refused(&mut files, "edit", json!({"path": "guides/a.mdx", "old": old, "new": "x"}));
    assert!(wrong("6\tTwo.\n7\tOne.").ends_with("leave out the line numbers"));
    assert!(wrong("  Two.\nThree.").contains("its first line is like line 6"));
    assert!(wrong("Three.").ends_with("copy it exactly"));
}

#[test]
fn one_tool_for_reading_and_editing_does_as_the_separate_ones() {
    let mut files = docs();
    let mut run = |input: Value| ok(&mut files, "str_replace_based_edit_tool", input);
    assert_eq!(
        run(json!({"command": "view", "path": "guides/a.mdx", "view_range": [5, 6]})),
        "5\tOne.\n6\tTwo.\n… 1 more lines; go on with `view_range`: [7, -1]"
    );
    assert!(run(json!({"command": "view", "path": "guides/a.mdx", "view_range": [6, -1]})).ends_with("7\tOne.\n"));
    assert_eq!(run(json!({"command": "view", "path": "guides"})), "guides/a.mdx  33 B\nguides/crlf.md  32 B");
    run(json!({"command": "create", "path": "[id]/{x}.md", "file_text": "x"}));
    assert_eq!(run(json!({"command": "view", "path": "[id]"})), "[id]/{x}.md  1 B");
    run(json!({"command": "str_replace", "path": "guides/a.mdx", "old_str": "Two.\n"}));
    run(json!({"command": "insert", "path": "guides/a.mdx", "insert_line": 5, "insert_text": "2."}));
    assert_eq!(run(json!({"command": "create", "path": "new.md", "file_text": "x\n"})), "Made `new.md`, 1 lines.");
    assert_eq!(run(json!({"command": "create", "path": "/new.md", "file_text": "y\n"})), "Replaced `new.md`, 1 lines.");
    assert_eq!(files.text("guides/a.mdx"), Some("---\ntitle: A\n---\n\nOne.\n2.\nOne.\n"));
    assert_eq!(files.text("new.md"), Some("y\n"));
    let again = json!({"command": "str_replace", "path": "guides/a.mdx", "old_str": "One.", "new_str": "1."});
    let why = refused(&mut files, "str_replace_based_edit_tool", again);
    assert!(why.contains("occurs 2 times in `guides/a.mdx`, at lines 5, 7") && why.ends_with("unique"), "{why}");
}

#[test]
fn lines_are_inserted_after_a_line() {
    let mut files = docs();
    ok(&mut files, "insert", json!({"path": "guides/a.mdx", "after_line": 5, "text": "New."}));
    assert_eq!(files.text("guides/a.mdx"), Some("---\ntitle: A\n---\n\nOne.\nNew.\nTwo.\nOne.\n"));
    ok(&mut files, "insert", json!({"path": "guides/crlf.md", "after_line": 5, "text": "X\nY\n"}));
    assert_eq!(files.text("guides/crlf.md"), Some("---\r\ntitle: C\r\n---\r\nOne.\r\nTwo.\r\nX\r\nY\r\n"));
    ok(&mut files, "write", json!({"path": "x.md", "content": "a"}));
    ok(&mut files, "insert", json!({"path": "x.md", "after_line": 1, "text": "b"}));
    ok(&mut files, "insert", json!({"path": "x.md", "after_line": 0, "text": "0"}));
    assert_eq!(files.text("x.md"), Some("0\na\nb"));
    assert!(
        refused(&mut files, "insert", json!({"path": "x.md", "after_line": 9, "text": "b"})).contains("has 3 lines")
    );
}

#[test]
fn files_are_written_moved_and_deleted() {
    let mut files = docs();
    assert_eq!(ok(&mut files, "write", json!({"path": "new.md", "content": "x\ny\n"})), "Made `new.md`, 2 lines.");
    ok(&mut files, "move", json!({"from": "new.md", "to": "a/b.md"}));
    assert_eq!(files.text("a/b.md"), Some("x\ny\n"));
    assert!(refused(&mut files, "move", json!({"from": "a/b.md", "to": "index.mdx"})).contains("already"));
    ok(&mut files, "delete", json!({"path": "a/b.md"}));
    assert_eq!(files.changed(), Vec::<String>::new());
    refused(&mut files, "delete", json!({"path": "a/b.md"}));
}

#[test]
fn a_file_that_is_written_anew_keeps_its_line_ends_and_its_mark() {
    let mut files = MemoryFiles::from_texts([("a.md", "\u{feff}# A\r\n\r\nOne.\r\n"), ("b.md", "# B\n")]);
    ok(&mut files, "write", json!({"path": "a.md", "content": "# A\n\nUno.\n"}));
    ok(&mut files, "write", json!({"path": "b.md", "content": "# B\n\nDue.\n"}));
    assert_eq!(files.text("a.md"), Some("\u{feff}# A\r\n\r\nUno.\r\n"));
    assert_eq!(files.text("b.md"), Some("# B\n\nDue.\n"));
}

#[test]
fn a_name_that_differs_in_letter_case_alone_is_refused() {
    let mut files = MemoryFiles::from_texts([("guide.md", "# G\n"), ("guides/a.md", "# A\n")]);
    let told = refused(&mut files, "write", json!({"path": "Guide.md", "content": "# X\n"}));
    assert!(told.contains("`Guide.md` differs from `guide.md` in letter case alone"), "{told}");
    refused(&mut files, "write", json!({"path": "Guides/A.md", "content": "# X\n"}));
    ok(&mut files, "move_page", json!({"from": "guide.md", "to": "Guide.md"}));
    assert_eq!((files.text("guide.md"), files.text("Guide.md")), (None, Some("# G\n")));
}

#[test]
fn a_move_to_where_nothing_can_be_leaves_the_page_where_it_is() {
    let mut files = docs();
    ok(&mut files, "write", json!({"path": "folder.md/a.md", "content": "x"}));
    for (to, why) in [("guides/crlf.md/a.mdx", "`guides/crlf.md` is a file"), ("folder.md", "it is a folder")] {
        assert!(refused(&mut files, "move", json!({"from": "index.mdx", "to": to})).contains(why), "{to}");
    }
    refused(&mut files, "move_page", json!({"from": "guides/a", "to": "guides/crlf.md/a.mdx"}));
    // A file may be replaced by a folder of its name.
    ok(&mut files, "move", json!({"from": "guides/a.mdx", "to": "guides/a.mdx/index.mdx"}));
}

#[test]
fn writes_to_protected_files_are_refused() {
    let mut files = docs();
    for path in ["../x", ".git/config", ".github/workflows/x.yml", "a/../../x", "a\\b"] {
        refused(&mut files, "write", json!({"path": path, "content": "x"}));
        refused(&mut files, "move", json!({"from": "index.mdx", "to": path}));
    }
    // Sites write paths with a leading slash; the path is still relative to the docs root.
    ok(&mut files, "write", json!({"path": "/etc/notes.md", "content": "x"}));
    assert_eq!(files.changed(), ["etc/notes.md"]);
}

#[test]
fn a_budget_refuses_whole_calls() {
    let mut files = docs();
    let limits = TurnLimits { files: 1, bytes: 100, ..TurnLimits::default() };
    let context = ToolContext { limits, ..ToolContext::default() };
    let mut run = |name: &str, input: Value| run_tools(&[call(name, input)], &mut files, &context).remove(0);
    assert!(run("replace_text", json!({"find": "One", "replace": "1"})).output.contains("a job may change 1"));
    assert!(run("write", json!({"path": "x.md", "content": "x".repeat(101)})).output.contains("a job may change 100"));
    assert!(!run("write", json!({"path": "x.md", "content": "x"})).is_error);
    assert!(!run("write", json!({"path": "x.md", "content": "y"})).is_error);
    assert!(run("write", json!({"path": "y.md", "content": "y"})).is_error);
}

#[test]
fn finishing_checks_what_was_broken() {
    let mut files = docs();
    ok(&mut files, "delete", json!({"path": "guides/a.mdx"}));
    assert_eq!(
        ok(&mut files, "check_docs", json!({})),
        "- docs.json:1 the navigation names `guides/a`, and there is no such page\n- index.mdx:7 `/guides/a` leads nowhere"
    );
    let finish = |more: Value| {
        let mut input = json!({"outcome": "done", "title": "t", "summary": "s"});
        input.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        input
    };
    assert!(refused(&mut files, "finish", finish(json!({}))).contains("`/guides/a` leads nowhere"));
    ok(&mut files, "finish", finish(json!({"known_problems": true})));
    ok(&mut files, "finish", finish(json!({"outcome": "cannot"})));

    let mut files = docs();
    ok(
        &mut files,
        "write",
        json!({"path": "k.md", "content": format!("---\ntitle: K\n---\n{}{}", "ghp_", "a1B2".repeat(9))}),
    );
    let output = refused(&mut files, "finish", finish(json!({"known_problems": true})));
    assert!(output.contains("k.md:4 looks like it holds a GitHub token"), "{output}");
}

#[test]
fn finish_asks_about_links_that_are_not_understood_and_new_to_the_docs() {
    let mut files = MemoryFiles::from_texts([
        ("docusaurus.config.js", "module.exports = { baseUrl: '/', plugins: ['pages-of-its-own'] }\n"),
        ("docs/a.md", "---\ntitle: A\n---\n[x](/plans) [b](b.md)\n"),
        ("docs/b.md", "---\ntitle: B\n---\n"),
    ]);
    let finish = |more: bool| json!({"outcome": "done", "title": "t", "summary": "s", "known_problems": more});
    let text = "---\ntitle: C\n---\n[x](/plans) [y](/planzs) [b](b.md)\n";
    ok(&mut files, "write", json!({"path": "docs/c.md", "content": text}));
    let asked = refused(&mut files, "finish", finish(false));
    assert!(asked.contains("docs/c.md:4") && asked.contains("`/planzs`") && !asked.contains("`/plans`"), "{asked}");
    assert!(is_handed_back(&ToolResult { call_id: String::new(), is_error: true, output: asked }));
    let left = ok(&mut files, "finish", finish(true));
    assert!(left.contains("Could not be checked:") && left.contains("`/planzs`"), "{left}");
    ok(&mut files, "write", json!({"path": "docs/c.md", "content": text.replace("/planzs", "/plans")}));
    ok(&mut files, "finish", finish(false));
}

#[test]
fn finish_asks_about_a_new_link_whose_target_is_only_a_word_in_the_docs_and_about_new_anchors() {
    let dead: String = (0..9).map(|n| format!("[x](b.md#gone-{n}) [y](gone-{n})\n")).collect();
    let mut files = MemoryFiles::from_texts([
        ("mkdocs.yml", "site_name: x\n"),
        ("docs/a.md", &*format!("# A\n\nA custom theme.\n\n{dead}")),
        ("docs/b.md", "# B\n"),
    ]);
    let finish = json!({"outcome": "done", "title": "t", "summary": "s"});
    let text = "# C\n\n[x](custom) [y](b.md#new) [z](b.md#gone-1)\n";
    ok(&mut files, "write", json!({"path": "docs/c.md", "content": text}));
    let asked = refused(&mut files, "finish", finish);
    assert!(asked.contains("`custom`") && asked.contains("`b.md#new`") && !asked.contains("gone-1"), "{asked}");
}

#[test]
fn links_broken_before_the_job_do_not_block_finish() {
    let mut files = MemoryFiles::from_texts([("a.md", "[x](/nowhere.md)\n")]);
    ok(&mut files, "edit", json!({"path": "a.md", "old": "[x]", "new": "[y]"}));
    assert_eq!(ok(&mut files, "check_docs", json!({})), "Your changes broke nothing.");
    let all = ok(&mut files, "check_docs", json!({"all": true, "in": ["a"]}));
    assert!(all.contains("a.md:1 `/nowhere.md` leads nowhere"), "{all}");
    ok(&mut files, "finish", json!({"outcome": "done", "title": "t", "summary": "s"}));
}

#[test]
fn the_refactors_are_tools() {
    let mut files = docs();
    let output = ok(&mut files, "replace_text", json!({"find": "Acme", "replace": "Zenith"}));
    assert_eq!(output, "Replaced “Acme” with “Zenith” in 1 place, 1 file:\n\n- index.mdx: 1");
    ok(&mut files, "move_page", json!({"from": "guides/a", "to": "guides/b"}));
    assert!(files.text("index.mdx").expect("a page").contains("[a](/guides/b)"));
    ok(&mut files, "add_page", json!({"path": "guides/c", "title": "C", "outline": [{"heading": "One"}]}));
    ok(&mut files, "set_front_matter", json!({"field": "icon", "value": "key", "in": "guides/c"}));
    assert_eq!(files.text("guides/c.mdx"), Some("---\ntitle: \"C\"\nicon: key\n---\n\n## One\n"));
    ok(&mut files, "add_descriptions", json!({"in": ["guides/b"]}));
    ok(&mut files, "add_titles", json!({}));
    ok(&mut files, "fix_links", json!({}));
    ok(&mut files, "delete_page", json!({"page": "/guides/c"}));
    assert_eq!(refused(&mut files, "delete_page", json!({"page": "/guides/c"})), "there is no page `guides/c`");
    assert!(refused(&mut files, "move_page", json!({"from": "guides/b", "to": "../x"})).contains("cannot be the path"));
}

#[test]
fn pages_in_restructured_text_are_edited_moved_and_kept_from_code() {
    let mut files = MemoryFiles::from_texts([
        ("conf.py", "project = 'Acme'\n"),
        ("index.rst", "Acme\n====\n\n.. toctree::\n\n   guide/start\n\nSee :doc:`guide/start`.\n"),
        ("guide/start.rst", "Start\n=====\n\n.. image:: ../img/a.png\n   :alt: A\n\nBack :doc:`home </index>`.\n"),
        ("img/a.png", "\0PNG"),
    ]);
    ok(&mut files, "edit", json!({"path": "guide/start.rst", "old": "Back", "new": "Go back"}));
    ok(&mut files, "move_page", json!({"from": "guide/start", "to": "tutorial/first/start"}));
    assert_eq!(
        files.text("index.rst"),
        Some("Acme\n====\n\n.. toctree::\n\n   tutorial/first/start\n\nSee :doc:`tutorial/first/start`.\n")
    );
    let moved = files.text("tutorial/first/start.rst").expect("it moved");
    assert!(moved.contains(".. image:: ../../img/a.png\n"), "{moved}");
    let raw = "Go back\n\n.. raw:: html\n\n   <script>f()</script>\n\nto";
    let why = refused(&mut files, "edit", json!({"path": "tutorial/first/start.rst", "old": "Go back", "new": raw}));
    assert!(
        why.contains("holds code that no page of the site has") && why.contains("`.. raw:: html <script>"),
        "{why}"
    );
}

#[test]
fn every_tool_is_described_and_its_schema_is_an_object() {
    let settings = [Editor::Separate, Editor::TextEditor].map(|editor| TurnSettings {
        editor,
        search: true,
        ..TurnSettings::default()
    });
    let names = |settings| specs(settings).into_iter().map(|tool| tool.name).collect::<Vec<_>>();
    let (separate, one) = (names(&settings[0]), names(&settings[1]));
    assert_eq!((separate.len(), one.len()), (TOOLS.len() - 1, TOOLS.len() - 4));
    assert!(!names(&TurnSettings::default()).contains(&"search_docs".to_owned()));
    for spec in settings.iter().flat_map(specs) {
        assert!(spec.description.len() > 20, "{}", spec.name);
        assert_eq!(spec.schema["type"], "object", "{}", spec.name);
        for required in spec.schema["required"].as_array().expect("a list") {
            assert!(spec.schema["properties"].get(required.as_str().expect("a name")).is_some(), "{}", spec.name);
        }
    }
    let chores = docent_builtin::read(
        "Replace \"a\" with \"b\" in x/**. Move page a to b. Delete page a. Fix broken links. Add missing titles and \
         descriptions. Set a to \"b\" in c.md. Add a page x titled \"y\"",
    );
    assert_eq!(chores.len(), 8);
    for chore in chores {
        let docent_builtin::Instruction::Chore(chore) = chore else { panic!("{chore:?}") };
        let (name, input) = chore.call();
        let answer = answer(&mut docs(), name, input);
        assert!(!answer.output.contains("the input is not"), "{name}: {}", answer.output);
        assert!(find(name).is_some(), "{name}");
    }
}

fn any_call() -> impl Strategy<Value = (String, Value)> {
    let path = || {
        prop::sample::select(vec![
            "index.mdx", "guides/a", "guides/a.mdx", "new", "new.md", "docs.json", "../x", "", "guides/", "guides",
            "guides/a.mdx/below.md",
        ])
    };
    let word = || prop::sample::select(vec!["One", "Two.", "", "Acme", "x\ny", "---", "title"]);
    prop_oneof![
        (path(), word(), word()).prop_map(|(p, a, b)| ("edit".to_owned(), json!({"path": p, "old": a, "new": b}))),
        (path(), word()).prop_map(|(p, a)| ("write".to_owned(), json!({"path": p, "content": a}))),
        (path(), word(), word()).prop_map(|(p, a, b)| {
            let input = json!({"command": "str_replace", "path": p, "old_str": a, "new_str": b});
            ("str_replace_based_edit_tool".to_owned(), input)
        }),
        (path(), word(), 0usize..9, prop::sample::select(vec!["create", "insert", "view"])).prop_map(|(p, a, n, c)| {
            let input = json!({"command": c, "path": p, "file_text": a, "insert_line": n, "insert_text": a});
            ("str_replace_based_edit_tool".to_owned(), input)
        }),
        (path(), 0usize..9, word())
            .prop_map(|(p, n, a)| ("insert".to_owned(), json!({"path": p, "after_line": n, "text": a}))),
        (path(), path()).prop_map(|(a, b)| ("move".to_owned(), json!({"from": a, "to": b}))),
        (path(), path()).prop_map(|(a, b)| ("move_page".to_owned(), json!({"from": a, "to": b}))),
        path().prop_map(|p| ("delete".to_owned(), json!({"path": p}))),
        path().prop_map(|p| ("delete_page".to_owned(), json!({"page": p}))),
        (word(), word()).prop_map(|(a, b)| ("replace_text".to_owned(), json!({"find": a, "replace": b}))),
        (path(), word()).prop_map(|(p, t)| ("add_page".to_owned(), json!({"path": p, "title": t}))),
        (word(), word()).prop_map(|(f, v)| ("set_front_matter".to_owned(), json!({"field": f, "value": v}))),
        Just(("fix_links".to_owned(), json!({}))),
        Just(("add_titles".to_owned(), json!({}))),
        Just(("read".to_owned(), json!({"path": "index.mdx"}))),
    ]
}

proptest! {
    #[test]
    fn a_replay_gives_the_same_files(calls in proptest::collection::vec(any_call(), 0..12)) {
        use docent_types::{ContentPart, FinishReason, Message, Role, Usage};
        use crate::transcript::TranscriptEntry;

        let mut files = docs();
        let mut transcript = Transcript::of_prompt("go");
        for (index, (name, input)) in calls.into_iter().enumerate() {
            let call = Call { id: format!("c{index}"), name, input };
            let part = ContentPart::ToolCall { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() };
            let message = Message { role: Role::Assistant, parts: vec![part] };
            transcript.push(TranscriptEntry::Replied { message, reason: FinishReason::ToolCalls, usage: Usage::default() });
            let before = files.now().clone();
            let results = run_tools(&[call], &mut files, &ToolContext::default());
            prop_assert!(!results[0].is_error || *files.now() == before, "a refused call changes nothing");
            transcript.push(TranscriptEntry::Results { results });
        }
        let mut again = docs();
        replay(&transcript, &mut again, &ToolContext::default()).expect("a replay");
        prop_assert_eq!(again.now(), files.now());
        for path in files.paths() {
            prop_assert!(crate::paths::check_path(&path).is_ok());
        }
        // The journal keeps the transcript as JSON.
        let json = serde_json::to_string(&transcript).expect("JSON");
        prop_assert_eq!(serde_json::from_str::<Transcript>(&json).expect("a transcript"), transcript);
    }
}
