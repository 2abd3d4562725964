use proptest::prelude::*;

use super::*;
use crate::parse::parse;
use crate::processor_time::processor_time;

fn page(text: &str) -> Page {
    super::parse("a.adoc", text.as_bytes(), AnchorStyle::Asciidoctor, &AdocAttributes::default())
}

fn anchors(text: &str) -> Vec<String> {
    page(text).headings.into_iter().map(|heading| heading.anchor).collect()
}

fn targets(text: &str) -> Vec<String> {
    let page = page(text);
    for link in &page.links {
        assert!(text.get(link.dest_span.clone()).is_some() && text.get(link.span.clone()).is_some(), "{link:?}");
    }
    page.links.into_iter().map(|link| link.target).collect()
}

#[test]
fn headings_have_the_ids_that_asciidoctor_makes() {
    let text = "= The Title\nAuthor <a@b.c>\n:description: Of it\n\n== First Steps\n\n== First Steps\n\n[[own]]\n== Named\n\n[#other.role]\n=== Also named\n\n[#not one]\n=== Spaced\n\n[id=third]\n== Third\n\n== `code.of` it's -- and *bold*, v1.2!\n\n[discrete]\n== Apart\n\n== Last [[last]]\n\n:idprefix:\n:idseparator: -\n\n== No prefix here\n";
    let page = page(text);
    let anchors: Vec<_> = page.headings.iter().map(|heading| heading.anchor.as_str()).collect();
    assert_eq!(
        anchors,
        [
            "",
            "_first_steps",
            "_first_steps_2",
            "own",
            "other",
            "_spaced",
            "third",
            "_code_of_itsand_bold_v1_2",
            "_apart",
            "last",
            "no-prefix-here"
        ]
    );
    assert_eq!(page.title.as_deref(), Some("The Title"));
    assert_eq!(page.front_matter.description(), Some("Of it"));
    assert_eq!(page.headings[7].text, "code.of it's -- and bold, v1.2!");
    assert_eq!(page.sections[0].text, "", "the author is no text");
}

#[test]
fn headings_stand_on_their_own() {
    assert_eq!(
        anchors(
            "= T\n\nwords\n== Not one\n\n----\n== Code\n----\n\n====\n== In a block\n====\n\nTwo lines\n---------\n\n.Java\n----\n== Code\n----\n\n== Closed ==\n"
        ),
        ["", "_two_lines", "_closed"]
    );
    // A forge has ids without a prefix.
    let page = parse("a.adoc", b"= T\n\n== Two words\n");
    assert_eq!(page.headings.iter().map(|heading| heading.anchor.as_str()).collect::<Vec<_>>(), ["t", "two-words"]);
}

#[test]
fn links_are_found_where_they_stand() {
    let text = "= T\n:url: https://example.org\n:dir: guide\n\nSee xref:other.adoc#id[the *other*], <<here>>, <<Some Words,there>>, link:file.pdf[a file^],\nhttps://a.b/c[words], https://a.b/d. and {url}/x[y] or xref:{dir}/a.adoc[].\n\nimage::pic.png[A picture,link=https://c.d]\n\nAn image:icon.svg[] `xref:in-code.adoc[]` `+xref:not.adoc[]+` \\xref:no.adoc[x]\n\ninclude::partial$a.adoc[]\n\n* item mod:<<x>>\n\n|===\n|xref:cell.adoc[one] 2+a|two\n* xref:list.adoc[]\n|===\n\n== Some Words\n\n// xref:comment.adoc[]\n////\nxref:comment.adoc[]\n////\n\n----\nxref:code.adoc[]\ninclude::example$b.rb[]\n----\n";
    let found = targets(text);
    assert_eq!(
        found,
        [
            "other.adoc#id", "#here", "#_some_words", "file.pdf", "https://a.b/c", "https://a.b/d",
            "https://example.org/x", "guide/a.adoc", "pic.png", "https://c.d", "icon.svg", "in-code.adoc",
            "partial$a.adoc", "#x", "cell.adoc", "list.adoc", "example$b.rb",
        ]
    );
    let page = page(text);
    let link = &page.links[0];
    assert_eq!((&text[link.dest_span.clone()], link.text.as_str()), ("other.adoc#id", "the other"));
    let link = page.links.iter().find(|link| link.target == "guide/a.adoc").unwrap();
    assert_eq!(&text[link.dest_span.clone()], "{dir}/a.adoc");
}

