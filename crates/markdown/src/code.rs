//! Finds the code of a page: what the build of its site or the browser of a reader runs.
//!
//! MDX is a program: its statements and expressions run when the site is built. Markdown may contain HTML, and most
//! generators expand templates in it. What begins with an active token is listed here as a piece, to its end, so that the
//! pieces of two versions of a page can be compared, unless it has one of the few forms that are plain. Nothing is believed
//! to be displayed but [`plain`] code, on which all parsers agree. A page that cannot be scanned to its end is one piece.

mod adoc;
mod literal;
mod markup;
mod myst;
mod plain;
mod rst;
mod statements;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::active_tokens::{ActiveTokens, Templates};
use crate::anchors::AnchorStyle;
use crate::front_matter;
use crate::page::Format;
use crate::parse::{mdx_constructs, parse_as};
use crate::parse_lines::{Lines, line_end, lines_after};
use crate::parse_marks;
use crate::parse_mdx::{self, Constructs};
use crate::parse_tags::{Dialect, scan_tag};
use crate::regex;
use crate::site_paths::{folder, joined};
use crate::text::text_of;
use crate::words::{has_word, on_one_line};

use markup::{TagEffect, TagReader, Tags};

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

impl Code {
    /// A piece that was found by other rules than those of [`code_of`].
    pub fn new(line: usize, shown: &str, key: String) -> Self {
        let shown = on_one_line(shown).chars().take(MAX_SHOWN_CHARS).collect();
        Self { span: 0..0, line, shown, key }
    }
}

/// Which parts of a page count as code, by the generator that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeRules {
    /// Statements, expressions, tags.
    Mdx,
    /// Tags, and what else the generator acts on.
    Markdown(ActiveTokens),
    /// Directives and roles. Of a text that pages include, whole or in part, the path is empty: its own paths are relative
    /// to an unknown folder.
    Rst,
    /// Directives of the preprocessor, passthroughs, macros and attributes.
    Adoc,
    /// The generator is unknown: tags, templates, and what can hardly be anything but MDX code.
    Unknown,
}

/// What [`Code::key`] begins with for the include of a file of the site, before the path of the file.
pub const INCLUDE_KEY: &str = "includes ";

/// Extensions of files that browsers parse as markup.
const MARKUP: [&str; 4] = ["svg", "html", "htm", "xml"];

/// Most characters of [`Code::shown`].
const MAX_SHOWN_CHARS: usize = 80;

/// The code of a page, or of an image or page in XML or HTML, in no particular order. `file` is relative to the docs
/// root.
pub fn code_of(rules: CodeRules, file: &str, bytes: &[u8]) -> Vec<Code> {
    let text = with_line_feeds(text_of(bytes));
    let mut found = Found { text: &text, lines: Lines::of(&text), file, code: Vec::new() };
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    if MARKUP.iter().any(|markup| ending.eq_ignore_ascii_case(markup)) {
        found.tags(markup::tags(&text, 0, &[], TagReader::Browser));
        DECLARATION.find_iter(&text).for_each(|span| found.add("declaration", span.range()));
        return found.code;
    }
    match rules {
        CodeRules::Adoc => return adoc::code_of(file, bytes),
        CodeRules::Rst => return rst::code_of(file, bytes),
        CodeRules::Mdx | CodeRules::Markdown(_) | CodeRules::Unknown => {}
    }
    let body = front_matter::end(&text);
    let format = if rules == CodeRules::Mdx { Format::Mdx } else { Format::Markdown };
    let page = parse_as(file, bytes, format, AnchorStyle::GitHub);
    found.includes(body);
    for link in page.links.iter().filter(|link| runs_script(&link.target)) {
        found.add("link", link.span.clone());
    }
    let parser = match rules {
        CodeRules::Mdx => plain::Parser::Mdx,
        CodeRules::Markdown(ActiveTokens { python_blocks: true, .. }) => plain::Parser::PythonMarkdown,
        _ => plain::Parser::CommonMark,
    };
    let plain = plain::ranges(&text, body, parser);
    match rules {
        CodeRules::Mdx => {
            let plain = found.mdx_on_its_own(body, plain);
            found.addresses(body, &plain);
            found.executed_blocks(body, &plain);
        }
        CodeRules::Rst | CodeRules::Adoc => {}
        CodeRules::Markdown(tokens) => found.markdown(body, plain, tokens),
        CodeRules::Unknown => {
            found.markdown(body, plain, ActiveTokens::default());
            found.likely_mdx(body, &page.code);
        }
    }
    found.code
}

