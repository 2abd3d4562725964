use proptest::prelude::*;

use super::*;
use crate::processor_time::processor_time;

fn page(text: &str) -> Page {
    parse("a.rst", text.as_bytes())
}

#[test]
fn titles_are_told_by_what_they_are_underlined_with() {
    let read = page(
        "=======\n Title\n=======\n\nWords\nof two lines\n------------\n\nFirst\n=====\n\nThe ``code`` of *it*\n~~~~~~~~~~~~~~~~~~~~\n\n\
         Second\n======\n\n----\n\n  Indented\n  ========\n\n1. Third\n========\n\nFirst\n=====\n",
    );
    let headings: Vec<_> =
        read.headings.iter().map(|heading| (heading.level, heading.text.as_str(), heading.anchor.as_str())).collect();
    assert_eq!(
        headings,
        [
            (1, "Title", "title"),
            (2, "First", "first"),
            (3, "The code of it", "the-code-of-it"),
            (2, "Second", "second"),
            (2, "1. Third", "third"),
            (2, "First", "id1"),
        ]
    );
    assert_eq!(read.title.as_deref(), Some("Title"));
    assert_eq!(read.sections[2].headings, ["Title", "First", "The code of it"].map(std::sync::Arc::from));
}

#[test]
fn links_stand_where_they_say() {
    let text = "Title\n=====\n\nA `site <https://a.b/>`_, `other`_, name_, `x <y.html>`__, one__ and `a\nb`_; https://c.d/e.\n\
                :doc:`guide` and :doc:`the\nguide </a/guide>`, :ref:`label`, Title_ and :func:`f`. foo_bar, ``no_``.\n\n\
                .. _other: https://o/\n.. _name: sub/page.html\n.. _a b: name_\n.. __: /anon\n.. _here:\n\n\
                .. image:: img/a.png\n   :alt: An image\n   :target: t.html\n\n.. |s| image:: s.png\n\n\
                .. toctree::\n   :maxdepth: 2\n\n   one\n   Two <sub/two>\n   self\n   all/*\n\n.. include:: part.txt\n";
    let read = page(text);
    let links: Vec<_> = read.links.iter().map(|link| (link.target.as_str(), &text[link.dest_span.clone()])).collect();
    assert_eq!(
        links,
        [
            ("https://a.b/", "https://a.b/"),
            ("https://o/", "https://o/"),
            ("sub/page.html", "sub/page.html"),
            ("y.html", "y.html"),
            ("/anon", "/anon"),
            ("sub/page.html", "sub/page.html"),
            ("https://c.d/e", "https://c.d/e"),
            (":doc:`guide`", ":doc:`guide`"),
            (":doc:`the\nguide </a/guide>`", ":doc:`the\nguide </a/guide>`"),
            (":ref:`label`", ":ref:`label`"),
            ("#title", "Title_"),
            ("img/a.png", "img/a.png"),
            ("t.html", "t.html"),
            ("s.png", "s.png"),
            ("one", "one"),
            ("sub/two", "sub/two"),
            ("part.txt", "part.txt"),
        ]
    );
    assert_eq!(read.ids, ["here"]);
    let words =
        "A site, other, name, x, one and a b; https://c.d/e. guide and the guide, label, Title and f. foo_bar, no_.";
    assert_eq!(read.sections[0].text, words);
}

#[test]
fn code_and_comments_are_no_words() {
    let text = "Title\n=====\n\nRun::\n\n    `code <x>`_\n\n      more\n\nWords.\n\n.. code-block:: python\n   :linenos:\n\n   `b <y>`_\n\n\
                .. a comment `c <z>`_\n   goes on\n\n- an item::\n\n      item_\n\n  its end\n\n.. note:: Mind\n   this.\n\n   And that.\n\n\
                >>> doctest_\n1\n\n..\n\n   A quotation.\n";
    let read = page(text);
    assert_eq!(read.links, []);
    let section = &read.sections[0];
    assert_eq!(section.text, "Run:\n\nWords.\n\nan item:\n\nits end\n\nMind\n\nthis.\n\nAnd that.\n\nA quotation.");
    let code: Vec<_> = section.code.iter().map(|code| (code.language.as_deref(), code.text.as_str())).collect();
    assert_eq!(
        code,
        [
            (None, "`code <x>`_\n\n  more"),
            (Some("python"), "`b <y>`_"),
            (None, "item_"),
            (Some("python"), ">>> doctest_\n1")
        ]
    );
}

