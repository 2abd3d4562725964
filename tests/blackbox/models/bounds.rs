//! Limits that a model cannot exceed.

use docent_tests::ModelServer;
use docent_tests::agent::{branch, id};
use docent_tests::model_server::{Reply, Wire};
use serde_json::{Value, json};

use super::{PAGE, PROMPT, change, completes, finish, site_on};

/// The call that writes a file, with the tools that models of this protocol know.
fn write(wire: Wire, path: &str, text: &str) -> (&'static str, Value) {
    match wire {
        Wire::Anthropic => {
            ("str_replace_based_edit_tool", json!({ "command": "create", "path": path, "file_text": text }))
        }
        Wire::OpenAi => ("write", json!({ "path": path, "content": text })),
    }
}

fn calls(calls: impl IntoIterator<Item = (&'static str, Value)>) -> Reply {
    calls.into_iter().fold(Reply::default(), |reply, (tool, input)| reply.call(tool, &input))
}

/// Runs a job whose model makes all of these calls in one reply, then its change, and finishes. Returns the results of
/// the calls.
fn tries(wire: Wire, tried: Vec<(&'static str, Value)>) -> Vec<String> {
    let model = ModelServer::start();
    model.replies(calls(tried)).replies(calls([change(wire)])).replies(Reply::calls("finish", &finish()));
    let site = site_on(&model, wire, &[]);
    // The pull request has nothing but the change.
    completes(&site, PROMPT);
    model.requests()[1].answers().into_iter().map(|answer| answer.text).collect()
}

#[test]
fn files_that_builds_run_do_not_get_into_a_pull_request() {
    let files = [
        ("azure-pipelines.yaml", "steps:\n  - script: env\n"),
        (".woodpecker.yaml", "steps: []\n"),
        ("netlify.toml", "[build]\ncommand = \"env\"\n"),
        ("package.json", r#"{"scripts": {"prebuild": "env"}}"#),
        ("Makefile", "html:\n\tenv\n"),
        ("Dockerfile", "RUN env\n"),
        ("conf.py", "import os\n"),
        ("docusaurus.config.js", "process.env\n"),
        (".vscode/tasks.json", "{}"),
        ("CODEOWNERS", "* @mallory\n"),
        ("guides/build.mdx", "# Build\n\n{process.env.TOKEN}\n"),
        ("guides/import.mdx", "import { env } from 'node:process'\n\n# Import\n"),
        ("guides/script.mdx", "<script src=\"https://mallory.test/x.js\" />\n"),
        ("guides/nul.mdx", "# Nul\n"),
    ];
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let mut tried: Vec<_> = files.iter().map(|(path, text)| write(wire, path, text)).collect();
        tried.push(("move", json!({ "from": "quickstart.mdx", "to": "conf.py" })));
        let answers = tries(wire, tried);
        for ((path, _), answer) in files.iter().zip(&answers) {
            assert!(answer.contains(&format!("`{path}`: ")), "{answer}");
            let option = if path.ends_with(".mdx") { "--allow-code" } else { "--allow-path" };
            let is_allowable =
                answer.contains("docent project set ") && answer.contains(&format!("{option} '{path}'`"));
            assert_eq!(is_allowable, *path != "guides/nul.mdx", "{answer}");
        }
        assert!(answers.last().is_some_and(|answer| answer.contains("`conf.py`: ")), "{answers:?}");
    }
}

#[test]
fn a_page_whose_move_is_refused_stays_where_it_is() {
    let to = |to: &str| json!({ "from": PAGE, "to": to });
    let answers = tries(
        Wire::OpenAi,
        vec![
            ("move", to("quickstart.mdx/page.mdx")),
            ("move_page", to("quickstart.mdx/page.mdx")),
            ("move", to("guides")),
        ],
    );
    assert!(answers[0].contains("a file is in the place of a folder that it needs"), "{answers:?}");
    assert!(answers[1].contains("a file is in the place of a folder that it needs"), "{answers:?}");
    assert!(answers[2].contains("Not allowed:") && answers[2].contains("`guides`: "), "{answers:?}");
}

#[test]
fn an_anthropic_reply_with_thousands_of_calls_is_cut_and_the_model_told() {
    a_reply_with_thousands_of_calls(Wire::Anthropic);
}

#[test]
fn an_openai_reply_with_thousands_of_calls_is_cut_and_the_model_told() {
    a_reply_with_thousands_of_calls(Wire::OpenAi);
}

/// `cargo nextest run -p docent-tests thousands_of_calls --no-capture` prints the longest response time of `/healthz`.
fn a_reply_with_thousands_of_calls(wire: Wire) {
    const CALLS: usize = 10_000;
    let model = ModelServer::start();
    // With the real token count, the context would count as full.
    model.replies(calls((0..CALLS).map(|_| ("list", json!({})))).counted(1_000, 1_000));
    model.replies(calls([change(wire)])).replies(Reply::calls("finish", &finish()));
    let site = site_on(&model, wire, &[]);
    let agent = site.agent();
    let (job, longest) = site.server.watched(|| {
        let job = agent.create(PROMPT);
        agent.reaches(id(&job), "completed")
    });
    println!("{wire:?}: {CALLS} calls in a reply, /healthz took {longest:?} at most");
    assert_eq!(site.repository.changed_files(branch(&job)), [PAGE]);
    let answers = model.requests()[1].answers();
    assert_eq!(answers.len(), 257, "{wire:?}");
    assert!(answers[256].text.contains("a reply may make 256 calls"), "{:?}", answers[256]);
    assert!(!answers[255].text.contains("a reply may make"), "{:?}", answers[255]);
}
