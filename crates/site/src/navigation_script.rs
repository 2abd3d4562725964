//! Navigations that are scripts: the texts in quotes that name pages, and whether an edit changes those alone.
//!
//! A script is not parsed. It is cut into code, comments and texts in quotes, and what a text names follows from the
//! code around it: the value of a member, or an item of a list. Where quotes are read wrongly, as behind a regular
//! expression that holds one, fewer texts are found, and an edit of them is refused.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The scripts that hold navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavigationScript {
    /// `sidebars.js` of Docusaurus: items of lists, and `id`.
    Sidebars,
    /// `astro.config.mjs`, `.vitepress/config.ts`: `link`, `slug`, and items of `items` and `sidebar`.
    Configuration,
    /// `_meta.js` of Nextra: members of what it exports whose value is a text.
    Members,
}

impl NavigationScript {
    /// What a file is by its path.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, ending) = name.rsplit_once('.')?;
        let is_script = ["js", "ts", "mjs", "mts", "cjs"].contains(&ending);
        let is_vitepress = folder == ".vitepress" || folder.ends_with("/.vitepress");
        match stem {
            "sidebars" if is_script => Some(Self::Sidebars),
            "astro.config" if is_script => Some(Self::Configuration),
            "config" if is_script && is_vitepress => Some(Self::Configuration),
            "_meta" if ["js", "jsx", "ts", "tsx"].contains(&ending) => Some(Self::Members),
            _ => None,
        }
    }

    /// Why an edit changes more than which pages the navigation names, if it does.
    pub(crate) fn more_than_navigation(self, before: &str, after: &str) -> Option<&'static str> {
        if self == Self::Members {
            return (without_members(before) != without_members(after)).then_some(OTHER_CODE);
        }
        let (before, after) = (self.skeleton(before), self.skeleton(after));
        if (&before.code, &before.comments, before.values.len()) != (&after.code, &after.comments, after.values.len()) {
            return Some(OTHER_CODE);
        }
        let replaced = before.values.iter().zip(&after.values).filter(|(old, new)| old != new);
        let added = after.items.iter().filter(|item| !before.items.contains(item));
        let are_addresses = replaced.flat_map(|(old, new)| [old, new]).chain(added).all(|text| is_address(text));
        (!are_addresses).then_some("it would name something that is no page")
    }

    fn names(self, literal: &Literal) -> bool {
        let Literal { member, list, .. } = literal;
        match self {
            Self::Sidebars => member.as_deref().is_none_or(|member| member == "id"),
            Self::Configuration => match member.as_deref() {
                Some(member) => ["link", "slug"].contains(&member),
                None => list.as_deref().is_some_and(|list| LISTS.contains(&list)),
            },
            Self::Members => false,
        }
    }

    /// Whether the list that opens behind this text holds names of pages.
    fn is_list(self, before: &str) -> bool {
        opens_list(before)
            && (self == Self::Sidebars || member_before(before).is_some_and(|list| LISTS.contains(&list.as_str())))
    }

    /// The script without the names of pages, and without white space and commas between the items of their lists.
    fn skeleton(self, text: &str) -> Skeleton<'_> {
        let named: BTreeMap<usize, Literal> = literals(text)
            .into_iter()
            .filter(|literal| self.names(literal))
            .map(|literal| (literal.value.start - 1, literal))
            .collect();
        let mut skeleton = Skeleton::default();
        // Of each open bracket, whether it is a list of names of pages.
        let (mut open, mut read, mut was_item): (Vec<bool>, usize, bool) = (Vec::new(), 0, false);
        let tokens = TEXT.find_iter(text).map(|token| token.range());
        for token in tokens.chain(std::iter::once(text.len()..text.len())) {
            for (at, c) in text[read..token.start].char_indices() {
                let (in_list, code) = (open.last() == Some(&true), &mut skeleton.code);
                match c {
                    '[' | '{' | '(' => {
                        code.push(c);
                        open.push(c == '[' && self.is_list(&text[..read + at]));
                    }
                    ']' | '}' | ')' => {
                        if in_list {
                            code.truncate(code.trim_end_matches([' ', ',']).len());
                        }
                        open.pop();
                        code.push(c);
                    }
                    ',' if in_list => {
                        code.truncate(code.trim_end_matches(' ').len());
                        if !(was_item && code.ends_with(['[', ','])) {
                            code.push(',');
                        }
                        was_item = false;
                    }
                    c if c.is_whitespace() && in_list => {
                        if !code.ends_with(['[', ',', ' ']) {
                            code.push(' ');
                        }
                    }
                    c => code.push(c),
                }
            }
            read = token.end;
            let in_list = open.last() == Some(&true);
            match named.get(&token.start) {
                Some(Literal { member: Some(_), value, .. }) => {
                    skeleton.code.push_str("\"\"");
                    skeleton.values.push(&text[value.clone()]);
                }
                Some(Literal { value, .. }) => {
                    skeleton.items.push(&text[value.clone()]);
                    was_item = true;
                }
                None if in_list && text[token.clone()].starts_with('/') => skeleton.comments.push(&text[token]),
                None => skeleton.code.push_str(&text[token]),
            }
        }
        skeleton
    }
}

