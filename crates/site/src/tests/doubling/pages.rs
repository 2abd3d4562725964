//! Families of pages, by format.

use super::{Family, nested, repeated};
use crate::sample::{Files, site};

/// A name, and the text of a length.
type Form<T> = (&'static str, fn(usize) -> T);

const MARKDOWN: [&str; 84] = [
    "* ",
    "*a ",
    "**",
    "_a_",
    "__",
    "[",
    "[a]({{ ",
    "[a]({{ b }} ",
    "[a](",
    "![",
    "](",
    "[a](b) ",
    "[a][b] ",
    "[a",
    "`",
    "``a` ",
    "`a` ",
    "<",
    "<a ",
    "<a b=",
    "<a b=\"",
    "<A b={",
    "<A ",
    "</a",
    "<a>",
    "<!--",
    "<!",
    "<?",
    "{",
    "{{",
    "{{ a }}",
    "{%",
    "{% a %}",
    "{{<",
    "{a} ",
    ">",
    "> ",
    "- ",
    "-\n",
    "- a\n",
    "1. a\n",
    "# a\n",
    "###### a\n\nb\n\n",
    "|",
    "| a ",
    "|-|\n",
    "| a |\n|-|\n",
    "~~~\n",
    "```\n",
    "```js\n",
    "```a\nb\n```\n",
    "\\",
    "&amp;",
    "&",
    "http://a.b ",
    "www.a.b ",
    "a@b.c ",
    "[a#]: b\n\n",
    "[^a#]: b\n\n",
    "[^a]",
    "a\n===\n",
    "$$\n",
    "$a$ ",
    ":::note\n",
    "::: a\n",
    "--8<-- \"b.md\"\n",
    "--8<--\n",
    "import A# from './b.mdx'\n",
    "export const a = [",
    "<div>\n",
    "<div>\n\n",
    "</div>\n",
    "%}",
    "{: .a }\n",
    "!!! note\n",
    "    a\n",
    "\t",
    "\r",
    "é",
    "{#a}",
    "<br/>",
    "---\n",
    "\"a' ",
    "/// html\n",
];

const MARKDOWN_PAIRS: [(&str, &str); 17] = [
    ("[", "]"),
    ("[", "](b)"),
    ("![", "](b)"),
    ("(", ")"),
    ("{", "}"),
    ("{[", "]}"),
    ("{`${", "}`}"),
    ("{/[/ + '", "'}"),
    ("<A>", "</A>"),
    ("<A b={", "}/>"),
    ("<div>\n", "</div>\n"),
    ("> ", ""),
    ("- ", ""),
    ("*a ", "*"),
    ("**a ", "**"),
    ("{/*", "*/}"),
    ("<!--", "-->"),
];

/// Pages in Markdown with this ending.
pub(super) fn markdown(ending: &'static str) -> Vec<Family> {
    let page = move |text: String| -> Files {
        let more = [("docs.json", r#"{"navigation": ["a", "b"]}"#), ("b.mdx", "# b\n\nb\n"), ("b.md", "# b\n\nb\n")];
        let more = if ending == "mdx" { &more[..2] } else { &more[2..] };
        let mut files = site(more);
        files.insert(format!("a.{ending}"), text.into_bytes());
        files
    };
    let mut families = Vec::new();
    for unit in MARKDOWN {
        families.push(Family::new(format!("{ending} {unit:?}"), move |length| page(repeated(unit, length))));
    }
    for (open, close) in MARKDOWN_PAIRS {
        let name = format!("{ending} {open:?} … {close:?}");
        families.push(Family::new(name, move |length| page(nested(open, "a", close, length))));
    }
    let more: [Form<String>; 9] = [
        ("backticks, each time one more", |length| rising("`", " ", length)),
        ("tildes, each time one more", |length| rising("~", "\n", length)),
        ("list items, each deeper", |length| rising("  ", "- a\n", length)),
        ("quotes, each deeper", |length| rising(">", " a\n", length)),
        ("long headings above many", |length| {
            let heading = |level: usize| format!("{} {}\n\n", "#".repeat(level), repeated("long ", length / 12));
            (1..6).map(heading).collect::<String>() + &repeated("###### a\n\nb\n\n", length / 2)
        }),
        ("a long destination of many links", |length| {
            format!("[a]: http://e.example/{}\n\n{}", "y".repeat(length / 2), repeated("[a] ", length / 2))
        }),
        ("a wide table", |length| {
            format!("|{}\n|{}\n", repeated(" a |", length / 3), repeated("-|", length / 3))
                + &repeated("| a\n", length / 3)
        }),
        ("front matter of many fields", |length| format!("---\n{}---\n", repeated("a#: b\n", length))),
        ("front matter of nested lists", |length| format!("---\na: {}\n---\n", nested("[", "", "]", length))),
    ];
    for (name, text) in more {
        families.push(Family::new(format!("{ending} {name}"), move |length| page(text(length))));
    }
    families
}

/// A text of about this length whose lines have one more of a unit each.
fn rising(unit: &str, end: &str, length: usize) -> String {
    let mut text = String::new();
    for count in 1.. {
        if text.len() >= length {
            break;
        }
        text.push_str(&unit.repeat(count));
        text.push_str(end);
    }
    text
}

const RST: [&str; 53] = [
    "* ",
    "*",
    "**",
    "`",
    "``",
    "`a` ",
    "``a`` ",
    "|",
    "|a| ",
    "a_ ",
    "`a`_ ",
    "`a <b>`_ ",
    "`a <b>`__ ",
    "__ ",
    ".. a::\n\n",
    ".. _a#: b\n\n",
    ".. _a#:\n\n",
    ".. __: b\n\n",
    ".. |a#| replace:: b\n\n",
    ".. |a| image:: b\n",
    ".. include:: b.rst\n\n",
    ".. literalinclude:: b.rst\n\n",
    ".. note::\n\n   a\n\n",
    ".. toctree::\n\n   b\n\n",
    ".. raw:: html\n\n",
    ".. ",
    "::\n\n",
    ":a: b\n",
    ":a:`b` ",
    ":ref:`b` ",
    ":download:`b` ",
    ":",
    "=\n",
    "a\n=\n\n",
    "=\na\n=\n\n",
    "+-+\n",
    "+--+--+\n|a |b |\n",
    "= =\n",
    "= =\na b\n= =\n\n",
    "[1]_ ",
    ".. [#] a\n\n",
    "   a\n",
    "\\",
    "- a\n",
    "#. a\n",
    "a\n  b\n",
    "| a\n",
    ">>> a\n",
    "<",
    "<http://a.b> ",
    "http://a.b ",
    "javascript",
    "\\\\alpha ",
];

/// Pages in reStructuredText.
pub(super) fn rst() -> Vec<Family> {
    let page = |text: String| -> Files {
        let mut files = site(&[("conf.py", "project = 'x'\n"), ("b.rst", "b\n=\n\nb\n")]);
        files.insert("a.rst".to_owned(), text.into_bytes());
        files
    };
    let mut families: Vec<Family> = Vec::new();
    for unit in RST {
        families.push(Family::new(format!("rst {unit:?}"), move |length| page(repeated(unit, length))));
    }
    let more: [Form<String>; 5] = [
        ("notes, each deeper", |length| rising("  ", ".. note::\n\n", length)),
        ("list items, each deeper", |length| rising("  ", "- a\n\n", length)),
        ("long headings above many", |length| {
            let title = repeated("long ", length / 24);
            let heading = |sign: &str| format!("{title}\n{}\n\n", sign.repeat(title.len()));
            ["=", "-", "~", "^", "+"].map(heading).concat() + &repeated("abc\n***\n\nx\n\n", length / 2)
        }),
        ("a long target of many references", |length| {
            format!(".. _a: http://e.example/{}\n\n{}", "x".repeat(length / 2), repeated("a_ ", length / 2))
        }),
        ("a wide table", |length| {
            let rule = format!("+{}\n", repeated("-+", length / 8));
            let row = format!("|{}\n", repeated("a|", length / 8));
            format!("{rule}{row}{rule}{row}{rule}")
        }),
    ];
    for (name, text) in more {
        families.push(Family::new(format!("rst {name}"), move |length| page(text(length))));
    }
    families
}

const ADOC: [&str; 67] = [
    "*",
    "*a* ",
    "_",
    "`",
    "\"`x`\" `b ",
    "\"`",
    "'`",
    "#",
    "#a# ",
    "^",
    "~",
    "[",
    "[a]",
    "[[a]] ",
    "[[a#]]\n",
    "<<a>> ",
    "<<",
    "link:b[a] ",
    "link:",
    "http://a.b[c] ",
    "http://a.b ",
    "image::b[]\n\n",
    "image:b[] ",
    "include::b.adoc[]\n\n",
    "include::b.adoc[lines=1;2;3]\n\n",
    "include::b.adoc[tag=a]\n\n",
    "== a\n\n",
    "====== a\n\nb\n\n",
    "====\n",
    "----\n",
    "....\n",
    "++++\n",
    "|===\n",
    "|a\n",
    "|a |b\n",
    "a::\n",
    "a:: b\n",
    "* a\n",
    "** a\n",
    "*****\n",
    ". a\n",
    ":a#: b\n",
    ":a: {a}\n",
    "{a} ",
    "{",
    "ifdef::a[]\n",
    "endif::[]\n",
    "ifeval::[1 == 1]\n",
    "xref:b.adoc[a] ",
    "pass:[a] ",
    "pass:[",
    "+++",
    "+++a+++ ",
    "`+a+` ",
    "$$",
    "((a)) ",
    "(((",
    "// a\n",
    "////\n",
    "kbd:[a] ",
    "stem:[a] ",
    "+\n",
    "[source,js]\n",
    "<1> a\n",
    "footnote:[a] ",
    "a +\n",
    "// tag::a[]\n",
];

const ADOC_PAIRS: [(&str, &str); 6] =
    [("[", "]"), ("*a ", "*"), ("`a ", "`"), ("link:b[", "]"), ("footnote:[", "]"), ("{", "}")];

/// Pages in AsciiDoc.
pub(super) fn adoc() -> Vec<Family> {
    let page = |text: String, more: String| -> Files {
        let included = format!("= b\n\n// tag::a[]\nb\n// end::a[]\n{more}");
        [("a.adoc".to_owned(), text.into_bytes()), ("b.adoc".to_owned(), included.into_bytes())].into()
    };
    let mut families: Vec<Family> = Vec::new();
    for unit in ADOC {
        families.push(Family::new(format!("adoc {unit:?}"), move |length| page(repeated(unit, length), String::new())));
    }
    for (open, close) in ADOC_PAIRS {
        let name = format!("adoc {open:?} … {close:?}");
        families.push(Family::new(name, move |length| page(nested(open, "a", close, length), String::new())));
    }
    let more: [Form<(String, String)>; 7] = [
        ("long headings above many", |length| {
            let heading = |level: usize| format!("{} {}\n\n", "=".repeat(level), repeated("long ", length / 10));
            ((2..6).map(heading).collect::<String>() + &repeated("====== a\n\nb\n\n", length / 2), String::new())
        }),
        ("a long attribute in headings", |length| {
            (format!(":a: {}\n\n{}", repeated("b ", length / 2), repeated("== {a}\n\n", length / 2)), String::new())
        }),
        ("a long attribute in links", |length| {
            (format!(":a: {}\n\n{}", "b".repeat(length / 2), repeated("link:{a}[c] ", length / 2)), String::new())
        }),
        ("delimiters, each longer", |length| (rising("=", "\n", length), String::new())),
        ("many includes of lines of a long file", |length| {
            (repeated("include::b.adoc[lines=1;3;5;7]\n\n", length / 2), repeated("x\n", length / 2))
        }),
        ("many includes of a tag of a long file", |length| {
            (repeated("include::b.adoc[tags=a]\n\n", length / 2), repeated("// tag::b[]\nx\n// end::b[]\n", length / 2))
        }),
        ("attributes of attributes", |length| {
            let lines = (1..length / 20).map(|number| format!(":a{number}: {{a{}}}{{a{}}}\n", number - 1, number - 1));
            (format!(":a0: b\n{}\n{{a3}}\n", lines.collect::<String>()), String::new())
        }),
    ];
    for (name, texts) in more {
        families.push(Family::new(format!("adoc {name}"), move |length| {
            let (text, included) = texts(length);
            page(text, included)
        }));
    }
    families
}
