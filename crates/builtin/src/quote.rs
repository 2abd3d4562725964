//! Chooses the parts of passages that answer a question.
//!
//! Each block of each passage is scored by the terms of the question that it has: in itself, in the text that
//! introduces it, or in the headings above it, because an answer often does not repeat the question, but is under a
//! heading that does. Then the best block of each of the best passages is quoted with what stands around it, as far as
//! the limits allow. Long blocks are cut to their best units.

use std::borrow::Cow;
use std::ops::Range;

use docent_types::Passage;

use crate::answer_kind::AnswerKind;
use crate::blocks::{Block, BlockKind, blocks, sentences};
use crate::words::{TermSet, Topic};

/// Maximum number of characters quoted from the best, second and third passage. No more are quoted.
const MAX_QUOTE_CHARS: [usize; 3] = [900, 500, 400];
/// Maximum number of characters of text in an answer, about 12 lines; code does not count. Further passages are not quoted
/// beyond it.
const MAX_TEXT_CHARS: usize = 1_200;
/// Less room than this is too little for a quote.
const MIN_QUOTE_CHARS: usize = 200;
/// Maximum number of characters of one block of code.
const MAX_CODE_CHARS: usize = 900;
/// Maximum number of characters of a list of steps, which is quoted whole up to here.
const MAX_STEPS_CHARS: usize = 2_000;
/// A passage is quoted when it scores at least this share of the best one.
const NEAR_BEST: f32 = 0.8;
/// The same where more than one passage is needed: after an earlier question, and for the steps, the value or the list that
/// the passages before lack.
const NEAR_BEST_IF_NEEDED: f32 = 0.4;
/// Weight of a term in a heading above the block, or in the page's title. In the block itself, in the text that introduces
/// it or in its label the weight is 1.
const HEADING_WEIGHT: f32 = 0.6;
/// Factor for a block of the kind that the question expects.
const EXPECTED_KIND_FACTOR: f32 = 1.25;
/// Minimum factor for a section that the search did not find, on a page that it did find. The factor is higher if the
/// heading has terms of the question.
const MIN_UNMATCHED_FACTOR: f32 = 0.5;

/// A quote, and which of the passages it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) passage: usize,
    pub(crate) text: String,
    /// The sections directly below that list what is asked for.
    pub(crate) below: Vec<usize>,
}

/// A passage that may be quoted, with the score of its page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'p> {
    pub(crate) passage: &'p Passage,
    pub(crate) score: f32,
}

/// A passage, split into blocks.
struct Section<'p> {
    /// The terms in the headings above, and in the page's title.
    headings: TermSet,
    blocks: Vec<Block<'p>>,
    /// The terms that each block has in its own text.
    matched: Vec<TermSet>,
    /// Factor for the whole section, by its page and its heading.
    factor: f32,
}