#[test]
fn words_code_and_ids_are_told_apart() {
    let text = "= T\n\n[[a]]A [[b]]paragraph with *bold*, `code` and \"`quotes`\".\n\nNOTE: Take care.\n\nterm:: what it is\n\n[source,rust]\n----\nfn main() {}\n----\n\n[#table]\n.Its title\n|===\n|a |b\n\n|c|d\n|===\n\n++++\n<b>raw</b>\n++++\n\n  literal\n\n{known}{empty} {lt}\n";
    let page = page(text);
    assert_eq!(page.ids, ["a", "b", "table"]);
    assert_eq!(
        page.sections[0].text,
        "A paragraph with bold, code and “quotes”.\n\nTake care.\n\nterm\n\nwhat it is\n\nIts title\n\na\n\nb\n\nc\n\nd\n\n{known} <"
    );
    assert_eq!(page.sections[0].code[0].language.as_deref(), Some("rust"));
    assert!(page.sections[0].markdown.contains("NOTE: Take care."), "{}", page.sections[0].markdown);
    assert!(page.sections[0].markdown.starts_with("A paragraph with bold, `code` and “quotes”."), "{page:?}");
    let code: Vec<_> = page.code.iter().map(|code| &text[code.clone()]).collect();
    assert_eq!(code.len(), 4, "{code:?}");
}

#[test]
fn known_attributes_decide_conditions() {
    let text = "= T\n:set:\n:!unset:\n\nifdef::set[]\n== Yes\nendif::[]\n\nifdef::unset[]\n== No\nifdef::x[]\n== Nor this\nendif::[]\nendif::[]\n\nifndef::set[]\n== Not\nendif::[]\n\nifdef::who-knows[]\n== Perhaps\nendif::[]\nifndef::who-knows[== Or this]\n";
    assert_eq!(anchors(text), ["", "_yes", "_perhaps", "_or_this"]);
    let mut given = AdocAttributes::default();
    given.set("who-knows", None);
    given.set("soft@", Some("a"));
    given.set("hard", Some("b"));
    let text = "= T\n:soft: c\n:hard: c\n\n== {soft} {hard} {missing}\n\n== {soft} {hard}\n\nifdef::who-knows[]\n== No\nendif::[]\n";
    let page = super::parse("a.adoc", text.as_bytes(), AnchorStyle::Asciidoctor, &given);
    let anchors: Vec<_> = page.headings.iter().map(|heading| heading.anchor.as_str()).collect();
    assert_eq!(anchors, ["", "", "_c_b"], "an attribute that nobody knows leaves the id open");
}

#[test]
fn a_header_describes_its_page() {
    let header = adoc_header(
        "// comment\n= Title\n:description: What it is \\\nabout\n:page-aliases: a.adoc, b:c.adoc\n\n:description: no\n",
    );
    assert_eq!(header.description(), Some("What it is about"));
    assert_eq!(header.list("page-aliases"), ["a.adoc", "b:c.adoc"]);
}

