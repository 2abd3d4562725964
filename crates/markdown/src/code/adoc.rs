//! Finds the active constructs of AsciiDoc: what includes files, passes text through, runs an extension, or changes how
//! the rest is read.
//!
//! The text is read by lines and tokens and not as Asciidoctor reads it. Some forms are known to be plain; a token in any
//! other form is a construct, wherever it stands. Only a plain fence protects what is in it (see [`fences`]), and not
//! from lines of the preprocessor. Asciidoctor does not escape quotation marks, so attributes can be added to its HTML from
//! many places: therefore handlers and schemes of URLs that run are searched for in the whole text.

mod fences;
mod names;

use std::ops::Range;

use satteri_pulldown_cmark::decode_html_entities;

use self::fences::Line as Known;
use super::rst::has_tex_commands;
use super::{Code, Found};
use crate::parse_lines::{Lines, lines_after};
use crate::regex;
use crate::site_paths::folder;
use crate::text::text_of;
use crate::words::has_word;

regex!(PREPROCESSOR, r"\A[\\\s]*(include|ifdef|ifndef|ifeval|endif)::(.*)\z");
regex!(CONDITION, r"\A[\w,+-]*\[\s*\]\s*\z");
regex!(
    INCLUDED,
    r"\A(?:(?:[\w.-]+@)?(?:[\w.-]*:){0,2}(?:partial|example|page|attachment)\$|\./)?([\w./ -]+)\[([^\[\]{}&<>]*)\]\s*\z"
);
regex!(INCLUDE_ATTRIBUTES, r"\A(?:(?:lines?|tags?|leveloffset|indent|opts)=[^=]*)?\z");
regex!(ENTRY, r"\A:(!?\w[^:]*):(?:\s|\z)");
regex!(NAME, r"\A!?[\w-]+!?\z");
regex!(URL_VALUE, r"\A(?:https?://|\{[\w-]+\}/)[\w./~#?=%@:,{}-]*\z");
regex!(WORDS, r"\A(?:[\w .,/()#@!?%*-]|\{[\w-]+\})*\z");
// A reference to `<`, `>` or `&`, which are put in as they are, and references that do something.
regex!(REFERENCE, r"(?i)\{(?:lt|gt|amp|set:|eval:|sys2?:|include\d?:|template)");
// A name or scheme that the value of an attribute may complete.
regex!(COMPLETED, r"\}[\w\\+{}-]*\s*=|[\[=<][^\s]*\}[^\s/\[\]]*:|\}[^\s/\[\]]*:[^\s\[]*\[|\blink\s*=[\s\x22']*\{");
regex!(PASSED, r"\+\+\+|\$\$|pass:[\w,-]*:?\[|pass::");
// A macro: its name, colons and target up to the bracket. Targets with spaces exist in pictures and at the start of a line.
regex!(MACRO, r"([A-Za-z_][\w-]*)(::?)([^\s\[\]]*)\[");
regex!(SPACED, r"\A[\s*.-]*([A-Za-z_][\w-]*)::(\S[^\[]*)\[.*\]\s*\z|\b(?:image|icon):[^\s\[][^\[]*\[");
regex!(ATTRIBUTE, r"(?i)\b(?:subs|separator|format)\s*=");
regex!(RUN_PICTURE, r"(?i)(?:\bopt(?:ion)?s\s*=|%)[^\]]*\b(?:inline|interactive)\b|%(?:inline|interactive)\b");
regex!(WHOLE, r"\+\+\+.*?\+\+\+|\$\$.*?\$\$|[A-Za-z_][\w-]*::?[^\s\[\]]*\[[^\[\]]*\]");
// In the text without escapes and references.
regex!(HANDLER, r"(?i)(?:^|[^\w-])(?:on[a-z]{3,}|srcdoc|formaction)\s*=");
// The same at the end of a line: the `=` may stand on the next one.
regex!(LAST_WORD, r"(?i)(?:^|[^\w-])(on[a-z]{3,}|srcdoc|formaction)\s*$");
regex!(SCHEME, r"(?i)(?:j\s?a\s?v\s?a|v\s?b|l\s?i\s?v\s?e)\s?s\s?c\s?r\s?i\s?p\s?t\s*:|data\s*:\s*[a-z]+/[a-z+]+");
regex!(REMOVED, r"[+\\\p{Cc}]|\{[^}]{0,31}\}");
regex!(FORMULA, r"(?i)\b(?:stem|latexmath|asciimath)\b");
regex!(TITLE_HEAD, r"\A\u{feff}?(?:---|;;;|\+\+\+|\{)\s*\n");

