//! Finds displayed code that every Markdown parser reads alike: plain fences and plain inline code.
//!
//! A plain fence is made of backticks in column 0, outside of any list, quote, tag or directive, is closed by the same
//! backticks, and names at most an inert language. Plain inline code stands between single backticks in a paragraph in
//! which nothing else could claim them. Whatever else a parser may display as code protects from nothing.

use std::ops::Range;

use crate::parse_lines::lines_after;
use crate::regex;
use crate::words::has_word;

/// Languages whose blocks are displayed. Languages that a plug-in draws or runs are not among them.
const INERT: &str = "abap ada adoc ansi antlr apache apacheconf apex applescript arduino asciidoc asm assembly astro awk bash \
    bat batch bazel bibtex bicep blade c c# c++ cmake cfg clj clojure cmd cobol coffee coffeescript conf console cpp cs \
    csharp css csv cue curl cypher d dart dhall diff docker dockerfile dos dotenv editorconfig ejs elisp elixir elm env \
    erb erl erlang ex f# fish fortran fsharp gdscript gherkin git gitignore gleam glsl go go-html-template \
    go-text-template golang gotmpl gql gradle graphql groovy handlebars haml haskell hbs hcl helm hjson hlsl hs html http \
    https hujson ignore ini ipython java javascript jinja jinja2 jl js json json5 jsonc jsonl jsonnet jsx julia kotlin ks kt \
    kusto latex less liquid lisp llvm log lua make makefile markdown matlab md mdx mips mjs mojo mysql nasm nginx nim nix \
    none nunjucks objc objective-c objectivec ocaml odin output pascal patch perl pgsql php pl plain plaintext plsql po \
    postcss postgres postgresql powershell prisma prolog promql properties proto protobuf ps ps1 psql pug puppet purescript \
    pwsh py pycon python python3 qml r racket rb re reason reg regex rego rest restructuredtext rs rst ruby rust sas sass \
    scala scheme scss sh sh-session shell shell-session shellscript smali solidity sparql spec splunk sql ssh-config stylus \
    sv svelte svg swift systemd systemverilog tcl templ terraform tex text tf toml traceback tree ts tsv tsx turtle twig txt \
    typescript typespec typst v vala vb verilog vhdl vim viml vue vyper wasm wat wgsl wit wolfram xml xsl yaml yml yaml+jinja \
    zig zsh";

/// Words behind the language that make a plug-in run the block or read a file.
const RUNS: &str = "exec live include eval run src source ref reference import url file plot session";