/// The quotes that answer, best first. Links are replaced by their text, because a target that works on its page may
/// not work in an answer.
pub(crate) fn quotes(
    candidates: &[Candidate<'_>],
    topic: &Topic,
    expected: AnswerKind,
    is_follow_up: bool,
) -> Vec<Quote> {
    let best_page = candidates.iter().map(|candidate| candidate.score).fold(f32::MIN_POSITIVE, f32::max);
    let sections: Vec<Section<'_>> = candidates
        .iter()
        .map(|candidate| Section::of(candidate, is_found(candidate, candidates), topic, best_page))
        .collect();
    let terms = sections.iter().flat_map(|section| section.matched.iter().copied().chain([section.headings]));
    let topic = &topic.within(terms);
    let scores: Vec<Vec<f32>> = sections
        .iter()
        .map(|section| (0..section.blocks.len()).map(|at| section.score(at, topic, expected)).collect())
        .collect();
    let best: Vec<f32> = scores.iter().map(|blocks| blocks.iter().copied().fold(0.0, f32::max)).collect();
    let mut order: Vec<usize> = (0..sections.len()).filter(|at| best[*at] > 0.0).collect();
    // A stable sort: passages with the same score stay in order.
    order.sort_by(|a, b| best[*b].total_cmp(&best[*a]));
    let top = order.first().map_or(0.0, |first| best[*first]);
    let (mut quotes, mut text_chars, mut has_expected) = (Vec::new(), 0, false);
    for at in order {
        let Some(max_chars) = MAX_QUOTE_CHARS.get(quotes.len()) else { break };
        let max_chars = (*max_chars).min(MAX_TEXT_CHARS.saturating_sub(text_chars));
        let blocks = &sections[at].blocks;
        // What a follow-up asks about is partly in the question before, whose passage may come first.
        let is_needed = is_follow_up || !has_expected && blocks.iter().any(|block| expected.is_met_by(block));
        let min_score = top * if is_needed { NEAR_BEST_IF_NEEDED } else { NEAR_BEST };
        if best[at] < min_score || max_chars < MIN_QUOTE_CHARS {
            continue;
        }
        let parts = sections[at].blocks_to_quote(&scores[at], expected, max_chars);
        let parts: Vec<(usize, String)> =
            parts.map(|block| (block, quoted_text(&blocks[block], topic, expected, max_chars))).collect();
        let text = parts.iter().filter(|(block, _)| blocks[*block].kind != BlockKind::Code);
        text_chars += text.map(|(_, text)| text.chars().count()).sum::<usize>();
        has_expected |= parts.iter().any(|(block, _)| expected.is_met_by(&blocks[*block]));
        quotes.push(Quote { passage: at, text: joined(parts), below: Vec::new() });
    }
    // What is asked for may be the sections below.
    if expected == AnswerKind::List
        && !has_expected
        && let Some(first) = quotes.first_mut()
    {
        let above = candidates[first.passage].passage;
        let is_directly_below =
            |section: &Passage| is_below(section, above) && section.headings.len() == above.headings.len() + 1;
        first.below = (0..candidates.len()).filter(|at| is_directly_below(candidates[*at].passage)).collect();
    }
    quotes
}

/// Whether a section is below another on the same page.
fn is_below(section: &Passage, above: &Passage) -> bool {
    section.path == above.path
        && section.headings.len() > above.headings.len()
        && section.headings.starts_with(&above.headings)
}

/// Whether the search found the section of a candidate, or one above it on the same page.
fn is_found(candidate: &Candidate<'_>, all: &[Candidate<'_>]) -> bool {
    let section = candidate.passage;
    all.iter().map(|other| other.passage).any(|found| {
        let is_below = !found.headings.is_empty() && is_below(section, found);
        found.score > 0.0 && (found.href == section.href || is_below)
    })
}

impl<'p> Section<'p> {
    fn of(candidate: &Candidate<'p>, is_found: bool, topic: &Topic, best_page: f32) -> Self {
        let passage = candidate.passage;
        let heading = passage.headings.last().unwrap_or(&passage.title);
        let headings = passage.headings.iter().chain([&passage.title]);
        let headings = headings.fold(0, |matched, heading| matched | topic.matched_terms(heading));
        let mut blocks = blocks(&passage.content);
        // A section without a text of its own has the title for one.
        blocks.retain(|block| block.text != passage.title);
        let blocks = without_variants(blocks, topic);
        let matched = blocks.iter().map(|block| topic.matched_terms(block.text)).collect();
        let mut factor = candidate.score / best_page;
        if !is_found {
            let share = topic.share(topic.matched_terms(heading)).sqrt();
            factor *= MIN_UNMATCHED_FACTOR + (1.0 - MIN_UNMATCHED_FACTOR) * share;
        }
        Self { headings, blocks, matched, factor }
    }

    fn score(&self, at: usize, topic: &Topic, expected: AnswerKind) -> f32 {
        let block = &self.blocks[at];
        let own = self.introductions(at).fold(self.matched[at], |matched, at| matched | self.matched[at]);
        let is_expected = match expected {
            AnswerKind::Steps => block.is_code_or_steps() || self.leads_to_code(at),
            AnswerKind::Statement => block.kind == BlockKind::Prose,
            AnswerKind::Value | AnswerKind::List => expected.is_met_by(block),
        };
        let kind_factor = if is_expected { EXPECTED_KIND_FACTOR } else { 1.0 };
        (topic.weight(own) + HEADING_WEIGHT * topic.weight(self.headings & !own)) * kind_factor * self.factor
    }

    /// The blocks that introduce a block, the nearest first.
    fn introductions(&self, at: usize) -> impl Iterator<Item = usize> {
        (0..at).rev().take_while(|before| self.blocks[*before].introduces_next())
    }

    fn leads_to_code(&self, at: usize) -> bool {
        self.blocks[at].kind == BlockKind::Prose
            && self.blocks.get(at + 1).is_some_and(|next| next.kind == BlockKind::Code)
    }