/// English words that look like the names of event handlers.
const NO_HANDLERS: [&str; 10] =
    ["onboard", "onboarded", "onboarding", "ongoing", "online", "onscreen", "onset", "onsite", "onward", "onwards"];

/// The constructs of a page, in the order of their beginnings.
pub(super) fn code_of(file: &str, bytes: &[u8]) -> Vec<Code> {
    let is_odd = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{2028}' | '\u{2029}');
    let text = text_of(bytes);
    let mut found = Found { text: &text, lines: Lines::of(&text), file, code: Vec::new() };
    if std::str::from_utf8(bytes).is_err() || text.replace("\r\n", "\n").contains(is_odd) {
        found.add_as(0..text.len(), format!("unread {text}"));
        return found.code;
    }
    let (starts, lines): (Vec<_>, Vec<_>) = lines_after(&text, 0).map(|(at, line)| (at, line.trim_end())).unzip();
    let shown = fences::shown(&lines);
    let mut finder = CodeFinder { starts, lines, shown, found };
    finder.page();
    finder.found.code
}

struct CodeFinder<'t> {
    found: Found<'t>,
    /// The lines without their ends, and the bytes at which they begin.
    lines: Vec<&'t str>,
    starts: Vec<usize>,
    /// What is certain of each line.
    shown: Vec<Known>,
}

