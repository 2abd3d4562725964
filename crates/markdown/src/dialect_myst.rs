//! Directives, roles, labels and comments of MyST, the Markdown of Sphinx, as plain Markdown.

use std::borrow::Cow;

use crate::dialect_marks::usual_title;
use crate::regex;
use crate::words::has_word;

/// Directives whose argument is a title.
const TITLED: &str = "admonition dropdown card grid-item-card tab-item topic sidebar rubric";
/// Directives around others, whose argument is not displayed.
const LAYOUT: &str = "grid grid-item tab-set";
/// Directives whose content is code in the language of the argument.
const CODE: &str = "code code-block code-cell sourcecode";
/// Roles whose content is not a text with a target.
const VERBATIM: &str = "code literal math samp kbd command file sub sup";
/// Directives that only a build gives content.
const EMPTY: &str = "toctree contents";

regex!(DIRECTIVE, r"^([ \t]*)(`{3,}|~{3,}|:{3,})[ \t]*\{([A-Za-z][\w:.+-]*)\}[ \t]*(.*?)[ \t]*$");
regex!(OPTION, r"^[ \t]*:[\w-]+:(?:[ \t]|$)");
// Or a code span of several backticks, in which nothing is a role.
regex!(ROLE, r"``[^`\n].*?``|(^|[^`])\{([A-Za-z][\w:.+-]*)\}`([^`\n]+)`");
regex!(LABEL, r"^ {0,3}(?:\([^()\n]+\)=|%(?:[ \t].*)?|\+\+\+(?:[ \t].*)?)[ \t]*$");

/// Reads the lines of a page.
#[derive(Debug, Default)]
pub(crate) struct Myst {
    /// The fences of open directives whose content is Markdown, and whether it is dropped, the innermost last.
    open: Vec<(String, bool)>,
    is_in_options: bool,
}

/// What a line becomes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MystLine<'l> {
    Text(Cow<'l, str>),
    /// The title of a directive, after an indentation, and the words behind it.
    Title(&'l str, String, &'l str),
    /// The fence that begins a block of code.
    Code(String),
    Nothing,
}

impl Myst {
    /// A line outside of fenced code.
    pub(crate) fn line<'l>(&mut self, line: &'l str) -> MystLine<'l> {
        let words = line.trim_end_matches(['\n', '\r']);
        self.is_in_options &= OPTION.is_match(words);
        let closes = |(fence, _): &(String, bool)| {
            let rest = words.trim().strip_prefix(fence.as_str());
            rest.is_some_and(|rest| rest.chars().all(|c| fence.starts_with(c)))
        };
        if self.open.last().is_some_and(closes) {
            self.open.pop();
            return MystLine::Nothing;
        }
        if self.is_in_options || self.open.last().is_some_and(|(_, is_dropped)| *is_dropped) {
            return MystLine::Nothing;
        }
        let directive = DIRECTIVE.captures(words).map(|found| found.extract().1);
        // A backtick behind backticks makes them a code span.
        let directive = directive.filter(|[_, fence, _, argument]| !(fence.starts_with('`') && argument.contains('`')));
        if let Some([indent, fence, kind, argument]) = directive {
            let usual = usual_title(kind);
            let is_empty = has_word(EMPTY, kind);
            let is_layout = has_word(LAYOUT, kind);
            self.is_in_options = true;
            if is_empty || is_layout || !usual.is_empty() || has_word(TITLED, kind) {
                self.open.push((fence.to_owned(), is_empty));
                return match (is_empty || is_layout, usual.is_empty()) {
                    (true, _) => MystLine::Nothing,
                    (false, true) => MystLine::Title(indent, argument.to_owned(), ""),
                    (false, false) => MystLine::Title(indent, usual, argument),
                };
            }
            if has_word(CODE, kind) && !fence.starts_with(':') {
                return MystLine::Code(format!("{indent}{fence}{argument}\n"));
            }
            self.is_in_options = false;
        }
        if LABEL.is_match(words) {
            return MystLine::Nothing;
        }
        // Of a heading with a role, only a build knows the anchor.
        MystLine::Text(match line.contains("}`") && !words.trim_start().starts_with('#') {
            true => ROLE.replace_all(line, role),
            false => line.into(),
        })
    }

    /// Whether a line of code is an option of the directive that began it.
    pub(crate) fn is_option(&mut self, line: &str) -> bool {
        self.is_in_options &= OPTION.is_match(line);
        self.is_in_options
    }
}

