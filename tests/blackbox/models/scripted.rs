//! A model that plays a script: the requests it gets, and how its replies are handled.

use std::process::Command;

use docent_tests::agent::{branch, id, pull_request};
use docent_tests::model_server::{Gate, KEY, Reply, TranscriptTurn, Wire};
use docent_tests::{ModelServer, Site, eventually};
use serde_json::{Value, json};

use super::{PAGE, PROMPT, change, completes, finish, has_the_change, look, replace, site_on};

const WIRES: [Wire; 2] = [Wire::Anthropic, Wire::OpenAi];

fn call(reply: Reply, (tool, input): (&str, Value)) -> Reply {
    reply.call(tool, &input)
}

/// Reads, edits, finishes.
fn plays_the_usual(model: &ModelServer, wire: Wire) {
    model.replies(call(Reply::text("I will look at the page. ☕"), look(wire)));
    model.replies(call(Reply::text("Now the change."), change(wire)));
    model.replies(Reply::text("Done.").call("finish", &finish()));
}

#[test]
fn a_streamed_reply_with_tools_becomes_a_pull_request_on_both_wires() {
    for wire in WIRES {
        let model = ModelServer::start();
        plays_the_usual(&model, wire);
        let site = site_on(&model, wire, &[]);
        let job = completes(&site, PROMPT);

        assert_eq!(model.faults(), Vec::<String>::new(), "{wire:?}: the service would refuse nothing");
        let requests = model.requests();
        assert_eq!(requests.len(), 3, "{wire:?}: one request a step");
        assert!(requests.iter().all(|asked| asked.body["stream"] == true && asked.body["model"] == "scripted-1"));
        assert!(requests[0].said().iter().any(|text| text.contains(PROMPT)));
        assert!(requests[1].answers()[0].text.contains("five times"), "{wire:?}: the page came back");
        let turns = requests[2].turns();
        let said = |words: &str| {
            let is = |turn: &TranscriptTurn| match turn {
                TranscriptTurn::Assistant { text, calls } => text == words && calls.len() == 1,
                _ => false,
            };
            turns.iter().any(is)
        };
        assert!(said("I will look at the page. ☕") && said("Now the change."), "{wire:?}: {turns:?}");
        let page = docent_tests::Person::follows(&site, &pull_request(&job));
        assert!(page.text().contains("Say how often a webhook is retried"), "{wire:?}: the title is the model's");
    }
}

#[test]
fn the_key_goes_to_the_model_and_nowhere_else() {
    let model = ModelServer::start();
    plays_the_usual(&model, Wire::Anthropic);
    let site = site_on(&model, Wire::Anthropic, &[("DOCENT_LOG", "debug")]);
    completes(&site, PROMPT);
    let kept = Command::new("grep").args(["-rl", KEY]).arg(site.installation.root()).output().expect("run grep");
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "", "no file holds the key, the log included");
}

#[test]
fn calls_that_come_together_are_answered_together_and_in_order() {
    for wire in WIRES {
        let model = ModelServer::start();
        let page = |path: &str| match wire {
            Wire::Anthropic => ("str_replace_based_edit_tool", json!({ "command": "view", "path": path })),
            Wire::OpenAi => ("read", json!({ "path": path })),
        };
        let many = ["quickstart.mdx", "no-such-page.mdx", "reference/cli.mdx"];
        model.replies(many.iter().fold(Reply::text("All at once."), |reply, path| call(reply, page(path))));
        model.replies(call(call(Reply::default(), change(wire)), look(wire)));
        model.replies(Reply::calls("finish", &finish()));
        let site = site_on(&model, wire, &[]);
        completes(&site, PROMPT);

        assert_eq!(model.faults(), Vec::<String>::new(), "{wire:?}");
        let requests = model.requests();
        let answers = requests[1].answers();
        let turns = requests[1].turns();
        let calls = turns.iter().find_map(|turn| match turn {
            TranscriptTurn::Assistant { calls, .. } => Some(calls),
            _ => None,
        });
        let asked: Vec<&str> = calls.expect("the reply is in the next request").iter().map(|call| &*call.id).collect();
        let answered: Vec<&str> = answers.iter().map(|answer| &*answer.id).collect();
        assert_eq!(asked, answered, "{wire:?}");
        assert!(answers[0].text.contains("tracking number") && answers[2].text.contains("parcel track"), "{answers:?}");
        assert!(answers[1].text.contains("no-such-page"), "{wire:?}: a refusal says of what: {answers:?}");
        assert!(wire == Wire::OpenAi || answers[1].is_error);
        assert!(requests[2].answers()[1].text.contains("seven times"), "what is read after an edit is the edit");
    }
}

