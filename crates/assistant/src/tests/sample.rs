//! Measures how well `builtin` answers on the sample site of the demo: questions in readers' words, and the facts that
//! an answer must contain.

use std::path::Path;

use super::TestAssistant;

/// Questions, each with the facts that a good answer contains.
const QUESTIONS: [(&str, &[&str]); 24] = [
    ("What is the maximum size of a payload?", &["256 KiB"]),
    ("How many deliveries may be under way at once?", &["`concurrency`", "`10`", "1 to 500"]),
    ("How do I pause a queue?", &["larkspur queue pause orders", "larkspur queue resume orders"]),
    ("How do I change the timeout of a queue?", &["larkspur queue update orders --timeout 10s"]),
    ("How often is a failed delivery retried by default?", &["12 attempts", "5 seconds", "one hour"]),
    ("Which failures are not retried?", &["410 Gone", "422 Unprocessable Content"]),
    ("Which retry policies are built in?", &["`standard`", "`fast`", "`patient`", "`none`"]),
    ("How do I verify a webhook signature by hand?", &["HMAC-SHA256", "constant time", "five minutes", "raw body"]),
    ("How do I rotate the signing secret?", &["rotate-secret", "--overlap 24h"]),
    ("What should I do when a secret has leaked?", &["--overlap 0s"]),
    ("How many requests per minute may a key publish?", &["600 per minute", "`limits.publish_per_minute`"]),
    ("How do I limit how fast a consumer receives jobs?", &["--rate-limit 50/s", "`rate_limit`"]),
    ("What does the error payload_too_large mean?", &["413", "larger than 256 KiB"]),
    ("Which errors are safe to send again?", &["`internal`", "`unavailable`"]),
    ("How do I replay all jobs in the dead-letter queue?", &["larkspur dlq replay orders --all", "--rate 10/s"]),
    ("How long do jobs stay in the dead-letter queue?", &["14 days"]),
    ("How do I publish a job every night?", &["larkspur schedule create", "--cron"]),
    ("How far ahead can a job be scheduled?", &["90 days"]),
    ("How do I cancel a scheduled job?", &["larkspur job cancel"]),
    ("How do I restore a backup?", &["Stop the server", "larkspur backup restore", "Start the server"]),
    ("Does a backup stop deliveries?", &["does not stop deliveries"]),
    ("Which roles can a key have?", &["`read`", "`publish`", "`manage`"]),
    ("What do API keys start with?", &["`lsk_`"]),
    ("Which exit status does the command line have for wrong usage?", &["2 for wrong usage"]),
];

/// Questions that the docs do not answer.
const FOREIGN: [&str; 8] = [
    "How do I bake sourdough bread?",
    "What is the capital of Australia?",
    "How do I get a refund for my flight?",
    "Which visa do I need to work in Japan?",
    "How do I train a neural network?",
    "How do I resize a photograph?",
    "Who won the world cup in 1998?",
    "How do I change the oil of my car?",
];

/// Baselines: smaller figures mean that answers got worse.
const FACTS_FOUND: usize = 40;
const ANSWERED: usize = 21;

fn sample() -> TestAssistant {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/sample");
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the sample site") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
                files.push((name, text));
            }
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    TestAssistant { docs: super::docs(&files), ..TestAssistant::builtin() }
}

#[tokio::test]
async fn questions_about_the_sample_site_are_answered_with_facts() {
    let fixture = sample();
    let (mut found, mut answered, mut missed) = (0, 0, Vec::new());
    for (question, facts) in QUESTIONS {
        let text = fixture.ask(question).await.text().replace("\n> ", "\n");
        let lacking: Vec<&&str> = facts.iter().filter(|fact| !text.contains(**fact)).collect();
        found += facts.len() - lacking.len();
        answered += usize::from(lacking.is_empty());
        assert!(text.chars().count() < 3_500, "too much for an answer: {question}\n{text}");
        if !lacking.is_empty() {
            missed.push(format!("{question} lacks {lacking:?}:\n{text}\n"));
        }
    }
    let told = format!("{found} facts, {answered} questions answered whole\n\n{}", missed.join("\n"));
    assert!(found >= FACTS_FOUND && answered >= ANSWERED, "{told}");
}

#[tokio::test]
async fn off_topic_questions_to_the_sample_site_are_refused() {
    let fixture = sample();
    for question in FOREIGN {
        let text = fixture.ask(question).await.text();
        assert!(text.starts_with("The docs do not answer this."), "{question}\n{text}");
    }
}
