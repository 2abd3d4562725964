//! Translates the Markdown of generators into plain Markdown.
//!
//! Admonitions (`:::note`, `!!! note`), tabs (`=== "T"`, `== T`) and the like are not part of Markdown: a parser would
//! take their markers for text, and indented content for code. Here each marker becomes its title in bold, and its
//! content is dedented, so that all later steps read Markdown.

use std::borrow::Cow;

use crate::active_tokens::ActiveTokens;
use crate::dialect_marks as marks;
use crate::dialect_myst::{Myst, MystLine};
use crate::dialect_templates::TemplateTags;
use crate::lines_from::{Composed, Fence, FenceLine};
use crate::parse_lines::{columns, has_three, lines_after};
use crate::regex;
use crate::words::capitalised;

/// Maximum nesting depth of markers with indented content.
const DEEPEST: usize = 32;

regex!(CONTAINER_TAB, r"^([ \t]*)(?:==|@tab(?::active)?)[ \t]+([^=\n].*)$");
regex!(CONTENTS, r"^[ \t]*(?:\[\[_?[Tt][Oo][Cc]_?\]\]|\[TOC\])[ \t]*$");
regex!(ICON, r":(?:material|octicons|fontawesome|simple)-[a-z0-9-]+:");
// With the extensions of kramdown (`{::options …}`), which are not displayed either, and its comments on one line.
regex!(
    ATTRIBUTE_LIST,
    r#"\{::comment\}[^{}\n]*\{:/(?:comment)?\}|\{(?::[ \t]*[.#]?|[ \t]*[.#])[A-Za-z][^{}\n]*\}|\{::(?:options|nomarkdown)[^{}\n]*\}|\{:/[^{}\n]*\}"#
);
// Of a block of docfx on one line.
regex!(DISPLAYED_ATTRIBUTE, r#"[ \t](?:alt-)?text="([^"]+)""#);
regex!(TITLE_ATTRIBUTE, r#"title=(?:"([^"]*)"|'([^']*)')"#);

// A text without any of these is plain Markdown already. One pattern looks for all of them.
regex!(
    MARKERS,
    r#":::|!!! |\?\?\?\+? |=== "|===[!+] |\[\[(?:toc|TOC)\]\]|\[TOC\]|:(?:material|octicons|fontawesome|simple)-"#
);

/// Translates a text into plain Markdown; `None` if nothing needs to change. `origin` maps a line of the text to its
/// line of the page; nothing before the byte `body` is changed. Of `tokens`, blocks of Python Markdown and
/// directives count, and templates that are expanded before Markdown is read, as those are that are expanded in code.
pub fn translate(
    text: &str,
    body: usize,
    attribute_lists: AttributeLists,
    tokens: ActiveTokens,
    origin: impl Fn(usize) -> usize,
) -> Option<Composed> {
    let has_attribute_lists = attribute_lists == AttributeLists::Enabled && ATTRIBUTE_LIST.is_match(text);
    let has_blocks = tokens.python_blocks && text.contains("///");
    let has_directives = tokens.directives && text.contains(['{', ')', '%', '+']);
    let has_tags = tokens.templates_in_code && TemplateTags::are_in(text, tokens.templates);
    (has_attribute_lists || has_blocks || has_directives || has_tags || MARKERS.is_match(text)).then_some(())?;
    let mut translator = Translator {
        out: Composed::default(),
        fence: Fence::default(),
        open: Vec::new(),
        containers: 0,
        attribute_lists,
        has_python_blocks: tokens.python_blocks,
        myst: has_directives.then(Myst::default),
        blocks: Vec::new(),
        options: None,
        tags: has_tags.then(|| TemplateTags::new(tokens.templates, text, body)),
    };
    let mut after_tag = body;
    for (number, (at, line)) in (1..).zip(lines_after(text, 0)) {
        let origin = origin(number);
        let tag = translator.tags.as_ref().filter(|_| at >= after_tag && !translator.fence.is_open());
        match tag.and_then(|tags| tags.on_lines(&text[at..])) {
            _ if at < body => translator.out.push(line, origin),
            _ if at < after_tag => {}
            Some(lines) => {
                after_tag = at + lines.len();
                translator.line(&lines.trim_end().replace('\n', " "), number, origin);
            }
            None => translator.line(line, number, origin),
        }
    }
    Some(translator.out)
}

/// The byte offsets of markers (`!!!`, `???`, `===`) with content indented below them, in order; none in code.
pub(crate) fn indented_marks(text: &str, body: usize) -> Vec<usize> {
    if !has_three(text, |byte| matches!(byte, b'!' | b'?' | b'=')) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut fence = Fence::default();
    // The last marker and its indentation, until the next non-blank line shows whether it has content.
    let mut last: Option<(usize, usize)> = None;
    for (start, line) in lines_after(text, body) {
        if line.trim().is_empty() {
            continue;
        }
        let column = columns(line, 4);
        found.extend(last.take().filter(|(_, outer)| column >= outer + 4).map(|(sign, _)| sign));
        let words = line.trim_end_matches(['\n', '\r']);
        let sign = words.len() - words.trim_start_matches([' ', '\t']).len();
        let may_be = words[sign..].starts_with(['!', '?', '=']);
        if fence.line(line) == FenceLine::Outside && may_be && is_indented_mark(words) {
            last = Some((start + sign, column));
        }
    }
    found
}

fn is_indented_mark(line: &str) -> bool {
    marks::indented(line).is_some() || marks::tab(line).is_some()
}

/// Whether `{ .class }` in a text is an attribute list, which is not displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeLists {
    Enabled,
    Disabled,
}

struct Translator {
    out: Composed,
    fence: Fence,
    /// The columns at which the content of the open markers begins, outermost first.
    open: Vec<usize>,
    /// The number of open `:::` containers.
    containers: usize,
    attribute_lists: AttributeLists,
    has_python_blocks: bool,
    /// The slashes and the column of the open blocks (`///`), outermost first.
    blocks: Vec<(usize, usize)>,
    /// After the first line of a block (`///`, `::: module`) and in its options: the least column of its options so far.
    options: Option<usize>,
    myst: Option<Myst>,
    tags: Option<TemplateTags>,
}

impl Translator {
    /// Takes the line `number` of the text.
    fn line(&mut self, line: &str, number: usize, origin: usize) {
        let is_blank = line.trim().is_empty();
        if !is_blank {
            let column = columns(line, 4);
            while self.open.last().is_some_and(|inside| column < *inside) {
                self.open.pop();
                self.fence.close();
            }
        }
        let line = without_columns(line, 4 * self.open.len());
        if let Some(tags) = self.tags.as_mut().filter(|tags| tags.is_verbatim()) {
            return self.out.push(&tags.line(&line, number), origin);
        }
        self.options = self.options.filter(|_| !is_blank).and_then(|least| marks::option(&line, least));
        if self.options.is_some() {
            return;
        }
        let is_in_fence = self.fence.is_open();
        let line = match self.myst.as_mut().filter(|_| !is_in_fence).map(|myst| myst.line(&line)) {
            None => line,
            Some(MystLine::Text(text)) => Cow::Owned(text.into_owned()),
            Some(MystLine::Title(indent, title, words)) => {
                self.title(indent, &title, origin);
                let (indent, end) = if words.is_empty() { ("", "") } else { (indent, "\n") };
                return self.out.push(&format!("{indent}{words}{end}"), origin);
            }
            Some(MystLine::Code(fence)) => Cow::Owned(fence),
            Some(MystLine::Nothing) => return self.out.push("\n", origin),
        };
        if self.fence.line(&line) == FenceLine::Inside {
            if is_in_fence && self.myst.as_mut().is_some_and(|myst| myst.is_option(&line)) {
                return;
            }
            return self.out.push(&line, origin);
        }
        let words = line.trim_end_matches(['\n', '\r']);
        if let Some((indent, inside)) = marks::on_one_line(words).filter(|_| !self.is_code_of_python(words)) {
            let text = DISPLAYED_ATTRIBUTE.captures(inside).map(|found| format!("{indent}{}\n", &found[1]));
            return self.out.push(text.as_deref().unwrap_or("\n"), origin);
        }
        if let Some((indent, title)) = self.mark(words) {
            return self.title(indent, &title, origin);
        }
        if words.contains('[') && CONTENTS.is_match(words) {
            return self.out.push("\n", origin);
        }
        let line = match &mut self.tags {
            // Of a heading with a tag, only a build knows the anchor.
            Some(tags) if !line.trim_start().starts_with('#') => tags.line(&line, number),
            _ => line,
        };
        let line = self.without_icons_and_attribute_lists(&line);
        self.out.push(&line, origin);
    }

    /// The indentation and the title of a marker line; the title may be empty.
    fn mark<'l>(&mut self, line: &'l str) -> Option<(&'l str, Cow<'l, str>)> {
        let start = line.trim_start_matches([' ', '\t', '>']);
        match start.as_bytes().first()? {
            b'!' | b'?' => {
                let mark = marks::indented(line)?;
                self.opens(mark.indent)?;
                Some((mark.indent, mark.title.map_or_else(|| capitalised(mark.kind).into(), Cow::from)))
            }
            b'=' => match marks::tab(line) {
                Some((indent, title)) => {
                    self.opens(indent)?;
                    Some((indent, title.into()))
                }
                None => self.tab_of_container(line),
            },
            b'@' => self.tab_of_container(line),
            b'/' if self.has_python_blocks => {
                let (indent, kind, title) = marks::block(line)?;
                let slashes = start.len() - start.trim_start_matches('/').len();
                let column = columns(indent, 4);
                if kind.is_empty() {
                    let ends = |(open, outer): &(usize, usize)| *open == slashes && column < outer + 4;
                    self.blocks.truncate(self.blocks.iter().rposition(ends)?);
                    return Some((indent, "".into()));
                }
                // What is indented further is code.
                let outer = self.blocks.last().map_or(0, |(_, outer)| *outer);
                (column < outer + 4 && self.blocks.len() < DEEPEST).then_some(())?;
                self.blocks.push((slashes, column));
                self.options = Some(usize::MAX);
                Some((indent, title.map_or_else(|| marks::usual_title(kind).into(), Cow::from)))
            }
            b':' if self.is_code_of_python(line) => None,
            b':' => {
                if marks::ends_container(line) {
                    self.containers = self.containers.saturating_sub(1);
                    return Some(("", "".into()));
                }
                if let Some((indent, name)) = marks::documented(line).filter(|_| self.has_python_blocks) {
                    self.options = Some(usize::MAX);
                    return Some((indent, format!("`{name}`").into()));
                }
                let mark = marks::container(line)?;
                self.containers += 1;
                let attribute = mark.attributes.and_then(|attributes| TITLE_ATTRIBUTE.captures(attributes));
                let given = attribute.and_then(|value| value.get(1).or(value.get(2)).map(|value| value.as_str()));
                let given = given.unwrap_or_else(|| mark.label.unwrap_or(mark.title).trim());
                let title = match given.is_empty() {
                    true => marks::usual_title(mark.kind).into(),
                    false => given.into(),
                };
                Some((mark.indent, title))
            }
            _ => None,
        }
    }

    /// Whether colons are indented as code is. Elsewhere a list may hold containers, which MkDocs lacks.
    fn is_code_of_python(&self, line: &str) -> bool {
        self.has_python_blocks && columns(line, 4) >= 4
    }

    fn tab_of_container<'l>(&self, line: &'l str) -> Option<(&'l str, Cow<'l, str>)> {
        (self.containers > 0).then_some(())?;
        let (_, [indent, title]) = CONTAINER_TAB.captures(line)?.extract();
        Some((indent, title.into()))
    }

    /// Opens a marker with indented content; `None` if [`DEEPEST`] are open.
    fn opens(&mut self, indent: &str) -> Option<()> {
        (self.open.len() < DEEPEST).then_some(())?;
        let column = columns(indent, 4) + 4 * self.open.len();
        self.open.push(column + 4);
        Some(())
    }

    fn title(&mut self, indent: &str, title: &str, origin: usize) {
        let title = if title.contains(':') { ICON.replace_all(title, "") } else { title.into() };
        let title = title.trim();
        self.out.push("\n", origin);
        if title.is_empty() {
            return;
        }
        self.out.push(indent, origin);
        self.out.push("**", origin);
        title.split("**").for_each(|piece| self.out.push(piece, origin));
        self.out.push("**\n\n", origin);
    }

    fn without_icons_and_attribute_lists<'l>(&self, line: &'l str) -> Cow<'l, str> {
        let mut line: Cow<'l, str> = line.into();
        if line.contains(':') && ICON.is_match(&line) {
            line = outside_code(&line, |text| ICON.replace_all(text, "")).into();
        }
        // What a container of Pandoc has in braces stays, as its colons do.
        let may_have_list = line.contains('{') && !line.trim_start().starts_with(":::");
        if self.attribute_lists == AttributeLists::Enabled && may_have_list {
            let is_heading = line.trim_start().starts_with('#');
            line = outside_code(&line, |text| {
                ATTRIBUTE_LIST.replace_all(text, |found: &regex::Captures<'_>| {
                    // A comment whose beginning is on another line stays with both its marks.
                    match (is_heading && found[0].contains('#')) || found[0].starts_with("{:/comment") {
                        true => found[0].to_owned(),
                        false => String::new(),
                    }
                })
            })
            .into();
        }
        line
    }
}

