//! Reads inline macros and URLs.

use std::ops::Range;

use super::super::attributes::Attributes;
use super::super::lines::attribute_list;
use super::{Ending, Inline, InlineParser, is_word, read};
use crate::page::{Link, LinkKind};
use crate::site_paths::file_name;

const SCHEMES: [&str; 5] = ["https://", "http://", "ftp://", "irc://", "file://"];

const NAMES: &str = "xref: link: mailto: image: anchor: icon: indexterm: indexterm2: stem: latexmath: asciimath: \
    pass: kbd: btn: menu: footnote:";

impl InlineParser<'_, '_, '_> {
    /// `{url}/path[words]`, which is a link by the value of the attribute.
    pub(super) fn url_of_attribute(&mut self) -> bool {
        let rest = self.rest();
        let near = &rest[..rest.floor_char_boundary(2_000)];
        let length = near.find(|c: char| c.is_whitespace() || "[]<>".contains(c)).unwrap_or(near.len());
        let Some(written) = rest.get(..length) else { return false };
        let target = self.attributes.replaced(written);
        let has_words = rest[length..].starts_with('[');
        let is_named = ["link:", "xref:", "mailto:"].iter().any(|start| target.starts_with(start));
        if !(is_url(&target) || is_named && has_words) || target.contains(['[', ' ']) {
            return false;
        }
        let (start, kind) = match target.split_once(':') {
            Some(("xref", _)) => ("xref:", LinkKind::Inline),
            Some(("link", _)) => ("link:", link_kind()),
            _ => ("", LinkKind::Inline),
        };
        let written = if has_words { written } else { written.trim_end_matches([',', '.', '?', '!', ':', ';', ')']) };
        let dest = self.at..self.at + written.len();
        let target = self.attributes.replaced(written);
        let target = target[start.len().min(target.len())..].to_owned();
        match has_words {
            true => self.with_words(self.at, dest, target, kind),
            false => {
                self.link(dest.clone(), dest, target.clone(), target, LinkKind::Autolink);
                true
            }
        }
    }

    fn link(&mut self, span: Range<usize>, dest: Range<usize>, target: String, text: String, kind: LinkKind) {
        self.flush(span.start);
        self.push(&text);
        if span.start >= self.code_end {
            self.out.code.push(dest.clone());
        }
        self.skip_to(span.end);
        self.out.links.push(Link { target, dest_span: dest, span, text, kind });
    }

    /// Reads a link whose text follows in brackets; markup in the text is parsed.
    fn with_words(&mut self, start: usize, dest: Range<usize>, target: String, kind: LinkKind) -> bool {
        let open = self.text[dest.end..self.range.end].find('[').map(|length| dest.end + length);
        let Some((open, close)) = open.and_then(|open| Some((open, self.end_of(Ending::Bracket, open + 1)?))) else {
            return false;
        };
        self.flush(start);
        let words = words_in(&self.text[open + 1..close]);
        let words = open + 1 + words.start..open + 1 + words.end;
        let shown = read(self.text, words.clone(), self.attributes);
        let text = if shown.text.is_empty() { shown_target(&target) } else { shown.text };
        self.push(&text);
        if start >= self.code_end {
            self.out.code.push(dest.clone());
            self.out.code.extend(shown.code);
            self.out.prose.extend(shown.prose);
        }
        self.out.ids.extend(shown.ids);
        self.out.links.push(Link { target, dest_span: dest, span: start..close + 1, text, kind });
        // Images in the link text.
        self.out.links.extend(shown.links);
        self.skip_to(close + 1)
    }

    /// `<<id,words>>`
    pub(super) fn cross_reference(&mut self) -> bool {
        let (at, rest) = (self.at, self.rest());
        let Some(inside) = rest.strip_prefix("<<") else { return false };
        if !inside.starts_with(|c: char| is_word(c) || "#/.:{".contains(c)) {
            return false;
        }
        let Some(end) = self.end_of(Ending::Reference, at + 3) else { return false };
        let content = &self.text[at + 2..end];
        if content.len() > 2_000 || content.contains("<<") {
            return false;
        }
        let id = content.split(',').next().unwrap_or(content);
        let dest = at + 2..at + 2 + id.trim_end().len();
        let target = self.attributes.replaced(id.trim());
        let words = content.get(id.len() + 1..).unwrap_or_default();
        let words = end - words.trim_start().len()..end;
        let shown = if words.is_empty() { Inline::default() } else { read(self.text, words, self.attributes) };
        let text = if shown.text.is_empty() { shown_target(&target) } else { shown.text };
        self.out.prose.extend(shown.prose);
        self.link(at..end + 2, dest, reference_target(&target, false), text, LinkKind::Inline);
        true
    }

    pub(super) fn macros(&mut self) -> bool {
        if self.before().is_some_and(is_word) {
            return false;
        }
        let (at, rest) = (self.at, self.rest());
        let head = &rest[..rest.floor_char_boundary(14)];
        if let Some(scheme) = SCHEMES.iter().find(|scheme| head.starts_with(**scheme)) {
            return self.url(scheme);
        }
        let Some(name) = NAMES.split(' ').find(|name| head.starts_with(name)) else { return false };
        let target_at = at + name.len();
        let behind = &self.text[target_at..self.range.end];
        let length = behind.bytes().take(2_000).take_while(|byte| !b"[]\n".contains(byte)).count();
        if !behind.get(length..).is_some_and(|behind| behind.starts_with('[')) {
            return false;
        }
        let written = &behind[..length];
        let dest = target_at..target_at + length;
        match name {
            "xref:" if !written.is_empty() => {
                let target = reference_target(&self.attributes.replaced(written), true);
                self.with_words(at, dest, target, LinkKind::Inline)
            }
            "link:" | "mailto:" if !written.contains(' ') => {
                let inner = written.strip_prefix("++").and_then(|inner| inner.strip_suffix("++"));
                let dest = if inner.is_some() { dest.start + 2..dest.end - 2 } else { dest };
                let target = self.attributes.replaced(inner.unwrap_or(written));
                let target = if name == "mailto:" { format!("mailto:{target}") } else { target };
                let kind = if is_url(&target) { LinkKind::Inline } else { link_kind() };
                self.with_words(at, dest, target, kind)
            }
            "image:" if !written.is_empty() && !written.starts_with([':', ' ']) => {
                let target = self.attributes.replaced(written);
                let Some(close) = self.end_of(Ending::Bracket, dest.end + 1) else { return false };
                let attributes = attribute_list(&self.text[dest.end + 1..close]);
                let text = attributes.style.clone().unwrap_or_default();
                let around = self.text[dest.end + 1..close].to_owned();
                self.link(at..close + 1, dest.clone(), target, text, LinkKind::Image);
                self.out.links.extend(attribute_link(&around, dest.end + 1, self.attributes));
                true
            }
            "anchor:" | "icon:" | "indexterm:" => {
                let Some(close) = self.end_of(Ending::Bracket, dest.end + 1) else { return false };
                if name == "anchor:" {
                    self.out.ids.push(written.to_owned());
                }
                self.flush(at);
                self.skip_to(close + 1)
            }
            // Its substitutions (`q`, `n`) may request that markup in it is parsed.
            "pass:" if written.contains(['q', 'n']) => {
                let Some(close) = self.closing(dest.end) else { return false };
                self.flush(at);
                self.ends.insert(close, 1);
                self.skip_to(dest.end + 1)
            }
            "stem:" | "latexmath:" | "asciimath:" | "pass:" | "kbd:" => {
                let Some(close) = self.end_of(Ending::Bracket, dest.end + 1) else { return false };
                self.plain(at..close + 1, dest.end + 1..close);
                true
            }
            "btn:" | "footnote:" | "indexterm2:" | "menu:" => {
                let Some(close) = self.closing(dest.end) else { return false };
                self.flush(at);
                if name == "menu:" {
                    self.push(written);
                    self.push(" > ");
                }
                self.is_spaced |= name == "footnote:";
                self.ends.insert(close, 1);
                self.skip_to(dest.end + 1)
            }
            _ => false,
        }
    }

    /// The bracket that closes the one at `open`; at most 2,000 bytes are searched.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, byte) in self.text.as_bytes()[open..self.range.end].iter().enumerate().take(2_000) {
            match byte {
                b'[' => depth += 1,
                b']' if depth == 1 => return Some(open + at),
                b']' => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// Reads a URL, with or without link text in brackets after it.
    fn url(&mut self, scheme: &str) -> bool {
        let (at, rest) = (self.at, self.rest());
        if !self.before().is_none_or(|c| c.is_whitespace() || "<>()[];\"'`|*_{}:".contains(c) || !c.is_ascii()) {
            return false;
        }
        let length =
            rest.bytes().take(4_000).take_while(|byte| !byte.is_ascii_whitespace() && !b"[]<>".contains(byte)).count();
        let Some(written) = rest.get(..length).filter(|written| written.len() > scheme.len()) else {
            return false;
        };
        if rest[length..].starts_with('[') {
            let target = self.attributes.replaced(written);
            if self.with_words(at, at..at + length, target, LinkKind::Inline) {
                return true;
            }
        }
        let in_code = if at < self.code_end { written.trim_end_matches(['`', '+']) } else { written };
        let written = in_code.trim_end_matches([',', '.', '?', '!', ':', ';', ')', '*', '_', '"', '\'', '`']);
        if written.len() <= scheme.len() {
            return false;
        }
        let span = at..at + written.len();
        let target = self.attributes.replaced(written);
        self.link(span.clone(), span, target.clone(), target, LinkKind::Autolink);
        true
    }
}