impl CodeFinder<'_> {
    fn page(&mut self) {
        // Generators that read front matter expand templates, in shown code, too.
        let has_front_matter = TITLE_HEAD.is_match(self.found.text);
        if has_front_matter {
            let end = self.lines.iter().skip(1).position(|line| self.lines[0] == *line || *line == "}");
            self.add("front matter", 0..end.map_or(self.lines.len(), |at| at + 2));
        }
        let has_formulas = FORMULA.is_match(self.found.text);
        let mut at = 0;
        while at < self.lines.len() {
            let line = self.lines[at];
            if has_front_matter && ["{{", "{%", "{#"].iter().any(|template| line.contains(template)) {
                self.add("template", at..at + 1);
            }
            if let Some(kind) = pieces(line).find_map(|piece| self.preprocessor(piece)) {
                self.add(kind, at..at + 1);
                at += 1;
                continue;
            }
            if self.shown[at] != Known::Live {
                at += 1;
                continue;
            }
            let end = self.block(at);
            if end > at {
                at = end;
                continue;
            }
            if let Some(kind) = active(line, has_formulas) {
                match constructs(line, has_formulas) {
                    Some(parts) => parts.into_iter().for_each(|part| {
                        let start = self.starts[at];
                        self.add_as(kind, start + part.start..start + part.end, &line[part]);
                    }),
                    None => self.add(kind, at..at + 1),
                }
            }
            at += 1;
        }
    }

    /// The kind of a line that the preprocessor would run, unless it is plain.
    fn preprocessor(&self, piece: &str) -> Option<&'static str> {
        let found = PREPROCESSOR.captures(piece)?;
        let is_plain = match &found[1] {
            "include" => !piece.trim_start().starts_with('\\') && is_plain_include(&found[2]),
            "ifeval" => false,
            _ => CONDITION.is_match(&found[2]),
        };
        (!is_plain).then_some("directive")
    }

    /// Adds a construct of several lines that begins here, and returns the line behind it.
    fn block(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        let first = pieces(line).next().unwrap_or_default();
        if fences::is_raw(line) {
            let end = self.lines[at + 1..].iter().position(|other| *other == line);
            let end = end.map_or(self.lines.len(), |length| at + length + 2);
            self.add("passthrough", at..end);
            return end;
        }
        for piece in pieces(line) {
            if let Some(found) = ENTRY.captures(piece) {
                let goes_on = |line: &&str| line.ends_with('\\') || line.ends_with(" +");
                let more = self.lines[at..].iter().take_while(|line| goes_on(line)).count();
                let value = &piece[found.get_match().end()..];
                if more > 0 || !is_plain_entry(&found[1], value.trim()) {
                    let end = (at + more + 1).min(self.lines.len());
                    self.add("attribute", at..end);
                    return end;
                }
            }
        }
        let is_attributes = first.starts_with('[') && first.ends_with(']');
        if ATTRIBUTE.is_match(line) || (is_attributes && !fences::is_plain_attributes(first)) {
            let end = self.block_end(at);
            self.add("block", at..end);
            return end;
        }
        let opens = |token: &str| line.match_indices(token).count() % 2 == 1;
        if let Some(found) = PASSED.find(line)
            && (opens("+++")
                || opens("$$")
                || (found.as_str().starts_with("pass") && !line[found.end()..].contains(']')))
        {
            let end = self.paragraph_end(at);
            self.add("passthrough", at..end);
            return end;
        }
        at
    }

    /// The line behind the block that a line of attributes applies to.
    fn block_end(&self, at: usize) -> usize {
        let is_before = |line: &&str| line.is_empty() || line.starts_with(['[', '.']) && !line.starts_with("..");
        let first = at + self.lines[at..].iter().take_while(|line| is_before(line)).count();
        let Some(opening) = self.lines.get(first) else { return self.lines.len() };
        if !fences::is_delimiter(opening) {
            return self.paragraph_end(first);
        }
        let end = self.lines[first + 1..].iter().position(|line| line == opening);
        end.map_or(self.lines.len(), |length| first + length + 2)
    }

    fn paragraph_end(&self, at: usize) -> usize {
        at + self.lines[at..].iter().take_while(|line| !line.is_empty()).count().max(1)
    }

    fn add(&mut self, kind: &str, lines: Range<usize>) {
        let end = self.starts.get(lines.end).copied().unwrap_or(self.found.text.len());
        let written = self.lines[lines.start..lines.end.min(self.lines.len())].join("\n");
        self.add_as(kind, self.starts[lines.start]..end, &written);
    }

    fn add_as(&mut self, kind: &str, span: Range<usize>, written: &str) {
        // A relative path leads elsewhere from another folder.
        let place = if written.contains("..") { folder(self.found.file) } else { "" };
        self.found.add_as(span, format!("asciidoc {kind} in {place}: {written}"));
    }
}

/// The texts on a line that may be read as lines of their own: the whole, and those in cells of a table.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.match_indices(['|', '!']).map(|(at, _)| line[at + 1..].trim_start());
    std::iter::once(line).chain(ends.take(MAX_CELLS))
}

/// Most cells on a line that are read, so that time stays linear.
const MAX_CELLS: usize = 64;

/// Whether an include is of a page or a sample that lies beside the page, below it, or in a folder of Antora.
fn is_plain_include(written: &str) -> bool {
    let Some(found) = INCLUDED.captures(written) else { return false };
    let (path, attributes) = (&found[1], &found[2]);
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_inside = !path.starts_with(['/', ' ']) && path.split('/').all(|part| !part.starts_with('.'));
    is_inside
        && has_word(names::INCLUDED, ending)
        && attributes.split(',').all(|one| INCLUDE_ATTRIBUTES.is_match(one.trim()))
}

fn is_plain_entry(name: &str, value: &str) -> bool {
    let is_unset = name.starts_with('!') || name.ends_with('!');
    let plain = name.trim_matches('!').to_ascii_lowercase();
    let is_value = if names::is_words(&plain) {
        active(value, true).is_none() && !value.contains('"')
    } else {
        URL_VALUE.is_match(value) || (WORDS.is_match(value) && !names::is_macro(value) && !value.is_empty())
    };
    NAME.is_match(name)
        && (names::is_harmless(&plain) || !names::is_setting(&plain))
        && (is_unset || value.is_empty() && names::is_harmless(&plain) || is_value)
}

