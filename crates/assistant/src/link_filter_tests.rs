use proptest::prelude::*;

use super::*;

/// Knows the page `/a`, the site `https://rfc.test` and the image `/chart.png`; writes `a.md` as `/a`.
fn judge(destination: Destination<'_>) -> Option<String> {
    match destination {
        Destination::Link("/a" | "a.md" | "https://site.test/a") => Some("/a".to_owned()),
        Destination::Link("/a#b") => Some("/a#b".to_owned()),
        Destination::Link("https://rfc.test/1") => Some("https://rfc.test/1".to_owned()),
        Destination::Image("/chart.png") => Some("/chart.png".to_owned()),
        Destination::Link(_) | Destination::Image(_) => None,
    }
}

fn filtered(pieces: &[&str]) -> String {
    let mut filter = LinkFilter::new();
    let mut out: String = pieces.iter().map(|piece| filter.push((*piece).to_owned(), &judge)).collect();
    out.push_str(&filter.finish(&judge));
    out
}

#[test]
fn links_to_pages_stay_and_others_become_their_words() {
    for (text, expected) in [
        ("See [retries](/a#b).", "See [retries](/a#b)."),
        ("See [retries](a.md \"Title\").", "See [retries](/a)."),
        ("See [retries](<a.md>).", "See [retries](/a)."),
        ("[x](https://site.test/a)", "[x](/a)"),
        ("[x](/nothing) and [y](https://evil.test/?q=1)", "x and y"),
        ("[`code` and **bold**](/nothing)", "`code` and **bold**"),
        ("[a [b](/a) c](/nothing)", "a [b](/a) c"),
        ("[x](/no(thing)) [y](\\/a)", "x [y](/a)"),
        ("[](/nothing)!", "!"),
        ("![Chart](/chart.png) ![Spy](https://evil.test/p.png)", "![Chart](/chart.png) Spy"),
        ("[![Spy](https://evil.test/p.png)](/a)", "[Spy](/a)"),
        ("<https://rfc.test/1> <https://evil.test>", "<https://rfc.test/1> `https://evil.test`"),
        ("<https://site.test/a>", "[/a](/a)"),
        (
            "At https://rfc.test/1. Or http://evil.test/(x), www.evil.test!",
            "At https://rfc.test/1. Or `http://evil.test/(x)`, `www.evil.test`!",
        ),
        ("(https://site.test/a)", "([/a](/a))"),
        ("the<a href=\"https://evil.test\">words</a>.<img src=x><br>", "thewords.<br>"),
        ("[x]: https://evil.test", "\\[x]: `https://evil.test`"),
        ("[x]: a.md\n- [y]: /a", "[x]: /a\n- [y]: /a"),
        ("[^1]: A note.", "[^1]: A note."),
        ("a[0] and - [ ] and [1], [x] (y)", "a[0] and - [ ] and [1], [x] (y)"),
        ("if a < b then Vec<String> <b", "if a < b then Vec<String> \\<b"),
        ("hello world, what? whatever; HTTP", "hello world, what? whatever; HTTP"),
    ] {
        assert_eq!(filtered(&[text]), expected, "{text}");
    }
}

#[test]
fn code_stays_as_it_is() {
    for text in [
        "`[x](/nothing)` and ``a ` [x](/nothing)``",
        "```md\n[x](/nothing) https://evil.test\n```\n[x](/a)",
        "> ~~~\n> [x](/nothing)\n> ~~~\n",
        "1. Do:\n\n   ```\n   <a href=\"x\">\n   ```\n",
        "- ```\n  [x](/nothing)\n  ```\n",
        "````\n```\n[x](/nothing)\n````",
        "```\nnever closed [x](/nothing)",
    ] {
        assert_eq!(filtered(&[text]), text);
    }
}

#[test]
fn code_ends_where_a_client_sees_it_end() {
    for (text, expected) in [
        ("```\ncode\n```\n[x](/nothing)", "```\ncode\n```\nx"),
        ("> ```\n> code\n[x](/nothing)", "> ```\n> code\nx"),
        ("- ```\n  code\n[x](/nothing)", "- ```\n  code\nx"),
        ("a ` b\n` [x](/nothing) c", "a \\` b\n\\` x c"),
        ("``` not `a fence`\n[x](/nothing)", "\\`\\`\\` not `a fence`\nx"),
    ] {
        assert_eq!(filtered(&[text]), expected, "{text}");
    }
}