/// Whether a text begins like a macro or a URL.
pub(super) fn is_macro(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(14)];
    SCHEMES.into_iter().chain(NAMES.split(' ')).any(|name| head.starts_with(name))
}

pub(super) fn is_url(target: &str) -> bool {
    SCHEMES.iter().any(|scheme| target.starts_with(scheme)) || target.starts_with("//")
}

/// The kind of a `link:`, whose target is a URL and not the name of a page.
fn link_kind() -> LinkKind {
    LinkKind::Attribute { element: "a".to_owned(), attribute: "href".to_owned() }
}

/// The target of a cross-reference, with `#` before an id on the page, and the path of a page with its extension.
fn reference_target(written: &str, is_macro: bool) -> String {
    let Some((path, id)) = written.split_once('#') else {
        let name = file_name(written);
        let is_path = is_macro && (written.ends_with(".adoc") || name.contains('.') && !written.contains(' '));
        return if is_path { written.to_owned() } else { format!("#{written}") };
    };
    let name = file_name(path);
    match path.is_empty() || name.contains('.') || path.ends_with('}') {
        true => written.to_owned(),
        false => format!("{path}.adoc#{id}"),
    }
}

/// The range of the link text among the attributes of a link.
fn words_in(inside: &str) -> Range<usize> {
    let start = inside.len() - inside.trim_start().len();
    let quoted = inside[start..].strip_prefix('"').and_then(|rest| rest.find('"'));
    if let (Some(length), true) = (quoted, inside.contains('=')) {
        return start + 1..start + 1 + length;
    }
    let end = match inside.contains('=') {
        true => inside.find(',').or_else(|| is_named(inside).then_some(start)).unwrap_or(inside.len()),
        false => inside.len(),
    };
    let words = inside[..end].trim_end();
    let words = words.strip_suffix('^').unwrap_or(words);
    start.min(words.len())..words.len()
}

