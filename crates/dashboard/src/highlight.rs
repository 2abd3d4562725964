//! Syntax highlighting of Markdown in diffs: front matter, headings, code, links, tags and comments.
//!
//! Lines are read one after another, and the only state is what a line leaves open (front matter, a code block, a
//! comment), so that a hunk can begin anywhere. Other files stay plain, and so do the lines of a code block.

use std::ops::Range;

/// The longest line that is highlighted, in bytes.
const MAX_LINE_BYTES: usize = 1_000;

/// A highlighted part of a line. The parts of a line are in order and do not overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Highlight {
    pub(crate) at: Range<usize>,
    pub(crate) class: Class,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A comment, or the delimiter of a code block or of front matter.
    Comment,
    /// Inline code, or a value of the front matter.
    Literal,
    /// The target of a link.
    Value,
    /// The marker of a list item, a quote or an admonition.
    Keyword,
    /// The name of a field or tag.
    Name,
    Heading,
}

impl Class {
    /// The CSS class.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Comment => "c-note",
            Self::Literal => "c-lit",
            Self::Value => "c-val",
            Self::Keyword => "c-word",
            Self::Name => "c-name",
            Self::Heading => "c-head",
        }
    }
}

/// Highlights the lines of one file, one after another.
#[derive(Debug, Clone)]
pub(crate) struct Highlighter {
    is_markdown: bool,
    open: Open,
}

/// What the earlier lines leave open.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    /// The next line is the first of the file.
    Start,
    /// Reading began further down, and no fence has been seen: the first fence without an info string may close a block
    /// whose beginning is not shown.
    Unknown,
    Prose,
    Comment,
    FrontMatter,
    /// A code block, with the fence that it began with.
    Code(String),
}

impl Highlighter {
    /// For the file at this path. `at_first_line`: the next line is the first of the file.
    pub(crate) fn of(path: &str, at_first_line: bool) -> Self {
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        let is_markdown = ["md", "mdx", "markdown", "mdoc", "qmd"].contains(&extension.as_str());
        Self { is_markdown, open: if at_first_line { Open::Start } else { Open::Unknown } }
    }

    /// The highlighted parts of the next line.
    pub(crate) fn line(&mut self, text: &str) -> Vec<Highlight> {
        if !self.is_markdown || text.len() > MAX_LINE_BYTES {
            return Vec::new();
        }
        let mut line = Line { text, at: 0, highlights: Vec::new() };
        match &self.open {
            Open::Start if text.trim_end() == "---" => {
                line.take_rest(Class::Comment);
                self.open = Open::FrontMatter;
            }
            Open::FrontMatter if text.trim_end() == "---" => {
                line.take_rest(Class::Comment);
                self.open = Open::Prose;
            }
            Open::FrontMatter => line.take_field(),
            Open::Code(fence) => {
                let text = text.trim();
                if text.starts_with(fence.as_str()) && text.chars().all(|c| fence.starts_with(c)) {
                    line.take_rest(Class::Comment);
                    self.open = Open::Prose;
                }
            }
            Open::Start | Open::Unknown | Open::Prose | Open::Comment => self.prose(&mut line),
        }
        line.highlights
    }

    fn prose(&mut self, line: &mut Line<'_>) {
        if self.open == Open::Start {
            self.open = Open::Prose;
        }
        if self.open == Open::Comment {
            self.take_comment(line);
        } else {
            let trimmed = line.text.trim_start();
            let fence = fence_of(trimmed);
            if !fence.is_empty() {
                let closes = self.open == Open::Unknown && trimmed.trim_end() == fence;
                self.open = if closes { Open::Prose } else { Open::Code(fence.to_owned()) };
                return line.take_rest(Class::Comment);
            }
            let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
            if (1..=6).contains(&level) && trimmed[level..].starts_with(' ') {
                return line.take_rest(Class::Heading);
            }
            line.at = line.text.len() - trimmed.len();
            line.take_marker();
        }
        let mut is_unclosed_link = false;
        while let Some(c) = line.remaining().chars().next() {
            let rest = line.remaining();
            if rest.starts_with("<!--") {
                self.take_comment(line);
            } else if c == '`' {
                let ticks = rest.len() - rest.trim_start_matches('`').len();
                match rest[ticks..].find(&rest[..ticks]) {
                    Some(end) => line.take(ticks + end + ticks, Class::Literal),
                    None => line.at += ticks,
                }
            } else if rest.starts_with("](") && !is_unclosed_link {
                line.at += 2;
                match rest.find(')') {
                    Some(end) => line.take(end - 2, Class::Value),
                    None => is_unclosed_link = true,
                }
            } else if c == '<' && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
                line.at += 1;
                let name = rest[1..].find(|c: char| !(c.is_alphanumeric() || "/.-:_".contains(c)));
                line.take(name.unwrap_or(rest.len() - 1), Class::Name);
            } else {
                line.at += c.len_utf8();
            }
        }
    }

    /// Takes a comment up to its end, or to the end of the line, which leaves it open.
    fn take_comment(&mut self, line: &mut Line<'_>) {
        match line.remaining().find("-->") {
            Some(end) => {
                line.take(end + "-->".len(), Class::Comment);
                self.open = Open::Prose;
            }
            None => {
                line.take_rest(Class::Comment);
                self.open = Open::Comment;
            }
        }
    }
}

