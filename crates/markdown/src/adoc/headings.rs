//! Titles, headings and their ids.

use std::ops::Range;

use super::{PageParser, attributes, inline, lines, tidied};
use crate::page_builder::Line;

impl<'t> PageParser<'t> {
    /// Reads the title of the page, which has a generated id only in the styles of a forge.
    pub(super) fn title(&mut self, line: Line<'t>, words: Range<usize>, span: Range<usize>) {
        let pending = std::mem::take(&mut self.pending);
        let read = inline::read(self.text, line.start + words.start..line.start + words.end, &mut self.attributes);
        let generated = if self.defaults.0 == "_" { String::new() } else { crate::anchors::slug(&read.text) };
        if let Some(id) = &pending.id {
            self.ids.take(id);
            self.page.id(id.clone());
        }
        self.attributes.set("doctitle", Some(&read.text));
        self.page.heading(1, tidied(&read.text), generated, span);
        self.take(read);
    }

    pub(super) fn heading(&mut self, at: usize) -> Option<usize> {
        let line = self.lines[at];
        let (level, words, span, next) = match lines::heading(line.text) {
            Some((level, start)) => {
                let sign = &line.text[..1];
                let words = line.text[start..].trim_end();
                let closed = words.trim_end_matches(sign);
                let is_closed = words.len() - closed.len() == usize::from(level) && closed.ends_with(' ');
                let words = if is_closed { closed.trim_end() } else { words };
                (level, line.start + start..line.start + start + words.len(), line.start..line.end(), at + 1)
            }
            None => {
                let under = self.lines.get(at + 1)?;
                let level = lines::underlined(line.text, under.text)?;
                (level, line.start..line.end(), line.start..under.end(), at + 2)
            }
        };
        let is_discrete = self.pending.is_style("discrete float");
        if !self.open.is_empty() && !is_discrete {
            return None;
        }
        let pending = std::mem::take(&mut self.pending);
        let offset: i32 =
            self.attributes.get("leveloffset").and_then(|by| by.trim_start_matches('+').parse().ok()).unwrap_or(0);
        let level = (i32::from(level).saturating_add(offset)).clamp(1, 6) as u8;
        let (words, inline_id) = trailing_anchor(self.text, words);
        let read = inline::read(self.text, words, &mut self.attributes);
        let words = tidied(&read.text);
        let id = pending.id.or(inline_id);
        let anchor = match id {
            Some(id) => {
                self.ids.take(&id);
                id
            }
            None => self.generated_id(&read.text),
        };
        if let Some(words) = pending.words {
            self.titles.entry(words).or_insert_with(|| anchor.clone());
        }
        self.titles.entry(words.clone()).or_insert_with(|| anchor.clone());
        self.page.heading(level, words, anchor, span);
        self.take(read);
        Some(next)
    }

    /// The id derived from the text of a heading; empty if generated ids are switched off, or if the text refers to an
    /// unknown attribute.
    fn generated_id(&mut self, words: &str) -> String {
        if self.attributes.known("sectids") == Some(None) || names_attribute(words) {
            return String::new();
        }
        let prefix = self.attributes.known("idprefix").flatten().unwrap_or(self.defaults.0).to_owned();
        let separator = self.attributes.known("idseparator").flatten().unwrap_or(self.defaults.1);
        let separator = separator.chars().next().map(String::from).unwrap_or_default();
        self.ids.of_heading(&replacements(words), &prefix, &separator)
    }
}

/// Whether a text refers to an unknown attribute.
fn names_attribute(words: &str) -> bool {
    words.match_indices('{').take(20).any(|(at, _)| attributes::reference(&words[at..]).is_some())
}

/// `Words [[id]]`
fn trailing_anchor(text: &str, words: Range<usize>) -> (Range<usize>, Option<String>) {
    let written = &text[words.clone()];
    let found = written.strip_suffix("]]").and_then(|rest| rest.rsplit_once("[["));
    match found {
        Some((before, anchor)) if !before.is_empty() && !anchor.contains([']', '[']) && !before.ends_with('\\') => {
            let id = anchor.split(',').next().unwrap_or(anchor).to_owned();
            (words.start..words.start + before.trim_end().len(), Some(id))
        }
        _ => (words, None),
    }
}

/// Applies Asciidoctor's replacements of characters, with the thin spaces around a dash, which are dropped from an id.
fn replacements(words: &str) -> String {
    if !words.contains(['-', '.', '(', '&']) {
        return words.to_owned();
    }
    let mut out = words.replace(" -- ", "\u{2009}—\u{2009}").replace("...", "…");
    for (sign, by) in [("(C)", "©"), ("(R)", "®"), ("(TM)", "™"), ("->", "→"), ("<-", "←")] {
        out = out.replace(sign, by);
    }
    out
}
