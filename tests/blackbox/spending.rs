//! What an anonymous client with a public key can make the server spend: model input, and disk space.

use std::thread;

use docent_tests::assistant::question_body;
use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{Assistant, Installation, ModelServer, Person, Request, Server, Site};
use serde_json::{Value, json};

/// Minimum number of bytes per token in the text of these tests.
const BYTES_A_TOKEN: usize = 4;

/// A body of nearly four megabytes, most of which is in the given part.
fn large(part: &str) -> Value {
    let words = |bytes: usize| "webhook deliveries ".repeat(bytes / 19);
    let said = |role: &str, text: String| json!({ "role": role, "parts": [{ "type": "text", "text": text }] });
    let question = "How often is a webhook delivery retried?";
    let more = match part {
        "question" => json!({ "messages": [said("user", words(3_900_000))] }),
        "history" => {
            let turns = (0..99).flat_map(|_| [said("user", words(19_000)), said("assistant", words(19_000))]);
            json!({ "messages": turns.chain([said("user", question.to_owned())]).collect::<Vec<_>>() })
        }
        "context" => json!({ "context": vec![json!({ "type": "code", "value": words(3_900) }); 900] }),
        "selection" => json!({ "context": [{ "type": "textSelection", "value": words(3_900_000) }] }),
        "path" => json!({ "context": [{ "type": "code", "value": "x", "path": words(3_900_000) }] }),
        other => panic!("there is no part `{other}`"),
    };
    question_body(question, &json!({ "retrievalPageSize": 50, "more": 1 })).as_object().map_or(Value::Null, |body| {
        let mut body = body.clone();
        body.extend(more.as_object().expect("an object").clone());
        Value::Object(body)
    })
}

const PARTS: [&str; 5] = ["question", "history", "context", "selection", "path"];

#[test]
fn no_part_of_a_body_makes_a_model_read_more_than_may_be() {
    for part in PARTS {
        let model = ModelServer::start();
        // The model searches again in every turn, and writes long replies.
        model.replies_with(|asked| {
            let reply = Reply::text("Let me look. ".repeat(2_000));
            if asked.offers("search") {
                reply.call("search", &json!({ "query": "retries ".repeat(9_000) }))
            } else {
                reply
            }
        });
        let configuration = model.configures(Wire::Anthropic);
        let env: Vec<(&str, &str)> =
            configuration.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let site = Site::with_env(PAGES, &env);
        let asked = Request::post(site.assistant().path()).bearer(&site.assistant_key).json(&large(part));
        assert_eq!(site.server.send(&asked).status, 200, "{part}");
        let requests = model.requests();
        let read: usize = requests.iter().map(|request| request.body.to_string().len()).sum();
        println!("{part}: {read} bytes in {} calls", requests.len());
        assert!(read <= 64_000 * BYTES_A_TOKEN, "{part}: {read} bytes in {} calls", requests.len());
    }
}

#[test]
fn forty_large_questions_leave_little_on_the_disk() {
    let site = Site::start();
    let size = || -> u64 {
        let files = std::fs::read_dir(site.installation.data()).expect("the data folder");
        let of_database = files
            .map(|file| file.expect("a file"))
            .filter(|file| file.file_name().to_str().is_some_and(|name| name.starts_with("docent.db")));
        of_database.map(|file| file.metadata().expect("its size").len()).sum()
    };
    let before = size();
    for question in 0..40 {
        let asked = Request::post(site.assistant().path()).bearer(&site.assistant_key);
        assert_eq!(site.server.send(&asked.json(&large(PARTS[question % PARTS.len()]))).status, 200);
    }
    let grown = size() - before;
    println!("40 questions: {grown} bytes");
    // 16 KiB per question and 64 KiB per answer, doubled for the database's write-ahead log.
    assert!(grown <= 40 * (16 + 64) * 1024 * 2, "{grown} bytes for 40 questions");
}

#[test]
fn at_the_daily_limit_readers_get_quotes_and_a_restart_changes_nothing() {
    const NOTICE: &str = "used up what it may spend today";
    let model = ModelServer::start();
    model.replies("Five times, see [Webhooks](/guides/webhooks).");
    let configuration = model.configures(Wire::Anthropic);
    let env = configuration.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let env: Vec<(&str, &str)> = env.chain([("DOCENT_ASSISTANT__TOKENS_PER_DAY", "100")]).collect();
    let site = Site::with_env(PAGES, &env);
    let question = "How often is a webhook delivery retried?";
    assert!(!site.assistant().ask(question).text().contains(NOTICE));
    let Site { server, repository: _repository, installation, assistant_key, .. } = site;
    server.kill();
    let server = installation.serve_with(&env);
    for _ in 0..2 {
        let answer = Assistant::new(&server, PROJECT, &assistant_key).ask(question);
        assert!(answer.text().contains(NOTICE) && answer.text().contains("](/"), "{}", answer.text());
    }
    assert_eq!(model.requests().len(), 1, "the model was asked once");
    let metrics = server.send(&Request::get("/metrics"));
    assert!(metrics.text().contains("\ndocent_limited_replies_total 2\n"), "{}", metrics.text());
    assert!(server.log().contains("the daily limit is reached"), "{}", server.log());
    let (_, sentence) = spent_today(&server, &installation);
    assert!(sentence.contains(" of 100 tokens") && sentence.contains("The limit is reached"), "{sentence}");
}

