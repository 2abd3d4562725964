//! Chooses the parts of passages that answer a question.
//!
//! Each block of each passage is scored by the terms of the question that it has: in itself, in the text that
//! introduces it, or in the headings above it, because an answer often does not repeat the question, but is under a
//! heading that does. Then the best blocks are quoted with their introductions as far as the limits allow. Long blocks
//! are cut to their best units.

use std::borrow::Cow;

use docent_types::Passage;

use crate::answer_kind::AnswerKind;
use crate::blocks::{Block, BlockKind, blocks, has_value};
use crate::outline::list_mark;
use crate::words::{TermSet, Topic, Weights};

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
const NEAR_BEST: f32 = 0.75;
/// The same where more than one passage is needed: for what a comparison is with, after an earlier question, and for the
/// steps, the value or the list that the passages before lack. Those in a section below the best one are quoted at any
/// score.
const NEAR_BEST_IF_NEEDED: f32 = 0.4;
/// A block is quoted when it scores at least this share of the best one of its passage.
const BLOCK_NEAR_BEST: f32 = 0.5;
/// Maximum number of characters of a quote that is extended with the blocks after the answering one: if the question
/// expects steps, and otherwise.
const MAX_EXTENDED_QUOTE_CHARS: [usize; 2] = [900, 500];
/// Weights of a term by its position: in code, where words may occur by chance; in the text that introduces the block;
/// in the block's heading; in a higher heading. In any other text of the block itself the weight is 1.
const CODE_WEIGHT: f32 = 0.85;
const LEAD_WEIGHT: f32 = 0.9;
const HEADING_WEIGHT: f32 = 0.7;
const UPPER_HEADING_WEIGHT: f32 = 0.55;
/// Share of the score for terms that occur together in one sentence, item or row.
const CO_OCCURRENCE_SHARE: f32 = 0.3;
/// Factor for a block of the kind that the question expects.
const EXPECTED_KIND_FACTOR: f32 = 1.25;
/// Factor for a page with score 0, and the share that is subtracted for each passage that precedes the page in the
/// search results.
const MIN_PAGE_FACTOR: f32 = 0.5;
const RANK_PENALTY: f32 = 0.05;
/// Minimum factor for a section that the search did not find, on a page that it did find. The factor is higher if the
/// heading has terms of the question.
const MIN_UNMATCHED_FACTOR: f32 = 0.5;
/// Factor for a heading with no term but the question's, less 1 for those with others.
const PRECISE_HEADING_FACTOR: f32 = 1.2;
/// Factor for the first text of a section where a statement is expected: a definition begins its section.
const DEFINITION_FACTOR: f32 = 1.15;
/// Factors for sections that only link to other pages, and for deprecated features.
const LINKS_ONLY_FACTOR: f32 = 0.3;
const OUTDATED_FACTOR: f32 = 0.5;

/// A quote, and which of the passages it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) passage: usize,
    pub(crate) text: String,
}

/// A passage that may be quoted, with the score of its page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'p> {
    pub(crate) passage: &'p Passage,
    pub(crate) score: f32,
    /// The position of the page's first passage in the search results.
    pub(crate) rank: usize,
}

/// A passage, split into blocks.
struct Section<'p> {
    heading: TermSet,
    above: TermSet,
    blocks: Vec<Block<'p>>,
    /// The terms that each block has in its own text.
    matched: Vec<TermSet>,
    /// Factor for the whole section, by its page and its heading.
    factor: f32,
}

