//! Syntax highlighting for diffs: finds names, strings, comments and the like in the lines of a file.
//!
//! Docs are Markdown with front matter and fenced code, YAML, JSON and scripts. Lines are read one after another, and
//! the only state is what a line leaves open (a comment, a string, a code block), so that a hunk can begin anywhere.
//! Unknown syntax stays plain.

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
    /// A comment.
    Comment,
    /// A quoted string, or inline code in prose.
    Literal,
    /// A number, a constant, the target of a link.
    Value,
    /// A keyword, or a marker of Markdown.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Markdown,
    Yaml,
    Json,
    Toml,
    Script,
    Python,
    Shell,
    Markup,
    Style,
}

impl Language {
    /// By the extension of a file, or by the first word of a fence's info string.
    fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "md" | "mdx" | "markdown" | "mdoc" | "qmd" => Self::Markdown,
            "yml" | "yaml" => Self::Yaml,
            "json" | "jsonc" | "json5" => Self::Json,
            "toml" => Self::Toml,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "javascript" | "typescript" | "rust"
            | "rs" | "go" | "java" | "c" | "cpp" | "csharp" | "kotlin" | "swift" | "php" => Self::Script,
            "py" | "python" => Self::Python,
            "sh" | "bash" | "zsh" | "shell" | "console" => Self::Shell,
            "html" | "htm" | "xml" | "svg" | "vue" | "svelte" | "astro" => Self::Markup,
            "css" | "scss" => Self::Style,
            _ => return None,
        })
    }

    const fn rules(self) -> Rules {
        const NONE: Rules = Rules { comment: "", block: ("", ""), multiline_strings: &[], keywords: &[] };
        match self {
            Self::Markdown | Self::Markup => Rules { block: ("<!--", "-->"), ..NONE },
            Self::Yaml => Rules { comment: "#", keywords: &["true", "false", "null", "yes", "no"], ..NONE },
            Self::Json => Rules { comment: "//", block: ("/*", "*/"), keywords: &["true", "false", "null"], ..NONE },
            Self::Toml => {
                Rules { comment: "#", multiline_strings: &["\"\"\"", "'''"], keywords: &["true", "false"], ..NONE }
            }
            Self::Script => {
                Rules { comment: "//", block: ("/*", "*/"), multiline_strings: &["`"], keywords: SCRIPT_KEYWORDS }
            }
            Self::Python => {
                Rules { comment: "#", multiline_strings: &["\"\"\"", "'''"], keywords: PYTHON_KEYWORDS, ..NONE }
            }
            Self::Shell => Rules { comment: "#", keywords: SHELL_KEYWORDS, ..NONE },
            Self::Style => Rules { block: ("/*", "*/"), ..NONE },
        }
    }
}

/// Lexical rules of a language. A rule is empty if the language has no such element.
struct Rules {
    /// The beginning of a comment that extends to the end of the line.
    comment: &'static str,
    block: (&'static str, &'static str),
    /// Delimiters of strings that may extend over several lines.
    multiline_strings: &'static [&'static str],
    keywords: &'static [&'static str],
}

const SCRIPT_KEYWORDS: &[&str] = &[
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "if",
    "impl",
    "import",
    "in",
    "interface",
    "let",
    "match",
    "mut",
    "new",
    "nil",
    "null",
    "of",
    "package",
    "private",
    "pub",
    "public",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "switch",
    "this",
    "throw",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "use",
    "var",
    "void",
    "while",
    "yield",
];
const PYTHON_KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "async", "await", "break", "class", "continue", "def", "elif", "else",
    "except", "finally", "for", "from", "if", "import", "in", "is", "lambda", "not", "or", "pass", "raise", "return",
    "self", "try", "while", "with", "yield",
];
const SHELL_KEYWORDS: &[&str] =
    &["case", "do", "done", "elif", "else", "esac", "export", "fi", "for", "function", "if", "in", "then", "while"];

/// Highlights the lines of one file, one after another.
#[derive(Debug, Clone)]
pub(crate) struct Highlighter {
    language: Option<Language>,
    /// The delimiter that ends a comment or string of an earlier line, and the class of that part.
    open: Option<(&'static str, Class)>,
    embedded: Option<Box<Embedded>>,
    /// `Some(true)` before the first line of the file. `Some(false)` if reading begins further down, until the first
    /// fence (in other languages than Markdown, the first line).
    at_start: Option<bool>,
}

/// Front matter or fenced code in Markdown.
#[derive(Debug, Clone)]
struct Embedded {
    /// The beginning of the line that ends it.
    end: String,
    highlighter: Highlighter,
}

impl Highlighter {
    /// For the file at this path. `at_first_line`: the next line is the first of the file.
    pub(crate) fn of(path: &str, at_first_line: bool) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        Self::new(Language::of(extension), Some(at_first_line))
    }

