//! The part of a passage that answers a question, quoted.

use super::words::{Topic, term_set};

/// The most of one passage that is quoted, in characters; a code block that was begun is quoted whole.
const LONGEST: usize = 700;

/// A piece of a passage that is quoted or left as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Block<'a> {
    Prose(&'a str),
    /// Fences included.
    Code(&'a str),
}

impl<'a> Block<'a> {
    fn text(&self) -> &'a str {
        match *self {
            Self::Prose(text) | Self::Code(text) => text,
        }
    }
}

/// The blocks that meet the question best, in their order, with the code that belongs to them. Links become their
/// words, as a target that works on its page need not work in an answer.
pub(super) fn best(content: &str, topic: &Topic) -> String {
    let blocks = blocks(content);
    let fits: Vec<f32> = blocks.iter().map(|block| topic.met_by_terms(&term_set(block.text()))).collect();
    let Some(best) = (0..blocks.len()).max_by(|&a, &b| fits[a].total_cmp(&fits[b]).then(b.cmp(&a))) else {
        return String::new();
    };
    let mut chosen = vec![false; blocks.len()];
    let mut length = 0;
    // From the best block outwards in order of fit: each block that meets at least half as much and still has room.
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by(|&a, &b| fits[b].total_cmp(&fits[a]).then(a.cmp(&b)));
    for index in order {
        let size = blocks[index].text().chars().count();
        let wanted = index == best || (fits[index] > 0.0 && fits[index] * 2.0 >= fits[best]);
        if wanted && (length == 0 || length + size <= LONGEST) {
            chosen[index] = true;
            length += size;
        }
    }
    // What announces something (a colon, a label of its own) comes with what it announces.
    for index in 1..blocks.len() {
        let announced = announces(blocks[index - 1].text());
        let size = blocks[index].text().chars().count();
        if announced && chosen[index - 1] && length + size <= LONGEST * 2 {
            chosen[index] = true;
            length += size;
        } else if announced && chosen[index] {
            chosen[index - 1] = true;
        }
    }
    let mut parts: Vec<String> = Vec::new();
    let mut last = None;
    for (index, block) in blocks.iter().enumerate().filter(|(index, _)| chosen[*index]) {
        if last.is_some_and(|last| last + 1 < index) {
            parts.push("…".to_owned());
        }
        last = Some(index);
        parts.push(match block {
            Block::Prose(text) => clipped(&without_links(text), topic),
            Block::Code(text) => (*text).to_owned(),
        });
    }
    parts.join("\n\n")
}

/// Whether a block leads to the next one: it ends in a colon, or is a label in bold and nothing more.
fn announces(text: &str) -> bool {
    let text = text.trim();
    let label = text.strip_prefix("**").and_then(|text| text.strip_suffix("**"));
    text.ends_with([':', '：']) || label.is_some_and(|label| !label.contains("**") && !label.contains('\n'))
}

/// Paragraphs, lists and code blocks, headings left out.
fn blocks(content: &str) -> Vec<Block<'_>> {
    let mut ranges: Vec<(usize, usize, bool)> = Vec::new();
    let mut start: Option<usize> = None;
    let mut fence: Option<&str> = None;
    let (mut at, mut end) = (0, 0);
    for line in content.split_inclusive('\n') {
        let trimmed = line.trim();
        if let Some(mark) = fence {
            end = at + line.trim_end().len();
            if trimmed.starts_with(mark) && trimmed.trim_start_matches(['`', '~']).is_empty() {
                ranges.extend(start.take().map(|from| (from, end, true)));
                fence = None;
            }
        } else if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            ranges.extend(start.take().map(|from| (from, end, false)));
            start = Some(at);
            end = at + line.trim_end().len();
            fence = Some(mark);
        } else if trimmed.is_empty() || trimmed.starts_with('#') {
            ranges.extend(start.take().map(|from| (from, end, false)));
        } else {
            start.get_or_insert(at);
            end = at + line.trim_end().len();
        }
        at += line.len();
    }
    ranges.extend(start.take().map(|from| (from, end, fence.is_some())));
    ranges
        .into_iter()
        .map(|(from, to, is_code)| {
            let text = &content[from..to];
            if is_code { Block::Code(text) } else { Block::Prose(text) }
        })
        .collect()
}