/// The quotes that answer, best first. Links are replaced by their text, because a target that works on its page may
/// not work in an answer.
pub(crate) fn quotes(candidates: &[Candidate<'_>], topic: &Topic, expected: AnswerKind, question: &str) -> Vec<Quote> {
    let best_page = candidates.iter().map(|candidate| candidate.score).fold(f32::MIN_POSITIVE, f32::max);
    let sections: Vec<Section<'_>> =
        candidates.iter().map(|candidate| Section::of(candidate, topic, best_page, question)).collect();
    let texts: Vec<TermSet> = sections
        .iter()
        .map(|section| section.matched.iter().fold(section.heading | section.above, |all, matched| all | matched))
        .collect();
    let weights = topic.weights(&texts);
    let scores: Vec<Vec<f32>> = sections
        .iter()
        .map(|section| (0..section.blocks.len()).map(|at| section.score(at, topic, &weights, expected)).collect())
        .collect();
    let best: Vec<f32> = scores.iter().map(|blocks| blocks.iter().copied().fold(0.0, f32::max)).collect();
    let mut order: Vec<usize> = (0..sections.len()).filter(|at| best[*at] > 0.0).collect();
    // A stable sort: passages with the same score stay in order.
    order.sort_by(|a, b| best[*b].total_cmp(&best[*a]));
    let top = order.first().map_or(0.0, |first| best[*first]);
    // What a follow-up asks about is partly in the question before, whose passage may come first.
    let is_needed_always = compares(question) || topic.is_of_a_follow_up();
    let meets = |at: usize, max_chars: usize| {
        let quoted = sections[at].blocks_to_quote(&scores[at], expected, max_chars);
        quoted.iter().any(|block| expected.is_met_by(&sections[at].blocks[*block]))
    };
    // What the best section lacks may be in a section below it, whatever its score.
    let lacking = order.first().copied().filter(|first| !meets(*first, MAX_QUOTE_CHARS[0]));
    let below = lacking.and_then(|first| {
        let is_below = |at: &&usize| is_below(candidates[**at].passage, candidates[first].passage);
        order.iter().filter(is_below).copied().find(|at| meets(*at, MAX_QUOTE_CHARS[1]))
    });
    if let Some(below) = below {
        order.retain(|at| *at != below);
        order.insert(1, below);
    }
    let (mut quotes, mut text_chars, mut has_expected) = (Vec::new(), 0, false);
    for at in order {
        let Some(max_chars) = MAX_QUOTE_CHARS.get(quotes.len()) else { break };
        let max_chars = (*max_chars).min(MAX_TEXT_CHARS.saturating_sub(text_chars));
        let blocks = &sections[at].blocks;
        let is_needed = is_needed_always || !has_expected && blocks.iter().any(|block| expected.is_met_by(block));
        let is_near = best[at] >= top * if is_needed { NEAR_BEST_IF_NEEDED } else { NEAR_BEST };
        if !is_near && below != Some(at) || max_chars < MIN_QUOTE_CHARS {
            continue;
        }
        let parts = sections[at].blocks_to_quote(&scores[at], expected, max_chars).into_iter();
        let parts: Vec<(usize, String)> =
            parts.map(|block| (block, quoted_text(&blocks[block], topic, &weights, max_chars))).collect();
        let text = parts.iter().filter(|(block, _)| blocks[*block].kind != BlockKind::Code);
        text_chars += text.map(|(_, text)| text.chars().count()).sum::<usize>();
        has_expected |= parts.iter().any(|(block, _)| expected.is_met_by(&blocks[*block]));
        quotes.push(Quote { passage: at, text: joined(parts) });
    }
    quotes
}

/// Whether a passage is of a section below that of another, on the same page.
fn is_below(passage: &Passage, above: &Passage) -> bool {
    passage.path == above.path
        && passage.headings.len() > above.headings.len()
        && passage.headings.starts_with(&above.headings)
}

/// Whether a question is about the difference of two things.
fn compares(question: &str) -> bool {
    const WORDS: [&str; 8] =
        ["difference", "differ ", " vs", "versus", "compare", "unterschied", "différence", "diferencia"];
    let question = question.to_lowercase();
    WORDS.iter().any(|word| question.contains(word))
}

impl<'p> Section<'p> {
    fn of(candidate: &Candidate<'p>, topic: &Topic, best_page: f32, question: &str) -> Self {
        let passage = candidate.passage;
        let heading = passage.headings.last().unwrap_or(&passage.title);
        let above = passage.headings.iter().rev().skip(1).chain([&passage.title]);
        let above = above.fold(0, |matched, heading| matched | topic.matched_terms(heading));
        let blocks = blocks(&passage.content);
        let matched = blocks.iter().map(|block| topic.matched_terms(block.text)).collect();
        let mut factor = MIN_PAGE_FACTOR + (1.0 - MIN_PAGE_FACTOR) * candidate.score / best_page;
        factor *= 1.0 - RANK_PENALTY * candidate.rank as f32;
        if passage.score <= 0.0 {
            factor *=
                MIN_UNMATCHED_FACTOR + (1.0 - MIN_UNMATCHED_FACTOR) * topic.share(topic.matched_terms(heading)).sqrt();
        }
        factor *= 1.0 + (PRECISE_HEADING_FACTOR - 1.0) * topic.precision(heading);
        if only_links_elsewhere(heading) {
            factor *= LINKS_ONLY_FACTOR;
        }
        if is_outdated(heading) && !is_outdated(question) {
            factor *= OUTDATED_FACTOR;
        }
        Self { heading: topic.matched_terms(heading), above, blocks, matched, factor }
    }

    fn score(&self, at: usize, topic: &Topic, weights: &Weights, expected: AnswerKind) -> f32 {
        let block = &self.blocks[at];
        let leads = self.introductions(at).fold(0, |matched, at| matched | self.matched[at]);
        let under = self.label_above(at).map_or(0, |label| self.matched[label]);
        let (own, lead, heading) = (self.matched[at], leads | under, self.heading);
        let own_weight = if block.kind == BlockKind::Code { CODE_WEIGHT } else { 1.0 };
        let above = self.above & !(own | lead | heading);
        let weighted = own_weight * weights.of(own)
            + LEAD_WEIGHT * weights.of(lead & !own)
            + HEADING_WEIGHT * weights.of(heading & !(own | lead))
            + UPPER_HEADING_WEIGHT * weights.of(above);
        let units = block.units();
        let together = units.iter().map(|unit| weights.of(topic.matched_terms(unit))).fold(0.0, f32::max);
        let is_expected = match expected {
            AnswerKind::Steps => block.is_code_or_steps() || self.leads_to_code(at),
            AnswerKind::Value if block.kind == BlockKind::Code => false,
            AnswerKind::Value => {
                units.iter().any(|unit| has_value(unit) && (units.len() == 1 || topic.matched_terms(unit) != 0))
            }
            AnswerKind::List => {
                let names_many = block.kind == BlockKind::Prose && block.text.matches('`').count() >= 6;
                matches!(block.kind, BlockKind::List | BlockKind::Table) || names_many
            }
            AnswerKind::Statement => block.kind == BlockKind::Prose,
        };
        let mut kind_factor = if is_expected { EXPECTED_KIND_FACTOR } else { 1.0 };
        if expected == AnswerKind::Statement && at == 0 && is_expected {
            kind_factor *= DEFINITION_FACTOR;
        }
        let links_factor = if block.kind == BlockKind::List && is_of_links(&units) { LINKS_ONLY_FACTOR } else { 1.0 };
        (weighted * (1.0 - CO_OCCURRENCE_SHARE) + together * CO_OCCURRENCE_SHARE)
            * kind_factor
            * links_factor
            * self.factor
    }

    /// The blocks that introduce a block, the nearest first.
    fn introductions(&self, at: usize) -> impl Iterator<Item = usize> {
        (0..at).rev().take_while(|before| self.blocks[*before].introduces_next())
    }

    /// The label above the block: `**timeout**` above its description.
    fn label_above(&self, at: usize) -> Option<usize> {
        (0..at).rev().take(3).find(|before| self.blocks[*before].kind == BlockKind::Label)
    }

    fn leads_to_code(&self, at: usize) -> bool {
        self.blocks[at].kind == BlockKind::Prose
            && self.blocks.get(at + 1).is_some_and(|next| next.kind == BlockKind::Code)
    }

    /// The indices of the blocks to quote, in order: the best-scored blocks with their introductions, then the blocks
    /// after them, as far as `max_chars` and [`MAX_EXTENDED_QUOTE_CHARS`] allow. The best block is chosen even if it is
    /// longer than `max_chars`, and where steps are expected the best code is, if there would be none.
    fn blocks_to_quote(&self, scores: &[f32], expected: AnswerKind, max_chars: usize) -> Vec<usize> {
        // A block counts as much as the text that introduces it: a definition is often followed by a list of its parts.
        let scores: Vec<f32> = (0..self.blocks.len())
            .map(|at| self.introductions(at).map(|lead| scores[lead]).fold(scores[at], f32::max))
            .collect();
        let mut room = max_chars;
        let size = |blocks: &[Block<'_>]| blocks.iter().map(|block| block.text.chars().count()).sum::<usize>();
        let mut order: Vec<usize> = (0..self.blocks.len()).filter(|at| !self.blocks[*at].introduces_next()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let mut chosen: Vec<usize> = Vec::new();
        let min_score = order.first().map_or(0.0, |best| scores[*best] * BLOCK_NEAR_BEST);
        for at in order.into_iter().filter(|at| scores[*at] >= min_score) {
            if self.is_variant(at) && self.matched[at - 1] == 0 && chosen.iter().any(|chosen| self.is_variant(*chosen))
            {
                continue;
            }
            let blocks = self.with_context(at, expected);
            let size = size(&self.blocks[blocks.clone()]);
            if chosen.is_empty() || size <= room {
                room = room.saturating_sub(size);
                chosen.extend(blocks);
            }
        }
        let max_extended = MAX_EXTENDED_QUOTE_CHARS[usize::from(expected != AnswerKind::Steps)];
        let mut room = room.saturating_sub(max_chars.saturating_sub(max_extended));
        while let Some(next) = chosen.iter().max().map(|last| last + 1).filter(|next| *next < self.blocks.len()) {
            let size = size(&self.blocks[next..=next]);
            let has_variant = chosen.iter().any(|chosen| self.is_variant(*chosen));
            if size > room || has_variant && self.blocks[next].kind == BlockKind::Label {
                break;
            }
            room -= size;
            chosen.push(next);
        }
        let meets = |at: &usize| expected.is_met_by(&self.blocks[*at]);
        if expected == AnswerKind::Steps && !chosen.iter().any(meets) {
            let code =
                (0..self.blocks.len()).filter(meets).max_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(b.cmp(a)));
            let blocks = code.map(|at| self.with_context(at, expected));
            chosen.extend(
                blocks.filter(|blocks| size(&self.blocks[blocks.clone()]) <= MAX_CODE_CHARS).into_iter().flatten(),
            );
        }
        chosen.sort_unstable();
        chosen.dedup();
        // Drops blocks at the end that introduce a block that is not quoted.
        while chosen.len() > 1 && chosen.last().is_some_and(|last| self.blocks[*last].introduces_next()) {
            chosen.pop();
        }
        chosen
    }

    /// Whether the block is the code of a tab: the others are variants of it, such as for other languages.
    fn is_variant(&self, at: usize) -> bool {
        let is = |at: usize, kind| self.blocks.get(at).is_some_and(|block| block.kind == kind);
        at > 0 && is(at, BlockKind::Code) && is(at - 1, BlockKind::Label)
    }

    /// A block with the text that introduces or explains it.
    fn with_context(&self, at: usize, expected: AnswerKind) -> std::ops::Range<usize> {
        let (mut from, mut to) = (self.introductions(at).last().unwrap_or(at), at + 1);
        let is_code = |at: usize| self.blocks.get(at).is_some_and(|block| block.kind == BlockKind::Code);
        // Adjacent code blocks are variants of one example, such as for several operating systems.
        while expected == AnswerKind::Steps && is_code(to) && to - at < 3 {
            to += 1;
        }
        if is_code(at) && from == at && at > 0 && self.blocks[at - 1].kind == BlockKind::Prose {
            from = at - 1;
        }
        from..to
    }
}

/// Whether the section with this heading only links to other pages.
fn only_links_elsewhere(heading: &str) -> bool {
    const HEADINGS: [&str; 12] = [
        "next steps",
        "see also",
        "related",
        "further reading",
        "learn more",
        "more resources",
        "resources",
        "what's next",
        "what’s next",
        "read more",
        "references",
        "where to go",
    ];
    let heading = heading.to_lowercase();
    HEADINGS.iter().any(|known| heading.starts_with(known))
}

fn is_outdated(text: &str) -> bool {
    let text = text.to_lowercase();
    ["deprecat", "legacy", "migrat", "changelog", "upgrad"].iter().any(|word| text.contains(word))
}

/// Whether most items are only links, as in a table of contents.
fn is_of_links(items: &[&str]) -> bool {
    let is_link = |item: &&&str| {
        let item = item.trim_start();
        let item = list_mark(item).map_or(item, |mark| item[mark..].trim_start());
        item.starts_with('[') || item.starts_with("**[")
    };
    items.iter().filter(is_link).count() * 3 > items.len() * 2
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
fn quoted_text(block: &Block<'_>, topic: &Topic, weights: &Weights, max_chars: usize) -> String {
    let text = match block.kind {
        BlockKind::Code => return cut_code(&fenced(block.text), MAX_CODE_CHARS),
        BlockKind::Label if !block.text.starts_with("**") => return format!("**{}**", block.text.replace('*', "")),
        _ if block.is_steps() && block.text.chars().count() <= MAX_STEPS_CHARS => block.text.to_owned(),
        _ if block.text.chars().count() <= max_chars => block.text.to_owned(),
        _ => best_units(block, topic, weights, max_chars),
    };
    with_whole_code(&without_links(&text))
}

/// The best units of a block in order, with `…` for gaps.
fn best_units(block: &Block<'_>, topic: &Topic, weights: &Weights, max_chars: usize) -> String {
    let units = block.units();
    let head: String = match block.kind {
        BlockKind::Table => block.text.split_inclusive('\n').take(2).collect(),
        _ => String::new(),
    };
    let scores: Vec<f32> = units.iter().map(|unit| weights.of(topic.matched_terms(unit))).collect();
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let mut room = max_chars.saturating_sub(head.chars().count());
    let mut chosen = Vec::new();
    for unit in order {
        let size = units[unit].chars().count();
        if size <= room {
            room -= size;
            chosen.push(unit);
        }
    }
    if chosen.is_empty() {
        return block.text.chars().take(max_chars).chain(['…']).collect();
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

/// Code in a fence, where it is in `<pre>`: without tags and entities.
fn fenced(code: &str) -> Cow<'_, str> {
    if !code.starts_with("<pre") {
        return Cow::Borrowed(code);
    }
    let mut plain = String::new();
    let mut rest = code;
    while let Some(open) = rest.find('<') {
        plain.push_str(&rest[..open]);
        rest = rest[open..].split_once('>').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let plain = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    Cow::Owned(format!("```\n{}\n```", plain.trim_matches('\n')))
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
    let mut depth = 0;
    let close = text.char_indices().take(500).find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let target = text[close + 1..].strip_prefix('(')?;
    let mut depth = 1;
    let end = target.char_indices().take(2_000).find_map(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    Some((&text[1..close], &target[end + 1..]))
}

#[cfg(test)]
mod tests;