/// The text of a role, or its target as code.
fn role(found: &regex::Captures<'_>) -> String {
    let [Some(before), Some(name), Some(content)] = [1, 2, 3].map(|at| found.get(at).map(|group| group.as_str()))
    else {
        return found[0].to_owned();
    };
    if has_word(VERBATIM, name) {
        return format!("{before}`{content}`");
    }
    match content.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((text, _)) if !text.trim().is_empty() => format!("{before}{}", text.trim()),
        _ => format!("{before}`{}`", content.trim_start_matches(['~', '!'])),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{ActiveTokens, AttributeLists, translate};

    fn plain(text: &str) -> String {
        let tokens = ActiveTokens { directives: true, ..ActiveTokens::default() };
        translate(text, 0, AttributeLists::Disabled, tokens, |line| line)
            .map_or_else(|| text.to_owned(), |composed| composed.text)
    }

    #[test]
    fn directives_become_their_titles_and_contents() {
        for (text, expected) in [
            ("```{note}\n:class: x\n\nWords.\n```\nb\n", "\n**Note**\n\n\n\nWords.\n\nb\n"),
            ("```{tip} Words\nmore.\n```\n", "\n**Tip**\n\nWords\nmore.\n\n"),
            (
                "````{admonition} A *b*\n```{code-block} python\n:caption: x\n:y: z\nprint(1)\n```\n````\n",
                "\n**A *b***\n\n```python\nprint(1)\n```\n\n",
            ),
            (":::{warning}\n:class: x\nWords.\n:::\n", "\n**Warning**\n\n\nWords.\n\n"),
            ("```{toctree}\n:maxdepth: 1\na\n```\nb\n", "\n\n\n\nb\n"),
            ("(a-b)=\n% Words.\n+++\n## H\n", "\n\n\n## H\n"),
            ("See {ref}`the b <c>`, {doc}`d` and {py:class}`~e.F`.\n", "See the b, `d` and `e.F`.\n"),
            ("## {ref}`a`\n", "## {ref}`a`\n"),
            ("    % a\n    (a)=\n    +++\n   % b\n", "    % a\n    (a)=\n    +++\n\n"),
            ("::::{grid} 1 2 2 3\n:gutter: 1\n\n:::{grid-item-card} T\na\n:::\n::::\n", "\n\n\n\n**T**\n\na\n\n\n"),
            ("A {code}`Vec<u8>`, {math}`a<b>` and {kbd}`!a`.\n", "A `Vec<u8>`, `a<b>` and `!a`.\n"),
            ("`` a {ref}`a` `` {ref}`b <c>` ``d`` {doc}`e <f>`\n", "`` a {ref}`a` `` b ``d`` e\n"),
            ("- a\n\n  ```{note} Words\n  b\n  ```\n", "- a\n\n\n  **Note**\n\n  Words\n  b\n\n"),
            ("```{note} a```\n% b\n", "```{note} a```\n\n"),
            ("```{math}\na\n```\n", "```{math}\na\n```\n"),
            ("```md\n{ref}`a`\n(b)=\n```\n", "```md\n{ref}`a`\n(b)=\n```\n"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(parts in proptest::collection::vec(prop::sample::select(vec![
            "```", "````", ":::", "~~~", "{note}", "{code}", "{toctree}", "{a}", " ", ":a:", "\n", "`", "<", ">", "(a)=", "%", "+++", "\u{e9}",
        ]), 0..40)) {
            plain(&parts.concat());
        }
    }
}
