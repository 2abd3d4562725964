//! Finds the ranges of a page that a text replacement leaves alone: everything that is structure and not text.
//!
//! Names of elements, attributes and fields, imports, code in expressions, the language of a code block and explicit
//! anchors are always left alone. Links and URLs are left alone unless the replacement is about them.

use std::ops::Range;

use docent_markdown::{Format, Page, code_spans, has_word, regex};

/// Whether a replacement also changes links and URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Leave,
    Change,
}

/// Fields and attributes whose values are identifiers for a program.
const SYMBOLS: &str = "icon icontype iconlibrary mode layout type lang language id key class classname style color \
    rel target width height variant size method as template theme locale sidebar_position pagination_next \
    pagination_prev cols";

/// Fields and attributes whose values are links.
const ADDRESSES: &str = "href src srcset url slug canonical image img og:image og:url twitter:image openapi \
    openapi-schema asyncapi api redirect redirect_from aliases permalink to";

// ASCII word boundaries and classes: the Unicode ones are many times slower on non-ASCII text.
regex!(
    URL,
    r#"(?i)(?-u:\b)[a-z][a-z0-9+.-]{1,20}://[^\s"'`<>{}|\\^\[\]]+|(?-u:\b)www\.[^\s"'`<>{}|\\^\[\]]+|(?-u:\b[\w.+-]+@[\w-]+\.[\w.-]+\w)"#
);
// A host name without a scheme. The top-level domains are limited to those that no ordinary dotted word ends in.
regex!(
    HOST,
    r"(?i)(?-u:\b)(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app|ai|co|cloud|sh|xyz|info|eu|uk|de)(?-u:\b)(?:[/:?#][^\s\x22'`<>{}|\\^\[\])]*)?"
);
// Tags of Liquid, Jinja and Hugo, expressions of Vue, attribute lists.
regex!(TEMPLATE, r"(?s)\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|\{[:#.][^}\n]*\}");
// Names of containers and admonitions, and lines that include a file.
regex!(
    DIRECTIVE,
    r"(?m)^[ \t]*(?::{3,}[ \t]*[\w.-]+|(?:!!!|\?\?\?\+?)[ \t]+[\w-]+|(?:-+8<-+|<<<)[^\n]*|<!--[ \t]*@include[^\n]*)"
);
// Names of emoji and icons.
regex!(EMOJI, r":[A-Za-z0-9_+-]+:");
regex!(FENCE, r"(?m)^[ \t>]*(?:```+|~~~+)[ \t]*[A-Za-z0-9_+#.-]*");
regex!(EXPLICIT_ANCHOR, r"\{#[^}\s]*\}");
regex!(IMPORT, r#"(?m)^import(?-u:\b)(?:[^'"`;]*?(?-u:\b)from)?\s*['"][^'"\n]*['"]"#);
regex!(REEXPORT, r#"(?m)^export(?-u:\b)[^'"`;\n]*(?-u:\b)from\s*['"][^'"\n]*['"]"#);
regex!(TAG, r"</?[A-Za-z][A-Za-z0-9_.:-]*");
regex!(ATTRIBUTE, r#"([A-Za-z_@:][A-Za-z0-9_:.-]*)(\s*=\s*)("[^"]*"|'[^']*'|\{|[^\s"'{>]+)?|[^\s]"#);
regex!(FIELD, r#"(?m)^([ \t]*(?:-[ \t]+)?["']?([A-Za-z0-9_.:/-]+?)["']?[ \t]*:)(?:[ \t]+([^\n]*)|[ \t]*\r?$)"#);

/// The ranges that a replacement leaves alone, in order and merged.
pub(super) fn protected_ranges(page: &Page, text: &str, links: Links) -> Vec<Range<usize>> {
    let mut protected = Vec::new();
    front_matter(page, text, links, &mut protected);
    if links == Links::Leave {
        protected.extend(page.links.iter().map(|link| link.dest_span.clone()));
        protected.extend(addresses(text));
    }
    protected.extend(
        [&*TEMPLATE, &*DIRECTIVE].iter().flat_map(|pattern| pattern.find_iter(text)).map(|found| found.range()),
    );
    protected.extend(EMOJI.find_iter(text).map(|found| found.range()).filter(|range| {
        let (before, after) = (text[..range.start].chars().next_back(), text[range.end..].chars().next());
        ![before, after].into_iter().flatten().any(|c| c.is_alphanumeric() || c == ':')
    }));
    for code in &page.code {
        if let Some(fence) = text.get(code.clone()).and_then(|code| FENCE.find(code)).filter(|fence| fence.start() == 0)
        {
            protected.push(code.start..code.start + fence.end());
        }
    }
    for heading in &page.headings {
        if let Some(words) = text.get(heading.span.clone()) {
            let anchors = EXPLICIT_ANCHOR.find_iter(words);
            protected.extend(anchors.map(|found| heading.span.start + found.start()..heading.span.start + found.end()));
        }
    }
    if page.format == Format::Mdx {
        protected.extend(code_spans(&page.path, text));
    }
    for range in markup(page, text.len()) {
        let Some(markup) = text.get(range.clone()) else { continue };
        if page.format == Format::Mdx {
            for pattern in [&*IMPORT, &*REEXPORT] {
                protected.extend(
                    pattern.find_iter(markup).map(|found| range.start + found.start()..range.start + found.end()),
                );
            }
        }
        tags(markup, range.start, links, &mut protected);
    }
    merged(protected)
}

/// URLs, hosts and mail addresses in a text.
pub(super) fn addresses(text: &str) -> impl Iterator<Item = Range<usize>> {
    let found = URL.find_iter(text).chain(HOST.find_iter(text));
    found.map(|found| found.start()..found.start() + url_length(found.as_str()))
}

/// Whether the text to replace is itself an address, or an unmistakable part of one, so that links are meant, too.
pub(super) fn is_address_itself(find: &str) -> bool {
    let find = find.trim();
    let is_whole = |range: Range<usize>| range.start == 0 && range.end >= find.trim_end_matches('/').len();
    find.contains("://") || find.starts_with('/') || find.starts_with("www.") || addresses(find).any(is_whole)
}

/// Whether a match in code is, or may be, an identifier, which is left alone. A part of a longer name always is. A
/// search text with spaces or punctuation (`acme_key`, `acme.get()`), or of digits only, otherwise is not, as it was
/// asked for explicitly. Any other match is an identifier unless it is in a comment or in a quoted sentence.
pub(super) fn is_identifier(text: &str, code: &Range<usize>, range: &Range<usize>) -> bool {
    let find = &text[range.clone()];
    let joint = |c: Option<char>| c.is_some_and(|c| "_-./@$:\\".contains(c));
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
    let mut before = text[code.start..range.start].chars().rev();
    let mut after = text[range.end..code.end].chars();
    let (first, second) = (before.next(), before.next());
    let is_part = first.is_some_and(|c| "@$".contains(c)) || (joint(first) && (inside(second) || first == Some('/')));
    let is_part = is_part || {
        let (first, second) = (after.next(), after.next());
        joint(first) && inside(second)
    };
    let is_plain = find.chars().all(char::is_alphanumeric) && !find.chars().all(|c| c.is_ascii_digit());
    if is_part || find.contains(char::is_whitespace) || !is_plain {
        return is_part;
    }
    let line_start = text[code.start..range.start].rfind('\n').map_or(code.start, |at| code.start + at + 1);
    let line_end = text[range.end..code.end].find('\n').map_or(code.end, |at| range.end + at);
    let (head, tail) = (&text[line_start..range.start], &text[range.end..line_end]);
    let is_comment = ["// ", "# ", "-- ", "<!-- ", "/* "]
        .iter()
        .any(|mark| head.find(mark).is_some_and(|at| head[..at].is_empty() || head[..at].ends_with([' ', '\t'])))
        || head.trim_start().starts_with("* ");
    let is_sentence = ['"', '\''].iter().any(|quote| {
        let opened = head.matches(*quote).count() % 2 == 1;
        let inside = (head.rsplit(*quote).next(), tail.split(*quote).next());
        opened && tail.contains(*quote) && matches!(inside, (Some(a), Some(b)) if a.contains(' ') || b.contains(' '))
    });
    !is_comment && !is_sentence
}

/// The length of a URL without the punctuation of the surrounding sentence.
fn url_length(url: &str) -> usize {
    url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', ')']).len()
}

/// The ranges that are neither prose, code nor front matter, in order.
fn markup(page: &Page, end: usize) -> Vec<Range<usize>> {
    let mut taken: Vec<Range<usize>> = page.prose.iter().chain(&page.code).cloned().collect();
    taken.extend(page.front_matter.span.clone());
    let mut rest = Vec::new();
    let mut at = 0;
    for range in merged(taken) {
        if range.start > at {
            rest.push(at..range.start);
        }
        at = at.max(range.end);
    }
    if at < end {
        rest.push(at..end);
    }
    rest
}

/// Adds the names of elements and attributes, and values that are identifiers or links.
fn tags(markup: &str, offset: usize, links: Links, protected: &mut Vec<Range<usize>>) {
    for tag in TAG.find_iter(markup) {
        protected.push(offset + tag.start()..offset + tag.end());
        let rest = &markup[tag.end()..];
        let end = rest.find('>').map_or(rest.len(), |end| end + 1);
        for attribute in ATTRIBUTE.captures_iter(&rest[..end]) {
            let Some(name) = attribute.get(1) else { continue };
            let start = offset + tag.end();
            protected.push(start + name.start()..start + name.end());
            let (Some(value), name) = (attribute.get(3), name.as_str().to_lowercase()) else { continue };
            let is_address = has_word(ADDRESSES, &name) && links == Links::Leave;
            if has_word(SYMBOLS, &name) || is_address {
                protected.push(start + value.start()..start + value.end());
            }
        }
    }
}

/// Adds the names of fields, and values that are identifiers or links.
fn front_matter(page: &Page, text: &str, links: Links, protected: &mut Vec<Range<usize>>) {
    let (Some(span), Some(body)) = (page.front_matter.span.clone(), page.front_matter.body.clone()) else { return };
    protected.push(span.start..body.start);
    protected.push(body.end..span.end);
    let Some(fields) = text.get(body.clone()) else { return };
    for field in FIELD.captures_iter(fields) {
        let (Some(name), Some(word)) = (field.get(1), field.get(2)) else { continue };
        protected.push(body.start + name.start()..body.start + name.end());
        let Some(value) = field.get(3) else { continue };
        let word = word.as_str().to_lowercase();
        let is_address = has_word(ADDRESSES, &word) || is_address(value.as_str());
        if has_word(SYMBOLS, &word) || (is_address && links == Links::Leave) {
            protected.push(body.start + value.start()..body.start + value.end());
        }
    }
}

fn is_address(value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'']);
    let begins_as_path = ["/", "./", "../"].iter().any(|start| value.starts_with(start));
    begins_as_path && !value.contains(' ')
}

/// Sorts ranges and merges those that touch or overlap.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Whether a range overlaps one of these sorted, disjoint ranges.
pub(super) fn overlaps(ranges: &[Range<usize>], range: &Range<usize>) -> bool {
    let index = ranges.partition_point(|other| other.end <= range.start);
    ranges.get(index).is_some_and(|other| other.start < range.end)
}