    /// The blocks to quote: the best one with what stands around it; where steps are expected and these are none, the
    /// best steps of the section or its best code with what stands around.
    fn blocks_to_quote(&self, scores: &[f32], expected: AnswerKind, max_chars: usize) -> Range<usize> {
        // A block counts as much as the text that introduces it: a definition is often followed by a list of its parts.
        let score = |at: usize| self.introductions(at).map(|lead| scores[lead]).fold(scores[at], f32::max);
        let best = |blocks: &mut dyn Iterator<Item = usize>| {
            blocks.max_by(|a, b| score(*a).total_cmp(&score(*b)).then(b.cmp(a)))
        };
        let is_step = |at: &usize| self.blocks[*at].is_code_or_steps();
        let answers = || (0..self.blocks.len()).filter(|at| !self.blocks[*at].introduces_next());
        let quoted = self.around(best(&mut answers()).unwrap_or_default(), max_chars);
        if expected != AnswerKind::Steps || quoted.clone().any(|at| is_step(&at)) {
            return quoted;
        }
        best(&mut answers().filter(is_step)).map_or(quoted, |step| self.around(step, max_chars))
    }

    /// A block with its introduction and as many others as `max_chars` allow: all from the beginning of the section if
    /// these do, else first those after it.
    fn around(&self, best: usize, max_chars: usize) -> Range<usize> {
        let mut quoted = self.introductions(best).last().unwrap_or(best)..best + 1;
        let fits = |blocks: Range<usize>| self.size(blocks) <= max_chars;
        if fits(0..quoted.end) {
            quoted.start = 0;
        }
        while quoted.end < self.blocks.len() && fits(quoted.start..quoted.end + 1) {
            quoted.end += 1;
        }
        while quoted.start > 0 && fits(quoted.start - 1..quoted.end) {
            quoted.start -= 1;
        }
        // Without blocks at the end that introduce one that is not quoted.
        while quoted.len() > 1 && self.blocks[quoted.end - 1].introduces_next() {
            quoted.end -= 1;
        }
        quoted
    }

    /// The number of characters of blocks; of code half of them count.
    fn size(&self, blocks: Range<usize>) -> usize {
        let size = |block: &Block<'_>| plain(block).chars().count() / if block.is_code_or_steps() { 2 } else { 1 };
        self.blocks[blocks].iter().map(size).sum()
    }
}

/// The blocks without code that is a variant of the code before, such as for other languages or systems: of adjacent tabs
/// the first is kept, and those whose labels the question names.
fn without_variants<'p>(blocks: Vec<Block<'p>>, topic: &Topic) -> Vec<Block<'p>> {
    let mut kept: Vec<Block<'p>> = Vec::new();
    let mut blocks = blocks.into_iter().peekable();
    let is_tab = |label: Option<&Block<'_>>, code: Option<&Block<'_>>| {
        label.is_some_and(|label| label.kind == BlockKind::Label)
            && code.is_some_and(|code| code.kind == BlockKind::Code)
    };
    while let Some(block) = blocks.next() {
        let follows_tab = kept.len() > 1 && is_tab(kept.get(kept.len() - 2), kept.last());
        if follows_tab && is_tab(Some(&block), blocks.peek()) && topic.matched_terms(block.text) == 0 {
            blocks.next();
        } else {
            kept.push(block);
        }
    }
    kept
}

/// Parts of one passage in order, with `…` for gaps.
fn joined(parts: Vec<(usize, String)>) -> String {
    let mut text = String::new();
    let mut next = None;
    for (at, part) in parts {
        if next.is_some() {
            text.push_str(if next == Some(at) { "\n\n" } else { "\n\n…\n\n" });
        }
        text.push_str(&part);
        next = Some(at + 1);
    }
    text
}

/// A block as it is quoted: whole if it is short, else its best units.
fn quoted_text(block: &Block<'_>, topic: &Topic, expected: AnswerKind, max_chars: usize) -> String {
    let text = plain(block);
    let block = &Block { kind: block.kind, text: &text };
    let fits = text.chars().count() <= if block.is_steps() { MAX_STEPS_CHARS } else { max_chars };
    let text = match block.kind {
        BlockKind::Code => return cut_code(&text, MAX_CODE_CHARS),
        BlockKind::Label if !text.starts_with("**") => return format!("**{}**", text.replace('*', "")),
        _ if fits => text.to_string(),
        BlockKind::List if expected == AnswerKind::List => brief_items(block, max_chars),
        _ => best_units(block, topic, max_chars),
    };
    with_whole_code(&without_links(&text))
}

/// The text of a block; of a table without the spaces and dashes that align its columns.
fn plain<'t>(block: &Block<'t>) -> Cow<'t, str> {
    if block.kind != BlockKind::Table {
        return Cow::Borrowed(block.text);
    }
    let cells = |row: &str| row.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut text = block.text.lines().map(cells).collect::<Vec<_>>().join("\n");
    while text.contains("----") {
        text = text.replace("----", "---");
    }
    Cow::Owned(text)
}

