//! Parses pieces with a CommonMark parser.

use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};

use super::addresses::as_label;
use super::spans::{Lookahead, Window};

/// How many closing parentheses are tried as the end of a link.
const TRIES: usize = 8;

/// Parses what follows `](`: the unescaped destination, and the length including the closing parenthesis.
pub(super) fn destination(window: Window<'_>) -> Option<Lookahead<(String, usize)>> {
    const LABEL: &str = "[x](";
    let text = window.text;
    let paragraph = text.find("\n\n");
    let inner = &text[..paragraph.unwrap_or(text.len())];
    let mut ends = inner.match_indices(')').map(|(at, _)| at + 1);
    for end in ends.by_ref().take(TRIES) {
        let link = format!("{LABEL}{}", &inner[..end]);
        let mut events = Parser::new(&link).into_offset_iter().skip(1);
        if let Some((Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, .. }), range)) = events.next()
            && range == (0..link.len())
        {
            return Some(Lookahead::At((dest_url.into_string(), end)));
        }
    }
    (window.whole || paragraph.is_some() || ends.next().is_some()).then_some(Lookahead::Nowhere)
}

/// The destination of `<…>`, if it is an autolink.
pub(super) fn autolink(text: &str) -> Option<String> {
    let event = Parser::new(text).nth(1)?;
    match event {
        Event::Start(Tag::Link { link_type: LinkType::Autolink, dest_url, .. }) => Some(dest_url.into_string()),
        Event::Start(Tag::Link { link_type: LinkType::Email, dest_url, .. }) => Some(format!("mailto:{dest_url}")),
        _ => None,
    }
}

/// The length of the entity at `&`, and the text that it encodes.
pub(super) fn entity(window: Window<'_>) -> Option<(usize, Option<String>)> {
    const LONGEST_NAME: usize = 40;
    let text = window.text;
    let name = text[1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    if name < LONGEST_NAME && 1 + name == text.len() && !window.whole {
        return None;
    }
    if name >= LONGEST_NAME || !text[1 + name..].starts_with(';') {
        return Some((1 + name, None));
    }
    let entity = &text[..1 + name + 1];
    let stands_for: String = Parser::new(entity)
        .filter_map(|event| match event {
            Event::Text(text) => Some(text.into_string()),
            _ => None,
        })
        .collect();
    if stands_for == entity {
        return Some((1 + name, None));
    }
    let mut out = String::new();
    for c in stands_for.chars() {
        match c {
            c if c.is_ascii_punctuation() => out.extend(['\\', c]),
            c if c.is_whitespace() || c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    Some((entity.len(), Some(out)))
}

/// Whether groups in braces, of which the first one begins here, give an element attributes that do something, as
/// `{: onclick=f() }` does for some renderers and `{i=1}` does not.
pub(super) fn sets_attributes(window: Window<'_>) -> Option<bool> {
    let groups = window.text.split('\n').next().unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || "-_:".contains(c);
    let is_long = |at: usize| groups[..at].chars().rev().take_while(|c| is_name(*c)).count() > 1;
    let sets = groups.contains(['#', '.']) || groups.match_indices('=').any(|(at, _)| is_long(at));
    (sets || groups.len() < window.text.len() || window.whole).then_some(sets)
}

/// A label on one line that contains only words, code and emphasis.
pub(super) fn flat(label: &str, mut span: impl FnMut(&str) -> String) -> String {
    // Prevents a number or a dash from being read as a list item.
    const GUARD: char = '.';
    let label = format!("{GUARD}{label}");
    let mut is_first = true;
    let mut out = String::with_capacity(label.len());
    for event in Parser::new(&label) {
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                let text = if std::mem::take(&mut is_first) { text.trim_start_matches(GUARD) } else { &text };
                out.push_str(&as_label(&text.replace('\n', " "), out.is_empty()));
            }
            // Renderers disagree about where such code ends, and so whether there is a link.
            Event::Code(code) if code.contains('`') => out.push_str(&as_label(&code, false)),
            Event::Code(code) => out.push_str(&span(&code)),
            Event::SoftBreak | Event::HardBreak => out.push(' '),
            Event::Start(Tag::Emphasis) | Event::End(TagEnd::Emphasis) => out.push('*'),
            Event::Start(Tag::Strong) | Event::End(TagEnd::Strong) => out.push_str("**"),
            _ => {}
        }
    }
    out
}
