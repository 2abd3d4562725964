//! Splits and classifies the module statements of an MDX page.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::literal::is_literal;
use crate::parse_lines::lines_after;
use crate::parse_mdx::Constructs;
use crate::parse_script::paragraph_end;
use crate::regex;
use crate::script::{TokenKind, Tokens};
use crate::site_paths::{folder, joined, rebased};
use crate::words::has_word;

static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    let item = r"[\w$]+(?:\s+as\s+[\w$]+)?\s*";
    let rest = format!(r"(\*\s+as\s+[\w$]+|\{{\s*{item}(?:,\s*{item})*,?\s*\}})");
    let module = r#"(?:"([^"\n\\]*)"|'([^'\n\\]*)')"#;
    Regex::new(&format!(r"(?s)\Aimport\s+(?:([\w$]+)(?:\s*,\s*{rest})?|{rest})\s*from\s*{module}\s*;?\s*\z"))
        .expect("the pattern is put together above")
});
regex!(EXPORT, r"(?s)\Aexport\s+const\s+[\w$]+\s*=(.*?);?\s*\z");

// A line that can be nothing but one of a paragraph: words, behind the marks of quotes and lists. Neither a break (`***`), nor
// an empty item, nor a definition.
regex!(
    PARAGRAPH,
    r#"\A(?:[ \t]|>|[*+-][ \t]|[0-9]{1,9}[.)][ \t])*(?:[\p{L}"'(]|[0-9]+(?:[^0-9.)\s]|[ \t]+\S|[.)][^\s])|[*_]{1,3}\w|`[^`\n]|\[[^\]\n]*\](?:[^:]|\z))"#
);

regex!(DELIMITERS, r"\A[ \t>]*(?:[|:][|: \t-]*-|-+[ \t]*[|:])[|: \t-]*\s*\z");

/// Extensions of files whose import is harmless: images, and pages, whose code is checked in their own files.
const HARMLESS: &str = "md mdx markdown png jpg jpeg gif webp avif ico";

/// Splits a block of module statements.
pub(super) fn split(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let mut starts = vec![block.start];
    let mut depth = 0_usize;
    for token in Tokens::of(&text[block.clone()]) {
        let at = block.start + token.range.start;
        let rest = &text[at..block.end];
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            TokenKind::Word if depth == 0 && text[block.start..at].ends_with('\n') => {
                starts.extend((rest.starts_with("import") || rest.starts_with("export")).then_some(at));
            }
            _ => {}
        }
    }
    let ends = starts.iter().skip(1).copied().chain([block.end]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).map(|(start, end)| start..start + text[start..end].trim_end().len()).collect()
}

/// Paragraphs that begin like a module statement but were read as text: a build rejects the page for them, or they are
/// statements after all.
pub(super) fn unparsed_statements(text: &str, body: usize, constructs: &Constructs) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut may_begin, mut is_table) = (true, false);
    for (at, line) in lines_after(text, body) {
        let begins = may_begin && (line.starts_with("import ") || line.starts_with("export "));
        let contains_start = |range: &Range<usize>| range.start <= at && at < range.end;
        if begins && !constructs.blanked.iter().chain(&constructs.code).any(contains_start) {
            found.push(at..paragraph_end(text, at));
        }
        // A statement cannot interrupt a paragraph, but a table.
        is_table = (is_table && !line.trim().is_empty()) || DELIMITERS.is_match(line);
        may_begin = is_table || !PARAGRAPH.is_match(line);
    }
    found
}

/// The imports of a statement, each as `name from module`. Empty for a harmless module; `None` if the statement is not
/// a plain import.
pub(super) fn imported(statement: &str, file: &str) -> Option<Vec<String>> {
    let found = IMPORT.captures(statement)?;
    let module = resolved_module(found.get(4).or(found.get(5))?.as_str(), file);
    if is_harmless(&module) {
        return Some(Vec::new());
    }
    let default = found.get(1).map(|_| "default");
    let rest = found.get(2).or(found.get(3)).map_or("", |rest| rest.as_str());
    let rest = rest.split(['{', ',', '}']).filter_map(|item| item.split_whitespace().next());
    Some(default.into_iter().chain(rest).map(|name| format!("{name} from {module}")).collect())
}

/// The names that a block of statements brings into the page by imports.
pub(super) fn names(block: &str) -> Vec<&str> {
    regex!(BRACES, r"(?s)import\s+([^'\x22]*?)\sfrom");
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let clauses = BRACES.captures_iter(block).filter_map(|found| found.get(1));
    clauses.flat_map(|clause| clause.as_str().split(move |c| !is_name(c))).filter(|name| !name.is_empty()).collect()
}

/// The path of a module, independent of the importing file, unless it leads out of the docs.
fn resolved_module(module: &str, file: &str) -> String {
    match joined(folder(file), module).filter(|_| module.starts_with('.')) {
        Some(path) => format!("/{path}"),
        None if module.starts_with('.') => rebased(folder(file), module),
        None => module.to_owned(),
    }
}

fn is_harmless(module: &str) -> bool {
    let is_file = module.starts_with('/') || module.starts_with("@site/") || module.starts_with("../");
    let ending = module.rsplit_once('.').map_or("", |(_, ending)| ending);
    is_file && !module.contains(['!', '?', '#']) && has_word(HARMLESS, ending)
}

/// Whether a statement only exports a constant whose value is a literal.
pub(super) fn exports_a_literal(statement: &str) -> bool {
    EXPORT.captures(statement).is_some_and(|found| !found[1].trim().is_empty() && is_literal(&found[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_told_by_what_and_from_where() {
        for (statement, expected) in [
            ("import A from 'x'", Some(vec!["default from x"])),
            (
                "import A, { b, c as d } from \"./x\";",
                Some(vec!["default from /guides/x", "b from /guides/x", "c from /guides/x"]),
            ),
            ("import * as A from '../x.js'", Some(vec!["* from /x.js"])),
            ("import {\n  A,\n} from '/components/a'", Some(vec!["A from /components/a"])),
            ("import Note from '/snippets/note.mdx'", Some(vec![])),
            ("import Image from './a.png';", Some(vec![])),
            ("import Note from '!!loader!./a.md'", Some(vec!["default from !!loader!./a.md"])),
            ("import Note from 'package/a.md'", Some(vec!["default from package/a.md"])),
            ("import 'x'", None),
            ("import A from 'x'; evil()", None),
            ("import A, from 'x'", None),
            ("import {} from 'x'", None),
            ("import A { b } from 'x'", None),
            ("import { a as } from 'x'", None),
            ("import your data from 'x'", None),
        ] {
            let expected = expected.map(|lines| lines.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(imported(statement, "guides/page.mdx"), expected, "{statement}");
        }
    }

    #[test]
    fn a_block_is_cut_into_its_statements() {
        let text = "import A from 'a'\nimport {\n  B,\n} from 'b';\nexport const c = {\n\nimport: 1 }\n";
        let statements: Vec<&str> = split(text, 0..text.len()).into_iter().map(|range| &text[range]).collect();
        assert_eq!(
            statements,
            ["import A from 'a'", "import {\n  B,\n} from 'b';", "export const c = {\n\nimport: 1 }"]
        );
        assert!(exports_a_literal(statements[2]) && !exports_a_literal("export const a = f()"));
        assert!(!exports_a_literal("export const a = 1; f()") && !exports_a_literal("export const a ="));
    }
}