#[test]
fn what_falls_away_leaves_nothing_that_joins() {
    for (text, expected) in [
        ("[x][](/nothing)(//evil.test)", "[x]\\(//evil.test)"),
        ("[x][(//evil.test)](/nothing)", "[x]\\(//evil.test)"),
        ("<<a href=x>img src=y>", "<\\img src=y>"),
        ("[a <b c=\"]\">](//evil.test)", "[a \\<b c=\"]\">]\\(//evil.test)"),
        ("<b[x](/nothing)-->", "\\<bx-->"),
        ("<!---->[r]: //evil.test\n<!---->\nx", "\u{200b}[r]: //evil.test\n\nx"),
        ("\\https://evil.test/`[x](/nothing)`", "\\ `https://evil.test/` `[x](/nothing)`"),
        ("[x](a b)", "[x]\\(a b)"),
    ] {
        assert_eq!(filtered(&[text]), expected, "{text}");
    }
}

#[test]
fn comments_are_for_us() {
    let mut filter = LinkFilter::new();
    let mut out = filter.push("No.\n\n<!--docent:unans".to_owned(), &judge);
    out.push_str(&filter.push("wered-->".to_owned(), &judge));
    out.push_str(&filter.finish(&judge));
    assert_eq!((out.as_str(), filter.notes()), ("No.\n\n", &["docent:unanswered".to_owned()][..]));
    assert_eq!(filtered(&["a `<!-- b -->`"]), "a `<!-- b -->`");
}

#[test]
fn words_leave_at_once_and_an_unfinished_link_is_not_waited_for_forever() {
    let mut filter = LinkFilter::new();
    assert_eq!(filter.push("Retries wait ".to_owned(), &judge), "Retries wait ");
    assert_eq!(filter.push("longer [".to_owned(), &judge), "longer ");
    assert_eq!(filter.push("each".to_owned(), &judge), "");
    let much = "x".repeat(3 * LONGEST);
    let shown = filter.push(much, &judge);
    assert!(shown.starts_with("[each") && shown.len() > 2 * LONGEST, "{}", shown.len());
}

#[test]
fn a_link_that_is_too_long_is_no_link() {
    let text = format!("[{}](/nothing)", "x ".repeat(LONGEST));
    assert!(filtered(&[&text]).ends_with("]\\(/nothing)"));
}

/// Text in which much looks like a link.
fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "[", "]", "(", ")", "](", "![", "<", ">", "`", "``", "```", "~~~", "\n", "\n\n", "\\", "<!--", "-->", "- ", "> ", "1. ",
            "/a", "a.md", "//evil.test", "https://", "http://evil.test", "www.", "<a href=", "<img src=", "\"", ": ", "[x](/a)",
            "[x](/nothing)", "[r]: ", " ", "  ", "|", "é", "。", "h", "w", "javascript:", "\t", "\r\n", "~", "*", "!",
        ]).prop_map(str::to_owned),
        1 => "[a-z ]{1,6}",
        1 => "\\PC{0,3}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn however_it_is_cut_the_same_text_comes_out(text in markdown(), cuts in prop::collection::vec(1_usize..9, 0..60), pad in 0_usize..3) {
        // Some texts are long enough for the limit to matter.
        let text = if pad == 2 { format!("{text}{}{text}", "z".repeat(LONGEST - 7)) } else { text };
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        for cut in cuts {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(cut.min(rest.len())));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        prop_assert_eq!(filtered(&pieces), filtered(&[&text]));
    }

    #[test]
    fn nothing_that_came_out_leads_elsewhere(text in markdown()) {
        let once = filtered(&[&text]);
        for href in targets_in(&once) {
            prop_assert!(["/a", "/a#b", "https://rfc.test/1", "/chart.png"].contains(&href.as_str()), "{:?} from {:?} leads to {}", once, text, href);
        }
    }

    #[test]
    fn little_is_held_back(text in markdown(), tail in "[a-z\\[(<`h ]{0,20}") {
        let mut filter = LinkFilter::new();
        let long = format!("{text}{tail}{}", "z".repeat(LONGEST));
        filter.push(long, &judge);
        prop_assert!(filter.held.len() <= LONGEST);
    }
}

/// Where a reader of CommonMark sees links and images point to.
fn targets_in(text: &str) -> Vec<String> {
    let page = docent_pages::parse("reply.md", text.as_bytes());
    page.links.iter().map(|link| link.target.clone()).collect()
}
