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
        passages.iter().map(|passage| Candidate { passage, score: passage.score }).collect();
    let quotes = quotes(&candidates, &Topic::following(question, ""), AnswerKind::expected_by(question), false);
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
        "Deliveries are signed.\n\nTo change the retry policy, set `retries`:\n\n```toml\nretries = 5\n\n# done\n```",
    );
}

#[test]
fn links_become_their_words() {
    quotes_of(
        "when do keys expire",
        "Keys [expire](/keys#expiry) after 90 days. Expired keys are ![x](y.png)refused.",
        "Keys expire after 90 days. Expired keys are xrefused.",
    );
}

#[test]
fn of_a_long_section_the_blocks_around_the_best_are_quoted() {
    let filler = "Some more. ".repeat(90);
    quotes_of(
        "what is the timeout",
        &format!("{filler}\n\n**timeout**\n\nHow long to wait.\n\nThe default is 30 seconds.\n\n{filler}"),
        "**timeout**\n\nHow long to wait.\n\nThe default is 30 seconds.",
    );
}

#[test]
fn passages_match_by_the_words_of_their_heading() {
    let passages =
        [passage("Colours", "Limits of colours are a matter of taste."), passage("Payload limits", "At most 256 KiB.")];
    assert_eq!(answers("What is the limit of a payload?", &passages)[0], (1, "At most 256 KiB.".to_owned()));
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
fn a_table_is_quoted_without_the_spaces_that_align_it() {
    let wide = " ".repeat(900);
    let dashes = "-".repeat(900);
    let table = format!("Name | Meaning{wide}\n--- | :{dashes}\n`max_delay` | The longest{wide} delay\n`x` | Other\n");
    let quote = &answers("What is max_delay?", &[passage("Options", &table)])[0].1;
    assert_eq!(quote, "Name | Meaning\n--- | :---\n`max_delay` | The longest delay\n`x` | Other");
}

#[test]
fn a_long_list_is_quoted_by_the_first_sentences_of_its_items() {
    let list: String = (0..20).map(|n| format!("- `part{n}` runs. {}\n", "It is long. ".repeat(10))).collect();
    let quote = &answers("Which parts are there?", &[passage("Parts", &list)])[0].1;
    assert!(quote.starts_with("- `part0` runs.\n- `part1` runs.\n") && quote.ends_with("- `part19` runs."), "{quote}");
}

#[test]
fn sections_below_are_listed_where_a_list_is_expected() {
    let mut below = passage("Strategies", "The oldest goes.");
    below.headings = vec!["Strategies".to_owned(), "Simple".to_owned()];
    let passages = [passage("Strategies", "There are strategies for old versions."), below];
    let candidates: Vec<Candidate<'_>> =
        passages.iter().map(|passage| Candidate { passage, score: passage.score }).collect();
    let topic = Topic::following("Which strategies are there?", "");
    assert_eq!(quotes(&candidates, &topic, AnswerKind::List, false)[0].below, [1]);
}

#[test]
fn a_section_without_text_is_not_quoted() {
    let passages = [passage("Keys", "Page"), passage("Rotation", "Keys are rotated once a month.")];
    assert_eq!(answers("How are keys rotated?", &passages), [(1, "Keys are rotated once a month.".to_owned())]);
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
}