#[test]
fn slow_inputs_are_parsed_in_linear_time() {
    let units = [
        "`a ", "``a ", "*a ", "**a ", "_a", "#a ", "+a ", "++a ", "+++a ", "<<a ", "<<a,", "xref:a[", "link:a",
        "link:a[", "image:a[", "[[a", "[.a]#", "{a}", "{a", "\"`a ", "((a ", "(((a ", "footnote:[", "https://a",
        "https://a[", "\\", "* a\n", "a::\n", "|===\n|a\n", "====\n", "=====\na\n", "--\n", "----\n", "[a]\n",
        "[[a]]\n", "== a\n\n", ":a: {a}b\n", "ifdef::a[]\n", "endif::[]\n", "a|b", "include::a[]\n", "'''\n", "a\n-\n",
        "````\n", "[a,b=\"",
    ];
    for unit in units {
        let text = format!("= T\n\n|===\n{}", unit.repeat(60_000 / unit.len()));
        let took = processor_time(|| {
            check(&page(&text), &text);
            check(&page(&text[7..]), &text[7..]);
        });
        assert!(took.as_secs() < 5, "{unit:?} took {took:?}");
    }
    let doubling: String = std::iter::once(":a0: xxxxxxxxxx\n".to_owned())
        .chain((1..60).map(|n| format!(":a{n}: {{a{}}}{{a{}}}\n", n - 1, n - 1)))
        .collect();
    let text = format!("{doubling}\n{}", "{a59} ".repeat(20_000));
    let took = processor_time(|| check(&page(&text), &text));
    assert!(took.as_secs() < 5, "{took:?}");
}

fn check(page: &Page, text: &str) {
    let spans = page.headings.iter().map(|heading| &heading.span);
    let links = page.links.iter().flat_map(|link| [&link.span, &link.dest_span]);
    let sections = page.sections.iter().map(|section| &section.markdown_span);
    for span in spans.chain(links).chain(sections).chain(&page.prose).chain(&page.code) {
        assert!(text.get(span.clone()).is_some(), "{span:?}");
    }
    assert!(page.prose.is_sorted_by(|a, b| a.end <= b.start), "{:?}", page.prose);
    for heading in &page.headings {
        assert!((1..=6).contains(&heading.level), "{heading:?}");
    }
}

#[test]
fn attributes_that_do_not_end_are_text() {
    let long = format!("[{}ȺȺ#words#", "c".repeat(198));
    check(&parse("a.adoc", long.as_bytes()), &long);
    let page = parse("a.adoc", b"[.red\n#words#");
    assert!(page.ids.is_empty(), "{:?}", page.ids);
}

#[test]
fn words_in_words_without_end_are_text() {
    let named = ":a: *x* `{a}`\n\n{a}\n";
    let nested = format!("{}x{}\n", "xref:a.adoc[".repeat(20_000), "]".repeat(20_000));
    for text in [named, &nested] {
        check(&parse("a.adoc", text.as_bytes()), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_page(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&parse("a.adoc", &bytes), &text_of(&bytes));
    }

    #[test]
    fn any_text_is_a_page(text in "\\PC{0,200}") {
        check(&page(&text), &text);
    }

    #[test]
    fn any_markup_is_a_page(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "\n", "\n\n", " ", "  ", "\t", "word", "é", "漢字", "= ", "== ", "=== ", "====", "----", "....", "++++", "****", "____", "////", "--", "```",
                "|===", "!===", ",===", "|", "a|", "2+|", "\\", "`", "``", "*", "**", "_", "__", "#", "##", "+", "++", "+++", "^", "~", "\"`", "`\"", "'", "[", "]", "[[", "]]",
                "[[a]]", "[#b]", "[source,rust]", "[cols=\"1,a\"]", "<<", ">>", "xref:", "link:", "image:", "image::", "include::", "mailto:", "https://a.b", "a.adoc", "#id",
                "{", "}", "{a}", ":a: b", ":!a:", ":idprefix:", ":idseparator: -", "ifdef::a[]", "ifndef::a[]", "endif::[]", "* ", ". ", "1. ", "- ", "t:: ", "NOTE: ", ".T",
                "footnote:[", "((", "))", "(((", "kbd:[", "pass:[", "stem:[", "//", "// c", "\u{feff}", "\r\n", "\u{a0}", ",", "=", "\"", "^",
            ]),
            0..60,
        ),
    ) {
        let text = parts.concat();
        check(&page(&text), &text);
        check(&parse("a.adoc", text.as_bytes()), &text);
        adoc_header(&text);
    }
}
