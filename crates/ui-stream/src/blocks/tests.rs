use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The blocks that a client has after these changes, empty ones left out.
fn folded(changes: &[BlockChange]) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    for change in changes {
        match change {
            BlockChange::Begin { number, block } => {
                assert_eq!(*number, blocks.len() + 1, "blocks begin in order");
                blocks.push(json!(block));
            }
            BlockChange::Edit(edits) => edits.iter().for_each(|edit| apply(&json!(edit), &mut blocks)),
        }
    }
    blocks.retain(|block| *block != json!(["p"]));
    blocks
}

/// The rule of docs/API.md.
fn apply(edit: &Value, blocks: &mut [Value]) {
    let number = |at: usize| usize::try_from(edit[at].as_u64().expect("a number")).expect("small");
    let mut node = &mut blocks[number(0) - 1];
    if edit[1].is_array() {
        *node = edit[1].clone();
        return;
    }
    for _ in 0..number(1) {
        node = node.as_array_mut().and_then(|children| children.last_mut()).expect("a last child");
    }
    let node = node.as_array_mut().expect("an element");
    for part in &edit.as_array().expect("an edit")[2..] {
        let is_behind_text = node.len() > 1;
        match (part, node.last_mut()) {
            (Value::Number(number), last) => match number.as_i64().expect("a whole number") {
                drop @ 1.. => node.truncate(node.len() - usize::try_from(drop).expect("positive")),
                cut => {
                    let text: Vec<u16> =
                        last.as_ref().and_then(|last| last.as_str()).expect("a text").encode_utf16().collect();
                    let left = text.len() - usize::try_from(-cut).expect("negative");
                    *last.expect("it is there") =
                        json!(String::from_utf16(&text[..left]).expect("no character is cut in two"));
                }
            },
            (Value::String(text), Some(Value::String(last))) if is_behind_text => last.push_str(text),
            (child, _) => node.push(child.clone()),
        }
    }
}

fn streamed<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<BlockChange> {
    let mut blocks = BlockStream::default();
    let mut changes: Vec<_> = pieces.into_iter().flat_map(|piece| blocks.push(piece)).collect();
    changes.extend(blocks.end());
    changes
}

fn shown(text: &str) -> Vec<Value> {
    folded(&streamed([text]))
}

fn by_character(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(|_| true)
}

#[test]
fn each_kind_of_block_has_its_shape() {
    for (text, expected) in [
        ("One\ntwo  \nthree", json!([["p", "One two", ["br"], "three"]])),
        ("## Set *up*", json!([["h2", "Set ", ["em", "up"]]])),
        ("- a\n- b\n  1. c", json!([["ul", ["li", ["p", "a"]], ["li", ["p", "b"], ["ol", ["li", ["p", "c"]]]]]])),
        ("- a\n\n- b", json!([["ul", ["li", ["p", "a"]], ["li", ["p", "b"]]]])),
        ("3. a", json!([["ol", {"start": "3"}, ["li", ["p", "a"]]]])),
        (
            "| a | b |\n|---|--:|\n| `c` | d |",
            json!([["table", {"align": "start right"}, ["tr", ["td", "a"], ["td", "b"]], ["tr", ["td", ["code", "c"]], ["td", "d"]]]]),
        ),
        ("```rust\nfn a() {}\n```", json!([["pre", {"language": "rust"}, "fn a() {}\n"]])),
        ("> **q**", json!([["blockquote", ["p", ["strong", "q"]]]])),
        ("---", json!([["hr"]])),
        (
            "[a](/b#c) <m@x.test> ![alt](/i.png)",
            json!([[
                "p", ["a", {"href": "/b#c"}, "a"], " ", ["a", {"href": "mailto:m@x.test"}, "m@x.test"], " ",
                ["img", {"src": "/i.png", "alt": "alt"}],
            ]]),
        ),
    ] {
        assert_eq!(json!(shown(text)), expected, "{text}");
        assert_eq!(json!(folded(&streamed(by_character(text)))), expected, "{text}");
    }
}

#[test]
fn what_is_not_vetted_is_its_words() {
    let text = |text: &str| json!([["p", text]]);
    for (markdown, expected) in [
        ("[a](javascript:x) [b](//x.test) [c](data:text/html,x)", text("a b c")),
        ("<javascript:alert(1)>", text("javascript:alert(1)")),
        ("[a](JaVaScRiPt&colon;x) [b](java&#10;script:x) [c](\\\\x.test)", text("a b c")),
        ("<img src=x onerror=y> <b>c</b>", text("<img src=x onerror=y> <b>c</b>")),
        ("<div onclick=x>\n<script>y</script>\n</div>", text("<div onclick=x>\n<script>y</script>\n</div>")),
        ("![alt](data:image/svg+xml,x) ![](//x.test/i)", text("alt ")),
        ("[x]: javascript:y\n\n", text("[x]: javascript:y")),
        ("[x]\n[x]: /y", text("[x] [x]: /y")),
    ] {
        assert_eq!(json!(shown(markdown)), expected, "{markdown}");
    }
    let image = "![alt](https://x.test/i.png) [![alt](https://x.test/i.png)](/a)";
    let link = |href: &str| json!(["a", {"href": href}, "alt"]);
    assert_eq!(json!(shown(image)), json!([["p", link("https://x.test/i.png"), " ", link("/a")]]));
}