/// The fence at the beginning of a line of three backticks or tildes and more.
fn fence_of(line: &str) -> &str {
    let sign = if line.starts_with('~') { '~' } else { '`' };
    let fence = &line[..line.len() - line.trim_start_matches(sign).len()];
    if fence.len() >= 3 && !line[fence.len()..].contains('`') { fence } else { "" }
}

/// A line that is being read.
struct Line<'l> {
    text: &'l str,
    at: usize,
    highlights: Vec<Highlight>,
}

impl<'l> Line<'l> {
    fn remaining(&self) -> &'l str {
        &self.text[self.at..]
    }

    fn take(&mut self, length: usize, class: Class) {
        if length > 0 {
            self.highlights.push(Highlight { at: self.at..self.at + length, class });
        }
        self.at += length;
    }

    fn take_rest(&mut self, class: Class) {
        self.take(self.text.len() - self.at, class);
    }

    /// The marker of a block quote, list item or admonition.
    fn take_marker(&mut self) {
        let rest = self.remaining();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let word = rest.split(' ').next().unwrap_or_default();
        if rest.starts_with(":::") || rest.starts_with("!!! ") {
            self.take_rest(Class::Keyword);
        } else if matches!(word, "-" | "*" | "+" | ">") || word.strip_suffix(['.', ')']).is_some_and(is_number) {
            self.take(word.len(), Class::Keyword);
        }
    }

    /// A line of the front matter: a comment, or a name and its value.
    fn take_field(&mut self) {
        if self.text.trim_start().starts_with('#') {
            return self.take_rest(Class::Comment);
        }
        let field = self.text.trim_start_matches([' ', '-']);
        let is_name = |c: char| c.is_alphanumeric() || "_-./$".contains(c);
        let name = field.find(|c: char| !is_name(c)).unwrap_or(field.len());
        let value = &field[name..];
        if name > 0 && (value == ":" || value.starts_with(": ")) {
            self.at = self.text.len() - field.len();
            self.take(name, Class::Name);
            self.at += value.len() - value[1..].trim_start().len();
            self.take_rest(Class::Literal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The highlighted parts of each line, as `class:text`.
    fn read(path: &str, at_first_line: bool, text: &str) -> Vec<String> {
        let mut highlighter = Highlighter::of(path, at_first_line);
        let parts = |line: &str| -> Vec<String> {
            let highlights = highlighter.line(line);
            highlights.iter().map(|part| format!("{}:{}", &part.class.as_str()[2..], &line[part.at.clone()])).collect()
        };
        text.lines().map(parts).map(|parts| parts.join(" | ")).collect()
    }

    #[test]
    fn markdown_has_front_matter_code_and_prose() {
        let page = "---\n# why\ntitle: \"A\"\ntags:\n---\n## Use it\n- See [the guide](/guide) or `npm i`.\n```js\n# no \
                    title\n```\nIt isn't <Note type=\"x\">.";
        assert_eq!(
            read("docs/a.mdx", true, page),
            [
                "note:---",
                "note:# why",
                "name:title | lit:\"A\"",
                "name:tags",
                "note:---",
                "head:## Use it",
                "word:- | val:/guide | lit:`npm i`",
                "note:```js",
                "",
                "note:```",
                "name:Note",
            ]
        );
    }

    #[test]
    fn a_part_may_begin_in_the_middle_of_code() {
        assert_eq!(read("a.md", false, "some code\n```\n# Title"), ["", "note:```", "head:# Title"]);
        assert_eq!(read("a.md", false, "---\nx: 1"), ["", ""], "a rule, not front matter");
        assert_eq!(read("a.md", true, "```\n# no title\n```"), ["note:```", "", "note:```"]);
    }

    #[test]
    fn other_files_stay_plain() {
        for path in ["a.ts", "docs.json", "Makefile", "a.md/b"] {
            assert_eq!(read(path, true, "# const a = `1`"), [""], "{path}");
        }
    }

    #[test]
    fn comments_and_fences_continue_on_the_next_line() {
        assert_eq!(read("a.md", true, "<!-- a\n# b\n-->c"), ["note:<!-- a", "note:# b", "note:-->"]);
        assert_eq!(read("a.md", true, "~~~~\n~~~\n~~~~ \n# a"), ["note:~~~~", "", "note:~~~~ ", "head:# a"]);
    }

    #[test]
    fn hostile_lines_come_to_an_end() {
        for unit in ["`", "`a``b```", "](", "<a", "[", "<!--", "::", "---", "~"] {
            let line = unit.repeat(MAX_LINE_BYTES / unit.len());
            let mut highlighter = Highlighter::of("a.md", true);
            highlighter.line(&line);
            assert_eq!(highlighter.line(&unit.repeat(1 << 20)), [], "too long a line has none");
        }
    }

    proptest::proptest! {
        #[test]
        fn parts_are_in_order_and_inside_of_their_line(
            lines in proptest::collection::vec("(---|[#`~<>/*\"'=:a-z0-9 ]|\\PC){0,60}", 0..8), is_first in proptest::bool::ANY,
        ) {
            let mut highlighter = Highlighter::of("a.md", is_first);
            for line in &lines {
                let mut last = 0;
                for part in highlighter.line(line) {
                    proptest::prop_assert!(part.at.start >= last && part.at.end > part.at.start);
                    proptest::prop_assert!(line.get(part.at.clone()).is_some());
                    last = part.at.end;
                }
            }
        }
    }
}