/// The lists of a configuration that hold names of pages, by the member they are the value of.
const LISTS: [&str; 2] = ["items", "sidebar"];

const OTHER_CODE: &str = "its code differs, too";

/// A script without the names of pages.
#[derive(Debug, Default)]
struct Skeleton<'t> {
    code: String,
    /// Those between the items of lists.
    comments: Vec<&'t str>,
    values: Vec<&'t str>,
    items: Vec<&'t str>,
}

/// Whether a text can be the address or the id of a page, and nothing that runs or leads elsewhere.
fn is_address(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with("//")
        && text.chars().all(|c| c.is_alphanumeric() || ['/', '.', '_', '-', '%', '#'].contains(&c))
}

/// A script without the members that it exports whose value is a text, and without the names of the others.
fn without_members(text: &str) -> String {
    let Some(open) = exported_object(text) else { return text.to_owned() };
    let trimmed = |between: &'_ str| between.trim_matches(|c: char| c.is_whitespace() || c == ',').to_owned();
    let (mut code, mut read) = (text[..=open].to_owned(), open + 1);
    for member in exported_members(text) {
        code.push_str(&trimmed(&text[read..member.start]));
        let value = &text[member.value.clone()];
        let is_text =
            value.starts_with(['"', '\'']) && TEXT.find(value).is_some_and(|found| found.len() == value.len());
        if !is_text {
            code.push('\0');
            code.push_str(text[member.name.end..member.value.end].trim_start_matches(['"', '\'']));
        }
        read = member.value.end;
    }
    code.push_str(&trimmed(&text[read..]));
    code
}

/// Where the object that a script exports opens.
fn exported_object(text: &str) -> Option<usize> {
    let at = text.find("export default")?;
    Some(at + text[at..].find('{')?)
}

/// A text in quotes on one line, without anything that quotes would have to escape.
static TEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?s)//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|"(?<double>(?:\\.|[^"\\\n])*)"|'(?<single>(?:\\.|[^'\\\n])*)'"#,
    )
    .expect("the pattern is written out above")
});

/// A text in quotes.
pub(crate) struct Literal {
    /// Between the quotes.
    pub(crate) value: Range<usize>,
    /// The member it is the value of; none for an item of a list.
    pub(crate) member: Option<String>,
    /// Of an item, the member that the list around it is the value of.
    pub(crate) list: Option<String>,
}