regex!(TAG, r"<(/?)([A-Za-z][\w-]*)");
regex!(MARKED_LINES, r#"\{[0-9, -]*\}|"[^"]*"|'[^']*'"#);

/// A page in which some character ends a line for one parser and not for another has no plain code.
fn has_odd_line_ends(text: &str) -> bool {
    let is_odd =
        |c: char| matches!(c, '\0' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    text.contains(is_odd) || text.match_indices('\r').any(|(at, _)| !text[at + 1..].starts_with('\n'))
}

/// Elements that stand in a line of text. Python-Markdown reads all others to their ends, blank lines and code too.
const INLINE: &str = "a abbr area b base br cite code col del dfn em embed hr i img input ins kbd link mark meta param q s samp \
    small source span strong sub sup time track u var wbr";

/// Who reads a page, as far as it matters where code is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parser {
    CommonMark,
    Mdx,
    PythonMarkdown,
}

/// The ranges of plain code from `body` on, in order.
pub(super) fn ranges(text: &str, body: usize, parser: Parser) -> Vec<Range<usize>> {
    let mut search = Search {
        text,
        parser,
        open_elements: 0,
        fence: None,
        foreign: None,
        raw_ends: &[],
        paragraph: Vec::new(),
        is_foreign_paragraph: false,
        found: Vec::new(),
    };
    if has_odd_line_ends(&text[body..]) {
        return Vec::new();
    }
    for (at, line) in lines_after(text, body) {
        search.line(at..at + line.len());
    }
    search.end_paragraph();
    search.found
}

/// Whether one of the ranges, which are in order, holds the byte at `at`.
pub(super) fn holds(plain: &[Range<usize>], at: usize) -> bool {
    let next = plain.partition_point(|range| range.start <= at);
    next > 0 && at < plain[next - 1].end
}

/// Whether a construct may begin in code that some parser displays and end outside of it, so that what stands in it is no
/// part of it: it holds a fence, or backticks that others before it may pair with, or leaves the quote or list item that it
/// begins in.
pub(super) fn may_be_cut(text: &str, span: &Range<usize>, plain: &[Range<usize>]) -> bool {
    let inside = &text[span.clone()];
    let near = text.floor_char_boundary(span.start.saturating_sub(MAX_LOOKBACK));
    let behind = |end: &str| match text[near..span.start].rfind(end) {
        Some(at) => Some(near + at + end.len()),
        None => (near == 0).then_some(0),
    };
    let has_open_backtick = || {
        behind("\n\n").is_none_or(|paragraph| {
            let mut backticks = text[paragraph..span.start].match_indices('`').map(|(at, _)| paragraph + at);
            backticks.any(|at| !holds(plain, at))
        })
    };
    let leaves_margin = || {
        behind("\n").is_none_or(|line| {
            let margin = |line: &str| line.len() - line.trim_start_matches([' ', '\t', '>']).len();
            let mut margins = text[line..span.end].split('\n').filter(|line| !line.trim().is_empty()).map(margin);
            let first = margins.next().unwrap_or_default();
            margins.any(|margin| margin < first)
        })
    };
    inside.contains("~~~")
        || inside.contains("```")
        || (inside.contains('`') && has_open_backtick())
        || (inside.contains('\n') && leaves_margin())
}

/// How far back the beginning of a line or a paragraph is searched for, in bytes, so that time stays linear.
const MAX_LOOKBACK: usize = 4_000;

/// Whether a block with this info string is displayed as it is, whatever the generator.
fn is_inert(info: &str) -> bool {
    let info = info.trim();
    let end = info.find(|c: char| c.is_whitespace() || "{[,:".contains(c)).unwrap_or(info.len());
    let (language, rest) = info.split_at(end);
    let is_hidden = |c: char| "{}<>$`\\()".contains(c) || (c.is_control() && c != '\t');
    let words = MARKED_LINES.replace_all(rest, "");
    let runs = |word: &str| has_word(RUNS, &word.split('=').next().unwrap_or_default().to_ascii_lowercase());
    (language.is_empty() || has_word(INERT, &language.to_ascii_lowercase()))
        && !words.contains(is_hidden)
        && !words.split(|c: char| c.is_whitespace() || ",;:[]".contains(c)).any(runs)
}

/// A line without what may stand for quotes, lists and tables at its beginning.
fn without_marks(line: &str) -> &str {
    line.trim_start_matches(|c: char| !c.is_ascii_graphic() || ">-*+.)|:0123456789".contains(c))
}

/// What ends a block of HTML that begins here and that blank lines do not end; empty if none begins.
fn raw_ends(line: &str) -> &'static [&'static str] {
    regex!(ELEMENT, r"(?i)\A<(?:pre|script|style|textarea)(?:[\s>]|\z)");
    if ELEMENT.is_match(line) {
        &["</pre>", "</script>", "</style>", "</textarea>"]
    } else if line.starts_with("<!--") {
        &["-->"]
    } else if line.starts_with("<?") {
        &["?>"]
    } else if line.starts_with("<!") {
        &[">"]
    } else {
        &[]
    }
}

fn begins_tag(line: &str) -> bool {
    without_marks(line).starts_with('<')
}

struct Fence {
    start: usize,
    marks: usize,
    is_plain: bool,
}

struct Search<'t> {
    text: &'t str,
    parser: Parser,
    /// The number of open elements, for a parser that reads these to their ends.
    open_elements: usize,
    /// The open fence in column 0 that may be plain.
    fence: Option<Fence>,
    /// An open fence of another form: its sign and length, and what stands before it. What stands in it is not protected.
    foreign: Option<(char, usize, &'t str)>,
    /// What ends the open block of HTML that blank lines do not end. What stands in it is not protected.
    raw_ends: &'static [&'static str],
    /// The lines since the last blank one, and whether one is of a block of another form.
    paragraph: Vec<Range<usize>>,
    is_foreign_paragraph: bool,
    found: Vec<Range<usize>>,
}

