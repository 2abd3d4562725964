//! Pieces of a line: code, labels, destinations, URLs. Each is found, is not there, or (`None`) depends on what follows.

/// What can be seen of the text from a place on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) text: &'a str,
    /// Whether nothing more will be seen: the text is over, or this is as far as anybody looks.
    pub(super) whole: bool,
}

impl<'a> Window<'a> {
    pub(super) fn from(self, at: usize) -> Self {
        Self { text: &self.text[at..], ..self }
    }
}

pub(super) enum Found<T> {
    At(T),
    Nowhere,
}

pub(super) enum Span {
    Closed(usize),
    Open(usize),
}

/// Code between backticks; both on one line.
pub(super) fn code_span(window: Window<'_>) -> Option<Span> {
    let text = window.text;
    let length = text.bytes().take_while(|byte| *byte == b'`').count();
    let mut at = length;
    while at < text.len() && text.as_bytes()[at] != b'\n' {
        let run = text.as_bytes()[at..].iter().take_while(|byte| **byte == b'`').count();
        if run == length && (at + run < text.len() || window.whole) {
            return Some(Span::Closed(at + run));
        }
        at += run.max(1);
    }
    (at < text.len() || window.whole).then_some(Span::Open(length))
}

/// Where the bracket ends that was opened before `window`.
pub(super) fn label_end(window: Window<'_>) -> Option<Found<usize>> {
    let bytes = window.text.as_bytes();
    let (mut at, mut depth, mut blank) = (0, 1, false);
    while at < bytes.len() {
        let mut length = 1;
        match bytes[at] {
            b'\\' => length = 2,
            b'`' => {
                length = match code_span(window.from(at))? {
                    Span::Closed(length) | Span::Open(length) => length,
                }
            }
            b'[' => depth += 1,
            b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(Found::At(at));
                }
            }
            b'\n' if blank => return Some(Found::Nowhere),
            _ => {}
        }
        blank = bytes[at] == b'\n' || (blank && bytes[at].is_ascii_whitespace());
        at += length;
    }
    window.whole.then_some(Found::Nowhere)
}

/// A destination with an optional title and the closing parenthesis: the destination without escapes, and the length.
pub(super) fn target(window: Window<'_>) -> Option<Found<(String, usize)>> {
    let open = || window.whole.then_some(Found::Nowhere);
    let text = window.text;
    let start = text.len() - text.trim_start().len();
    let rest = &text[start..];
    if rest.is_empty() {
        return open();
    }
    let (written, mut at) = if let Some(inner) = rest.strip_prefix('<') {
        let Some(end) = inner.find(['>', '<', '\n']) else { return open() };
        if inner.as_bytes()[end] != b'>' {
            return Some(Found::Nowhere);
        }
        (&inner[..end], start + end + 2)
    } else {
        let (mut depth, mut end, mut escaped) = (0_usize, None, false);
        for (at, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => {
                    escaped = true;
                    continue;
                }
                '(' => depth += 1,
                ')' if depth > 0 => depth -= 1,
                c if c == ')' || c.is_whitespace() || c.is_control() => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let Some(end) = end else { return open() };
        (&rest[..end], start + end)
    };
    at += text[at..].len() - text[at..].trim_start().len();
    let closing = match text[at..].chars().next() {
        None => return open(),
        Some(')') => return Some(Found::At((unescaped(written), at + 1))),
        Some('"') => '"',
        Some('\'') => '\'',
        Some('(') => ')',
        Some(_) => return Some(Found::Nowhere),
    };
    let Some(end) = text[at + 1..].find(closing) else { return open() };
    at += end + 2;
    at += text[at..].len() - text[at..].trim_start().len();
    match text[at..].chars().next() {
        None => open(),
        Some(')') => Some(Found::At((unescaped(written), at + 1))),
        Some(_) => Some(Found::Nowhere),
    }
}

pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && next.is_ascii_punctuation() => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}

/// Whether what stands between angle brackets is a URL: a scheme, a colon, and no space.
pub(super) fn is_address(text: &str) -> bool {
    let scheme = text.split(':').next().unwrap_or_default();
    scheme.len() < text.len()
        && (2..=32).contains(&scheme.len())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
        && !text.contains(|c: char| c.is_whitespace() || c == '<')
}

/// Whether a URL in running text is over here.
pub(super) fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "<>\"'`|\\^{}[]".contains(c) || (!c.is_ascii() && !c.is_alphanumeric())
}

/// A URL without the marks that belong to the sentence around it.
pub(super) fn trimmed_url(run: &str) -> &str {
    let mut url = run;
    loop {
        let shorter = url.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '~']);
        let closing = shorter.strip_suffix(')').filter(|_| shorter.matches(')').count() > shorter.matches('(').count());
        match closing {
            Some(shorter) => url = shorter,
            None if shorter.len() < url.len() => url = shorter,
            None => return url,
        }
    }
}

/// The http and https URLs in a text, as a reader sees them.
pub(crate) fn urls(text: &str) -> impl Iterator<Item = &str> {
    // Colons are rarer than what begins like a scheme, and one letter is sooner found than several.
    text.match_indices(':').filter(|(at, _)| text[*at..].starts_with("://")).filter_map(|(at, _)| {
        let scheme = ["https", "http"].into_iter().find(|scheme| text[..at].ends_with(scheme))?;
        Some(trimmed_url(text[at - scheme.len()..].split(ends_url).next().unwrap_or_default()))
    })
}
