//! Parses the includes of generators that write them as directives: mdBook, Sphinx, docfx, Hugo, Fumadocs.

use std::ops::RangeInclusive;

use docent_markdown::{each_line, file_name, regex};

use super::parts::{Part, lines_between};

/// Most bytes of a directive that is searched for its end.
const MAX_DIRECTIVE_BYTES: usize = 4_000;

/// A command of mdBook: the file, the part, and the range of the command in the line.
pub(super) fn commands(line: &str) -> impl Iterator<Item = (&str, Part<'_>, std::ops::Range<usize>)> {
    regex!(COMMAND, r"(\\?)\{\{\s*#(?:include|rustdoc_include|playground|playpen)\s+([^\s}]+)[^}\n]*\}\}");
    COMMAND.captures_iter(line).filter(|found| found[1].is_empty()).filter_map(|found| {
        let written = found.get(2)?.as_str();
        let (path, part) = match written.split_once(':') {
            None => (written, Part::Whole),
            Some((path, part)) => (path, command_part(part)),
        };
        Some((path, part, found.get_match().range()))
    })
}

/// `2` is one line; `2:`, `:5`, `2:5` are lines; all else is the name of an anchor.
fn command_part(written: &str) -> Part<'_> {
    let (first, last) = written.split_once(':').unwrap_or((written, written));
    lines_between(first, last).map_or(Part::Named(written, Vec::new()), |lines| Part::Lines(vec![lines]))
}

/// An include of Sphinx.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SphinxInclude<'t> {
    pub(super) path: &'t str,
    pub(super) part: Part<'t>,
    /// The language of an include as code.
    pub(super) code: Option<&'t str>,
    /// Bytes of the directive.
    pub(super) length: usize,
}

/// Parses a text that begins with a fence of `{include}` or `{literalinclude}`.
pub(super) fn myst_include(text: &str) -> Option<SphinxInclude<'_>> {
    regex!(OPENING, r"\A[ \t]*(`{3,}|:{3,})\{(include|literalinclude)\}[ \t]+(\S[^\n]*)");
    let window = &text[..text.floor_char_boundary(MAX_DIRECTIVE_BYTES)];
    let opening = OPENING.captures(window)?;
    let marks = opening.get(1)?.as_str();
    let mut lines = each_line(window);
    let mut length = lines.next()?.len();
    let mut options = Vec::new();
    for line in lines {
        length += line.len();
        let line = line.trim();
        if line.starts_with(marks) && line.chars().all(|c| marks.starts_with(c)) {
            return Some(include(opening.get(2)?.as_str(), opening.get(3)?.as_str(), &options, length));
        }
        options.extend(option(line));
    }
    None
}

/// Parses a text that begins with a directive `include` or `literalinclude`.
pub(super) fn rst_include(text: &str) -> Option<SphinxInclude<'_>> {
    regex!(OPENING, r"\A([ \t]*)\.\.[ \t]+(include|literalinclude)::[ \t]+(\S[^\n]*)");
    let window = &text[..text.floor_char_boundary(MAX_DIRECTIVE_BYTES)];
    let opening = OPENING.captures(window)?;
    let indent = opening[1].len();
    let mut lines = each_line(window);
    let mut length = lines.next()?.len();
    let mut options = Vec::new();
    for line in lines {
        let is_deeper = line.len() - line.trim_start_matches([' ', '\t']).len() > indent;
        let Some(found) = option(line.trim()).filter(|_| is_deeper) else { break };
        options.push(found);
        length += line.len();
    }
    Some(include(opening.get(2)?.as_str(), opening.get(3)?.as_str(), &options, length))
}

fn include<'t>(name: &str, path: &'t str, options: &[(&'t str, &'t str)], length: usize) -> SphinxInclude<'t> {
    let value = |name: &str| options.iter().find(|(option, _)| *option == name).map(|(_, value)| *value);
    let code = match name {
        "literalinclude" => Some(value("language").unwrap_or(ending(path.trim()))),
        _ => value("code").or(value("literal").map(|_| "")),
    };
    let number = |name: &str| value(name).and_then(|value| value.parse::<usize>().ok());
    let part = match (value("start-after"), value("end-before"), value("lines").and_then(line_ranges)) {
        (None, None, Some(lines)) => Part::Lines(lines),
        // Counted from 0, and the last one is left out.
        (None, None, None) if number("start-line").or(number("end-line")).is_some() => {
            Part::Lines(vec![number("start-line").unwrap_or(0) + 1..=number("end-line").unwrap_or(usize::MAX - 1)])
        }
        (None, None, None) => Part::Whole,
        (after, before, _) => Part::Between { after, before },
    };
    SphinxInclude { path: path.trim(), part, code, length }
}

/// Parses `:name: value`.
fn option(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    Some((name, value.trim()))
}

/// Parses `1-3,5,7-`.
fn line_ranges(text: &str) -> Option<Vec<RangeInclusive<usize>>> {
    let range = |part: &str| part.split_once('-').map_or(lines_between(part, part), |(a, b)| lines_between(a, b));
    text.split(',').map(range).collect()
}

