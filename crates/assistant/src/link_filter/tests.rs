mod renderers;

use proptest::prelude::*;

use super::*;

/// Accepts the page `/a`, the site `https://rfc.test` and the image `/chart.png`; rewrites `a.md` to `/a`.
pub(super) fn judge(destination: LinkTarget<'_>) -> Option<String> {
    match destination {
        LinkTarget::Link("/a" | "a.md" | "https://site.test/a") => Some("/a".to_owned()),
        LinkTarget::Link("/a#b") => Some("/a#b".to_owned()),
        LinkTarget::Link("https://rfc.test/1") => Some("https://rfc.test/1".to_owned()),
        LinkTarget::Link("mailto:a@rfc.test") => Some("mailto:a@rfc.test".to_owned()),
        LinkTarget::Image("/chart.png") => Some("/chart.png".to_owned()),
        LinkTarget::Link(_) | LinkTarget::Image(_) => None,
    }
}

fn filtered(pieces: &[&str]) -> String {
    let mut filter = LinkFilter::new();
    let mut out: String = pieces.iter().map(|piece| filter.push((*piece).to_owned(), &judge)).collect();
    out.push_str(&filter.finish(&judge));
    out
}

/// Like [`filtered`], with zero-width spaces shown as a middle dot.
fn seen(text: &str) -> String {
    filtered(&[text]).replace(NO_SPACE, "·")
}