    const fn new(language: Option<Language>, at_start: Option<bool>) -> Self {
        Self { language, open: None, embedded: None, at_start }
    }

    /// The highlighted parts of the next line.
    pub(crate) fn line(&mut self, text: &str) -> Vec<Highlight> {
        let at_start = self.at_start.take();
        let Some(language) = self.language.filter(|_| text.len() <= MAX_LINE_BYTES) else { return Vec::new() };
        let mut line = Line { text, at: 0, highlights: Vec::new() };
        match language {
            Language::Markdown => self.markdown(&mut line, at_start),
            _ => self.code(&mut line, language),
        }
        line.highlights
    }

    fn markdown(&mut self, line: &mut Line<'_>, at_start: Option<bool>) {
        let trimmed = line.text.trim_start();
        if let Some(embedded) = &mut self.embedded {
            if trimmed.starts_with(&embedded.end) && trimmed.trim_end().chars().all(|c| embedded.end.contains(c)) {
                self.embedded = None;
                line.take_rest(Class::Comment);
            } else {
                line.highlights = embedded.highlighter.line(line.text);
            }
            return;
        }
        if at_start == Some(true) && line.text.trim_end() == "---" {
            self.embed("---", Some(Language::Yaml));
            return line.take_rest(Class::Comment);
        }
        if self.open.is_none() {
            let fence: String =
                trimmed.chars().take_while(|c| ['`', '~'].contains(c) && trimmed.starts_with(*c)).collect();
            let info = trimmed[fence.len()..].trim();
            if fence.len() >= 3 && !info.contains('`') {
                line.take_rest(Class::Comment);
                // If reading began further down, a first fence without info string closes code whose beginning is not
                // shown.
                let ends = at_start == Some(false) && info.is_empty();
                if !ends {
                    let word = info.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
                    self.embed(&fence, Language::of(word));
                }
                return;
            }
            if at_start == Some(false) {
                self.at_start = at_start;
            }
            let level = trimmed.bytes().take_while(|byte| *byte == b'#').count();
            if (1..=6).contains(&level) && trimmed[level..].starts_with(' ') {
                return line.take_rest(Class::Heading);
            }
            if trimmed.starts_with("import ") || trimmed.starts_with("export ") {
                return self.code(line, Language::Script);
            }
            line.at = line.text.len() - trimmed.len();
            line.take_marker();
        }
        self.code(line, Language::Markdown);
    }

    fn embed(&mut self, end: &str, language: Option<Language>) {
        let highlighter = Self::new(language, None);
        self.embedded = Some(Box::new(Embedded { end: end.to_owned(), highlighter }));
    }

    /// Highlights the rest of a line, of code or of prose.
    fn code(&mut self, line: &mut Line<'_>, language: Language) {
        let rules = language.rules();
        if let Some((end, class)) = self.open.take() {
            self.take_until(line, 0, end, class);
        }
        if matches!(language, Language::Yaml | Language::Toml) && line.at == 0 {
            line.take_key(if language == Language::Yaml { ':' } else { '=' });
        }
        // Quotes and brackets that are not closed in this line, which are not searched for again.
        let mut unclosed = String::new();
        while let Some(c) = line.remaining().chars().next() {
            let rest = line.remaining();
            let after_word = line.text[..line.at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
            let (comment, block) = (rules.comment, rules.block);
            let multiline_quote = rules.multiline_strings.iter().find(|quote| rest.starts_with(**quote));
            if !comment.is_empty() && rest.starts_with(comment) && !(comment == "#" && after_word) {
                line.take_rest(Class::Comment);
            } else if !block.0.is_empty() && rest.starts_with(block.0) {
                self.take_until(line, block.0.len(), block.1, Class::Comment);
            } else if let Some(quote) = multiline_quote {
                self.take_until(line, quote.len(), quote, Class::Literal);
            } else if language == Language::Markdown && c == '`' {
                let ticks = rest.len() - rest.trim_start_matches('`').len();
                match rest[ticks..].find(&rest[..ticks]) {
                    Some(end) => line.take(ticks + end + ticks, Class::Literal),
                    None => line.at += ticks,
                }
            } else if language == Language::Markdown && rest.starts_with("](") && !unclosed.contains(')') {
                match rest.find(')') {
                    Some(end) => {
                        line.at += 2;
                        line.take(end - 2, Class::Value);
                    }
                    None => unclosed.push(')'),
                }
                line.at += 1;
            } else if c == '<' && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
                line.at += 1;
                let name = rest[1..].find(|c: char| !(c.is_alphanumeric() || "/.-:_".contains(c)));
                line.take(name.unwrap_or(rest.len() - 1), Class::Name);
            } else if ['"', '\''].contains(&c) && language != Language::Markdown && !after_word && !unclosed.contains(c)
            {
                match closing(rest, c) {
                    Some(end) => {
                        let is_name = language == Language::Json && rest[end..].trim_start().starts_with(':');
                        line.take(end, if is_name { Class::Name } else { Class::Literal });
                    }
                    None => {
                        unclosed.push(c);
                        line.at += 1;
                    }
                }
            } else if c.is_alphanumeric() {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let is_number = c.is_ascii_digit() && !after_word;
                if language != Language::Markdown && is_number {
                    line.take(end, Class::Value);
                } else if rules.keywords.contains(&&rest[..end]) {
                    line.take(end, Class::Keyword);
                } else {
                    line.at += end;
                }
            } else {
                line.at += c.len_utf8();
            }
        }
    }

