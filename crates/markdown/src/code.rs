//! Finds the code of a page: what the build of its site or the browser of a reader runs.
//!
//! MDX is a program: its statements and expressions run when the site is built. Markdown may contain HTML, and most
//! generators expand templates in it. Such pieces are listed here, so that those of two versions of a page can be
//! compared. A page that cannot be scanned to its end is one piece itself.

mod literal;
mod markup;
mod rst;
mod statements;

use std::ops::Range;

use crate::anchors::AnchorStyle;
use crate::front_matter;
use crate::notebook::{Notebook, origin};
use crate::page::Format;
use crate::page::Page;
use crate::parse::mdx_constructs;
use crate::parse::parse_as;
use crate::parse_lines::Lines;
use crate::parse_lines::each_line;
use crate::parse_marks;
use crate::parse_tags::Dialect;
use crate::parse_tags::Tag;
use crate::regex;
use crate::site_paths::folder;
use crate::site_paths::joined;
use crate::text::text_of;

pub use markup::runs_script;

/// A piece of code on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The byte range of the piece.
    pub(crate) span: Range<usize>,
    /// The line on which the piece begins, counted from 1.
    pub line: usize,
    /// The beginning of the piece, verbatim but on one line.
    pub shown: String,
    /// Equal for two pieces with the same effect: whitespace does not matter, nor does the relative path of an imported
    /// module as long as it is the same module.
    pub key: String,
}

/// Which parts of a page count as code, by the generator that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeRules {
    /// Statements, expressions, tags.
    Mdx,
    /// Tags and templates.
    Markdown {
        /// Whether templates are also expanded in displayed code.
        templates_in_code: bool,
    },
    /// Directives and roles.
    Rst,
    /// Directives and roles of a text that pages include, whole or in part. Its paths are relative to an unknown
    /// folder.
    RstPart,
    /// Code is not searched for in this format, so the whole page counts as code.
    Unanalyzed,
    /// Everything but the text of Markdown cells, and in that text, tags and templates.
    Notebook,
    /// The generator is unknown: tags, templates, and what can hardly be anything but MDX code.
    Unknown,
}

/// Extensions of files that browsers parse as markup.
const MARKUP: [&str; 4] = ["svg", "html", "htm", "xml"];

/// Most characters of [`Code::shown`].
const MAX_SHOWN_CHARS: usize = 80;

/// The code of a page, or of an image or page in XML or HTML, in no particular order. `file` is relative to the docs
/// root.
pub fn code_of(rules: CodeRules, file: &str, bytes: &[u8]) -> Vec<Code> {
    if rules == CodeRules::RstPart {
        return rst::code_of(rst::SourceKind::Part, bytes);
    }
    let text = text_of(bytes);
    let mut found = Found { text: &text, lines: Lines::of(&text), file, code: Vec::new() };
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    if MARKUP.iter().any(|markup| ending.eq_ignore_ascii_case(markup)) {
        markup::tags(&text, 0, &[]).into_iter().for_each(|span| found.add("tag", span));
        DECLARATION.find_iter(&text).for_each(|span| found.add("declaration", span.range()));
        return found.code;
    }
    if rules == CodeRules::Unanalyzed {
        found.add("unread", 0..text.len());
        return found.code;
    }
    if rules == CodeRules::Rst {
        return rst::code_of(rst::SourceKind::Page(file), bytes);
    }
    if rules == CodeRules::Notebook {
        return found.notebook(bytes);
    }
    let body = front_matter::end(&text);
    let format = if rules == CodeRules::Mdx { Format::Mdx } else { Format::Markdown };
    let page = parse_as(file, bytes, format, AnchorStyle::GitHub);
    found.front_matter(&page, body);
    found.includes(body);
    for link in page.links.iter().filter(|link| runs_script(&link.target)) {
        found.add("link", link.span.clone());
    }
    found.executed_blocks(&page);
    match rules {
        CodeRules::Mdx => found.mdx(body),
        CodeRules::Rst | CodeRules::RstPart | CodeRules::Unanalyzed | CodeRules::Notebook => {}
        CodeRules::Markdown { .. } | CodeRules::Unknown => {
            let templates_in_code = rules == CodeRules::Markdown { templates_in_code: true };
            found.templates(body, if templates_in_code { &[] } else { &page.code });
            markup::tags(&text, body, &page.code).into_iter().for_each(|span| found.add("tag", span));
            if rules == CodeRules::Unknown {
                found.likely_mdx(body, &page.code);
            }
        }
    }
    found.code
}

/// The ranges of the statements, expressions and tags on an MDX page that are code.
pub fn code_spans(file: &str, text: &str) -> Vec<Range<usize>> {
    let mut found = Found { text, lines: Lines::of(text), file, code: Vec::new() };
    found.mdx(front_matter::end(text));
    found.code.into_iter().map(|code| code.span).collect()
}