/// A text whose lines all end in a line feed: a carriage return alone ends a line as well.
fn with_line_feeds(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('\r') {
        return text;
    }
    let mut chars = text.chars().peekable();
    let mut read = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        read.push(if c == '\r' && chars.peek() != Some(&'\n') { '\n' } else { c });
    }
    read.into()
}

/// The ranges of the statements and expressions on an MDX page that are code.
pub fn code_spans(file: &str, text: &str) -> Vec<Range<usize>> {
    let mut found = Found { text, lines: Lines::of(text), file, code: Vec::new() };
    let body = front_matter::end(text);
    let constructs = mdx_constructs(text, 0..body, &parse_marks::costly(text), &found.lines);
    found.mdx(body, &constructs, &[]);
    // The words of a tag's attributes may be replaced; what is not plain among them is judged afterwards.
    found.code.retain(|code| !code.key.starts_with("component ") && !code.key.starts_with("tag "));
    found.code.into_iter().map(|code| code.span).collect()
}

struct Found<'t> {
    text: &'t str,
    lines: Lines<'t>,
    file: &'t str,
    code: Vec<Code>,
}

// XML declarations that load other content (DTD, entities) or set a stylesheet.
regex!(DECLARATION, r"(?i)<!(?:DOCTYPE[^>]*\[|ENTITY)[^>]*|<\?xml-stylesheet[^>]*");
// A line that includes another file in the page: `<<< file`, `--8<-- "file"`, `<!--@include: file-->`.
regex!(INCLUDE, r#"(?m)^[ \t>]*<<<[ \t]*(\S+)|-{1,}8<-{1,}[ \t]+["']([^"'\n]+)|@include:[ \t]*([^\s>]+)"#);
// Fenced code that notebooks and plug-ins execute or draw from files: `{python}`, `exec="on"`, `plantuml`.
regex!(
    EXECUTED,
    r"(?im)^[ \t>*+.)0-9-]*(?:`{3,}|~{3,})[^\n]*?(?:\{[ \t.]*(?:code-cell|eval-rst|jupyter-execute|exec|raw|include|literalinclude|python|r|julia|bash|sh|node|js|ojs|sql)\b|\bexec[ \t]*=|[ \t]live\b|\b(?:plantuml|puml|c4plantuml|ditaa|graphviz|dot|kroki|vega|vegalite|d2|nomnoml|svgbob|blockdiag|markmap|echarts)\b)"
);
regex!(FENCE, r"(?m)^[ \t>*+.)0-9-]*(`{3,}|~{3,})[^\n]*");
regex!(CLICK, r"(?im)^[ \t>]*(?:click[ \t]|%%\{)|<script|javascript:");
regex!(DIAGRAM, r"(?m)^[ \t>*+.)0-9-]*(?:`{3,}|~{3,})[ \t]*\{?\.?mermaid\b");
regex!(SHORTCODE, r"\A\{(?:\{[<%]|%)-?\s*(/?[\w.-]+)");
regex!(COMMAND_INCLUDE, r"\A\{\{#(?:include|rustdoc_include|playground)[ \t]+([\w.][\w./-]*)(?::[\w:-]*)?[ \t]*\}\}\z");
// A group in braces that sets an attribute, or that defines or switches something (`{::options /}`, `{:name: …}`).
regex!(ATTRIBUTE_LIST, r"(?s)\{[^{}]{0,500}\}");
regex!(
    PLAIN_ATTRIBUTES,
    r#"\A\{:?\s*(?:(?:[#.][\w:.-]+|[\w-]+|(?:width|height|align|target|rel|loading|title|alt|id|class|start|lang|dir|name|linenums|hl_lines|data-[\w-]+)\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[\w.%#/-]+))(?:\s+|\}\z))*\}?\z"#
);
regex!(SPELLED_BRACES, r"(?i)(?:\\?\{|&(?:#0*123|#x0*7b|lcub|lbrace);){2}");
regex!(PYTHON_BLOCK, r"(?m)^[ \t>]*(?::::[ \t]+[\w.]+[ \t]*$|///[ \t]+(?:html|define-tag)\b[^\n]*)");
// A URL that runs its content, where a URL may begin, however it is spelled.
regex!(
    SCRIPT_ADDRESS,
    r#"(?i)[(<\[:"'=]\s*(?:(?:j\s*a\s*v\s*a|v\s*b|l\s*i\s*v\s*e)\s*s\s*c\s*r\s*i\s*p\s*t\s*:|data\s*:\s*(?:text|application|image/svg)|[a-z\s]*&(?:\#|colon|tab|newline))"#
);

/// Templates of generators that lay out words or name something of the site.
const INERT_SHORTCODES: &str = "ref relref figure /figure raw endraw highlight endhighlight link post_url comment endcomment hint endhint tabs \
    endtabs tab endtab content-ref endcontent-ref code endcode stepper endstepper step endstep columns endcolumns \
    column endcolumn updates endupdates update endupdate";

/// Parts of the names of templates whose arguments decide what is read or run.
const READING: [&str; 16] = [
    "include", "import", "extends", "from", "embed", "read", "file", "assign", "capture", "for", "if", "set", "call",
    "macro", "src", "exec",
];

/// Longest template, in bytes.
const MAX_TEMPLATE_BYTES: usize = 4_000;

/// Most times that a page is searched again because something active reaches into what looked like plain code.
const MAX_SEARCHES: usize = 8;

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
        for (at, line) in lines_after(text, body) {
            let named = line.trim();
            if named.len() >= 3 && named.contains("8<") && named.chars().all(|c| matches!(c, '-' | '8' | '<')) {
                is_list = !is_list;
            } else if is_list && (named.starts_with(['/', '~', '.']) || named.contains("..") || named.contains("://")) {
                self.add("include", at..at + line.trim_end().len());
            }
        }
    }

    /// Whether a path looks like one inside the docs.
    fn may_include(&self, named: &str) -> bool {
        let is_inside = [folder(self.file), ""].iter().any(|base| joined(base, named).is_some());
        let is_hidden = named.split('/').any(|part| part.starts_with('.') && !matches!(part, "." | ".."));
        let is_url = named.contains(':') && named.contains("//");
        is_inside && !is_hidden && !is_url && !named.starts_with('~')
    }

    /// Blocks that are run or drawn, to the end of their paragraphs at least.
    fn executed_blocks(&mut self, body: usize, plain: &[Range<usize>]) {
        let text = self.text;
        let (mut end, mut drawn_end) = (body, body);
        for fence in outside(text, body, plain, &FENCE) {
            let written = &text[fence.clone()];
            let is_run = fence.start >= end && EXECUTED.is_match(written);
            let is_drawn = fence.start >= drawn_end && DIAGRAM.is_match(written);
            if !(is_run || is_drawn) {
                continue;
            }
            let marks = FENCE.captures(written).map_or("", |found| found.get(1).map_or("", |marks| marks.as_str()));
            drawn_end = block_end(text, fence.start, marks);
            if is_run || CLICK.is_match(&text[fence.start..drawn_end]) {
                // What stands in the block is a part of it.
                end = drawn_end;
                self.add("executed", fence.start..end);
            }
        }
    }

    /// Addresses that run their content, outside of plain code.
    fn addresses(&mut self, body: usize, plain: &[Range<usize>]) {
        for address in outside(self.text, body, plain, &SCRIPT_ADDRESS) {
            self.add("address", address.start..line_end(self.text, address.end));
        }
    }

    /// Adds the code of an MDX page, in which `plain` is displayed unless a construct reaches into it; returns what is.
    fn mdx_on_its_own(&mut self, body: usize, mut plain: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let text = self.text.replace("\r\n", " \n");
        let constructs = settled(&mut plain, |plain| {
            let outside: Vec<Range<usize>> = std::iter::once(0..body).chain(plain.iter().cloned()).collect();
            let constructs = parse_mdx::constructs(&text, body, &outside, &self.lines);
            (constructs.blanked.clone(), constructs)
        });
        self.mdx(body, &constructs, &plain);
        plain
    }

    fn mdx(&mut self, body: usize, constructs: &Constructs, plain: &[Range<usize>]) {
        let text = self.text;
        if constructs.is_incomplete {
            return self.add("unread", 0..text.len());
        }
        let mut imported = BTreeSet::new();
        for span in &constructs.blanked {
            match text.as_bytes()[span.start] {
                _ if plain::may_be_cut(text, span, plain) => self.add("cut", span.clone()),
                b'{' => self.expression(span.clone()),
                b'i' | b'e' => {
                    imported.extend(statements::names(&text[span.clone()]));
                    self.statements(span.clone());
                }
                _ => {}
            }
        }
        for span in statements::unparsed_statements(text, body, constructs) {
            self.statements(span);
        }
        // What looks like the destination of a link is a tag where there is no link.
        for (at, _) in text[body..].match_indices("](<") {
            if let Some(tag) = scan_tag(text, body + at + 2, Dialect::Jsx)
                && markup::effect_of(text, &tag, TagReader::Jsx) == TagEffect::Active
            {
                self.add("tag", tag.span);
            }
        }
        for tag in &constructs.tags {
            for span in &tag.expressions {
                self.expression(span.clone());
            }
            match markup::effect_of(text, tag, TagReader::Jsx) {
                TagEffect::Plain => {}
                TagEffect::Component(_) if plain::may_be_cut(text, &tag.span, plain) => {}
                // An imported component is known by its import.
                TagEffect::Component(name) if imported.contains(name.split('.').next().unwrap_or_default()) => {}
                TagEffect::Component(name) => self.add_as(tag.span.clone(), format!("component {name}")),
                TagEffect::Active => self.add("tag", tag.span.clone()),
            }
        }
    }

    fn tags(&mut self, tags: Tags) {
        for (span, key) in tags.active {
            match key {
                Some(key) => self.add_as(span, key),
                None => self.add("tag", span),
            }
        }
    }

    fn markdown(&mut self, body: usize, mut plain: Vec<Range<usize>>, tokens: ActiveTokens) {
        let text = self.text;
        let reader = if tokens.vue { TagReader::Vue } else { TagReader::Browser };
        let tags = settled(&mut plain, |plain| {
            let tags = markup::tags(text, body, plain, reader);
            let templates =
                if tokens.templates_in_code { Vec::new() } else { templates(text, body, plain, tokens.templates) };
            let mut active = [tags.spans.clone(), templates].concat();
            active.sort_by_key(|span| span.start);
            (active, tags)
        });
        self.tags(tags);
        self.templates(body, if tokens.templates_in_code { &[] } else { &plain }, tokens.templates);
        if tokens.vue {
            // Vue sees what Markdown makes of escapes and references.
            for found in SPELLED_BRACES.find_iter(&text[body..]) {
                let at = body + found.start();
                if !plain::holds(&plain, at) && found.as_str() != "{{" {
                    self.add("template", at..line_end(text, at));
                }
            }
        }
        self.addresses(body, &plain);
        self.executed_blocks(body, &plain);
        if tokens.attribute_lists {
            for list in outside(text, body, &plain, &ATTRIBUTE_LIST) {
                let written = &text[list.clone()];
                // In two braces it is a template.
                let is_template = text[..list.start].ends_with('{') && text[list.end..].starts_with('}');
                // To Vue, `{:title="f()"}` is an expression.
                let is_expression = tokens.vue && written.starts_with("{:") && written.contains('=');
                if !is_template && (is_expression || is_active_list(written)) {
                    self.add("attributes", list);
                }
            }
        }
        if tokens.python_blocks {
            outside(text, body, &plain, &PYTHON_BLOCK).into_iter().for_each(|block| self.add("block", block));
        }
        if tokens.directives {
            for (span, key) in myst::constructs(text, body, &plain, &|path| self.may_include(path)) {
                self.add_as(span, key);
            }
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

    fn templates(&mut self, body: usize, plain: &[Range<usize>], templates: Templates) {
        for span in self::templates(self.text, body, plain, templates) {
            let written = &self.text[span.clone()];
            if templates == Templates::Commands {
                let included = COMMAND_INCLUDE.captures(written).map(|found| found[1].to_owned());
                match included.filter(|path| self.may_include(path)) {
                    Some(path) if path.contains("..") => {
                        let file = joined(folder(self.file), &path).unwrap_or(path);
                        self.add_as(span, format!("{INCLUDE_KEY}{file}"));
                    }
                    Some(_) => {}
                    None => self.add("template", span),
                }
                continue;
            }
            let literal = written.get(2..written.len().max(4) - 2).unwrap_or_default();
            // `{{<` is a shortcode of Hugo and nothing elsewhere.
            let is_shortcode =
                (templates == Templates::Shortcodes || written.starts_with("{%")) && !written[2..].contains("{{");
            match SHORTCODE.captures(written).filter(|_| is_shortcode) {
                // Escaped, as Hugo's manual has it.
                _ if written.starts_with("{{</*") || written.starts_with("{{%/*") => {}
                Some(name) if has_word(INERT_SHORTCODES, &name[1]) => {}
                // Keyed by name: another use of a shortcode that is in use already runs the site's own code.
                Some(name)
                    if !READING.iter().any(|part| name[1].contains(part)) && !written[2..].contains(['`', '|']) =>
                {
                    self.add_as(span, format!("shortcode {}", &name[1]));
                }
                None if literal::is_literal(literal) => {}
                _ => self.add("template", span),
            }
        }
    }

    /// Adds what is code if the page is MDX after all, and is hardly ever anything else.
    fn likely_mdx(&mut self, body: usize, code: &[Range<usize>]) {
        let head = 0..body;
        let outside: Vec<Range<usize>> = std::iter::once(head).chain(code.iter().cloned()).collect();
        let constructs = parse_mdx::constructs(self.text, body, &outside, &self.lines);
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

/// The templates of a text, outside of `plain` code. One that is not closed nearby counts to the end of its line.
fn templates(text: &str, body: usize, plain: &[Range<usize>], templates: Templates) -> Vec<Range<usize>> {
    let signs: &[(&str, &str)] = match templates {
        Templates::Braces => &[("{{", "}}"), ("{%", "%}"), ("<%", "%>")],
        Templates::Shortcodes => &[("{{<", ">}}"), ("{{%", "%}}")],
        Templates::Commands => &[("{{#", "}}")],
    };
    let mut plain = plain.iter().peekable();
    let mut spans = Vec::new();
    let mut at = body;
    while let Some(start) = text[at..].find(['{', '<']).map(|length| at + length) {
        while plain.next_if(|range| range.end <= start).is_some() {}
        if let Some(range) = plain.peek().filter(|range| range.contains(&start)) {
            at = range.end;
            continue;
        }
        let rest = &text[start..];
        at = start + 1;
        if let Some((open, close)) = signs.iter().find(|(open, _)| rest.starts_with(open)) {
            let window = &rest[..rest.floor_char_boundary(MAX_TEMPLATE_BYTES)];
            let closed = window[open.len()..].find(close).map(|length| open.len() + length + close.len());
            at = start + closed.unwrap_or_else(|| line_end(text, start) - start);
            let is_escaped = templates == Templates::Commands
                && text[body..start].ends_with('\\')
                && !text[body..start].ends_with("\\\\");
            if !is_escaped {
                spans.push(start..at);
            }
        }
    }
    spans
}

/// Searches for something active until none of it reaches into `plain` from outside: drops the ranges where it does.
/// `active` returns the ranges of what is active, ordered by where they begin, and what it found.
fn settled<T>(plain: &mut Vec<Range<usize>>, active: impl Fn(&[Range<usize>]) -> (Vec<Range<usize>>, T)) -> T {
    let mut searches = 0;
    loop {
        let (active, found) = active(plain);
        // How far what begins up to each reaches: they may overlap.
        let reach = active.iter().scan(0, |most, span| {
            *most = span.end.max(*most);
            Some(*most)
        });
        let (reach, before) = (reach.collect::<Vec<_>>(), plain.len());
        plain.retain(|range| {
            let next = active.partition_point(|span| span.start < range.start);
            next == 0 || reach[next - 1] <= range.start
        });
        if plain.len() == before {
            return found;
        }
        searches += 1;
        if searches == MAX_SEARCHES {
            plain.clear();
        }
    }
}

/// The matches of a pattern that begin outside of `plain` code.
fn outside(text: &str, body: usize, plain: &[Range<usize>], pattern: &regex::Regex) -> Vec<Range<usize>> {
    let found = pattern.find_iter(&text[body..]).map(|found| body + found.start()..body + found.end());
    found.filter(|span| !plain::holds(plain, span.start)).collect()
}

/// Whether a group in braces sets attributes beyond the plain ones, or defines or switches something.
fn is_active_list(list: &str) -> bool {
    (list.contains('=') || list.starts_with("{::") || (list.starts_with("{:") && list[2..].contains(':')))
        && !PLAIN_ATTRIBUTES.is_match(list)
}

/// The end of the block whose first line is at `at`: that of the line of the same marks, or of the text.
fn block_end(text: &str, at: usize, marks: &str) -> usize {
    let sign = marks.chars().next().unwrap_or('`');
    let closes = |line: &str| {
        let inside = line.trim_matches(|c: char| c.is_whitespace() || c == '>');
        inside.starts_with(marks) && inside.chars().all(|c| c == sign)
    };
    let closing = lines_after(text, line_end(text, at)).find(|(_, line)| closes(line));
    closing.map_or(text.len(), |(at, line)| at + line.len())
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
