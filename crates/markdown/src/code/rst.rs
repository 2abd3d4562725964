//! What of reStructuredText is code: directives that run programs, read files of the machine, or write HTML.
//!
//! Extensions add directives and roles that nobody can list, so those that surely do nothing of the kind are listed, and all
//! others are code. They are looked for wherever they may stand, in code that is only shown, too.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Found, runs_script};
use crate::page::Page;
use crate::parse_lines::line_end;

/// Directives that lay out words, number or name something.
const DIRECTIVES: [&str; 73] = [
    "admonition",
    "attention",
    "attribute",
    "card",
    "caution",
    "centered",
    "class",
    "code",
    "code-block",
    "compound",
    "confval",
    "constant",
    "container",
    "contents",
    "currentmodule",
    "danger",
    "data",
    "decorator",
    "deprecated",
    "describe",
    "dropdown",
    "enum",
    "envvar",
    "epigraph",
    "error",
    "event",
    "exception",
    "figure",
    "footer",
    "function",
    "glossary",
    "grid",
    "grid-item",
    "grid-item-card",
    "header",
    "highlight",
    "highlights",
    "hint",
    "hlist",
    "image",
    "important",
    "index",
    "list-table",
    "macro",
    "math",
    "member",
    "method",
    "module",
    "note",
    "object",
    "only",
    "option",
    "parsed-literal",
    "productionlist",
    "program",
    "property",
    "pull-quote",
    "replace",
    "rst-class",
    "rubric",
    "sectnum",
    "seealso",
    "sidebar",
    "sourcecode",
    "struct",
    "tab",
    "tab-item",
    "tab-set",
    "table",
    "tip",
    "toctree",
    "topic",
    "warning",
];

/// The same of versions and of what is to be done.
const OTHERS: [&str; 7] = ["csv-table", "tabs", "todo", "type", "versionadded", "versionchanged", "versionremoved"];

/// Roles that mark words or name something.
const ROLES: [&str; 40] = [
    "abbr",
    "any",
    "attr",
    "class",
    "code",
    "command",
    "confval",
    "const",
    "data",
    "dfn",
    "doc",
    "download",
    "emphasis",
    "envvar",
    "exc",
    "file",
    "func",
    "guilabel",
    "kbd",
    "keyword",
    "literal",
    "mailheader",
    "makevar",
    "manpage",
    "math",
    "menuselection",
    "meth",
    "mimetype",
    "mod",
    "numref",
    "obj",
    "option",
    "pep",
    "program",
    "ref",
    "rfc",
    "samp",
    "strong",
    "term",
    "token",
];

/// Languages whose objects are described.
const DOMAINS: [&str; 6] = ["py", "c", "cpp", "js", "rst", "std"];

static DIRECTIVE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\.\.[ \t]+(?:\|[^|\n]*\|[ \t]+)?([\w.+:-]*[\w.+-])[ \t]?::([^\n]*)")
        .expect("the pattern is written out above")
});
static ROLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r":([A-Za-z0-9][\w.+:-]*):`|`:([A-Za-z0-9][\w.+:-]*):").expect("the pattern is written out above")
});
static FROM_ELSEWHERE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^[ \t]*:(?:file|url):").expect("the pattern is written out above"));

impl Found<'_> {
    pub(super) fn rst(&mut self, page: &Page) {
        for link in page.links.iter().filter(|link| runs_script(&link.target)) {
            self.add("link", link.span.clone());
        }
        let mut at = 0;
        while let Some(found) = DIRECTIVE.captures_at(self.text, at) {
            let whole = found.get_match().range();
            let (name, argument) = (found[1].to_ascii_lowercase(), found[2].trim().to_owned());
            let block = whole.start..self.block_end(whole.end);
            let is_code = match plain_name(&name) {
                "include" | "literalinclude" => !self.may_include(&argument),
                "csv-table" => FROM_ELSEWHERE.is_match(&self.text[block.clone()]),
                name => !DIRECTIVES.contains(&name) && !OTHERS.contains(&name),
            };
            // What stands in a block of code is a part of it.
            at = if is_code { block.end } else { whole.end };
            if is_code {
                self.add("directive", block);
            }
        }
        let roles: Vec<(String, Range<usize>)> = ROLE
            .captures_iter(self.text)
            .filter_map(|found| {
                Some((found.get(1).or(found.get(2))?.as_str().to_ascii_lowercase(), found.get_match().range()))
            })
            .collect();
        for (role, span) in roles.into_iter().filter(|(role, _)| !ROLES.contains(&plain_name(role))) {
            // Another use of one that there is: it is the site's own.
            self.add_as(span, format!("role {role}"));
        }
    }

    /// Where the lines end that are indented, or blank between such.
    fn block_end(&self, line: usize) -> usize {
        let mut end = line;
        let mut at = line_end(self.text, line);
        while at < self.text.len() {
            let next = line_end(self.text, at);
            let line = &self.text[at..next];
            if !line.trim().is_empty() {
                if !line.starts_with([' ', '\t']) {
                    break;
                }
                end = at + line.trim_end().len();
            }
            at = next;
        }
        end
    }
}

/// A name without the language of which it names an object.
fn plain_name(name: &str) -> &str {
    match name.split_once(':') {
        Some((domain, rest)) if DOMAINS.contains(&domain) => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use crate::code::{CodeReading, code_of};

    fn kinds(text: &str) -> Vec<String> {
        code_of(CodeReading::Rst, "guide/a.rst", text.as_bytes()).into_iter().map(|code| code.shown).collect()
    }

    #[test]
    fn what_only_lays_out_words_is_no_code() {
        let text = "A\n=\n\n.. note:: x\n\n.. code-block:: c\n\n   x\n\n.. py:function:: f()\n\n.. image:: a.png\n\n:doc:`x` :py:func:`f` \
                    `x <https://a/>`_\n\n.. include:: ../part.rst\n\n.. csv-table:: T\n\n   a, b\n\n.. |v| replace:: 1\n";
        assert_eq!(kinds(text), [""; 0]);
    }

    #[test]
    fn all_others_are_with_what_stands_in_them() {
        for (text, shown) in [
            (".. raw:: html\n\n   <script>\n\nWords", ".. raw:: html <script>"),
            ("- .. exec:: x\n\n   y\n", ".. exec:: x y"),
            (".. include:: ../../../etc/passwd\n", ".. include:: ../../../etc/passwd"),
            (".. literalinclude:: .env\n", ".. literalinclude:: .env"),
            (".. csv-table::\n   :url: https://a/\n", ".. csv-table:: :url: https://a/"),
            (".. role:: html(raw)\n   :format: html\n", ".. role:: html(raw) :format: html"),
            ("a :own:`x` b", ":own:`"),
            ("`a <javascript:x()>`_", "`a <javascript:x()>`_"),
            ("::\n\n   .. raw:: html\n", ".. raw:: html"),
        ] {
            assert_eq!(kinds(text), [shown], "{text}");
        }
    }
}