struct Found<'t> {
    text: &'t str,
    lines: Lines<'t>,
    file: &'t str,
    code: Vec<Code>,
}

// Front matter in a programming language, and front matter that adds elements to the head of the page.
regex!(FRONT_MATTER_LANGUAGE, r"\A\u{feff}?---[ \t]*([A-Za-z]+)");
regex!(HEAD_FIELD, r#"(?m)^["']?head["']?[ \t]*:.*\n?(?:(?:[ \t].*|-[ \t].*)?\n)*"#);
// XML declarations that load other content (DTD, entities) or set a stylesheet.
regex!(DECLARATION, r"(?i)<!(?:DOCTYPE[^>]*\[|ENTITY)[^>]*|<\?xml-stylesheet[^>]*");
// A line that includes another file in the page: `<<< file`, `--8<-- "file"`, `<!--@include: file-->`.
regex!(INCLUDE, r#"(?m)^[ \t>]*<<<[ \t]*(\S+)|-{1,}8<-{1,}[ \t]+["']([^"'\n]+)|@include:[ \t]*([^\s>]+)"#);
// Fenced code that notebooks and plug-ins execute: `{python}`, `{code-cell}`, `exec="on"`.
regex!(
    EXECUTED,
    r"(?i)\A[ \t>]*(?:`{3,}|~{3,})[^\n]*?(?:\{[ \t]*(?:code-cell|eval-rst|jupyter-execute|exec|raw|include|literalinclude|python|r|julia|bash|sh|node|js|ojs|sql)\b|\bexec[ \t]*=|[ \t]live\b)"
);
regex!(TEMPLATE, r"(?s)\{\{.{0,4000}?\}\}|\{%.{0,4000}?%\}");
regex!(SHORTCODE, r"\A\{(?:\{[<%]|%)-?\s*(/?[\w.-]+)");

impl Found<'_> {
    fn add(&mut self, kind: &str, span: Range<usize>) {
        let written = &self.text[span.clone()];
        let key = format!("{kind} {}", tidied(written));
        self.add_as(span, key);
    }

    fn add_as(&mut self, span: Range<usize>, key: String) {
        let shown: String = on_one_line(&self.text[span.clone()]).chars().take(MAX_SHOWN_CHARS).collect();
        self.code.push(Code { line: self.lines.number(span.start), span, shown, key });
    }

    /// Everything but the text of Markdown cells is one piece: code, outputs and metadata.
    fn notebook(mut self, bytes: &[u8]) -> Vec<Code> {
        let Some(notebook) = Notebook::read(bytes) else {
            self.add("notebook", 0..self.text.len());
            return self.code;
        };
        let rest = notebook.without_words(self.text);
        self.add_as(0..self.text.len(), format!("notebook {}", tidied(&rest)));
        let rules = CodeRules::Markdown { templates_in_code: true };
        let lines = notebook.lines(self.text);
        for code in code_of(rules, "cells.md", notebook.text.as_bytes()) {
            self.code.push(Code { line: origin(&lines, code.line), ..code });
        }
        self.code
    }

    fn front_matter(&mut self, page: &Page, body: usize) {
        let language = FRONT_MATTER_LANGUAGE.captures(self.text).and_then(|found| found.get(1));
        if language.is_some_and(|name| !["yaml", "yml", "toml", "json"].contains(&name.as_str())) {
            self.add("front matter", 0..self.text.len());
        }
        match HEAD_FIELD.find(&self.text[..body]) {
            Some(head) => self.add("front matter", head.range()),
            None if page.front_matter.fields.iter().any(|field| field.name == "head") => {
                self.add("front matter", 0..body);
            }
            None => {}
        }
    }

    /// Reports includes of files outside the docs: a page must not show other files of the build machine.
    fn includes(&mut self, body: usize) {
        let text = self.text;
        for found in INCLUDE.captures_iter(&text[body..]) {
            let named = found.get(1).or(found.get(2)).or(found.get(3)).map_or("", |path| path.as_str());
            let named = named.strip_prefix("@/").unwrap_or(named);
            if named.starts_with('/') || !self.may_include(named) {
                let whole = found.get_match();
                self.add("include", body + whole.start()..body + whole.end());
            }
        }
        // Two `--8<--` lines may also enclose a list of files.
        let mut is_list = false;
        let mut at = body;
        for line in each_line(&text[body..]) {
            let named = line.trim();
            if named.len() >= 3 && named.contains("8<") && named.chars().all(|c| matches!(c, '-' | '8' | '<')) {
                is_list = !is_list;
            } else if is_list && (named.starts_with(['/', '~', '.']) || named.contains("..") || named.contains("://")) {
                self.add("include", at..at + line.trim_end().len());
            }
            at += line.len();
        }
    }

    /// Whether a path looks like one inside the docs.
    fn may_include(&self, named: &str) -> bool {
        let is_inside = [folder(self.file), ""].iter().any(|base| joined(base, named).is_some());
        let is_hidden = named.split('/').any(|part| part.starts_with('.') && !matches!(part, "." | ".."));
        let is_url = named.contains(':') && named.contains("//");
        is_inside && !is_hidden && !is_url && !named.starts_with('~')
    }

    fn executed_blocks(&mut self, page: &Page) {
        for block in page.code.iter().filter(|block| EXECUTED.is_match(&self.text[(*block).clone()])) {
            self.add("executed", block.clone());
        }
    }

    fn mdx(&mut self, body: usize) {
        let (text, marks) = (self.text, parse_marks::costly(self.text));
        let constructs = mdx_constructs(text, 0..body, &marks, &self.lines);
        if constructs.is_incomplete {
            return self.add("unread", 0..text.len());
        }
        for span in &constructs.blanked {
            match text.as_bytes()[span.start] {
                b'{' => self.expression(span.clone()),
                b'i' | b'e' => self.statements(span.clone()),
                _ => {}
            }
        }
        for span in statements::unparsed_statements(text, body, &constructs) {
            self.statements(span);
        }
        for tag in &constructs.tags {
            self.tag(tag);
        }
    }

    fn tag(&mut self, tag: &Tag) {
        for span in &tag.expressions {
            self.expression(span.clone());
        }
        if markup::is_code(self.text, tag, Dialect::Jsx) {
            self.add("tag", tag.span.clone());
        }
    }

    fn expression(&mut self, span: Range<usize>) {
        let inside = &self.text[span.start + 1..span.end - 1];
        let is_anchor = inside.strip_prefix('#').is_some_and(|id| {
            !id.is_empty() && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
        });
        if !is_anchor && !literal::is_literal(inside) {
            self.add("expression", span);
        }
    }

    fn statements(&mut self, span: Range<usize>) {
        for span in statements::split(self.text, span) {
            let statement = &self.text[span.clone()];
            match statements::imported(statement, self.file) {
                Some(imported) => {
                    imported.into_iter().for_each(|import| self.add_as(span.clone(), format!("import {import}")));
                }
                None if statements::exports_a_literal(statement) => {}
                None => self.add("statement", span),
            }
        }
    }

    fn templates(&mut self, body: usize, code: &[Range<usize>]) {
        for found in TEMPLATE.find_iter(&self.text[body..]) {
            let span = body + found.start()..body + found.end();
            if code.iter().any(|code| code.start <= span.start && span.start < code.end) {
                continue;
            }
            match SHORTCODE.captures(found.as_str()) {
                // Keyed by name: another use of a shortcode that is in use already runs the site's own code.
                Some(shortcode) => self.add_as(span, format!("shortcode {}", &shortcode[1])),
                None if literal::is_literal(&found.as_str()[2..found.len() - 2]) => {}
                None => self.add("template", span),
            }
        }
    }

    /// Adds what is code if the page is MDX after all, and is hardly ever anything else.
    fn likely_mdx(&mut self, body: usize, code: &[Range<usize>]) {
        let head = 0..body;
        let outside: Vec<Range<usize>> = std::iter::once(head).chain(code.iter().cloned()).collect();
        let constructs = crate::parse_mdx::constructs(self.text, body, &outside, &self.lines);
        for span in &constructs.blanked {
            let written = &self.text[span.clone()];
            let before = self.text[..span.start].chars().next_back();
            // A brace directly after a word, a math character or another brace belongs to that.
            let is_alone = before.is_none_or(|c| !(c.is_alphanumeric() || "\\^_}{$%".contains(c)));
            match written.as_bytes()[0] {
                b'{' if is_alone && written.contains(['(', '`', '=']) => self.expression(span.clone()),
                b'i' | b'e' => self.statements(span.clone()),
                _ => {}
            }
        }
        for tag in constructs.tags.iter().filter(|tag| tag.is_component()) {
            tag.expressions.iter().for_each(|span| self.expression(span.clone()));
        }
    }
}

/// A piece without insignificant whitespace. A line break stays one, because it may end a comment.
fn tidied(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut gap = None;
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => gap = Some('\n'),
            c if c.is_whitespace() => gap = gap.or(Some(' ')),
            c => {
                let is_inside = !matches!((tidied.chars().next_back(), c), (None | Some('{'), _) | (_, '}'));
                match gap.take() {
                    Some('\n') if !tidied.is_empty() => tidied.push('\n'),
                    Some(_) if is_inside => tidied.push(' '),
                    _ => {}
                }
                tidied.push(c);
            }
        }
    }
    tidied
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