#[test]
fn code_and_emphasis_are_those_of_markdown_for_readers() {
    let text = "T\n=\n\nUse ``a  b`` or :func:`~x.run`, **never** *this\none* or :ref:`that <it>` ``a`b``.\n\n.. versionadded:: 2.3 It ``runs``.\n\n\
                ==  ==\n``c``  d\n==  ==\n";
    let page = page(text);
    let section = &page.sections[0];
    assert_eq!(section.text, "Use a b or run, never this one or that a`b.\n\n2.3 It runs.\n\nc d");
    let expected = "Use `a b` or `run`, **never** *this one* or that a`b.\n\nAdded in version 2.3: It `runs`.\n\n`c` d";
    assert_eq!(section.markdown, expected);
}

#[test]
fn ids_are_counted_as_docutils_does() {
    let read = page(
        "Flask\n=====\n\nSee [1]_ and `Setup <https://a/>`_.\n\nSetup\n-----\n\n.. _own name:\n\nOther\n-----\n\nOther\n-----\n\n.. [1] A note.\n",
    );
    let anchors: Vec<_> = read.headings.iter().map(|heading| heading.anchor.as_str()).collect();
    assert_eq!(anchors, ["flask", "id2", "other", "id3"]);
    assert_eq!(read.ids, ["own-name", "id4"]);
}

#[test]
fn tables_are_words() {
    let read = page(
        "+-----+-----+\n| A_  | b   |\n+=====+=====+\n| c   | d   |\n+-----+-----+\n\n=====  =====\nHead   Two\n=====  =====\nx      `y <z>`_\n=====  =====\n\nEnd\n",
    );
    assert_eq!(read.headings, []);
    assert_eq!(read.sections[0].text, "A | b\n\nc | d\n\nHead Two\n\nx y\n\nEnd");
    assert_eq!(read.links.len(), 1);
}

#[test]
fn labels_are_read_without_the_page() {
    let text = ".. _One: \n.. _`two: x`:\n.. _url: https://a\n.. __: x\n   .. _inside:\n.. _Three  four:\n";
    assert_eq!(rst_labels(text).collect::<Vec<_>>(), ["one", "two: x", "three four"]);
}

#[test]
fn slow_inputs_are_parsed_in_linear_time() {
    let units = [
        "`", "``", "`a ", "``a ", "*a ", "|a ", "[a ", "_`a ", "a_ ", "a_a", ":a:`", ".. a\n", "   .. x::\n", "- ",
        "- - - a\n", "::\n\n", ".. |a| x::\n", "a\n=\n", "====\n", ".. _a:\n", "+-+\n| ", "`a <b>", "https://", ":a",
        "\\", "a::\n\n a\n", ".. toctree::\n\n   a\n", " .. code::\n\n",
    ];
    for unit in units {
        let text = unit.repeat(60_000 / unit.len());
        let took = processor_time(|| check(&page(&text), &text));
        assert!(took.as_secs() < 5, "{unit:?} took {took:?}");
    }
}

fn check(page: &Page, text: &str) {
    let spans = page.headings.iter().map(|heading| &heading.span);
    let links = page.links.iter().flat_map(|link| [&link.span, &link.dest_span]);
    let sections = page.sections.iter().map(|section| &section.markdown_span);
    for span in spans.chain(links).chain(sections).chain(&page.prose).chain(&page.code) {
        assert!(text.get(span.clone()).is_some(), "{span:?}");
    }
    assert!(page.prose.is_sorted_by(|a, b| a.end <= b.start), "{:?}", page.prose);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_page(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&parse("a.rst", &bytes), &text_of(&bytes));
    }

    #[test]
    fn any_markup_is_a_page(
        parts in proptest::collection::vec(
            prop::sample::select(vec![
                "\n", "\n\n", " ", "  ", "   ", "\t", "word", "é", "漢字", "=", "====", "----", "`", "``", "`_", "`__", "_", "__", "_`", "*", "**",
                "|", "[1]_", "[#a]", ".. ", ".. _", ".. __: ", "__ ", ":", "::", ":: ", ".. note::", ".. code::", ".. image:: ", ".. toctree::\n\n   ",
                ".. figure:: ", ":doc:`", ":ref:", "<a>", "<", ">", ":alt: ", "- ", "1. ", "#. ", "(a) ", ":a: ", ">>> ", "+--+", "| a |", "=== ==",
                "\\", "https://a.b", "\u{feff}", "\r\n", "\u{a0}", ".. |a| image:: b", ".. [1] ", "..", "a_", "name", "•", "\u{2003}",
            ]),
            0..50,
        ),
    ) {
        let text = parts.concat();
        check(&page(&text), &text);
    }
}