#[test]
fn malformed_calls_are_answered_and_the_model_goes_on() {
    for wire in WIRES {
        let model = ModelServer::start();
        let (tool, _) = look(wire);
        model.replies(call(Reply::default(), replace(wire, "words that are not there", "others")));
        model.replies(Reply::default().raw_call(tool, "{\"path\": \"guides/web"));
        model.replies(Reply::calls("no_such_tool", &json!({ "path": PAGE })));
        model.replies(Reply::calls(tool, &json!({ "nothing": true })));
        model.replies(call(Reply::default(), change(wire)));
        model.replies(Reply::calls("finish", &finish()));
        let site = site_on(&model, wire, &[]);
        completes(&site, PROMPT);

        assert_eq!(model.faults(), Vec::<String>::new(), "{wire:?}: what was wrong does not spoil the transcript");
        let requests = model.requests();
        for (n, word) in [(1, "does not occur"), (2, "JSON"), (3, "no_such_tool"), (4, "missing")] {
            let answers = requests[n].answers();
            assert_eq!(answers.len(), 1, "{wire:?}: every call has its answer");
            assert!(answers[0].text.contains(word), "{wire:?}: the answer says what was wrong: {answers:?}");
            assert!(wire == Wire::OpenAi || answers[0].is_error);
        }
    }
}

#[test]
fn the_beginning_of_the_transcript_is_kept_by_the_provider() {
    let model = ModelServer::start();
    plays_the_usual(&model, Wire::Anthropic);
    let site = site_on(&model, Wire::Anthropic, &[]);
    completes(&site, PROMPT);
    let read = model.read_from_cache();
    assert!(read[0] == 0 && read[1] > 500 && read[2] > read[1], "each request begins as the one before: {read:?}");
}

#[test]
fn archiving_a_job_hangs_up_on_the_model() {
    let model = ModelServer::start();
    let gate = Gate::new();
    model.replies(Reply::text("Let me think …").waits_at(&gate));
    let site = site_on(&model, Wire::Anthropic, &[]);
    let agent = site.agent();
    let job = agent.create(PROMPT);
    gate.holds(1);
    assert_eq!(agent.archive(id(&job)).json()["status"], "archived");
    eventually("the model call to be broken off", || (model.hung_up() == 1).then_some(()));
    assert_eq!(agent.job(id(&job))["status"], "archived");
    assert!(site.repository.branches().is_empty());
}

#[test]
fn a_follow_up_during_a_reply_is_heard_at_the_next_step() {
    let model = ModelServer::start();
    let gate = Gate::new();
    model.replies(call(Reply::text("I look."), look(Wire::OpenAi)).held_by(&gate));
    model.replies(call(Reply::text("Now the change."), change(Wire::OpenAi)));
    model.replies(Reply::calls("finish", &finish()));
    let site = site_on(&model, Wire::OpenAi, &[]);
    let agent = site.agent();
    let job = agent.create("A webhook is retried more often now. Say so.");
    gate.holds(1);
    assert_eq!(agent.message(id(&job), "It is seven times, to be exact.").status, 200);
    gate.open();
    has_the_change(&site, &agent.reaches(id(&job), "completed"));
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    let said = requests[1].said();
    assert!(said.iter().any(|text| text.contains("seven times, to be exact")), "{said:?}");
    assert_eq!(model.faults(), Vec::<String>::new());
}