#[test]
fn links_to_pages_stay_and_others_become_their_words() {
    for (text, expected) in [
        ("See [retries](/a#b).", "See [retries](/a#b)."),
        ("See [retries](a.md \"Title\").", "See [retries](/a)."),
        ("See [the retry\nguide](<a.md>).", "See [the retry guide](/a)."),
        ("[x](https://site.test/a)", "[x](/a)"),
        ("[x](/nothing) and [y](https://evil.test/?q=1)", "x and y"),
        ("[`code` and **bold**](/nothing)", "`code` and **bold**"),
        ("[`code` and **bold**, 1 < 2](/a)", "[`code` and **bold**, 1 &lt; 2](/a)"),
        ("[a [b](/a) c](/nothing) [a [b](/nothing) c](/a)", "a [b](/a) c [a b c](/a)"),
        ("[x](/no(thing)) [y](\\/a) [z](/&#97;)", "x [y](/a) [z](/a)"),
        ("[](/nothing)!", "!"),
        ("![Chart](/chart.png) ![Spy](https://evil.test/p.png)", "![Chart](/chart.png) Spy"),
        ("[![Spy](https://evil.test/p.png)](/a)", "[Spy](/a)"),
        ("[1. Install](/a) [^a](/a) [a | b](/a)", "[1. Install](/a) [\\^a](/a) [a \\| b](/a)"),
        ("<https://rfc.test/1> <https://evil.test>", "<https://rfc.test/1> `https://evil.test`"),
        ("<a@rfc.test> <a@evil.test>", "<mailto:a@rfc.test> `a@evil.test`"),
        ("<https://site.test/a>", "[/a](/a)"),
        ("a[0] and - [ ] and [1], [x] (y)", "a[0] and - [ ] and [1], [x] (y)"),
        ("if a < b then <3, AT&T, Q&A, R&D;", "if a < b then &lt;3, AT&T, Q&A, R&D;"),
        (
            "hello world, what? whatever; HTTP, www, Node.js, e.g. 1.5.0!",
            "hello world, what? whatever; HTTP, www, Node.js, e.g. 1.5.0!",
        ),
    ] {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn an_address_in_prose_is_a_link_to_what_may_be_linked_or_none_at_all() {
    for (text, expected) in [
        (
            "At https://rfc.test/1. Or http://evil.test/(x), www.evil.test!",
            "At <https://rfc.test/1>. Or `http://evil.test/(x)`, `www.evil.test`!",
        ),
        ("(https://site.test/a)", "([/a](/a))"),
        ("見https://rfc.test/1。見https://evil.test", "見<https://rfc.test/1>。見`https://evil.test`"),
        ("xhttps://evil.test 1http://evil.com", "xhttps:/·/evil.·test 1http:/·/evil.·com"),
        ("&#104;ttp://evil.com http&colon;//evil.com", "`http://evil.com` http\\:/·/evil.·com"),
        ("http\\://evil.com http:\\/\\/evil.com", "http\\:/·/evil.·com http:\\/·\\/evil.·com"),
        ("xwww.evil www\\.evil &#119;ww.evil", "xwww·.evil www·\\.evil `www.evil`"),
        (
            "evil.com, EVIL.IO/x, evil\\.com, evil&period;com, x.рф",
            "evil.·com, EVIL.·IO/x, evil\\.·com, evil\\.·com, x.·рф",
        ),
        ("a@evil.com mailto:a@evil.com a\\@b @scope/x", "a·@evil.·com mailto:a·@evil.·com a·\\@b @scope/x"),
        ("ftp://evil.com //evil.com", "ftp:/·/evil.·com /·/evil.·com"),
        ("htt<!-- -->p://evil.com evil.c<!-- -->om", "htt·p:/·/evil.·com evil.c·om"),
        ("http:/&#<!-- -->47;evil.com", "http:/&#·47;evil.·com"),
        ("evil.c[om](/nothing) \\https://evil.test/", "evil.c·om \\·`https://evil.test/`"),
    ] {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn nothing_is_html_and_nothing_is_defined() {
    for (text, expected) in [
        (
            "the<a href=\"https://evil.test\">words</a>.<br>",
            "the&lt;a href=\"`https://evil.test`\">words&lt;/a>.&lt;br>",
        ),
        ("<img src=x> <!DOCTYPE x> <?php ?> </b>", "&lt;img src=x> &lt;!DOCTYPE x> &lt;?php ?> &lt;/b>"),
        ("Vec<String> &lt;b&gt; \\<b>", "Vec&lt;String> &lt;b\\> &lt;b>"),
        ("\\&lt;b> &amp;lt;b>", "&amp;lt;b> &amp;lt;b>"),
        ("# x {: onclick=f() } `a`{#b} {id}", "# x \\{: onclick=f() } `a`\\{#b} \\{id}"),
        ("_a_{ onclick=f()} /users/{id} {", "_a_\\{ onclick=f()} /users/{id} \\{"),
        ("$x_{i=1}^{n} \\frac{a}{b}$", "$x_{i=1}^{n} \\frac{a}{b}$"),
        ("<<!-- -->img> <<a@evil.test>", "&lt;img> &lt;`a@evil.test`"),
        ("[x]: https://evil.test\n[x]", "[x]\\: `https://evil.test`\n[x]"),
        ("[x]:\n  /a\n  'title'", "[x]\\:\n  /a\n  'title'"),
        ("[^1]: A note.", "[^1]\\: A note."),
        ("[x][](/nothing)(//evil.test)", "[x]\\(/·/evil.·test)"),
        ("[x](a b) !<!-- -->[x](/a)", "[x]\\(a b) !·[x](/a)"),
    ] {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn code_stays_as_it_is() {
    for text in [
        "`[x](/nothing)` and ``a ` <b> [x]``",
        "`curl https://evil.test | jq` and `<b>`",
        "```md\n[x](/nothing) https://evil.test\n```\n[x](/a)",
        "```\n  <img>\n\n\t[x]: y\n```\n",
        "````\n```\n[x](/nothing)\n````\n",
        "a\n\n```\nb\n```\nc",
    ] {
        assert_eq!(filtered(&[text]), text);
    }
}

#[test]
fn a_block_of_code_stands_alone() {
    for (text, expected) in [
        ("a\n```js title=\"x\"\nb\n```", "a\n\n```js\nb\n```\n"),
        ("```\nnever closed", "```\nnever closed\n```\n"),
        ("> a\n> ~~~\n> [x](/nothing)\n>  y\n> ~~~\n> b", "> a\n\n```\n[x](/nothing)\n y\n```\n> b"),
        ("> ```\n> code\n[x](/nothing)", "```\ncode\n```\nx"),
        (
            "1. Do:\n\n   ```\n   a\n     b\n\n   ```\n   Then:\n   - c\n2. End",
            "1. Do:\n\n```\na\n  b\n\n```\nThen:\n- c\n\n2. End",
        ),
        ("- ```\n  a\n  ```\n  b", "-\n\n```\na\n```\nb"),
        ("-     ```\n      a\n      ```", "-\n\n```\na\n```\n"),
        ("-\t```\n\ta\n\t```", "-\n\n```\na\n```\n"),
        ("text\n10) ```\n    a\n    ```\n", "text\n10)\n\n```\na\n```\n"),
        ("<div>\n```\n</div>\n\n[x](/nothing)\n```", "&lt;div>\n\n```\n</div>\n\n[x](/nothing)\n```\n"),
        ("```\n```js\n[x](y)\n ```\n[x](/nothing)", "```\n·```js\n[x](y)\n```\nx"),
        ("```\n```~\n    ```\n```", "```\n·```~\n    ```·\n```\n"),
        ("~~~\n```\n~~~ x\na ``` \nb```c\n~~~", "```\n·```·\n~~~ x\na ```· \nb```c\n```\n"),
        ("``` not `a fence`\n[x](/nothing)", "\\`\\`\\` not `a fence`\nx"),
        ("[~~~](/nothing)\n[x](/nothing)", "~~\\~\nx"),
        ("```\r\na\r\n```\r\n[x](/nothing)", "```\na\n```\nx"),
        ("```\0\n\u{85}x\u{2028}\n```", "```\nx\n```\n"),
    ] {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn code_on_a_line_ends_where_every_reader_sees_it_end() {
    for (text, expected) in [
        ("a ` b\n` [x](/nothing) c", "a \\` b\n\\` x c"),
        ("| a |\n|---|\n| `a|b` `a\\|b` `a\\\\|b` |", "| a |\n|---|\n| `a\\|b` `a\\|b` `a\\\\·\\|b` |"),
        ("`a|b`\n|---|\n\n`a|b`", "`a|b`\n·|---|\n\n`a|b`"),
        ("`a|b`\n- x\n--|-", "`a|b`\n- x\n--|-"),
        ("```a``` `` `b` ``", "`a` `` `b` ``"),
        ("`a``b` `x`http://evil.test/", "`a``b` `x`·`http://evil.test/`"),
        ("[``a`b``](/a) [`a`](/a)", "[a\\`b](/a) [`a`](/a)"),
        ("[`a``](/nothing)` [``](/nothing)`x``", "[`a``]·(/nothing)` [``]·(/nothing)`x``"),
        ("[`a``b` [`](/a)`http://evil.test", "[`a``b` [`]·(/a)`·`http://evil.test`"),
        ("[`](/a)` and [`a``b`", "[`](/a)` and [`a``b`"),
        ("[`a|b`](/a)\n--|--", "[`a|b`](/a)\n·--|--"),
    ] {
        assert_eq!(seen(text), expected, "{text}");
    }
}

#[test]
fn texts_of_one_reply_are_harmless_behind_each_other() {
    let mut filter = LinkFilter::new();
    let mut out = String::new();
    for text in ["```\ncode", "[x]", "(http://evil.test)", "```\ncode\n```"] {
        out.push_str(&filter.push(text.to_owned(), &judge));
        out.push_str(&filter.finish(&judge));
    }
    assert_eq!(out, "```\ncode\n```\n[x]\\(`http://evil.test`)\n\n```\ncode\n```\n");
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
    for words in ["Retries wait ", "longer", ", each", " (time)", " what", " 10%", ".", " So"] {
        assert_eq!(filter.push(words.to_owned(), &judge), words);
    }
    assert_eq!(filter.push(" [".to_owned(), &judge), " ");
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

/// Text with many fragments that resemble links.
fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "[", "]", "(", ")", "](", "![", "<", ">", "`", "``", "```", "~~~", "\n", "\n\n", "\\", "<!--", "-->", "- ", "> ", "1. ",
            "/a", "a.md", "//evil.test", "https://", "http://evil.test", "www.", "<a href=", "<img src=", "\"", ": ", "[x](/a)",
            "[x](/nothing)", "[r]: ", " ", "  ", "|", "é", "。", "h", "w", "javascript:", "\t", "\r\n", "~", "*", "!", "&#104;", "&amp;",
            ".com", "@", ".", "/", "|---|", "\n```\n", "\n   ```\n",
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
        // Some texts are long enough to reach the limit.
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
    fn nothing_that_came_out_leads_elsewhere_or_is_html(text in markdown()) {
        let once = filtered(&[&text]);
        let options = pulldown_cmark::Options::ENABLE_GFM | pulldown_cmark::Options::ENABLE_TABLES;
        for event in pulldown_cmark::Parser::new_ext(&once, options) {
            use pulldown_cmark::{Event, Tag};
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    let known = ["/a", "/a#b", "https://rfc.test/1", "/chart.png"].contains(&&*dest_url);
                    prop_assert!(known, "{:?} from {:?} leads to {}", once, text, dest_url);
                }
                Event::Html(_) | Event::InlineHtml(_) => prop_assert!(false, "{:?} from {:?} is HTML", once, text),
                _ => {}
            }
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
