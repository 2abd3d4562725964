use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// The text form of a request.
pub(crate) fn shown(request: &Request) -> String {
    let mut text = format!("system\n{}\n", request.system);
    for message in &request.messages {
        for part in &message.parts {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
                Role::System => "system",
            };
            let _ = match part {
                ContentPart::Text { text: said } => write!(text, "\n{role}\n{said}\n"),
                ContentPart::ToolCall { id, name, input } => write!(text, "\n{role} calls {name} as {id}\n{input}\n"),
                ContentPart::ToolResult { call_id, output, is_error: true } => {
                    write!(text, "\n{call_id} failed: {output}\n")
                }
                ContentPart::ToolResult { call_id, output, .. } => write!(text, "\n{call_id} gives\n{output}\n"),
            };
        }
    }
    let tools: Vec<String> = request.tools.iter().map(|tool| format!("{} {}", tool.name, tool.schema)).collect();
    let _ = write!(text, "\ntools {tools:?}, {:?}, at most {} tokens", request.tool_choice, request.max_tokens);
    text
}

fn passage(n: usize, length: usize) -> Arc<Passage> {
    Arc::new(Passage {
        path: format!("guides/{n}"),
        href: format!("/guides/{n}#it"),
        title: format!("Guide {n}"),
        headings: vec!["It".to_owned()],
        content: "x".repeat(length),
        score: 0.5,
        version: None,
        language: None,
    })
}

fn turn(question: &str, answer: &str) -> Turn {
    Turn {
        question: question.to_owned(),
        answer_id: "a".to_owned(),
        answer: Some(answer.to_owned()),
        answered: true,
        ..Turn::default()
    }
}

fn input<'a>(site: &'a SiteSettings, passages: &'a [Arc<Passage>]) -> PromptInput<'a> {
    PromptInput {
        site,
        turns: &[],
        question: "Why?",
        query: "why",
        after: None,
        call_id: "search-1",
        passages,
        never_mentioned: &[],
        about_account: false,
        context: &[],
        current_path: None,
        current_page: None,
        steps: &[],
        tools: Tools::Offered,
        context_tokens: 128_000,
        left_tokens: INPUT_BUDGET,
    }
}

#[test]
fn a_whole_request() {
    let site = SiteSettings {
        instructions: Some(Arc::from("Be kind. Use ``` fences.")),
        suggestions: true,
        ..SiteSettings::default()
    };
    let items = [
        ContextItem { kind: ContextKind::Code, value: "```\nx".into(), path: Some("a.ts".into()) },
        ContextItem { kind: ContextKind::TextSelection, value: "Backoff".into(), path: None },
    ];
    let found = AnsweredCall {
        id: "c1".into(),
        name: "search".into(),
        input: json!({ "query": "more" }),
        answer: Ok(vec![passage(2, 3)]),
    };
    let refused = AnsweredCall {
        id: "c2".into(),
        name: "rm".into(),
        input: json!({}),
        answer: Err("There is no such tool.".into()),
    };
    let request = request(&PromptInput {
        turns: &[turn("How do retries work?", "They wait.")],
        context: &items,
        current_path: Some("/guides/retries"),
        current_page: Some("# Retries\n\nThey wait."),
        steps: &[Step { said: "Let me look.".into(), calls: vec![found, refused] }],
        tools: Tools::UsedUp,
        ..input(&site, &[passage(1, 5)])
    });
    insta::assert_snapshot!("a_whole_request", shown(&request));
}

#[test]
fn the_builtin_model_is_told_of_no_tools() {
    let site = SiteSettings::default();
    let request = request(&PromptInput { tools: Tools::Hidden, context_tokens: u32::MAX, ..input(&site, &[]) });
    assert!(request.tools.is_empty() && !request.system.contains("search again"));
    assert_eq!((request.tool_choice, request.messages.len()), (ToolChoice::None, 3));
}

#[test]
fn in_a_small_context_the_best_passages_and_the_last_turns_stay() {
    let site = SiteSettings::default();
    let passages: Vec<Arc<Passage>> = (0..20).map(|n| passage(n, 2_000)).collect();
    let turns: Vec<Turn> = (0..20).map(|n| turn(&format!("Question {n}?"), &"y".repeat(500))).collect();
    let request = request(&PromptInput { turns: &turns, context_tokens: 8_000, ..input(&site, &passages) });
    let text = shown(&request);
    assert!(text.contains("guides/0") && !text.contains("guides/19"));
    assert!(text.contains("Question 19?") && !text.contains("Question 0?"));
}

#[test]
fn a_model_may_search_as_long_as_as_much_again_can_be_read() {
    let site = SiteSettings::default();
    let passages: Vec<Arc<Passage>> = (0..50).map(|n| passage(n, 2_000)).collect();
    let choice = |found: usize, left_tokens| {
        request(&PromptInput { left_tokens, ..input(&site, &passages[..found]) }).tool_choice
    };
    assert_eq!(choice(5, INPUT_BUDGET), ToolChoice::Auto);
    assert_eq!(choice(50, INPUT_BUDGET), ToolChoice::None);
    assert_eq!(choice(0, 500), ToolChoice::None);
}

proptest! {
    #[test]
    fn a_request_is_within_what_the_model_can_read_and_may(
        context_tokens in 5_000_u32..200_000, left_tokens in 5_000_u32..60_000, passages in 0_usize..50, length in 0_usize..2_000,
        question in 1_usize..300_000, query in 0_usize..50_000, turns in 0_usize..30, answer in 0_usize..20_000,
        items in 0_usize..60, item in 0_usize..50_000, mark in "[z`é]", path in 0_usize..100_000, searches in 0_usize..4,
        said in 0_usize..50_000,
    ) {
        let site = SiteSettings::default();
        let passages: Vec<Arc<Passage>> = (0..passages).map(|n| passage(n, length)).collect();
        let turns: Vec<Turn> = (0..turns).map(|_| turn("And?", &"y".repeat(answer))).collect();
        let item = ContextItem { kind: ContextKind::Code, value: mark.repeat(item), path: Some("p".repeat(path)) };
        let items = vec![item; items];
        let called = |n| AnsweredCall { id: format!("c{n}"), name: "search".into(), input: json!({ "query": "q" }), answer: Ok(passages.clone()) };
        let steps: Vec<Step> = (0..searches).map(|n| Step { said: "s".repeat(said), calls: vec![called(n)] }).collect();
        let (question, query) = ("q".repeat(question), "w".repeat(query));
        let request = request(&PromptInput {
            turns: &turns, question: &question, query: &query, context: &items, steps: &steps, context_tokens, left_tokens,
            ..input(&site, &passages)
        });
        let read = tokens(&request);
        let most = left_tokens.min(context_tokens - request.max_tokens);
        prop_assert!(read <= most, "{read} tokens where {most} may be read");
        if request.tool_choice == ToolChoice::Auto {
            prop_assert!(read * 2 <= left_tokens, "{read} tokens of {left_tokens}");
        }
    }
}
