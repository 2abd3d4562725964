//! Parses single lines of AsciiDoc.

use crate::words::has_word;

/// The kind of block that a delimiter line opens, and the next equal line closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    Comment,
    /// `----`, `....` and Markdown fences.
    Verbatim,
    /// `++++`
    Passthrough,
    /// A block that contains other blocks.
    Blocks,
    /// `--`, whose content depends on the style.
    Open,
    /// A table with the separator of its cells; `None` if each line is a row (CSV, DSV).
    Table(Option<char>),
}

/// The kind of delimiter that a line is, if it is one.
pub(super) fn delimiter(line: &str) -> Option<Delimiter> {
    if line == "--" {
        return Some(Delimiter::Open);
    }
    if let Some(language) = line.strip_prefix("```") {
        return (!language.contains('`')).then_some(Delimiter::Verbatim);
    }
    let first = *line.as_bytes().first()?;
    if let Some(rest) = line.get(1..).filter(|rest| rest.len() > 2 && rest.bytes().all(|byte| byte == b'=')) {
        let separator = match first {
            b'|' | b'!' => Some(char::from(first)),
            b',' | b':' => None,
            _ => return (rest.len() + 1 == line.len() && first == b'=').then_some(Delimiter::Blocks),
        };
        return Some(Delimiter::Table(separator));
    }
    if line.len() < 4 || !line.bytes().all(|byte| byte == first) {
        return None;
    }
    Some(match first {
        b'/' => Delimiter::Comment,
        b'-' | b'.' => Delimiter::Verbatim,
        b'+' => Delimiter::Passthrough,
        b'=' | b'*' | b'_' => Delimiter::Blocks,
        _ => return None,
    })
}

/// A heading: its level (1 is the title of the page) and the byte offset of its text.
pub(super) fn heading(line: &str) -> Option<(u8, usize)> {
    let sign = line.chars().next().filter(|c| matches!(c, '=' | '#'))?;
    let level = line.len() - line.trim_start_matches(sign).len();
    let rest = &line[level..];
    let words = rest.trim_start_matches([' ', '\t']);
    (level <= 6 && words.len() < rest.len() && !words.is_empty()).then(|| (level as u8, line.len() - words.len()))
}

/// The level of a heading whose text is underlined.
pub(super) fn underlined(words: &str, under: &str) -> Option<u8> {
    let sign = under.chars().next()?;
    let level = "=-~^+".find(sign)?;
    let fits = under.chars().all(|c| c == sign)
        && !words.starts_with('.')
        && words.chars().any(char::is_alphanumeric)
        && words.chars().count().abs_diff(under.len()) < 2;
    (fits && under.len() > 1).then_some(level as u8 + 1)
}

/// The marker of a list item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// The length in bytes, with the whitespace after it.
    Bullet(usize),
    Number(usize),
    /// A term: where it ends, and where its description begins.
    Term {
        end: usize,
        rest: usize,
    },
}

