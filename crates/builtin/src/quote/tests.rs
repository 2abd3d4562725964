use super::*;

fn passage(heading: &str, content: &str) -> Passage {
    Passage {
        path: "page".to_owned(),
        href: format!("/page#{heading}"),
        title: "Page".to_owned(),
        headings: vec![heading.to_owned()],
        content: content.to_owned(),
        score: 0.5,
        version: None,
        language: None,
    }
}

fn answers(question: &str, passages: &[Passage]) -> Vec<(usize, String)> {
    let candidates: Vec<Candidate<'_>> =
        passages.iter().map(|passage| Candidate { passage, score: passage.score, rank: 0 }).collect();
    let quotes = quotes(&candidates, &Topic::following(question, ""), AnswerKind::expected_by(question), question);
    quotes.into_iter().map(|quote| (quote.passage, quote.text)).collect()
}

#[track_caller]
fn quotes_of(question: &str, content: &str, expected: &str) {
    assert_eq!(answers(question, &[passage("Some heading", content)]), [(0, expected.to_owned())], "{question}");
}

#[test]
fn a_code_span_over_two_lines_is_quoted_on_one() {
    for (text, quoted) in [
        ("run `a\n  b` or `c`\nand `d`", "run `a b` or `c`\nand `d`"),
        ("``x ` y\nz`` and `", "``x ` y z`` and `"),
        ("an open ` mark\n\nand `a b` after", "an open ` mark\n\nand `a b` after"),
        ("- list:\n  ```\n  a\n  b\n  ```\n- `é\nü`", "- list:\n  ```\n  a\n  b\n  ```\n- `é ü`"),
    ] {
        assert_eq!(with_whole_code(text), quoted);
    }
}

#[test]
fn the_paragraph_that_fits_is_quoted_with_its_code() {
    quotes_of(
        "how do I change the retry policy?",
        "# Retries\n\nDeliveries are signed.\n\nTo change the retry policy, set `retries`:\n\n```toml\nretries = 5\n\n# done\n```\n",
        "To change the retry policy, set `retries`:\n\n```toml\nretries = 5\n\n# done\n```",
    );
}

#[test]
fn a_gap_is_shown_and_links_become_their_words() {
    let filler = "Some more. ".repeat(90);
    quotes_of(
        "when do keys expire",
        &format!("Keys [expire](/keys#expiry) after 90 days.\n\n{filler}\n\nExpired keys are ![x](y.png)refused."),
        "Keys expire after 90 days.\n\n…\n\nExpired keys are xrefused.",
    );
}

#[test]
fn a_label_comes_with_what_it_is_the_label_of() {
    quotes_of(
        "what is the timeout",
        "**retries**\n\nHow often to try. The default is 3.\n\n**timeout**\n\nHow long to wait. The default is 30 seconds.",
        "**timeout**\n\nHow long to wait. The default is 30 seconds.",
    );
}

#[test]
fn passages_match_by_the_words_of_their_heading() {
    let passages =
        [passage("Colours", "Limits of colours are a matter of taste."), passage("Payload limits", "At most 256 KiB.")];
    assert_eq!(answers("What is the limit of a payload?", &passages)[0], (1, "At most 256 KiB.".to_owned()));
}

#[test]
fn cards_and_next_steps_are_no_answer() {
    let passages = [
        passage("Next steps", "- [Rotate a key](/keys): How to rotate a key.\n- [Keys](/all): All about keys."),
        passage("Rotation", "1. Open the settings.\n2. Press *Rotate* beside the key."),
    ];
    let answers = answers("How do I rotate a key?", &passages);
    assert_eq!(answers[0], (1, "1. Open the settings.\n2. Press *Rotate* beside the key.".to_owned()));
    assert_eq!(answers.len(), 1);
}

#[test]
fn a_table_is_cut_to_the_rows_that_fit_and_keeps_its_head() {
    let filler: String = (0..40).map(|n| format!("| `other_{n}` | Something else entirely |\n")).collect();
    let table = format!("| Name | Meaning |\n|---|---|\n{filler}| `max_delay` | The longest delay |\n{filler}");
    let quote = &answers("What is max_delay?", &[passage("Options", &table)])[0].1;
    assert!(quote.starts_with("| Name | Meaning |\n|---|---|\n"), "{quote}");
    assert!(quote.contains("| `max_delay` | The longest delay |"), "{quote}");
    assert!(quote.ends_with('…') && quote.chars().count() < 1_000, "{quote}");
}

