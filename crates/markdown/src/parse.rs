//! Parses the bytes of a file into a page.

use std::borrow::Cow;
use std::ops::Range;

use satteri_pulldown_cmark::{Event, Tag};

use crate::adoc::{self, AdocAttributes};
use crate::anchors::AnchorStyle;
use crate::dialect::indented_marks;
use crate::front_matter;
use crate::heading_path::excess_heading;
use crate::notebook::{NO_NOTEBOOK, Notebook};
use crate::page::{Format, Page};
use crate::page_builder::PageBuilder;
use crate::parse_blocks::{Blocks, blocks};
use crate::parse_lines::{Lines, blank};
use crate::parse_markdown;
use crate::parse_marks;
use crate::parse_mdx::{self, Constructs};
use crate::parse_python;
use crate::parse_templates;
use crate::problem::{MOST_PROBLEMS, Problem};
use crate::rst;
use crate::sections::SourceText;
use crate::text::{bom_length, text_of};

/// Parses one page. Never fails and never panics: what cannot be parsed as intended becomes text plus a problem. `path`
/// is relative to the docs root; its extension decides the format.
pub fn parse(path: &str, bytes: &[u8]) -> Page {
    parse_as(path, bytes, Format::of(path), AnchorStyle::GitHub)
}

/// Parses one page in a format, with anchors by the rules of a generator. reStructuredText always has docutils'
/// anchors, and AsciiDoc has those of a forge unless the style is [`AnchorStyle::Asciidoctor`].
pub fn parse_as(path: &str, bytes: &[u8], format: Format, anchors: AnchorStyle) -> Page {
    match format {
        Format::Rst => return rst::parse(path, bytes),
        Format::Adoc => return adoc::parse(path, bytes, anchors, &AdocAttributes::default()),
        Format::Notebook => return notebook(path, bytes, anchors),
        Format::Markdown | Format::Mdx => {}
    }
    let text = text_of(bytes);
    let lines = Lines::of(&text);
    let mut problems = Vec::from_iter(Problem::of_encoding(bytes));
    let (front_matter, front_matter_problem) = front_matter::read(&text, &lines);
    problems.extend(front_matter_problem);
    let body = front_matter.span.as_ref().map_or(bom_length(&text), |span| span.end);

    let mut unreadable = |message: &str| {
        problems.push(Problem { line: lines.number(body), message: message.to_owned() });
        None
    };
    let read = if parse_marks::has_too_much_punctuation(&text[body..]) {
        unreadable("this is a large page and most of it is no words but marks, so it is read as text")
    } else {
        let (read, found) = as_markdown(&text, body, format, anchors, &lines);
        let read = read.or_else(|| unreadable("the page could not be read as Markdown, so it is read as text"));
        problems.extend(found);
        read
    };
    let Blocks { headings, mut links, ids, sections, prose, code, first_excess_heading } =
        read.unwrap_or_else(|| as_text(&text, body, anchors));
    let in_templates = match format {
        Format::Markdown => parse_templates::blocks(&text, body, &code),
        Format::Mdx | Format::Rst | Format::Adoc | Format::Notebook => Vec::new(),
    };
    if !in_templates.is_empty() {
        links.extend(in_templates);
        links.sort_by_key(|link| (link.span.start, link.dest_span.start));
    }
    problems.extend(first_excess_heading.map(|at| excess_heading(&lines, at)));

    let first_title = headings.iter().find(|heading| heading.level == 1).map(|heading| heading.text.clone());
    let title =
        front_matter.title().map(|title| title.trim().to_owned()).or(first_title).filter(|title| !title.is_empty());
    problems.sort_by_key(|problem| problem.line);
    problems.truncate(MOST_PROBLEMS);
    Page { path: path.to_owned(), format, front_matter, title, headings, links, ids, sections, prose, code, problems }
}