#[test]
fn a_day_may_be_limited_by_its_cost_and_differently_for_one_site() {
    for (limits, is_limited) in [
        ([("DOCENT_ASSISTANT__COST_PER_DAY", "0.001"), ("DOCENT_ASSISTANT__TOKENS_PER_DAY", "1000000")], true),
        ([("DOCENT_ASSISTANT__COST_PER_DAY", "0.001"), ("DOCENT_ASSISTANT__SITES__ACME__COST_PER_DAY", "5")], false),
    ] {
        let model = ModelServer::start();
        model.replies("Five times.").replies("Five times.");
        let configuration = model.configures(Wire::Anthropic);
        let mut env: Vec<(&str, &str)> =
            configuration.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        env.extend([("DOCENT_MODELS__SONNET__INPUT_PRICE", "3"), ("DOCENT_MODELS__SONNET__OUTPUT_PRICE", "15")]);
        env.extend(limits);
        let site = Site::with_env(PAGES, &env);
        let question = "How often is a webhook delivery retried?";
        site.assistant().ask(question);
        let second = site.assistant().ask(question);
        assert_eq!(second.text().contains("used up what it may spend today"), is_limited, "{}", second.text());
        let (_, sentence) = spent_today(&site.server, &site.installation);
        let limit = if is_limited { " of 0.00." } else { " of 5.00." };
        assert!(sentence.contains("USD") && sentence.contains(limit), "{sentence}");
    }
}

#[test]
fn a_hundred_questions_at_the_limit_cost_nothing_beside_the_one_that_runs() {
    // One that has written, and one whose model has not begun to.
    for (label, reply) in [
        ("after its first words", |gate: &Gate| Reply::text("Five times,").waits_at(gate).say(" then it is parked.")),
        ("before its first words", |gate: &Gate| Reply::text("Five times, then it is parked.").held_by(gate)),
    ] as [(&str, fn(&Gate) -> Reply); 2]
    {
        let (model, gate) = (ModelServer::start(), Gate::new());
        model.replies(reply(&gate).counted(900, 100));
        let configuration = model.configures(Wire::OpenAi);
        let env = configuration.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let env: Vec<(&str, &str)> = env.chain([("DOCENT_ASSISTANT__TOKENS_PER_DAY", "100")]).collect();
        let site = Site::with_env(PAGES, &env);
        let question = "How often is a webhook delivery retried?";
        thread::scope(|scope| {
            let runs = scope.spawn(|| site.assistant().ask(question));
            gate.holds(1);
            let at_the_limit: Vec<_> = (0..100).map(|_| scope.spawn(|| site.assistant().ask(question))).collect();
            for asked in at_the_limit {
                let answer = asked.join().expect("an answer");
                assert!(answer.text().contains("used up what it may spend today"), "{label}: {}", answer.text());
            }
            gate.open();
            let answer = runs.join().expect("an answer");
            assert_eq!(answer.text(), "Five times, then it is parked.", "{label}");
        });
        assert_eq!(model.requests().len(), 1, "{label}: the model was asked once");
        let (spent, sentence) = spent_today(&site.server, &site.installation);
        assert_eq!(spent, 1_000, "{label}: {sentence}");
    }
}

#[test]
fn what_a_killed_server_had_written_is_counted() {
    const PARAGRAPH: &str = "A webhook delivery that fails is retried, and then once more. ";
    let (model, gate) = (ModelServer::start(), Gate::new());
    let text = PARAGRAPH.repeat(64);
    let written = text.len() / BYTES_A_TOKEN;
    model.replies(Reply::text(text).say("LAST.").waits_at(&gate).say(" Never sent."));
    let configuration = model.configures(Wire::Anthropic);
    let env = configuration.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let env: Vec<(&str, &str)> = env.chain([("DOCENT_ASSISTANT__TOKENS_PER_DAY", "1000000")]).collect();
    let site = Site::with_env(PAGES, &env);
    let body = question_body("How often is a webhook delivery retried?", &json!({}));
    let asked = Request::post(site.assistant().path()).bearer(&site.assistant_key).json(&body);
    let mut stream = asked.open(site.server.address()).expect("an answer");
    let mut read = String::new();
    while !read.contains("LAST.") {
        let piece = stream.piece().expect("more").expect("the words come before the end");
        read.push_str(&String::from_utf8_lossy(&piece));
    }
    let Site { server, repository: _repository, installation, .. } = site;
    server.kill();
    let server = installation.serve_with(&env);
    let (spent, sentence) = spent_today(&server, &installation);
    let input = model.requests()[0].body.to_string().len() / BYTES_A_TOKEN;
    println!("{written} tokens written, about {input} read: {sentence}");
    assert!((written + input / 2..=written + 2 * input).contains(&spent), "{written} and about {input}: {sentence}");
}

/// The tokens that the dashboard says were spent today, and its sentence.
fn spent_today(server: &Server, installation: &Installation) -> (usize, String) {
    let mut person = Person::joins(server, installation, "olive", "owner");
    let page = person.gets(&format!("/dashboard/{PROJECT}/analytics"));
    let (_, rest) = page.text().split_once("The assistant has used ").expect("the spending of today");
    let sentence = rest.split("</p>").next().unwrap_or_default();
    let number: String =
        sentence.split(" of ").next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    (number.parse().expect("a number"), sentence.to_owned())
}