/// An include of docfx: the file, the part, the language of an include as code, and its range in the line.
pub(super) fn docfx_include(line: &str) -> Option<(&str, Part<'_>, Option<&str>, std::ops::Range<usize>)> {
    regex!(
        INCLUDE,
        r"(?i)\[!(?:include|code(?:-([\w#+-]+))?)\s*\[[^\]\n]*\]\(<?([^)\s>?#]+)(?:[?#](?:name=)?([^)\s>]*))?[^)\n]*\)\]"
    );
    let found = INCLUDE.captures(line)?;
    let is_code = found[0].get(2..6).is_some_and(|name| name.eq_ignore_ascii_case("code"));
    let path = found.get(2)?.as_str();
    let code = is_code.then(|| found.get(1).map_or(ending(path), |language| language.as_str()));
    let part = match found.get(3).map(|part| part.as_str()).filter(|part| !part.is_empty() && is_code) {
        None => Part::Whole,
        Some(part) => match part.strip_prefix('L').and_then(|lines| line_ranges(&lines.replace('L', ""))) {
            Some(lines) => Part::Lines(lines),
            None => Part::Named(part, Vec::new()),
        },
    };
    Some((path, part, code, found.get_match().range()))
}

/// The file that a shortcode of Hugo includes, if it is called like one that does.
pub(super) fn shortcode_include(line: &str) -> Option<&str> {
    regex!(
        SHORTCODE,
        r#"\A\s*\{\{[<%]\s*(?:include|readfile)\s+(?:(?:file|path)\s*=\s*)?["`]([^"`\n]+)["`][^}\n]*\}\}\s*\z"#
    );
    Some(SHORTCODE.captures(line)?.get(1)?.as_str())
}

/// The file and the part that an element `<include>` of Fumadocs names, with the bytes of the element.
pub(super) fn element_include(text: &str) -> Option<(&str, Part<'_>, usize)> {
    regex!(ELEMENT, r"\A<include(?:\s[^<>\n]*)?>\s*([^<>\n#]+?)\s*(?:#([^<>\n]*))?</include>");
    let found = ELEMENT.captures(&text[..text.floor_char_boundary(MAX_DIRECTIVE_BYTES)])?;
    let part = found.get(2).map_or(Part::Whole, |name| Part::Named(name.as_str().trim(), Vec::new()));
    Some((found.get(1)?.as_str(), part, found[0].len()))
}

pub(super) fn ending(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_files_lines_and_anchors() {
        let line = "a {{#include x.rs:2}} \\{{#include y.rs}} {{ #rustdoc_include z.rs:main }}{{#include a.md::3}}";
        let found: Vec<(&str, Part<'_>)> = commands(line).map(|(path, part, _)| (path, part)).collect();
        assert_eq!(
            found,
            [
                ("x.rs", Part::Lines(vec![2..=2])),
                ("z.rs", Part::Named("main", Vec::new())),
                ("a.md", Part::Lines(vec![1..=3])),
            ]
        );
    }

    #[test]
    fn sphinx_includes_have_options() {
        let text = "```{literalinclude} a.py\n:lines: 1-2,5\n:language: python\n```\nrest\n";
        let found = myst_include(text).expect("an include");
        assert_eq!((found.path, found.code, &text[found.length..]), ("a.py", Some("python"), "rest\n"));
        assert_eq!(found.part, Part::Lines(vec![1..=2, 5..=5]));
        let text = "  .. include:: /a.txt\n     :start-after: <!-- x -->\n     :end-before: y\n\n  rest\n";
        let found = rst_include(text).expect("an include");
        assert_eq!((found.path, found.code, &text[found.length..]), ("/a.txt", None, "\n  rest\n"));
        assert_eq!(found.part, Part::Between { after: Some("<!-- x -->"), before: Some("y") });
        assert!(myst_include("```{include} a.md\n").is_none() && rst_include("include:: x").is_none());
    }

    #[test]
    fn docfx_hugo_and_fumadocs_name_their_files() {
        let found = |line| docfx_include(line).map(|(path, part, code, _)| (path, part, code));
        assert_eq!(found("a [!INCLUDE [x](../b.md)] c"), Some(("../b.md", Part::Whole, None)));
        assert_eq!(found("[!code-csharp[](a.cs#L2-L4)]"), Some(("a.cs", Part::Lines(vec![2..=4]), Some("csharp"))));
        assert_eq!(found("[!code[](a.cs?name=x)]"), Some(("a.cs", Part::Named("x", vec![]), Some("cs"))));
        assert_eq!(found("[!NOTE]"), None);
        assert_eq!(shortcode_include("{{% include \"a.md\" %}}\n"), Some("a.md"));
        assert_eq!(shortcode_include("{{< figure \"a.md\" >}}\n"), None);
        assert_eq!(
            element_include("<include lang=\"ts\">./a.ts#x</include>b"),
            Some(("./a.ts", Part::Named("x", vec![]), 37))
        );
    }
}