fn is_named(inside: &str) -> bool {
    let name = inside.split('=').next().unwrap_or_default().trim();
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The displayed text of a link without link text.
fn shown_target(target: &str) -> String {
    let path = target.strip_prefix("mailto:").unwrap_or(target);
    if is_url(path) {
        return path.to_owned();
    }
    let path = path.split('#').next().filter(|path| !path.is_empty()).unwrap_or(path);
    let name = path.rsplit(['/', ':', '$', '#']).next().unwrap_or(path);
    name.strip_suffix(".adoc").unwrap_or(name).to_owned()
}

/// The link of an image: `link=` or `xref=` among the attributes in its brackets.
pub(in crate::adoc) fn attribute_link(inside: &str, offset: usize, attributes: &mut Attributes<'_>) -> Option<Link> {
    let list = attribute_list(inside);
    let (name, value) = ["link", "xref"].iter().find_map(|name| Some((*name, list.named(name)?)))?;
    let at = offset + inside.find(&format!("{name}=")).and_then(|at| Some(at + inside[at..].find(value)?))?;
    if value.is_empty() || value == "self" {
        return None;
    }
    let span = at..at + value.len();
    let target = attributes.replaced(value);
    let (target, kind) = match name {
        "xref" => (reference_target(&target, true), LinkKind::Inline),
        _ => (target, link_kind()),
    };
    Some(Link::of(target, span, kind))
}