#[test]
fn definitions_in_code_are_code() {
    let text = "[x]: /y\n\n```\n[x]: /y\n```\n\n`[x]: /y`";
    let expected = json!([["p", "[x]: /y"], ["pre", "[x]: /y\n"], ["p", ["code", "[x]: /y"]]]);
    assert_eq!(json!(shown(text)), expected);
}

fn one(changes: &[BlockChange]) -> &Edit {
    match changes {
        [BlockChange::Edit(edits)] if edits.len() == 1 => &edits[0],
        _ => panic!("{changes:?} is not one edit"),
    }
}

#[test]
fn a_block_that_was_sent_is_continued_and_not_sent_again() {
    let mut blocks = BlockStream::default();
    blocks.push("# Head\n\nSee *this*\n");
    let changes = blocks.push("and `that");
    assert!(matches!(one(&changes), Edit::End { number: 2, depth: 0, drop: 0, cut: 0, .. }), "{changes:?}");
    let changes = blocks.push("`");
    assert!(matches!(one(&changes), Edit::End { number: 2, depth: 0, drop: 0, cut: 5, .. }), "{changes:?}");
    assert!(blocks.tail.starts_with("See"), "{}", blocks.tail);
}

#[test]
fn quotes_and_lists_may_be_as_deep_as_anybody_likes() {
    for text in [">".repeat(5_000) + " x", "- ".repeat(2_000) + "x", "*a ".repeat(3_000) + &"b* ".repeat(3_000)] {
        let blocks = shown(&text);
        assert!(serde_json::from_str::<Value>(&json!(blocks).to_string()).is_ok(), "parsers stop at 128 levels");
    }
}

#[test]
fn a_long_block_is_cut_and_nothing_is_lost() {
    let text = "wörds and ".repeat(20_000);
    let (whole, pieces) = (
        shown(&text),
        folded(&streamed(
            text.as_bytes().chunks(1_111 * 11).map(|piece| std::str::from_utf8(piece).expect("whole words")),
        )),
    );
    assert_eq!(whole, pieces);
    let words: usize = whole.iter().map(|block| block[1].as_str().map_or(0, |text| text.matches("wör").count())).sum();
    assert!(whole.len() > 1 && words == 20_000, "{} blocks, {words} words", whole.len());
}

#[test]
fn emphasis_that_always_changes_sends_no_more_than_it_may() {
    for text in ["*a ".repeat(300) + &"b* ".repeat(300), "**a* ".repeat(300), "- a\n\n  b\n".repeat(100)] {
        let changes = streamed(by_character(&text));
        let sent: usize = changes.iter().map(BlockChange::length).sum();
        let last = shown(&text).iter().map(|block| block.to_string().len()).sum::<usize>();
        assert!(sent <= 3 * text.len() + SPARE + 2 * last, "{sent} of {}", text.len());
        assert_eq!(folded(&changes), shown(&text));
    }
}

/// Markdown that is rich in what depends on what follows.
fn markdown() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "word ", "\n", "\n\n", "  ", "    ", "\t", "- ", "* ", "1. ", "2) ", "> ", "# ", "---", "===", "```",
        "~~~", "`", "*", "**", "_", "[", "](", ")", "/a", "[x]: /y", "[x]", "|", "|-|-|\n", "| a | b |\n", "<b>",
        "<!--", "-->", "<div>", "&amp;", "&#", "\\", "!", "ü", "😀", "https://x.test", "<https://x.test>",
        "javascript:", "-", "+", "1", ".", "\r\n", "<?", "<script>",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn addresses(node: &Value, found: &mut Vec<String>) {
    for part in node.as_array().into_iter().flatten() {
        addresses(part, found);
        found.extend(["href", "src"].iter().filter_map(|key| Some(part.get(key)?.as_str()?.to_owned())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(500)))]

    #[test]
    fn a_text_has_the_same_blocks_wherever_it_is_cut(text in markdown(), at in any::<prop::sample::Index>()) {
        let whole = shown(&text);
        let parsed: Vec<Value> = parse(&text.replace('\r', "")).iter().map(|top| json!(top.block)).collect();
        let parsed: Vec<Value> = parsed.into_iter().filter(|block| *block != json!(["p"])).collect();
        prop_assert_eq!(&whole, &parsed, "{:?}", &text);
        let cut = text.floor_char_boundary(at.index(text.len() + 1));
        prop_assert_eq!(&folded(&streamed([&text[..cut], &text[cut..]])), &whole, "{:?} | {:?}", &text[..cut], &text[cut..]);
        prop_assert_eq!(&folded(&streamed(by_character(&text))), &whole, "{:?}", &text);
    }

    #[test]
    fn no_address_leads_elsewhere_than_it_may(text in "(\\[a\\]\\(|<|!\\[\\]\\()[ \\t]{0,2}(&#[0-9]{1,3};|[a-zA-Z]{1,10}|java\nscript|[:/?#\\\\@.\u{0}-\u{20}]){1,8}[)>]") {
        let mut found = Vec::new();
        shown(&text).iter().for_each(|block| addresses(block, &mut found));
        for address in found {
            let is_plain = ["http:", "https:", "mailto:"].iter().any(|known| address.to_ascii_lowercase().starts_with(known));
            let head = address.split(['/', '?', '#']).next().unwrap_or_default();
            prop_assert!(is_plain || (!head.contains(':') && !address.starts_with("//")), "{address:?}");
            prop_assert!(!address.contains(|c: char| c <= ' ' || c == '\\'), "{address:?}");
        }
    }
}