#[test]
fn a_long_paragraph_is_cut_to_its_best_sentences() {
    let filler = "This sentence is about something else entirely. ".repeat(30);
    let content = format!("{filler}Rotate the signing key every month. {filler}");
    let quote = &answers("rotate signing key", &[passage("Keys", &content)])[0].1;
    assert!(quote.contains("Rotate the signing key every month."), "{quote}");
    assert!(quote.chars().count() < MAX_QUOTE_CHARS[0] + 20);
}

#[test]
fn code_that_is_cut_ends_with_its_fence() {
    let code = format!("```js\n{}```", "retry(5)\n".repeat(300));
    let quote = &answers("retry", &[passage("Retries", &code)])[0].1;
    assert!(quote.ends_with("retry(5)\n```\n\n…"), "{quote}");
}

#[test]
fn an_answer_stays_an_answer() {
    let passages: Vec<Passage> =
        (0..30).map(|n| passage(&format!("Keys {n}"), &"A key is a key.\n\n".repeat(30))).collect();
    let quotes = answers("What is a key?", &passages);
    assert!(quotes.len() <= MAX_QUOTE_CHARS.len());
    assert!(quotes.iter().map(|(_, text)| text.chars().count()).sum::<usize>() < MAX_QUOTE_CHARS.iter().sum());
}

#[test]
fn brackets_that_are_no_links_stay() {
    for text in ["a [b] c", "a [b", "[[x]", "[x](", "![", "a[0](b"] {
        assert_eq!(without_links(text), text);
    }
    assert_eq!(without_links("[[a]](b) (c)"), "[a] (c)");
}

#[test]
fn steps_are_quoted_whole() {
    let steps: String =
        (1..=20).map(|n| format!("{n}. Do the thing with a name that is number {n} of the release.\n")).collect();
    let found = answers("How do I make a release?", &[passage("Releases", &format!("To release:\n\n{steps}"))]);
    assert!(found[0].1.contains("\n20. Do the thing"), "{}", found[0].1);
}

#[test]
fn one_variant_of_a_tab_is_quoted() {
    let content = "{% tab title=\"Ruby\" %}\n```rb\nclient.publish\n```\n{% endtab %}\n{% tab title=\"Go\" %}\n```go\nclient.Publish\n```\n{% endtab %}";
    let found = answers("How do I publish with a client?", &[passage("Publish", content)]);
    assert_eq!(found[0].1, "**Ruby**\n\n```rb\nclient.publish\n```");
    let found = answers("How do I publish with a Go client?", &[passage("Publish", content)]);
    assert!(found[0].1.contains("**Go**\n\n```go\nclient.Publish\n```"), "{}", found[0].1);
}

#[test]
fn code_in_html_is_quoted_in_a_fence() {
    let content = "Install it:\n\n<pre><code class=\"cmd\">apt install docent &amp;&amp; <b>run</b></code></pre>";
    quotes_of("How do I install it?", content, "Install it:\n\n```\napt install docent && run\n```");
}

#[test]
fn a_further_passage_is_quoted_where_it_is_needed() {
    let configure = "Gateways connect clusters, and you configure gateways in the configuration of each server.";
    let code = "An example:\n\n```\ngateway {}\n```";
    let passages = [passage("Configure gateways", configure), passage("Gateway example", code)];
    assert_eq!(answers("How do I configure gateways?", &passages).len(), 2);
    let passages = [
        passage("Configure gateways", &format!("{configure}\n\n```\ngateway {{}}\n```")),
        passage("Gateway example", "An example."),
    ];
    assert_eq!(answers("How do I configure gateways?", &passages).len(), 1);
    let passages = [
        passage("Pull", "A pull consumer asks. It is what a consumer should be."),
        passage("Push", "A push consumer is sent to."),
    ];
    assert_eq!(answers("What is the difference between a push and a pull consumer?", &passages).len(), 2);
}

#[test]
fn the_code_of_a_section_below_comes_along() {
    let mut setup = passage("Compose", "Create a file:\n\n```yaml\nservices:\n```");
    setup.headings = vec!["Compose".to_owned(), "Setup".to_owned()];
    setup.score = 0.0;
    let passages = [passage("Compose", "You run the server with compose, which is the simplest way to run it."), setup];
    let found = answers("How do I run the server with compose?", &passages);
    assert_eq!(found.last().map(|(_, text)| text.as_str()), Some("Create a file:\n\n```yaml\nservices:\n```"));
}