/// Each text that is the value of a member or an item of a list.
pub(crate) fn literals(text: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    // The brackets that are open, each with where it stands, and the end of the last code or text.
    let (mut open, mut read, mut end): (Vec<usize>, usize, usize) = (Vec::new(), 0, 0);
    for captures in TEXT.captures_iter(text) {
        let Some(all) = captures.get(0) else { continue };
        let code = &text[read..all.start()];
        for (at, c) in code.char_indices() {
            match c {
                '[' | '{' | '(' => open.push(read + at),
                ']' | '}' | ')' => drop(open.pop()),
                _ => {}
            }
        }
        if !code.trim().is_empty() {
            end = read + code.trim_end().len();
        }
        read = all.end();
        if all.as_str().starts_with('/') {
            continue;
        }
        let before = &text[..std::mem::replace(&mut end, read)];
        let Some(inner) = captures.name("double").or_else(|| captures.name("single")) else { continue };
        let after = &text[after_space(text, all.end())..];
        if !after.starts_with([',', ']', '}']) || inner.as_str().contains('\\') {
            continue;
        }
        let value = inner.range();
        if before.ends_with([',', '[']) {
            let Some(list) = open.last().map(|at| &text[*at..]).filter(|list| list.starts_with('[')) else { continue };
            let before_list = &text[..text.len() - list.len()];
            if opens_list(before_list) {
                found.push(Literal { value, member: None, list: member_before(before_list) });
            }
        } else if let Some(member) = member_before(before) {
            found.push(Literal { value, member: Some(member), list: None });
        }
    }
    found
}

/// Whether a bracket behind this text opens a list, and is no access to a member.
fn opens_list(before: &str) -> bool {
    let before = before.trim_end();
    let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap_or_default();
    match word {
        "" => !before.ends_with([')', ']', '}', '"', '\'', '`', '.']),
        word => ["return", "default"].contains(&word),
    }
}

/// The name of the member whose value begins behind this text.
fn member_before(text: &str) -> Option<String> {
    let name = text.trim_end().strip_suffix(':')?.trim_end().trim_end_matches(['"', '\'']);
    let start = name.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    Some(name[start..].to_owned())
}

/// A member of an object: where it starts, its name without quotes, its value.
pub(crate) struct Member {
    pub(crate) start: usize,
    pub(crate) name: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// The members of the object that a script exports, up to the first that is not plainly written.
pub(crate) fn exported_members(text: &str) -> Vec<Member> {
    let mut found = Vec::new();
    let Some(open) = exported_object(text) else { return found };
    let mut at = open + 1;
    loop {
        at = after_space(text, at);
        let rest = &text[at..];
        let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c));
        let name = match quote {
            Some(quote) => match rest[1..].find(quote) {
                Some(length) => at + 1..at + 1 + length,
                None => return found,
            },
            None => at..at + rest.find(|c: char| !c.is_alphanumeric() && !"_$".contains(c)).unwrap_or(rest.len()),
        };
        let colon = after_space(text, name.end + usize::from(quote.is_some()));
        if name.is_empty() || !text[colon..].starts_with(':') {
            return found;
        }
        let value = after_space(text, colon + 1);
        let (mut end, mut depth) = (value, 0);
        while let Some(c) = text[end..].chars().next() {
            if let Some(skipped) = TEXT.find_at(text, end).filter(|found| found.start() == end) {
                end = skipped.end();
                continue;
            }
            match c {
                '{' | '[' | '(' => depth += 1,
                '}' | ']' | ')' if depth == 0 => break,
                '}' | ']' | ')' => depth -= 1,
                ',' if depth == 0 => break,
                _ => {}
            }
            end += c.len_utf8();
        }
        let trimmed = value + text[value..end].trim_end().len();
        found.push(Member { start: at, name, value: value..trimmed });
        match text[end..].starts_with(',') {
            true => at = end + 1,
            false => return found,
        }
    }
}

/// Behind white space and comments.
fn after_space(text: &str, mut at: usize) -> usize {
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        match TEXT.find_at(text, at) {
            Some(comment) if comment.start() == at && comment.as_str().starts_with('/') => at = comment.end(),
            _ => return at,
        }
    }
}

#[cfg(test)]
#[path = "navigation_script_tests.rs"]
mod tests;
