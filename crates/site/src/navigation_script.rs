//! Navigation in scripts: finds the string literals that name pages and the labels that readers see, and checks that an edit
//! changes nothing else.
//!
//! The meaning of a literal follows from its context: it is the value of a member or an item of an array. If a script
//! is split wrongly, fewer literals are found, and an edit of the others is rejected.

use std::ops::Range;

use docent_markdown::file_name;

use docent_markdown::script::TokenKind;

use crate::layout::Generator;
use crate::script::{Member, Script};

/// The kinds of scripts that hold navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavigationScript {
    /// `sidebars.js` and `sidebarsCommunity.js` of Docusaurus: array items, `id` values, and array items that are
    /// objects of only an `id` and a label.
    Sidebars,
    /// `astro.config.mjs`, `.vitepress/config.ts` and the scripts of `.vitepress/config`: `link` and `slug` values,
    /// items of `items` and `sidebar`, and items of any array that are objects of only a link and its label.
    Configuration,
    /// `_meta.js` of Nextra: the members of the exported object whose value is a string literal.
    Members,
}

impl NavigationScript {
    /// The kind of a script, by its path.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (stem, ending) = path.rsplit_once('.')?;
        let is = |name: &str| stem.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'));
        let name = file_name(stem);
        let is_part = |of: Generator| match of {
            Generator::Docusaurus => name.starts_with("sidebars"),
            Generator::VitePress => is(&format!("{VITEPRESS}/{name}")),
            _ => false,
        };
        let script = SCRIPTS.into_iter().find(|(of, script, _)| is(script) || is_part(*of));
        let script = script.filter(|_| ENDINGS.contains(&ending));
        let members = (is("_meta") && META.contains(&ending)).then_some(Self::Members);
        script.map(|(_, _, kind)| kind).or(members)
    }

    /// The paths of the scripts that hold the navigation of a generator, relative to its folder.
    pub(crate) fn files_of(generator: Generator) -> Vec<String> {
        let scripts = SCRIPTS.into_iter().filter(|(of, _, _)| *of == generator);
        scripts.flat_map(|(_, name, _)| ENDINGS.map(|ending| format!("{name}.{ending}"))).collect()
    }

    /// Why an edit changes more than the page names and labels in the navigation; `None` if it does not.
    pub(crate) fn more_than_navigation(self, before: &str, after: &str) -> Option<&'static str> {
        let ((before, old_labels), (after, labels)) = (self.without_labels(before), self.without_labels(after));
        if self == Self::Members {
            return (without_members(&before) != without_members(&after)).then_some(OTHER_CODE);
        }
        // Some themes render a label as HTML.
        if labels.iter().any(|label| label.contains('<') && !old_labels.contains(label)) {
            return Some("a label would hold HTML");
        }
        let (before, after) = (Script::of(before), Script::of(after));
        let (before, after) = (self.skeleton(&before), self.skeleton(&after));
        if (&before.code, &before.comments, before.values.len()) != (&after.code, &after.comments, after.values.len()) {
            return Some(OTHER_CODE);
        }
        let replaced = before.values.iter().zip(&after.values).filter(|(old, new)| old != new);
        let added = after.items.iter().filter(|item| !before.items.contains(item));
        let are_addresses = replaced.flat_map(|(old, new)| [old, new]).chain(added).all(|text| is_address(text));
        let entries = after.entries.iter().filter(|entry| !before.entries.contains(entry));
        let are_plain = entries.flatten().all(|(name, text)| match *name {
            "type" => *text == "doc",
            "text" | "label" => true,
            _ => is_address(text),
        });
        (!are_addresses || !are_plain).then_some("it would name something that is no page")
    }

    /// Whether a literal names a page.
    pub(crate) fn names(self, literal: &Literal<'_>) -> bool {
        let Literal { member, list, .. } = literal;
        match self {
            Self::Sidebars => member.is_none_or(|member| member == "id"),
            Self::Configuration => match member {
                Some(member) => ["link", "slug"].contains(member),
                None => list.is_some_and(|list| LISTS.contains(&list)),
            },
            Self::Members => false,
        }
    }

    /// The labels, between their quotes, in order.
    pub(crate) fn labels(self, script: &Script) -> Vec<Range<usize>> {
        let is_label = |member: &str| match self {
            Self::Sidebars | Self::Configuration => ["label", "text"].contains(&member),
            Self::Members => member == "title",
        };
        // An object that a function is called with may be anything to it.
        let is_argument = |open: usize| {
            script.words(open) != "{" || script.tokens[open].within.is_some_and(|around| script.words(around) == "(")
        };
        let is_labelled = |literal: &Literal<'_>| {
            literal.member.is_some_and(is_label) && literal.within.is_some_and(|open| !is_argument(open))
        };
        let named = literals(script).into_iter().filter(is_labelled);
        let mut labels: Vec<Range<usize>> = named.map(|literal| literal.value).collect();
        if self == Self::Members
            && let Some(open) = script.exported_object()
        {
            let members = script.members(open).0.into_iter().filter(|member| script.is_whole(member.first));
            labels.extend(members.filter_map(|member| script.inner(member.first)));
        }
        labels.sort_unstable_by_key(|label| label.start);
        labels.dedup();
        labels
    }

    /// A script with empty labels, and its labels.
    fn without_labels(self, text: &str) -> (String, Vec<&str>) {
        let ranges = self.labels(&Script::of(text));
        let (mut rest, mut read) = (String::with_capacity(text.len()), 0);
        for range in &ranges {
            rest.push_str(&text[read..range.start]);
            read = range.end;
        }
        rest.push_str(&text[read..]);
        (rest, ranges.into_iter().map(|range| &text[range]).collect())
    }

    /// The script without page names and plain entries, and without whitespace, commas and comments between array
    /// items; these names, entries and comments are collected separately.
    fn skeleton(self, script: &Script) -> Skeleton<'_> {
        let text = &*script.text;
        let mut comments = script.comments.iter().peekable();
        let mut skeleton = Skeleton::default();
        let (mut read, mut was_item, mut index) = (0, false, 0);
        while let Some(token) = script.tokens.get(index) {
            let closed = token.pair.filter(|_| token.kind == TokenKind::Close);
            let list = closed.or(token.within).filter(|open| script.opens_list(*open));
            let code = &mut skeleton.code;
            while let Some(comment) = comments.next_if(|comment| comment.end <= token.range.start) {
                skeleton.comments.extend(list.map(|_| &text[comment.clone()]));
            }
            match list {
                None => code.push_str(&text[read..token.range.start]),
                Some(_) if read < token.range.start && !code.ends_with(['[', ',', ' ']) => code.push(' '),
                Some(_) => {}
            }
            read = token.range.end;
            let entry = list.filter(|_| token.kind == TokenKind::Open).and_then(|_| PlainEntry::at(script, index));
            match (token.kind, literal(script, index).filter(|literal| self.names(literal))) {
                (TokenKind::Close, _) if list.is_some() => {
                    code.truncate(code.trim_end_matches([' ', ',']).len());
                    code.push(']');
                }
                (TokenKind::Comma, _) if list.is_some() => {
                    code.truncate(code.trim_end_matches(' ').len());
                    if !(was_item && code.ends_with(['[', ','])) {
                        code.push(',');
                    }
                    was_item = false;
                }
                (_, Some(Literal { member: Some(_), value, .. })) => {
                    code.push_str("\"\"");
                    skeleton.values.push(&text[value]);
                }
                (_, Some(Literal { value, .. })) => {
                    skeleton.items.push(&text[value]);
                    was_item = true;
                }
                (_, None) => match entry {
                    Some(entry) => {
                        let members = entry.members.iter();
                        let texts =
                            members.map(|member| (&text[member.name.clone()], inside(&text[member.value.clone()])));
                        skeleton.entries.push(texts.collect());
                        was_item = true;
                        read = entry.range.end;
                        index = entry.close;
                    }
                    None => code.push_str(script.words(index)),
                },
            }
            index += 1;
        }
        skeleton.code.push_str(&text[read..]);
        skeleton
    }
}