    /// Takes everything up to the end of a comment or string, or to the end of the line, which leaves it open.
    fn take_until(&mut self, line: &mut Line<'_>, beginning: usize, end: &'static str, class: Class) {
        let rest = line.remaining();
        match rest[beginning..].find(end) {
            Some(at) => line.take(beginning + at + end.len(), class),
            None => {
                self.open = Some((end, class));
                line.take_rest(class);
            }
        }
    }
}

/// The byte offset after the closing quote of a quoted string at the beginning of `text`.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().skip(1).find_map(|(at, c)| {
        let ends = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends.then(|| at + c.len_utf8())
    })
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

    /// The key before the separator `sign`, or the header of a TOML table.
    fn take_key(&mut self, sign: char) {
        let trimmed = self.text.trim_start_matches([' ', '-']);
        let begin = self.text.len() - trimmed.len();
        if trimmed.starts_with('[') && sign == '=' {
            return self.take_rest(Class::Heading);
        }
        let Some(end) = trimmed.find(sign) else { return };
        let is_name = |c: char| c.is_alphanumeric() || "_-./$ \"'".contains(c);
        let following = &trimmed[end + sign.len_utf8()..];
        if end > 0
            && trimmed[..end].chars().all(is_name)
            && (following.is_empty() || following.starts_with(' ') || sign == '=')
        {
            self.at = begin;
            self.take(trimmed[..end].trim_end().len(), Class::Name);
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
        let page = "---\ntitle: \"A\" # why\n---\n## Use it\n- See [the guide](/guide) or `npm i`.\n```js\nconst a = 'b'; \
                    // c\n```\nIt isn't <Note type=\"x\">.";
        assert_eq!(
            read("docs/a.mdx", true, page),
            [
                "note:---",
                "name:title | lit:\"A\" | note:# why",
                "note:---",
                "head:## Use it",
                "word:- | val:/guide | lit:`npm i`",
                "note:```js",
                "word:const | lit:'b' | note:// c",
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
    fn data_and_scripts_have_names_texts_and_words() {
        for (path, line, expected) in [
            ("a.yml", "  - url: https://x.y/z", "name:url"),
            ("a.yaml", "on: true", "name:on | word:true"),
            ("docs.json", r#"  "pages": ["a", 12, null],"#, r#"name:"pages" | lit:"a" | val:12 | word:null"#),
            ("a.toml", "[site]", "head:[site]"),
            ("a.toml", "name = \"x\"", "name:name | lit:\"x\""),
            ("a.ts", "export default { a: `b`, c: 0x1F }", "word:export | word:default | lit:`b` | val:0x1F"),
            ("a.py", "def f(): # x", "word:def | note:# x"),
            ("a.html", "<!-- a --><b>", "note:<!-- a --> | name:b"),
            ("a.unknown", "const a = 1", ""),
            ("Makefile", "if a", ""),
        ] {
            assert_eq!(read(path, true, line), [expected], "{path}: {line}");
        }
    }

    #[test]
    fn what_a_line_leaves_open_goes_on() {
        assert_eq!(read("a.ts", true, "/* a\nb */ let c"), ["note:/* a", "note:b */ | word:let"]);
        assert_eq!(read("a.md", true, "<!-- a\n# b\n-->c"), ["note:<!-- a", "note:# b", "note:-->"]);
    }

    #[test]
    fn hostile_lines_come_to_an_end() {
        for unit in ["`", "`a``b```", "](", "<a", "'", "\"\\", "[", "/*", "${", "::"] {
            for path in ["a.md", "a.ts", "a.yml", "a.json", "a.toml"] {
                let line = unit.repeat(MAX_LINE_BYTES / unit.len());
                let mut highlighter = Highlighter::of(path, true);
                highlighter.line(&line);
                assert_eq!(highlighter.line(&unit.repeat(1 << 20)), [], "{path}: too long a line has none");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn parts_are_in_order_and_inside_of_their_line(
            lines in proptest::collection::vec("([#`~<>/*\"'=:a-z0-9 ]|\\PC){0,60}", 0..8), extension in "(md|ts|yml|json|toml|html|sh)",
        ) {
            let mut highlighter = Highlighter::of(&format!("a.{extension}"), true);
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