/// The kind of what is active on a line that is not shown code.
fn active(line: &str, has_formulas: bool) -> Option<&'static str> {
    if pieces(line).count() > MAX_CELLS {
        return Some("cells");
    }
    if PASSED.is_match(line) {
        return Some("passthrough");
    }
    if REFERENCE.is_match(line) || (line.contains('}') && completes(line)) {
        return Some("reference");
    }
    if MACRO.captures_iter(line).any(|found| !names::is_macro(&found[1]) || is_odd_target(&found[3]))
        || SPACED
            .captures_iter(line)
            .any(|found| found.get(1).is_some_and(|name| !names::is_macro(name.as_str())) || is_odd_target(&found[0]))
    {
        return Some("macro");
    }
    if RUN_PICTURE.is_match(line) {
        return Some("picture");
    }
    let read = as_read(line);
    let ends_in_handler =
        LAST_WORD.captures(&read).is_some_and(|found| !NO_HANDLERS.contains(&found[1].to_lowercase().as_str()));
    if HANDLER.is_match(&read) || ends_in_handler {
        return Some("handler");
    }
    let has_link = line.contains("link");
    if SCHEME.find_iter(&read).any(|found| has_link || !is_in_words(&read, found.range())) {
        return Some("link");
    }
    (has_formulas && has_tex_commands(line)).then_some("formula")
}

/// The passthroughs and macros on a line that are active, if nothing else on it is.
fn constructs(line: &str, has_formulas: bool) -> Option<Vec<Range<usize>>> {
    let is_active = |part: &Range<usize>| active(&line[part.clone()], has_formulas).is_some();
    let parts: Vec<_> = WHOLE.find_iter(line).map(|found| found.range()).filter(is_active).collect();
    let mut rest = String::with_capacity(line.len());
    let mut at = 0;
    for part in &parts {
        rest.push_str(&line[at..part.start]);
        rest.push('x');
        at = part.end;
    }
    rest.push_str(&line[at..]);
    (!line.contains('\\') && active(&rest, has_formulas).is_none()).then_some(parts)
}

/// Whether a name, or a scheme that is not `https`, may be completed by the value of an attribute.
fn completes(line: &str) -> bool {
    let is_address = |at: usize| {
        let near = &line[line.floor_char_boundary(at.saturating_sub(MAX_ADDRESS_BYTES))..at];
        let word = near.rsplit(char::is_whitespace).next().unwrap_or_default();
        let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        let word = word.strip_prefix("link:").unwrap_or(word);
        word.starts_with("https://") || word.starts_with("http://")
    };
    COMPLETED.find_iter(line).any(|found| !is_address(found.end().min(line.len())))
}

/// How far back the beginning of an address is searched for, so that time stays linear.
const MAX_ADDRESS_BYTES: usize = 500;

/// Whether the target of a macro may end the attribute of HTML that it becomes, or is put together.
fn is_odd_target(target: &str) -> bool {
    let is_entity = target.find('&').is_some_and(|at| target[at..].contains(';'));
    target.contains(['"', '`', '<']) || target.starts_with('+') || target.contains("++") || is_entity
}

/// A line without what Asciidoctor or a browser removes, and with the characters that entities stand for.
fn as_read(line: &str) -> String {
    REMOVED.replace_all(&decode_html_entities(line), "").into_owned()
}

/// Whether a scheme is a word of a sentence: it stands apart, and nothing follows its colon.
fn is_in_words(line: &str, scheme: Range<usize>) -> bool {
    let (before, after) = (&line[..scheme.start], &line[scheme.end..]);
    let is_apart = before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "*_|(.".contains(c));
    let is_picture = ["data:image/png", "data:image/gif", "data:image/jpeg", "data:image/webp"]
        .iter()
        .any(|kind| line[scheme.clone()].eq_ignore_ascii_case(kind));
    let is_end = after.is_empty() || after.starts_with(char::is_whitespace);
    is_picture || (is_apart && is_end && !line[scheme].contains('/'))
}

#[cfg(test)]
mod tests;