const SCRIPTS: [(Generator, &str, NavigationScript); 3] = [
    (Generator::Docusaurus, "sidebars", NavigationScript::Sidebars),
    (Generator::Starlight, "astro.config", NavigationScript::Configuration),
    (Generator::VitePress, VITEPRESS, NavigationScript::Configuration),
];

/// The configuration of VitePress without extension: a script, or a folder of scripts.
pub(crate) const VITEPRESS: &str = ".vitepress/config";

/// Extensions of scripts.
pub(crate) const ENDINGS: [&str; 5] = ["js", "ts", "mjs", "mts", "cjs"];

/// Extensions of `_meta` scripts of Nextra.
pub(crate) const META: [&str; 4] = ["js", "jsx", "ts", "tsx"];

/// The members of a configuration whose array items name pages.
const LISTS: [&str; 2] = ["items", "sidebar"];

/// Members that a plain entry may have besides the name of its page.
const LABELS: [&str; 3] = ["text", "label", "type"];

/// Members by which an entry names its page.
const NAMES: [&str; 3] = ["link", "slug", "id"];

const OTHER_CODE: &str = "its code differs, too";

/// A script without its page names.
#[derive(Debug, Default)]
struct Skeleton<'t> {
    code: String,
    /// The comments between array items.
    comments: Vec<&'t str>,
    values: Vec<&'t str>,
    items: Vec<&'t str>,
    /// The members of each plain entry, as pairs of name and string value.
    entries: Vec<Vec<(&'t str, &'t str)>>,
}