/// A long paragraph as its best sentences; a list or table as it is, up to the limit.
fn clipped(text: &str, topic: &Topic) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    if text.contains('\n') {
        let mut short = String::new();
        for line in text.split_inclusive('\n') {
            if short.chars().count() + line.chars().count() > LONGEST && !short.is_empty() {
                break;
            }
            short.push_str(line);
        }
        let short: String = short.chars().take(LONGEST).collect();
        return format!("{}\n…", short.trim_end());
    }
    let sentences: Vec<&str> = sentences(text);
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    let fits: Vec<f32> = sentences.iter().map(|sentence| topic.met_by(sentence)).collect();
    order.sort_by(|&a, &b| fits[b].total_cmp(&fits[a]).then(a.cmp(&b)));
    let mut length = 0;
    let mut chosen: Vec<usize> = Vec::new();
    for index in order {
        let size = sentences[index].chars().count();
        if length + size <= LONGEST {
            length += size;
            chosen.push(index);
        }
    }
    if chosen.is_empty() {
        return text.chars().take(LONGEST).chain(std::iter::once('…')).collect();
    }
    chosen.sort_unstable();
    let mut quote = String::new();
    let mut expected = 0;
    for index in chosen {
        if index != expected {
            quote.push_str("… ");
        }
        quote.push_str(sentences[index]);
        expected = index + 1;
    }
    if expected < sentences.len() {
        quote.push('…');
    }
    quote.trim_end().to_owned()
}

/// Sentences with the white space after them.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut ended = false;
    for (at, c) in text.char_indices() {
        if ended && !c.is_whitespace() {
            sentences.push(&text[start..at]);
            start = at;
        }
        ended = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => text[at + c.len_utf8()..].starts_with(char::is_whitespace),
            c => ended && c.is_whitespace(),
        };
    }
    sentences.push(&text[start..]);
    sentences
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
mod tests {
    use super::*;

    #[test]
    fn the_paragraph_that_fits_is_quoted_with_its_code() {
        let content = "# Retries\n\nDeliveries are signed.\n\nTo change the retry policy, set `retries`:\n\n```toml\nretries = 5\n\n# done\n```\n\nUnrelated words about colours.\n";
        let quote = best(content, &Topic::of("how do I change the retry policy?"));
        assert_eq!(quote, "To change the retry policy, set `retries`:\n\n```toml\nretries = 5\n\n# done\n```");
    }

    #[test]
    fn a_gap_is_shown_and_links_become_their_words() {
        let content =
            "Keys [expire](/keys#expiry) after 90 days.\n\nSome more.\n\nExpired keys are ![x](y.png)refused.";
        assert_eq!(
            best(content, &Topic::of("when do keys expire")),
            "Keys expire after 90 days.\n\n…\n\nExpired keys are xrefused."
        );
    }

    #[test]
    fn a_label_comes_with_what_it_is_the_label_of() {
        let content = "Before.\n\n**Rotate a key**\n\nPress the button.\n\nAfter.";
        assert_eq!(best(content, &Topic::of("rotate key")), "**Rotate a key**\n\nPress the button.");
    }

    #[test]
    fn a_long_paragraph_is_cut_to_its_best_sentences() {
        let filler = "This sentence is about something else entirely. ".repeat(30);
        let content = format!("{filler}Rotate the signing key every month. {filler}");
        let quote = best(&content, &Topic::of("rotate signing key"));
        assert!(quote.contains("Rotate the signing key every month."), "{quote}");
        assert!(quote.chars().count() < LONGEST + 20);
    }

    #[test]
    fn brackets_that_are_no_links_stay() {
        for text in ["a [b] c", "a [b", "[[x]", "[x](", "![", "a[0](b"] {
            assert_eq!(without_links(text), text);
        }
        assert_eq!(without_links("[[a]](b) (c)"), "[a] (c)");
    }

    #[test]
    fn an_unclosed_fence_is_code_to_the_end() {
        assert_eq!(blocks("a\n```\nb\n\nc"), [Block::Prose("a"), Block::Code("```\nb\n\nc")]);
        assert_eq!(blocks(""), []);
    }
}