/// Parses a notebook. A file that is not a valid notebook becomes an empty page with a problem.
fn notebook(path: &str, bytes: &[u8], anchors: AnchorStyle) -> Page {
    match Notebook::read(bytes) {
        Some(notebook) => notebook.page(path, bytes, anchors),
        None => {
            let mut page = PageBuilder::of("").finish(path, Format::Notebook, Vec::new());
            page.problems.push(Problem { line: 1, message: NO_NOTEBOOK.to_owned() });
            page
        }
    }
}

/// Parses a page as Markdown and collects its problems; `None` for the blocks if the parser panics.
fn as_markdown(
    text: &str,
    body: usize,
    format: Format,
    anchors: AnchorStyle,
    lines: &Lines<'_>,
) -> (Option<Blocks>, Vec<Problem>) {
    let mut problems = Vec::new();
    let head = 0..body;
    let marks = parse_marks::costly(text);
    if let Some(at) = marks.first() {
        let message = "there are so many marks of emphasis or of footnotes before this that some are read as text";
        problems.push(Problem { line: lines.number(*at), message: message.to_owned() });
    }
    let constructs = match format {
        Format::Markdown | Format::Rst | Format::Adoc | Format::Notebook => Constructs::default(),
        Format::Mdx => mdx_constructs(text, head.clone(), &marks, lines),
    };
    let parsed = match format {
        Format::Markdown | Format::Rst | Format::Adoc | Format::Notebook => {
            let text = blanked(text, head, &marks, &indented_marks(text, body));
            parse_templates::masked(if anchors.is_python_markdown() {
                parse_python::rewritten(text, body)
            } else {
                text
            })
        }
        Format::Mdx => {
            let ranges: Vec<_> = std::iter::once(head).chain(constructs.blanked.iter().cloned()).collect();
            parse_mdx::masked(text, &ranges, &marks).into()
        }
    };
    problems.extend(constructs.problems);
    let source = SourceText {
        text,
        parsed: &parsed,
        body,
        tags: &constructs.tags,
        literals: &constructs.literals,
        blanked: &constructs.blanked,
    };
    let read =
        parse_markdown::read(&parsed, format, |definitions, events| blocks(source, definitions, events, anchors));
    (read, problems)
}

/// Reads the body as one text, without any markup.
fn as_text(text: &str, body: usize, anchors: AnchorStyle) -> Blocks {
    let source = SourceText { text, parsed: text, body, tags: &[], literals: &[], blanked: &[] };
    let words = (Event::Text(text[body..].into()), body..text.len());
    blocks(source, Vec::new(), &mut std::iter::once(words), anchors)
}

/// The first pass over an MDX page: finds its code, then the constructs outside of code.
pub(crate) fn mdx_constructs(text: &str, head: Range<usize>, marks: &[usize], lines: &Lines<'_>) -> Constructs {
    let body = head.end;
    if !has_code(&text[body..]) {
        return parse_mdx::constructs(text, body, &[head], lines);
    }
    let masked = parse_mdx::masked(text, std::slice::from_ref(&head), marks);
    let found = parse_markdown::read(&masked, Format::Mdx, |_, events| {
        let code = events.filter(|(event, _)| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))));
        code.map(|(_, range)| range).collect::<Vec<_>>()
    });
    let mut code: Vec<Range<usize>> = std::iter::once(head).chain(found.unwrap_or_default()).collect();
    code.sort_by_key(|range| range.start);
    parse_mdx::constructs(text, body, &code, lines)
}

/// Whether an MDX page can contain code (indented code does not exist in MDX). A page without code is parsed only once,
/// and most pages that are crafted to be slow have none.
fn has_code(text: &str) -> bool {
    text.contains('`') || text.contains("~~~")
}