impl Search<'_> {
    fn line(&mut self, span: Range<usize>) {
        let line = &self.text[span.clone()];
        if let Some(fence) = &mut self.fence {
            let marks = "`".repeat(fence.marks);
            if line.trim_end() == marks {
                if fence.is_plain {
                    self.found.push(fence.start..span.end);
                }
                self.fence = None;
            } else if line.trim_start_matches(|c: char| !c.is_ascii_graphic()).starts_with(&marks) {
                // Parsers differ in whether this line closes the block.
                self.foreign = Some(('`', fence.marks, ""));
                self.fence = None;
            }
            return;
        }
        let inside = without_marks(line);
        let sign = if inside.starts_with('~') { '~' } else { '`' };
        let marks = inside.len() - inside.trim_start_matches(sign).len();
        let info = &inside[marks..];
        let is_fence = marks >= 3 && !info.contains('`');
        let before = &line[..line.len() - inside.len()];
        if let Some((open, length, opened)) = self.foreign {
            if is_fence && sign == open && marks >= length && info.trim().is_empty() {
                let is_alike = before == opened || (before.trim().is_empty() && before.len() == opened.len());
                // Parsers differ in whether another line closes the block: nothing behind it is protected.
                self.foreign = if is_alike { None } else { Some((open, usize::MAX, opened)) };
            }
            self.foreign_line(span);
            return;
        }
        if self.is_raw(line, inside) {
            self.foreign_line(span);
            return;
        }
        if is_fence {
            let follows_tag =
                self.parser != Parser::Mdx && self.paragraph.iter().any(|line| begins_tag(&self.text[line.clone()]));
            self.end_paragraph();
            let is_plain = sign == '`' && line.starts_with('`') && is_inert(info) && self.open_elements == 0;
            match is_plain {
                true => self.fence = Some(Fence { start: span.start, marks, is_plain: !follows_tag }),
                false => {
                    self.foreign = Some((sign, marks, before));
                    self.foreign_line(span);
                }
            }
        } else if line.trim().is_empty() {
            self.end_paragraph();
        } else {
            self.paragraph.push(span);
        }
    }

    /// Whether a line is of a block of HTML that goes on over blank lines.
    fn is_raw(&mut self, line: &str, inside: &str) -> bool {
        let was_open = !self.raw_ends.is_empty();
        if !was_open && self.parser != Parser::Mdx {
            self.raw_ends = raw_ends(inside);
        }
        let is_raw = !self.raw_ends.is_empty();
        if is_raw {
            let rest = line.to_ascii_lowercase();
            if self.raw_ends.iter().any(|end| rest.contains(end)) {
                self.raw_ends = &[];
                return was_open;
            }
        }
        is_raw
    }

    /// A line of a block that only some parsers read as one: to the others it is text.
    fn foreign_line(&mut self, span: Range<usize>) {
        if self.text[span.clone()].trim().is_empty() {
            self.end_paragraph();
        } else {
            self.is_foreign_paragraph = true;
            self.paragraph.push(span);
        }
    }

    fn elements(&mut self, line: Range<usize>) {
        for tag in TAG.captures_iter(&self.text[line]) {
            let is_block = !has_word(INLINE, &tag[2].to_ascii_lowercase());
            match (is_block, tag[1].is_empty()) {
                (true, true) => self.open_elements += 1,
                (true, false) => self.open_elements = self.open_elements.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Adds the inline code of a paragraph whose backticks are all single and in pairs on their lines.
    fn end_paragraph(&mut self) {
        let lines = std::mem::take(&mut self.paragraph);
        let text = self.text;
        let is_odd = std::mem::take(&mut self.is_foreign_paragraph) || self.open_elements > 0;
        if self.parser == Parser::PythonMarkdown {
            lines.iter().for_each(|line| self.elements(line.clone()));
        }
        if is_odd || self.open_elements > 0 {
            return;
        }
        let is_odd = |line: &str| {
            line.contains("``")
                || line.contains("\\`")
                || line.contains("$`")
                || line.contains("`$")
                || line.matches('`').count() % 2 == 1
        };
        let begins_tag = |line: &str| self.parser != Parser::Mdx && begins_tag(line);
        if lines.iter().any(|line| is_odd(&text[line.clone()]) || begins_tag(&text[line.clone()])) {
            return;
        }
        for line in lines {
            let written = &text[line.clone()];
            // It may be indented code, in a quote or an item too.
            let before = &written[..written.len() - without_marks(written).len()];
            if before.contains("    ") || before.contains('\t') {
                continue;
            }
            let ticks: Vec<usize> = written.match_indices('`').map(|(at, _)| line.start + at).collect();
            let pairs = ticks.chunks_exact(2).map(|pair| pair[0]..pair[1] + 1);
            // A row of a table is cut at each `|`, in code as well.
            self.found.extend(pairs.filter(|span| !text[span.clone()].contains('|')));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<&str> {
        ranges(text, 0, Parser::CommonMark).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn unambiguous_fences_are_plain() {
        for (text, plain) in [
            ("```js\n{{ a }}\n```\n", "```js\n{{ a }}\n```\n"),
            ("Words:\n```\n{a}\n```", "```\n{a}\n```"),
            ("````md\n```js\n{a}\n```\n````\n", "````md\n```js\n{a}\n```\n````\n"),
            (
                "```js title=\"a b.js\" {1,3-4} showLineNumbers\n{a}\n```\n",
                "```js title=\"a b.js\" {1,3-4} showLineNumbers\n{a}\n```\n",
            ),
            ("```sh [npm]\n{a}\n```\n", "```sh [npm]\n{a}\n```\n"),
            ("```rust,ignore\n{a}\n```\n", "```rust,ignore\n{a}\n```\n"),
            ("- a\n\n  ```sh\n  b\n  ```\n\n```\n{a}\n```\n", "```\n{a}\n```\n"),
            ("Write `{{ a }}` here.\n", "`{{ a }}`"),
            ("<Preview />\n\n```js\n{a}\n```\n", "```js\n{a}\n```\n"),
            ("<!-- a\n\nb -->\n\n```js\n{a}\n```\n", "```js\n{a}\n```\n"),
        ] {
            assert_eq!(found(text), [plain], "{text:?}");
        }
        assert_eq!(found("A `a` and\na `b`.\n"), ["`a`", "`b`"]);
    }

    #[test]
    fn ambiguous_fences_are_not_plain() {
        for text in [
            "~~~js\n{a}\n~~~\n",
            " ```js\n{a}\n ```\n",
            "> ```js\n> {a}\n> ```\n",
            "- ```js\n  {a}\n  ```\n",
            "```js-vue\n{a}\n```\n",
            "```{note}\n{a}\n```\n",
            "```{python}\n{a}\n```\n",
            "```plantuml\n{a}\n```\n",
            "```js live\n{a}\n```\n",
            "```python exec=\"1\"\n{a}\n```\n",
            "``` a`b\n{a}\n```\n",
            "```js\n{a}\n",
            "```js\n{a}\n ```\n{b}\n",
            "```js\n{a}\n````\n",
            "```js\n{a}\n\u{200b}```\n```\n",
            "```js\r{a}\n```\n",
            "<div>\n```js\n{a}\n```\n",
            "- a\n  ```\n  x\n```\n{a}\n```\n",
            "    `{a}`\n",
            ">     `{a}`\n",
            "   ```\n\n    ```\n\n```\n{a}\n```\n",
            "<pre>\n\n```js\n{a}\n```\n",
            "<!-- a\n\n`{a}`\n",
            "`` a ` {a} `` b `\n",
            "`a\n{b}\nc`\n",
            "\\`{a}`\n",
            "| ` | {a} | ` |\n",
            "<p>\n`{a}`\n</p>\n",
            "```{note}\n```js\n{a}\n```\n```\n",
        ] {
            assert_eq!(found(text), [""; 0], "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn ranges_are_in_order(text in "(```|~~~|`|js|\n|\n\n|\\{|<p>|- |> | |a|\r|\\|){0,60}", parser in prop::sample::select(vec![Parser::CommonMark, Parser::Mdx, Parser::PythonMarkdown])) {
            let mut last = 0;
            for range in ranges(&text, 0, parser) {
                prop_assert!(range.start >= last && range.end <= text.len() && text.is_char_boundary(range.end));
                last = range.end;
            }
        }
    }
}