/// Applies `change` to the parts of a line outside of code spans.
fn outside_code(line: &str, change: impl Fn(&str) -> Cow<'_, str>) -> String {
    let mut out = String::with_capacity(line.len());
    // Every other piece between backticks is code. If the number of backticks is odd, the last piece counts as code.
    let pieces: Vec<&str> = line.split('`').collect();
    for (ix, piece) in pieces.iter().enumerate() {
        if ix > 0 {
            out.push('`');
        }
        match ix % 2 == 0 {
            true => out.push_str(&change(piece)),
            false => out.push_str(piece),
        }
    }
    out
}

/// A line dedented by `columns`, or by as much as it is indented.
fn without_columns(line: &str, columns: usize) -> Cow<'_, str> {
    if columns == 0 {
        return line.into();
    }
    let mut column = 0;
    for (at, byte) in line.bytes().enumerate() {
        if column >= columns {
            // A tab may have advanced further than `columns`.
            return if column == columns {
                line[at..].into()
            } else {
                format!("{}{}", " ".repeat(column - columns), &line[at..]).into()
            };
        }
        match byte {
            b' ' => column += 1,
            b'\t' => column += 4 - column % 4,
            _ => return line[at..].into(),
        }
    }
    "\n".into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str) -> String {
        with(ActiveTokens::default(), text)
    }

    fn with(tokens: ActiveTokens, text: &str) -> String {
        translate(text, 0, AttributeLists::Enabled, tokens, |line| line)
            .map_or_else(|| text.to_owned(), |composed| composed.text)
    }

    #[test]
    fn marks_become_titles_and_their_insides_come_out() {
        for (text, expected) in [
            ("a\n:::note\nb\n:::\nc\n", "a\n\n**Note**\n\nb\n\nc\n"),
            (":::tip[My *title*]\nb\n:::\n", "\n**My *title***\n\nb\n\n"),
            ("::: details Click me\nb\n:::\n", "\n**Click me**\n\nb\n\n"),
            (":::caution{title=\"T\"}\nb\n:::\n", "\n**T**\n\nb\n\n"),
            ("::: code-group\n```js [a.js]\n:::\n```\n:::\n", "\n```js [a.js]\n:::\n```\n\n"),
            (":::tabs\n== One\na\n== Two\nb\n:::\n", "\n\n**One**\n\na\n\n**Two**\n\nb\n\n"),
            ("!!! note \"T\"\n\n    a\n\n        code\n\nb\n", "\n**T**\n\n\na\n\n    code\n\nb\n"),
            (
                "??? warning\n    a\n    !!! tip inline end\n        b\n    c\nd\n",
                "\n**Warning**\n\na\n\n**Tip**\n\nb\nc\nd\n",
            ),
            (
                "=== \"C\"\n\n    ``` c\n    x\n    ```\n\n=== \"D\"\n\n    y\n",
                "\n**C**\n\n\n``` c\nx\n```\n\n\n**D**\n\n\ny\n",
            ),
            ("1.  one\n\n    !!! note\n        a\n\n    b\n", "1.  one\n\n\n    **Note**\n\n    a\n\n    b\n"),
            (
                "[Get it](x){ .md-button } :material-check: `:material-x: { .a }`\n",
                "[Get it](x)  `:material-x: { .a }`\n",
            ),
            ("![a](b){:class=\"t\" width=\"1\"} {: target='_blank'}{:toc} {: 5}", "![a](b)  {: 5}"),
            ("## T { #id .x }\n\n[TOC]\n", "## T { #id .x }\n\n\n"),
            ("```\n!!! note\n    :::\n```\n", "```\n!!! note\n    :::\n```\n"),
            ("a == b\n== c\n::: \n", "a == b\n== c\n\n"),
            (":::row:::\na\n:::image src=\"b\":::\n:::row-end:::\n", "\na\n\n\n"),
            ("> :::image type=\"content\" source=\"b.png\" alt-text=\"What it shows\":::\n", "> What it shows\n"),
            ("::: {.note title=\"x\"} :::\na\n", "::: {.note title=\"x\"} :::\na\n"),
            ("a {::comment}TODO{:/comment} b\n{::comment}\nc\n{:/comment}\n", "a  b\n{::comment}\nc\n{:/comment}\n"),
            ("{::options a=\"b\" /}\n{::nomarkdown}a{:/}\n", "\na\n"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn blocks_of_python_become_their_titles_and_contents() {
        for (text, expected) in [
            (
                "/// note | T\n    open: true\n    attrs: {class: x}\n\na\n\n//// tab | B\nb\n////\n///\nc\n",
                "\n**T**\n\n\na\n\n\n**B**\n\nb\n\n\nc\n",
            ),
            ("::: a.b.C\n    options:\n        x: 1\n\nd\n", "\n**`a.b.C`**\n\n\nd\n"),
            ("/// warning\na\n///\n/// html | div.x\nb\n///\n", "\n**Warning**\n\na\n\n\nb\n\n"),
            (
                "    /// Summary\n    pub struct A {\n        x: u8,\n    }\n    ///\n    /// note\n    b\n",
                "    /// Summary\n    pub struct A {\n        x: u8,\n    }\n    ///\n    /// note\n    b\n",
            ),
            ("/// Summary\n    a: b\n///\n", "/// Summary\n    a: b\n///\n"),
            ("/// note\n    let a;\n    ///\n////\n///\n///\n", "\n**Note**\n\n    let a;\n    ///\n////\n\n///\n"),
            ("/// tip\n    a:\n        - b\n    c\n///\n", "\n**Tip**\n\n    c\n\n"),
            ("    ::: a.b\n    c\n", "    ::: a.b\n    c\n"),
            ("::: a.b\n    c d\n", "\n**`a.b`**\n\n    c d\n"),
            ("see /// a\n/// Some words.\n```\n/// note\n```\n", "see /// a\n/// Some words.\n```\n/// note\n```\n"),
        ] {
            let tokens = ActiveTokens { python_blocks: true, ..ActiveTokens::default() };
            assert_eq!(with(tokens, text), expected, "{text}");
        }
    }

    #[test]
    fn lines_keep_their_numbers_and_the_front_matter_its_words() {
        let text = "---\nt: \":::note\"\n---\n:::note\n{a\n:::\n";
        let body = text.find(":::note\n{").expect("a mark");
        let composed =
            translate(text, body, AttributeLists::Disabled, ActiveTokens::default(), |line| line).expect("a change");
        assert!(composed.text.starts_with("---\nt: \":::note\"\n---\n\n**Note**\n\n{a\n"));
        let line = composed.text.lines().position(|line| line == "{a").expect("the line") + 1;
        assert_eq!(composed.origin(line), 5);
    }

    proptest! {
        #[test]
        fn any_text_is_translated(parts in proptest::collection::vec(prop::sample::select(vec![
            ":::", ":::note", "[", "]", "{", "}", "!!! ", "??? ", "note", " \"", "\"", "\n", "    ", "\t", "=== \"a\"", "== b", "```", "`", "\u{e9}", "{ .x }", ":material-a:", "# ", "[TOC]", ">",
        ]), 0..40)) {
            plain(&parts.concat());
        }
    }
}