#[test]
fn a_server_that_is_killed_during_a_reply_takes_only_that_step_again() {
    let model = ModelServer::start();
    let gate = Gate::new();
    let wire = Wire::Anthropic;
    model.replies(call(Reply::text("I look."), look(wire)));
    model.replies(call(Reply::text("Now the").waits_at(&gate), change(wire)));
    let site = site_on(&model, wire, &[]);
    let job = site.agent().create(PROMPT);
    gate.holds(1);

    model.replies(call(Reply::text("Now the change."), change(wire)));
    model.replies(Reply::calls("finish", &finish()));
    let Site { server, repository, admin_key, assistant_key, installation } = site;
    server.kill();
    let env = model.configures(wire);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let server = installation.serve_with(&env);
    let site = Site { server, repository, admin_key, assistant_key, installation };
    let job = site.agent().reaches(id(&job), "completed");
    has_the_change(&site, &job);
    let requests = model.requests();
    assert_eq!(requests.len(), 4, "look, the change that was cut, the change, finish");
    assert_eq!(requests[1].body, requests[2].body, "the step was asked for again, word by word");
    assert_eq!(site.repository.branches(), [branch(&job)]);
}

#[test]
fn a_model_that_writes_its_calls_as_text_is_told_of_the_setting_that_reads_them() {
    let model = ModelServer::start();
    let text = "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"index.mdx\"}}\n</tool_call>";
    model.replies_with(move |_| Reply::text(text));
    let site = site_on(&model, Wire::OpenAi, &[]);
    let agent = site.agent();
    let job = agent.create(PROMPT);
    let job = agent.reaches(id(&job), "failed");
    assert!(job["message"].as_str().is_some_and(|why| why.contains("`text_tool_calls = true`")), "{job:#}");

    let doctor = |more: &[(&str, &str)]| {
        let mut command = site.installation.command(["doctor"]);
        let command = command.arg("--data").arg(site.installation.data()).envs(model.configures(Wire::OpenAi));
        let finished: docent_tests::Finished =
            command.envs(more.iter().copied()).output().expect("start docent").into();
        finished.stdout
    };
    let told = doctor(&[]);
    for said in ["`sonnet` wrote its tool calls into its text", id(&job), "`models.sonnet.text_tool_calls = true`"] {
        assert!(told.contains(said), "{said}: {told}");
    }
    let told = doctor(&[("DOCENT_MODELS__SONNET__TEXT_TOOL_CALLS", "true")]);
    assert!(!told.contains("into its text"), "{told}");
}

#[test]
fn a_new_page_takes_the_ending_of_the_sites_pages() {
    let model = ModelServer::start();
    let text = "---\ntitle: Refunds\n---\n\nA refund takes a day.\n";
    for path in ["guides/refunds", "guides/refunds.mdx"] {
        model.replies(Reply::calls("write", &json!({ "path": path, "content": text })));
    }
    model.replies(Reply::calls("add_page", &json!({ "path": "guides/returns.md", "title": "Returns" })));
    model.replies(Reply::calls("finish", &finish()));
    let site = site_on(&model, Wire::OpenAi, &[]);
    let agent = site.agent();
    let job = agent.create(PROMPT);
    let job = agent.reaches(id(&job), "completed");
    let requests = model.requests();
    let answer = |request: usize| requests[request].answers()[0].text.clone();
    assert!(answer(1).contains("a page there is `guides/refunds.mdx`"), "{}", answer(1));
    assert!(answer(2).contains("Made `guides/refunds.mdx`"), "{}", answer(2));
    assert!(answer(3).contains("Added `guides/returns.mdx`"), "{}", answer(3));
    let changed = site.repository.changed_files(branch(&job));
    assert!(
        ["guides/refunds.mdx", "guides/returns.mdx"].iter().all(|page| changed.contains(&(*page).to_owned())),
        "{changed:?}"
    );
}