/// `text` with `head` blanked (line breaks kept), the bytes at `marks` masked, and the three-byte markers at `markers`
/// replaced by list bullets: content indented below a bullet belongs to its list item and is not code.
fn blanked<'t>(text: &'t str, head: Range<usize>, marks: &[usize], markers: &[usize]) -> Cow<'t, str> {
    if head.is_empty() && marks.is_empty() && markers.is_empty() {
        return text.into();
    }
    let mut bytes = text.as_bytes().to_vec();
    for mark in marks {
        bytes[*mark] = parse_mdx::MASK_BYTE;
    }
    for marker in markers {
        let after = &text[marker + 3..];
        // The content of a list item begins in the column of its first word, which must not exceed the indentation of
        // the lines below.
        let third = if after.starts_with(' ') && !after.starts_with("  ") { b' ' } else { parse_mdx::MASK_BYTE };
        bytes[*marker..marker + 3].copy_from_slice(&[b'-', b' ', third]);
    }
    blank(&mut bytes[head]);
    // Only ASCII was written, over ASCII and over whole characters, so the text is still UTF-8.
    String::from_utf8(bytes).map_or(text.into(), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::LinkKind;

    const MDX: &str = r#"---
title: Retries
---
import { Card } from "x"
export const a = {

  b: 1 }

# Retry *policies* {#policies}

Intro with <Tooltip tip="a hint">words</Tooltip> and {a.b} `code <T>`.

<Steps>
  <Step title="Install" href="/install">
    Run the [tool](/tool#run "T"):

    ```ts title="a.ts"
    if (x < 1) { y() }
    ```

    ## Inside

    - one
    - ![alt words](img/a.png) and [two][ref]
  </Step>
</Steps>

| Name | What |
|---|---|
| `x` | the <b>first</b> |

## Inside

AT&amp;T \< 5

[ref]: ../other.md#x "Title"
"#;

    #[test]
    fn a_link_without_words_and_address_is_none() {
        let page = parse("a.md", b"[](){#id} [words]() [](b.md) [![i](i.png)]()\n");
        let links: Vec<&str> = page.links.iter().map(|link| link.target.as_str()).collect();
        assert_eq!(links, ["", "b.md", "", "i.png"]);
    }

    #[test]
    fn an_mdx_page_is_read_whole() {
        let page = parse("guides/retries.mdx", MDX.as_bytes());
        assert_eq!(page.problems, []);
        assert_eq!(page.title.as_deref(), Some("Retries"));
        let headings: Vec<_> = page
            .headings
            .iter()
            .map(|heading| (heading.level, heading.text.as_str(), heading.anchor.as_str()))
            .collect();
        assert_eq!(headings, [(1, "Retry policies", "policies"), (2, "Inside", "inside"), (2, "Inside", "inside-1")]);

        let links: Vec<_> =
            page.links.iter().map(|link| (link.target.as_str(), &MDX[link.dest_span.clone()])).collect();
        assert_eq!(
            links,
            [
                ("/install", "/install"),
                ("/tool#run", "/tool#run"),
                ("img/a.png", "img/a.png"),
                ("../other.md#x", "../other.md#x")
            ]
        );
        assert_eq!(page.links[0].kind, LinkKind::Attribute { element: "Step".into(), attribute: "href".into() });
        assert_eq!(page.links[2].text, "alt words");
        assert_eq!(page.links[3].kind, LinkKind::Reference);
        assert_eq!(page.ids, ["install"]);

        let [intro, inside, last] = page.sections.as_slice() else { panic!("{:#?}", page.sections) };
        assert_eq!(intro.text, "Intro with a hint words and code <T>.\n\nInstall\n\nRun the tool:");
        assert_eq!(intro.code[0].text, "if (x < 1) { y() }\n");
        assert_eq!(intro.code[0].file.as_deref(), Some("a.ts"));
        assert_eq!(
            intro.markdown,
            "Intro with words and `code <T>`.\n\n**Install**\n\nRun the [tool](/tool#run \"T\"):\n\n\
             ```ts title=\"a.ts\"\nif (x < 1) { y() }\n```"
        );
        assert_eq!(inside.headings, ["Retry policies", "Inside"].map(std::sync::Arc::from));
        assert_eq!(inside.text, "- one\n- alt words and two\n\nName | What\nx | the first");
        assert_eq!(last.text, "AT&T < 5");
        assert_eq!(last.anchor.as_deref(), Some("inside-1"));
    }

    #[test]
    fn hugo_counts_spaces_and_code_and_the_first_words_of_marks() {
        for (heading, typographic, plain) in [
            ("A b\u{a0}c", "a-bc", "a-bc"),
            ("a  b -- c", "a--b--c", "a--b----c"),
            ("Use `--x  y` --z ---", "use---x--y-z-", "use---x--y---z----"),
            ("rwx------ x---- y", "rwx-x--y", "rwx-------x-----y"),
            ("One **it's -- bold** here", "one-it-here", "one-its----bold-here"),
            ("Six **bold \"quoted\" word** and", "six-bold--and", "six-bold-quoted-word-and"),
            ("The [`code` and *em*](a.md) x", "the-code-x", "the-code-x"),
            ("[*it* x](y) a_b & c {.wide}", "it-a_b--c", "it-a_b--c"),
            ("**a \\* b &amp; c_d** e", "a--b--c_-e", "a--b--c_-e"),
        ] {
            for (typographer, expected) in [(true, typographic), (false, plain)] {
                let style = AnchorStyle::Hugo { ascii: false, typographer };
                let page = parse_as("a.md", format!("# {heading}\n").as_bytes(), Format::Markdown, style);
                assert_eq!(page.headings[0].anchor, expected, "{heading}");
            }
        }
    }

    #[test]
    fn spaces_that_break_no_line_are_left_out_of_anchors() {
        let page = parse_as("a.md", "## A b\u{a0}c\n".as_bytes(), Format::Markdown, AnchorStyle::GithubSlugger);
        assert_eq!((page.headings[0].text.as_str(), page.headings[0].anchor.as_str()), ("A b c", "a-bc"));
    }

    #[test]
    fn of_two_definitions_python_takes_the_last() {
        let text = "[a] [b][A] ![c]\n\n[a]: one.md\n[c]: c.png\n\n    [a]: code.md\n\n!!! note\n\n    [A]:\n      <two.md> 't'\n\n```\n[a]: three.md\n```\n";
        let targets = |anchors| {
            let page = parse_as("a.md", text.as_bytes(), Format::Markdown, anchors);
            for link in &page.links {
                assert_eq!(link.target, text[link.dest_span.clone()]);
            }
            page.links.into_iter().map(|link| link.target).collect::<Vec<_>>()
        };
        assert_eq!(targets(AnchorStyle::GitHub), ["one.md", "one.md", "c.png"]);
        assert_eq!(targets(AnchorStyle::Pymdown), ["two.md", "two.md", "c.png"]);
    }

    #[test]
    fn links_may_end_in_any_letter() {
        let text = "[設定](a.md), [é](<b c.md> \"t\") and ![図](d.png)\n\n- [コメント][x]\n\n[x]: e.md\n";
        let page = parse("a.md", text.as_bytes());
        let links: Vec<_> = page.links.iter().map(|link| (link.text.as_str(), &text[link.dest_span.clone()])).collect();
        assert_eq!(links, [("設定", "a.md"), ("é", "b c.md"), ("図", "d.png"), ("コメント", "e.md")]);
    }

    #[test]
    fn a_large_page_of_marks_is_text() {
        for name in ["a.md", "a.mdx"] {
            let text = format!("---\ntitle: Marks\n---\n\nneedle\n{}", "[a](".repeat(200_000));
            let page = parse(name, text.as_bytes());
            assert_eq!(page.title.as_deref(), Some("Marks"));
            let [section] = page.sections.as_slice() else { panic!("{} sections", page.sections.len()) };
            assert!(section.text.contains("needle") && section.text.contains("[a]("));
            let [problem] = page.problems.as_slice() else { panic!("{:?}", page.problems) };
            assert_eq!((problem.line, problem.message.contains("read as text")), (4, true));
        }
    }

    #[test]
    fn a_markdown_page_keeps_its_html() {
        let text = "# Title\n\n<div align=center>\n<a href=\"x.md\"><img src='l.png' alt=\"Logo\"></a>\nWords &amp; more\n</div>\n\n\
                    See <a id=\"here\"></a> {braces} <https://x.y> and <!-- no -->.\n\n    indented code\n";
        let page = parse("README.md", text.as_bytes());
        assert_eq!(page.problems, []);
        assert_eq!(page.title.as_deref(), Some("Title"));
        let links: Vec<_> = page.links.iter().map(|link| &text[link.dest_span.clone()]).collect();
        assert_eq!(links, ["x.md", "l.png", "https://x.y"]);
        assert_eq!(page.ids, ["here"]);
        let section = &page.sections[0];
        assert_eq!(section.text, "Logo Words & more\n\nSee {braces} https://x.y and .");
        assert_eq!(section.code[0].text, "indented code\n");
        assert!(!section.markdown.contains("<!--"));
    }

    #[test]
    fn a_section_is_read_without_the_definitions_of_its_page() {
        let text = "# A\n\nSee [one], [the `two`][b] and ![three][].\n\n```md\n[one]\n```\n\n[one]: a.md#x \"Title\"\n\n## B\n\n\
                    [Four][ONE] and [none].\n\n[b]: b(c).md\n[three]: /d.png\n[one]: again.md\n";
        for (file, component) in [("a.md", ""), ("a.mdx", "\n<Card title=\"T\">\n\n[one]\n\n</Card>\n")] {
            let page = parse(file, format!("{text}{component}").as_bytes());
            let read: Vec<&str> = page.sections.iter().map(|section| section.markdown.as_str()).collect();
            let first = "See [one](a.md#x), [the `two`](<b(c).md>) and ![three](/d.png).\n\n```md\n[one]\n```";
            let second = "[Four](a.md#x) and [none].";
            assert_eq!(read[0], first, "{file}");
            match component {
                "" => assert_eq!(read[1], second),
                _ => assert_eq!(read[1], format!("{second}\n\n**T**\n\n[one](a.md#x)")),
            }
            let definitions = page.links.iter().map(|link| &text[link.dest_span.clone()]);
            assert_eq!(definitions.take(4).collect::<Vec<_>>(), ["a.md#x", "b(c).md", "/d.png", "a.md#x"], "{file}");
        }
    }

    #[test]
    fn indented_code_is_read_in_fences() {
        for (text, expected) in [
            ("Run:\n\n    a <b>\n\n        c\n\nThen.", "Run:\n\n```\na <b>\n\n    c\n```\n\nThen."),
            ("- x\n\n      a```\n\n  y", "- x\n\n  ~~~\n  a```\n  ~~~\n\n  y"),
            ("1. x\n\n   ```\n       a\n   ```", "1. x\n\n   ```\n       a\n   ```"),
            (">     a", ">     a"),
            ("-     a", "-     a"),
        ] {
            let page = parse("a.md", format!("# T\n\n{text}\n").as_bytes());
            assert_eq!(page.sections[0].markdown, expected, "{text}");
        }
    }

    #[test]
    fn indented_blocks_of_dialect_marks_are_read() {
        let text = "!!! note \"Mind *this*\"\n\n    Words of the note.\n\n    ```sh\n    run\n\n    again\n    ```\n\n        code\n\n\
                    ??? tip\n    !!! danger\n        Inner [words](x.md).\n\n=== \"Tab\"\n\n    In the tab.\n\n\
                    !!! note\n\nAfter.\n\n    still code\n\n```\n!!! note\n    a\n```\n";
        let page = parse("a.md", text.as_bytes());
        let prose: Vec<&str> = page.prose.iter().map(|range| &text[range.clone()]).collect();
        for words in ["Words of the note.", "Inner ", "words", "In the tab.", "!!! note", "After."] {
            assert!(prose.contains(&words), "{words}: {prose:?}");
        }
        let code: Vec<&str> = page.sections[0].code.iter().map(|code| code.text.as_str()).collect();
        assert_eq!(code, ["run\n\nagain\n", "code\n", "still code\n", "!!! note\n    a\n"]);
        assert_eq!(page.links[0].target, "x.md");
    }

    #[test]
    fn prose_is_what_a_reader_reads() {
        let text = "# The *head*\n\nOne [link](dest) `code` <b>two</b> {x}\n\n```\nno\n```\n";
        for (path, expected) in [
            ("a.md", vec!["The ", "head", "One ", "link", " ", " ", "two", " {x}"]),
            ("a.mdx", vec!["The ", "head", "One ", "link", " ", " ", "two"]),
        ] {
            let page = parse(path, text.as_bytes());
            let prose: Vec<&str> = page.prose.iter().map(|range| &text[range.clone()]).collect();
            assert_eq!(prose, expected, "{path}");
            assert_eq!(
                page.code.iter().map(|range| &text[range.clone()]).collect::<Vec<_>>(),
                ["`code`", "```\nno\n```"]
            );
        }
    }

    #[test]
    fn broken_pages_are_text_plus_problems() {
        let page = parse("a.mdx", b"text {unclosed\n\n<Card>\n\nmore \xff bytes");
        assert_eq!(page.problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [1, 1, 3]);
        assert!(page.sections[0].text.contains("text {unclosed") && page.sections[0].text.contains("more ? bytes"));
    }

    #[test]
    fn hostile_pages_are_read() {
        let units = [
            "{", "{(", "{<a>", "<a b={", "<a ", "{`${", "<a>{", "export const a = (\n\n", "import a\n \n", "[", "> ",
            "- ", "a_", "*a", "![[](", "`", "<!--", "</a>", "<a>", "{\"", "'", "](<", "|a", "# a\n", "[a]: b\n",
            "\\\"", "&#", "www._", "<div>\n",
        ];
        for unit in units {
            let text = unit.repeat(40_000 / unit.len());
            for path in ["a.md", "a.mdx"] {
                check(&parse(path, text.as_bytes()), text.len(), &text);
            }
        }
    }

    fn check(page: &Page, length: usize, text: &str) {
        let spans = page
            .headings
            .iter()
            .map(|heading| &heading.span)
            .chain(page.links.iter().flat_map(|link| [&link.span, &link.dest_span]))
            .chain(page.sections.iter().map(|section| &section.markdown_span))
            .chain(&page.prose)
            .chain(&page.code)
            .chain(&page.front_matter.span)
            .chain(&page.front_matter.body);
        for span in spans {
            assert!(span.start <= span.end && span.end <= length, "{span:?}");
            assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{span:?}");
        }
        assert!(page.prose.is_sorted_by(|a, b| a.end <= b.start), "{:?}", page.prose);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_a_page(bytes in proptest::collection::vec(any::<u8>(), 0..400), mdx: bool) {
            let text = text_of(&bytes);
            prop_assert_eq!(text.len(), bytes.len());
            check(&parse(if mdx { "a.mdx" } else { "a.md" }, &bytes), bytes.len(), &text);
        }

        #[test]
        fn any_markup_is_a_page(
            parts in proptest::collection::vec(
                prop::sample::select(vec![
                    "---\n", "title: x\n", "# h", "\n", "\n\n", "  ", "    ", "- ", "> ", "1. ", "```", "`", "{", "}", "<A", "<b>", "</b>", "/>", ">",
                    " title=\"", "\"", "'", "href=", "[a]", "(b)", "](", ")", "![", "[r]: x", "|", "|-|", "é", "漢", "\\", "&amp;", "&",
                    "import a from 'b'", "export const a = ", "{#id}", "<!--", "-->", "*", "**", "_", "~~", "<https://a.b>", "[^1]", "[^1]: ",
                    "\r\n", "\t", "\u{feff}", "\u{1a}", "word", "<script>", "</script>", "===", "{/*", "*/}", "${", "<", ">", "[ ] ", "\0",
                    "!!! note\n", "??? a\n", "=== \"a\"\n",
                ]),
                0..60,
            ),
            mdx: bool,
        ) {
            let text = parts.concat();
            check(&parse(if mdx { "a.mdx" } else { "a.md" }, text.as_bytes()), text.len(), &text);
        }
    }
}