/// An array item that is an object of string literals only: one page name, and labels.
pub(crate) struct PlainEntry {
    pub(crate) range: Range<usize>,
    pub(crate) members: Vec<Member>,
    /// The index of the token that closes the entry.
    close: usize,
}

impl PlainEntry {
    /// The entry that is opened by a token.
    pub(crate) fn at(script: &Script, open: usize) -> Option<Self> {
        let close = script.tokens[open].pair?;
        if script.words(open) != "{" || script.list_around(open).is_none() || !script.is_whole(open) {
            return None;
        }
        let (members, true) = script.members(open) else { return None };
        let range = script.tokens[open].range.start..script.tokens[close].range.end;
        let name = |member: &Member| &script.text[member.name.clone()];
        let is_plain = |member: &Member| {
            script.inner(member.first).is_some()
                && script.is_whole(member.first)
                && (LABELS.contains(&name(member)) || NAMES.contains(&name(member)))
        };
        let names = members.iter().filter(|member| NAMES.contains(&name(member))).count();
        let next_comment = script.comments.partition_point(|comment| comment.start < range.start);
        let is_entry = names == 1
            && members.iter().all(is_plain)
            && script.comments.get(next_comment).is_none_or(|comment| comment.start > range.end);
        is_entry.then_some(Self { range, members, close })
    }

    /// The range of the label, quotes included.
    pub(crate) fn label(&self, text: &str) -> Option<Range<usize>> {
        let is_label = |member: &&Member| ["text", "label"].contains(&&text[member.name.clone()]);
        self.members.iter().find(is_label).map(|member| member.value.clone())
    }
}

/// A text without its quotes.
fn inside(quoted: &str) -> &str {
    &quoted[1..quoted.len() - 1]
}

/// Whether a text can be the address or the id of a page, and cannot be code or an address on another host.
fn is_address(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with("//")
        && text.chars().all(|c| c.is_alphanumeric() || ['/', '.', '_', '-', '%', '#'].contains(&c))
}

/// A script without the exported members whose value is a string literal, and without the names of the other members.
fn without_members(text: &str) -> String {
    let script = Script::of(text);
    let Some(open) = script.exported_object() else { return text.to_owned() };
    let trimmed = |between: &'_ str| between.trim_matches(|c: char| c.is_whitespace() || c == ',').to_owned();
    let start = script.tokens[open].range.end;
    let (mut code, mut read) = (text[..start].to_owned(), start);
    for member in script.members(open).0 {
        code.push_str(&trimmed(&text[read..member.start]));
        let first = &script.tokens[member.first];
        if first.kind != TokenKind::Text || first.range != member.value {
            code.push('\0');
            code.push_str(text[member.name.end..member.value.end].trim_start_matches(['"', '\'']));
        }
        read = member.value.end;
    }
    code.push_str(&trimmed(&text[read..]));
    code
}

/// A string literal that is the value of a member or an item of an array.
pub(crate) struct Literal<'t> {
    /// Between the quotes.
    pub(crate) value: Range<usize>,
    /// The name of the member that has this value; `None` for an array item.
    pub(crate) member: Option<&'t str>,
    /// For an array item, the name of the member whose value is the array.
    pub(crate) list: Option<&'t str>,
    /// For the value of a member, the index of the enclosing bracket.
    pub(crate) within: Option<usize>,
}

/// Every string literal that is the value of a member or an item of an array.
pub(crate) fn literals(script: &Script) -> Vec<Literal<'_>> {
    (0..script.tokens.len()).filter_map(|index| literal(script, index)).collect()
}

fn literal(script: &Script, index: usize) -> Option<Literal<'_>> {
    let value = script.inner(index).filter(|_| script.is_whole(index))?;
    if let Some(list) = script.list_around(index) {
        return Some(Literal { value, member: None, list: script.member_before(list), within: None });
    }
    let member = script.member_before(index)?;
    Some(Literal { value, member: Some(member), list: None, within: script.tokens[index].within })
}

#[cfg(test)]
mod tests;