/// The first sentence of each item of a list, as far as there is room.
fn brief_items(list: &Block<'_>, max_chars: usize) -> String {
    let mut room = max_chars;
    let items = list.units();
    let brief = items.iter().map(|item| {
        let first = sentences(item.trim_end()).first().map_or(*item, |first| first.trim_end());
        first.split("\n\n").next().unwrap_or(first)
    });
    let kept: Vec<&str> = brief
        .take_while(|item| {
            let size = item.chars().count();
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        })
        .collect();
    format!("{}{}", kept.join("\n"), if kept.len() < items.len() { "\n\n…" } else { "" })
}

/// The best units of a block in order, with `…` for gaps.
fn best_units(block: &Block<'_>, topic: &Topic, max_chars: usize) -> String {
    let units = block.units();
    let head: String = match block.kind {
        BlockKind::Table => block.text.split_inclusive('\n').take(2).collect(),
        _ => String::new(),
    };
    let scores: Vec<f32> = units.iter().map(|unit| topic.weight(topic.matched_terms(unit))).collect();
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let mut room = max_chars.saturating_sub(head.chars().count());
    let mut chosen = Vec::new();
    for unit in order.iter().copied() {
        let size = units[unit].chars().count();
        if size <= room {
            room -= size;
            chosen.push(unit);
        }
    }
    if chosen.is_empty() {
        let best = order.first().map_or(block.text, |best| units[*best]);
        return head.chars().chain(best.chars().take(max_chars)).chain(['…']).collect();
    }
    chosen.sort_unstable();
    let gap = if block.kind == BlockKind::Prose { "… " } else { "" };
    let mut text = head;
    let mut next = 0;
    for unit in &chosen {
        if *unit != next {
            text.push_str(gap);
        }
        text.push_str(units[*unit]);
        next = unit + 1;
    }
    let end = if block.kind == BlockKind::Prose { "…" } else { "\n\n…" };
    format!("{}{}", text.trim_end(), if chosen.len() < units.len() { end } else { "" })
}

/// Code cut after a line, with the fence closed.
fn cut_code(code: &str, max_chars: usize) -> String {
    if code.chars().count() <= max_chars {
        return code.to_owned();
    }
    let fence: String = code.trim_start().chars().take_while(|c| "`~".contains(*c)).collect();
    let end = code.char_indices().nth(max_chars).map_or(code.len(), |(end, _)| end);
    let end = code[..end].rfind('\n').unwrap_or(end);
    format!("{}\n{fence}\n\n…", &code[..end])
}

/// The text with `[words](target)` as `words`, and images as their alternative text.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        let Some((words, after)) = link(from) else {
            plain.push_str(before);
            plain.push('[');
            rest = &from[1..];
            continue;
        };
        plain.push_str(before.strip_suffix('!').unwrap_or(before));
        plain.push_str(words);
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// The text with each code span on one line: a reply is made safe line by line, where a span over two lines has no end.
fn with_whole_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        let (before, from) = rest.split_at(open);
        let ticks = leading_ticks(from);
        out.push_str(before);
        out.push_str(&from[..ticks]);
        rest = &from[ticks..];
        let Some(end) = closing_ticks(rest, ticks) else { continue };
        let inside = &rest[..end];
        // Of three and more begins a block of code, whose lines stay.
        match inside.contains('\n') && ticks < 3 {
            true => out.push_str(&inside.split_whitespace().collect::<Vec<_>>().join(" ")),
            false => out.push_str(inside),
        }
        out.push_str(&rest[end..end + ticks]);
        rest = &rest[end + ticks..];
    }
    out + rest
}

fn leading_ticks(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// Where the run of as many backticks begins that ends a code span; it is in the same paragraph.
fn closing_ticks(text: &str, ticks: usize) -> Option<usize> {
    let end = if ticks < 3 { text.find("\n\n").unwrap_or(text.len()) } else { text.len() };
    let mut at = 0;
    loop {
        at += text[at..end].find('`')?;
        match leading_ticks(&text[at..end]) {
            found if found == ticks => return Some(at),
            found => at += found,
        }
    }
}

/// `[words](target)` at the beginning: the words, and what follows.
fn link(text: &str) -> Option<(&str, &str)> {
    let words = text.strip_prefix('[')?;
    let close = closed(words, ['[', ']'], 500)?;
    let target = words[close + 1..].strip_prefix('(')?;
    let end = closed(target, ['(', ')'], 2_000)?;
    Some((&words[..close], &target[end + 1..]))
}

/// Where the bracket before a text is closed, within so many characters.
fn closed(text: &str, [open, close]: [char; 2], most_chars: usize) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().take(most_chars).find_map(|(at, c)| {
        depth += i32::from(c == open) - i32::from(c == close);
        (depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests;