/// The marker at the beginning of a line without indentation.
pub(super) fn marker(words: &str) -> Option<Marker> {
    let first = words.chars().next()?;
    let run = |signs: usize| {
        let rest = &words[signs..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        (blanks > 0 && blanks < rest.len()).then_some(signs + blanks)
    };
    let same = words.len() - words.trim_start_matches(first).len();
    match first {
        '*' if same <= 5 * '*'.len_utf8() => {
            if let Some(length) = run(same) {
                return Some(Marker::Bullet(length));
            }
        }
        '-' if same == 1 => return run(1).map(Marker::Bullet),
        '•' if same == first.len_utf8() => return run(same).map(Marker::Bullet),
        '.' if same <= 5 => return run(same).map(Marker::Number),
        '<' => {
            let number = words[1..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
            if (1..6).contains(&number) && words[1 + number..].starts_with('>') {
                return run(number + 2).map(Marker::Number);
            }
        }
        _ => {}
    }
    let number = words.bytes().take_while(u8::is_ascii_digit).count();
    let letters = usize::from(number == 0 && first.is_ascii_alphabetic());
    let length = number.max(letters);
    if (1..7).contains(&length)
        && words[length..].starts_with('.')
        && let Some(length) = run(length + 1)
    {
        return Some(Marker::Number(length));
    }
    term(words)
}

/// `term:: description`
fn term(words: &str) -> Option<Marker> {
    for (at, _) in words.match_indices([':', ';']).take(40) {
        let rest = &words[at..];
        let sign = rest.chars().next()?;
        let count = rest.len() - rest.trim_start_matches(sign).len();
        let is_first = at > 0 && !words[..at].ends_with(sign);
        let fits = if sign == ':' { (2..=4).contains(&count) } else { count == 2 };
        let behind = &rest[count..];
        if is_first && fits && (behind.is_empty() || behind.starts_with([' ', '\t'])) {
            let start = words.len() - behind.trim_start().len();
            return Some(Marker::Term { end: at, rest: start });
        }
    }
    None
}

/// `name::target[attributes]` on a line of its own: the name, and the byte offsets of the target and of the content of
/// the brackets.
pub(super) fn block_macro(line: &str) -> Option<(&str, usize, usize)> {
    let (name, rest) = line.split_once("::")?;
    let is_name = !name.is_empty()
        && name.len() < 40
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let open = rest.find('[')?;
    let target = &rest[..open];
    let is_target = !target.starts_with([' ', '\t']) && !target.ends_with([' ', '\t']);
    let start = name.len() + 2;
    (is_name && is_target && line.ends_with(']')).then_some((name, start, start + open + 1))
}

/// The attributes that a line in brackets gives to the block below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BlockAttributes {
    pub(super) id: Option<String>,
    /// The text of cross-references to the block.
    pub(super) words: Option<String>,
    pub(super) style: Option<String>,
    /// The positional attribute after the style.
    pub(super) second: Option<String>,
    pub(super) named: Vec<(String, String)>,
}

impl BlockAttributes {
    pub(super) fn named(&self, name: &str) -> Option<&str> {
        self.named.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Merges the attributes of another line, which take precedence.
    pub(super) fn add(&mut self, other: Self) {
        self.id = other.id.or(self.id.take());
        self.words = other.words.or(self.words.take());
        self.style = other.style.or(self.style.take());
        self.second = other.second.or(self.second.take());
        self.named.extend(other.named);
    }

    /// Whether the style is one of a list of words.
    pub(super) fn is_style(&self, styles: &str) -> bool {
        self.style.as_deref().is_some_and(|style| has_word(styles, style))
    }
}

/// `[[id]]`, `[style#id.role,…]`.
pub(super) fn block_attributes(line: &str) -> Option<BlockAttributes> {
    let inside = line.strip_prefix('[')?.strip_suffix(']')?;
    if let Some(anchor) = inside.strip_prefix('[') {
        let anchor = anchor.strip_suffix(']')?;
        let (id, words) =
            anchor.split_once(',').map_or((anchor, None), |(id, words)| (id, Some(words.trim().to_owned())));
        let fits = id.starts_with(|c: char| c.is_alphabetic() || "_:".contains(c)) && !id.contains([' ', '[', ']']);
        return fits.then(|| BlockAttributes { id: Some(id.to_owned()), words, ..BlockAttributes::default() });
    }
    let first = inside.chars().next();
    let fits = first.is_none_or(|c| c.is_alphanumeric() || "_.#%{,\"'".contains(c));
    fits.then(|| attribute_list(inside))
}

/// `style#id.role%option,second,name=value`.
pub(super) fn attribute_list(inside: &str) -> BlockAttributes {
    let mut found = BlockAttributes::default();
    for (ix, part) in commas(inside).into_iter().enumerate() {
        let name = part.split('=').next().unwrap_or_default().trim();
        let is_named = part.contains('=')
            && !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if is_named {
            let value = unquoted(part[part.find('=').map_or(0, |at| at + 1)..].trim());
            match name {
                "id" => found.id = Some(value.to_owned()),
                "reftext" => found.words = Some(value.to_owned()),
                _ => found.named.push((name.to_owned(), value.to_owned())),
            }
            continue;
        }
        let part = unquoted(part.trim());
        match ix {
            // The shorthand syntax has no spaces.
            0 if part.contains(' ') => found.style = Some(part.to_owned()),
            0 => {
                let style = part.split(['#', '.', '%']).next().unwrap_or_default();
                found.style = Some(style.to_owned()).filter(|style| !style.is_empty());
                if let Some((_, id)) = part.split_once('#') {
                    found.id = Some(id.split(['.', '%']).next().unwrap_or(id).to_owned()).filter(|id| !id.is_empty());
                }
            }
            1 => found.second = Some(part.to_owned()).filter(|part| !part.is_empty()),
            _ => {}
        }
    }
    found
}

/// Splits a list at its commas, except those in quotes.
fn commas(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b',') => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            (None, b'"' | b'\'') if matches!(text[from..at].trim_end().chars().next_back(), None | Some('=')) => {
                quote = Some(byte);
            }
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

fn unquoted(text: &str) -> &str {
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text)
}
