//! Sets a front matter field in place and keeps comments and order.

use std::ops::Range;

use docent_markdown::{
    Field, FieldValue, FrontMatter, Page, Syntax, bom_length, file_name, is_markdown, lines_after, parse, regex,
    text_of,
};
use docent_site::{Site, Tree, is_fragment};

use super::edit::{Change, TextEdit, apply};
use super::selection::Selection;
use super::{RefactorError, Refactored, counted};

/// The new value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldContent {
    /// A text. `true` and `false` are written without quotes, and so is a whole number unless the field is textual.
    Text(String),
    Flag(bool),
    /// A number, verbatim.
    Number(String),
}

/// Decides which pages may be given front matter.
pub(super) struct FrontMatterUse {
    /// Whether the generator strips front matter, or most of the first 200 pages have some.
    by_site: bool,
}

impl FrontMatterUse {
    pub(super) fn of(tree: &dyn Tree, site: &Site) -> Self {
        let has = |file: &str| tree.text(file).is_some_and(|text| text.starts_with("---"));
        let by_site = site.takes_front_matter() || {
            let pages = site.files().filter(|file| site.is_page(file) && is_markdown(file));
            let pages: Vec<&str> = pages.take(200).collect();
            pages.iter().filter(|file| has(file)).count() * 2 > pages.len()
        };
        Self { by_site }
    }

    /// Whether a page has front matter or may be given some: it is a page of the site, and not a file that other
    /// programs read.
    pub(super) fn allows(&self, site: &Site, page: &Page) -> bool {
        page.front_matter.body.is_some()
            || (self.by_site && site.layout().holds_pages(&page.path) && !is_read_elsewhere(&page.path))
    }
}

/// Whether a file is read by forges and other programs, in addition to the site or instead of it.
pub(super) fn is_read_elsewhere(file: &str) -> bool {
    let name = file_name(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_ascii_lowercase();
    ["readme", "skill", "summary", "changelog", "license", "contributing", "agents", "claude"].contains(&stem.as_str())
}

/// Textual fields, whose values stay text even if they consist of digits.
const WORDS: [&str; 9] =
    ["title", "description", "sidebarTitle", "sidebar_title", "version", "tag", "tags", "slug", "label"];

/// Sets a front matter field on every selected page; pages without front matter get one.
pub fn set_front_matter(
    tree: &dyn Tree,
    field: &str,
    content: &FieldContent,
    within: &[String],
) -> Result<Refactored, RefactorError> {
    let is_name = field.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && field.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c))
        && !field.ends_with(':');
    if !is_name {
        return Err(RefactorError::BadField(field.to_owned()));
    }
    let site = Site::read(tree);
    let selection = Selection::of(&site, within)?;
    let mut refactored = Refactored::default();
    let allowed = FrontMatterUse::of(tree, &site);
    let (mut same, mut pages) = (0, 0);
    for file in site.files().filter(|file| site.is_page(file) && is_markdown(file) && selection.has(file)) {
        if !selection.is_narrowed() && is_fragment(file) {
            continue;
        }
        pages += 1;
        let Some(bytes) = tree.read(file) else { continue };
        let page = parse(file, &bytes);
        if !allowed.allows(&site, &page) {
            refactored.left.push(format!("{file}: it has no front matter, and readers would see it as text"));
            continue;
        }
        match set(&page, &bytes, field, content) {
            Ok(None) => same += 1,
            Ok(Some(edit)) => {
                refactored.details.push(file.to_owned());
                refactored.changes.push(Change::Edit { path: file.to_owned(), edits: vec![edit] });
            }
            Err(why) => refactored.left.push(format!("{file}: {why}")),
        }
    }
    if pages == 0 {
        return Err(RefactorError::NothingMatches(within.join(", ")));
    }
    let changed = refactored.changes.len();
    let value = match content {
        FieldContent::Text(text) => format!("“{text}”"),
        FieldContent::Flag(flag) => flag.to_string(),
        FieldContent::Number(number) => number.clone(),
    };
    refactored.summary = match (changed, same) {
        (0, 0) => format!("Set `{field}` nowhere"),
        (0, _) => format!("`{field}` is {value} already in {}", counted(same, "page", "pages")),
        (_, 0) => format!("Set `{field}` to {value} in {}", counted(changed, "page", "pages")),
        _ => format!("Set `{field}` to {value} in {}; {same} had it already", counted(changed, "page", "pages")),
    };
    Ok(refactored)
}

/// The edit that sets a field; `None` if it has this value already, an error if it cannot be set without changing
/// something else.
pub(super) fn set(
    page: &Page,
    bytes: &[u8],
    name: &str,
    content: &FieldContent,
) -> Result<Option<TextEdit>, &'static str> {
    let text = text_of(bytes);
    let front_matter = &page.front_matter;
    let wanted = match content {
        FieldContent::Text(text) => one_line(text),
        FieldContent::Flag(flag) => flag.to_string(),
        FieldContent::Number(number) => number.clone(),
    };
    if front_matter.value(name) == Some(&FieldValue::Text(wanted.clone())) {
        return Ok(None);
    }
    if front_matter.syntax != Syntax::Yaml {
        return Err("its front matter is not YAML, and no other is changed");
    }
    if front_matter.body.is_none() && begins_with_metadata(&text) {
        return Err(
            "it begins with a line `Name: value`, which MkDocs reads as metadata unless a block stands before it",
        );
    }
    let nests = name.split_once('.').filter(|_| !front_matter.fields.iter().any(|field| field.name == name));
    let newline = if text.lines().next().is_some_and(|_| text.contains("\r\n")) { "\r\n" } else { "\n" };
    let edit = match (&front_matter.body, nests) {
        (body, Some((outer, inner))) => nested(page, &text, body.as_ref(), outer, inner, newline, content)?,
        (None, None) => new_block(&text, &format!("{name}: {}{newline}", scalar(name, content, None)), newline),
        (Some(body), None) => match find(&text, body, name) {
            Some(place) => {
                let old = text[place.value.clone()].trim();
                TextEdit::new(place.value, format!(" {}", scalar(name, content, Some(old))))
            }
            None => {
                let at = place_for(&text, body, name);
                let before = if at > body.start && !text[..at].ends_with('\n') { newline } else { "" };
                let line = format!("{name}: {}", scalar(name, content, None));
                TextEdit::insert(at, format!("{before}{line}{newline}"))
            }
        },
    };
    let after = parse(&page.path, &apply(bytes, std::slice::from_ref(&edit)));
    match sets_only(front_matter, &after.front_matter, name, &wanted) {
        true => Ok(Some(edit)),
        false => Err("its front matter is written in a way I could not change without touching more"),
    }
}

/// Whether a page may begin with metadata without fences, as MultiMarkdown has it.
pub(super) fn begins_with_metadata(text: &str) -> bool {
    regex!(METADATA, r"^\u{feff}? {0,3}[A-Za-z0-9_-]+:\s");
    METADATA.is_match(text)
}

/// The edit that gives a page front matter with these lines.
pub(super) fn new_block(text: &str, lines: &str, newline: &str) -> TextEdit {
    let start = bom_length(text);
    let gap = if text[start..].trim_start_matches([' ', '\t']).starts_with(['\n', '\r']) { "" } else { newline };
    TextEdit::insert(start, format!("---{newline}{lines}---{newline}{gap}"))
}

/// The edit that sets a field of a mapping: `sidebar.label` is `label` in `sidebar`.
fn nested(
    page: &Page,
    text: &str,
    body: Option<&Range<usize>>,
    outer: &str,
    inner: &str,
    newline: &str,
    content: &FieldContent,
) -> Result<TextEdit, &'static str> {
    if inner.contains('.') {
        return Err("fields are set at most one mapping deep");
    }
    let line = |indent: &str| format!("{indent}{inner}: {}{newline}", scalar(inner, content, None));
    let block = format!("{outer}:{newline}{}", line("  "));
    let Some(body) = body else { return Ok(new_block(text, &block, newline)) };
    let Some(place) = find(text, body, outer) else {
        let before = if body.end > body.start && !text[..body.end].ends_with('\n') { newline } else { "" };
        return Ok(TextEdit::insert(body.end, format!("{before}{block}")));
    };
    let written = &text[place.value.clone()];
    let is_block = matches!(page.front_matter.value(outer), Some(FieldValue::Nested(_)));
    let first = written.split_inclusive('\n').skip(1).find(|line| !line.trim().is_empty());
    let indent = first.map(|line| &line[..line.len() - line.trim_start().len()]).filter(|indent| !indent.is_empty());
    let Some(indent) = indent.filter(|_| is_block) else {
        return Err("the field it would stand in holds something else, or is written on one line");
    };
    for (at, line) in lines_after(&text[..place.value.end], place.value.start) {
        let start = at + indent.len();
        let own = line.strip_prefix(indent).filter(|own| !own.starts_with([' ', '\t']));
        let Some(after_colon) = own.and_then(|own| value_of(own, inner)) else { continue };
        let rest = text[start + after_colon..at + line.len()].trim_end_matches(['\n', '\r']);
        let value = start + after_colon..start + after_colon + scalar_length(rest);
        let old = text[value.clone()].trim().to_owned();
        return Ok(TextEdit::new(value, format!(" {}", scalar(inner, content, Some(&old)))));
    }
    let head = written.find('\n').map_or(place.end, |end| place.value.start + end + 1);
    Ok(TextEdit::insert(head, line(indent)))
}

/// Whether an edit set this field of the front matter and changed nothing else.
fn sets_only(before: &FrontMatter, after: &FrontMatter, name: &str, wanted: &str) -> bool {
    let is_set = matches!(after.value(name), Some(FieldValue::Text(text)) if text == wanted);
    is_set && others(before, name) == others(after, name)
}

/// The fields beside this one, by name. A mapping without other members is treated as missing.
pub(super) fn others(front_matter: &FrontMatter, name: &str) -> Vec<Field> {
    let without = |field: &Field| match (&field.value, name.strip_prefix(&format!("{}.", field.name))) {
        (FieldValue::Nested(fields), Some(inner)) => {
            let kept: Vec<Field> = fields.iter().filter(|field| field.name != inner).cloned().collect();
            (!kept.is_empty()).then(|| Field { name: field.name.clone(), value: FieldValue::Nested(kept) })
        }
        _ => Some(field.clone()),
    };
    let mut others: Vec<_> =
        front_matter.fields.iter().filter(|field| field.name != name).filter_map(without).collect();
    others.sort_by(|a, b| a.name.cmp(&b.name));
    others
}

/// The range of a field's value: from after the colon to before a comment or the end of the line, over several lines if
/// the value has them.
pub(super) struct FieldSpan {
    pub(super) value: Range<usize>,
    /// The end of the field's last line.
    pub(super) end: usize,
}

pub(super) fn find(text: &str, body: &Range<usize>, name: &str) -> Option<FieldSpan> {
    let mut lines = lines_after(&text[..body.end], body.start);
    let (start, line, after_colon) = lines.find_map(|(at, line)| Some((at, line, value_of(line, name)?)))?;
    let value = start + after_colon;
    let length = scalar_length(line[after_colon..].trim_end_matches(['\n', '\r']));
    let mut span = FieldSpan { value: value..value + length, end: start + line.len() };
    // Indented lines, list items, and blank lines between them belong to the value.
    let belongs = |line: &str| line.starts_with([' ', '\t']) || line.starts_with("- ") || line.trim_end() == "-";
    let more = lines.take_while(|(_, line)| belongs(line) || line.trim().is_empty());
    for (at, line) in more.filter(|(_, line)| !line.trim().is_empty()) {
        (span.value.end, span.end) = (at + line.trim_end().len(), at + line.len());
    }
    Some(span)
}

/// The byte offset after the colon if the line sets this field.
fn value_of(line: &str, name: &str) -> Option<usize> {
    let spellings = [name.to_owned(), format!("\"{name}\""), format!("'{name}'")];
    spellings.iter().find_map(|spelling| {
        let rest = line.strip_prefix(spelling.as_str())?;
        let colon = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
        (colon.is_empty() || colon.starts_with(char::is_whitespace)).then(|| line.len() - colon.len())
    })
}

/// The length of the value in the rest of a line, with leading whitespace and without a trailing comment.
fn scalar_length(rest: &str) -> usize {
    let lead = rest.len() - rest.trim_start().len();
    let value = &rest[lead..];
    let closed = match value.chars().next() {
        Some('"') => {
            let mut escaped = false;
            value.char_indices().skip(1).find_map(|(at, c)| {
                let closes = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                closes.then_some(at + 1)
            })
        }
        Some('\'') => {
            let inner = value[1..].replace("''", "  ");
            inner.find('\'').map(|at| at + 2)
        }
        Some('#') => return 0,
        _ => None,
    };
    let end = closed.unwrap_or_else(|| value.find(" #").unwrap_or(value.len()));
    lead + value[..end].trim_end().len()
}

/// Where a new field is inserted: titles first, descriptions after the title, everything else last.
fn place_for(text: &str, body: &Range<usize>, name: &str) -> usize {
    match name {
        "title" => body.start,
        "description" => find(text, body, "title").map_or(body.start, |place| place.end),
        _ => body.end,
    }
}

/// A value as YAML, quoted like the old value if that was quoted.
fn scalar(name: &str, content: &FieldContent, old: Option<&str>) -> String {
    let text = match content {
        FieldContent::Flag(flag) => return flag.to_string(),
        FieldContent::Number(number) => return number.clone(),
        FieldContent::Text(text) => one_line(text),
    };
    let old = old.unwrap_or("");
    let was_number = old.parse::<f64>().is_ok();
    let is_whole = text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    let is_words = WORDS.contains(&name);
    let written_plain = matches!(text.as_str(), "true" | "false")
        || (is_whole && !is_words && !old.starts_with(['"', '\'']))
        || (was_number && !is_words && text.parse::<f64>().is_ok_and(f64::is_finite) && !text.starts_with(['+', '.']));
    if written_plain {
        return text;
    }
    if old.starts_with('\'') && !text.chars().any(char::is_control) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    if !old.starts_with('"') && is_plain(&text) {
        return text;
    }
    // A JSON string is also a double-quoted YAML string.
    serde_json::Value::from(text).to_string()
}

fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a text can be written in YAML without quotes, and every parser reads it back unchanged.
fn is_plain(text: &str) -> bool {
    let first = text.chars().next().is_some_and(char::is_alphabetic);
    let special = ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"];
    first
        && !text.ends_with([':', ' '])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(['\t', '"', '`', '{', '}', '[', ']', '\u{85}', '\u{2028}', '\u{2029}', '\u{feff}'])
        && !text.chars().any(char::is_control)
        && !special.contains(&text.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{after, site, text, touched};

    fn set_text(before: &str, field: &str, value: &str) -> String {
        let tree = site(&[("docs.json", "{}"), ("a.mdx", before)]);
        let refactored = set_front_matter(&tree, field, &FieldContent::Text(value.into()), &["a".into()]).expect("set");
        assert_eq!(refactored.left, Vec::<String>::new());
        text(&after(&tree, &refactored), "a.mdx")
    }

    #[test]
    fn a_field_is_set_where_it_stands() {
        for (before, field, value, expected) in [
            ("---\ntitle: A\n---\nx", "title", "B", "---\ntitle: B\n---\nx"),
            ("---\ntitle: A # why\nz: 1\n---\n", "title", "B", "---\ntitle: B # why\nz: 1\n---\n"),
            ("---\ntitle: \"A # b\" # why\n---\n", "title", "B", "---\ntitle: \"B\" # why\n---\n"),
            ("---\ntitle: 'A''s'\n---\n", "title", "B's", "---\ntitle: 'B''s'\n---\n"),
            (
                "---\n# first\ntitle: A\n\n# last\n---\n",
                "icon",
                "key",
                "---\n# first\ntitle: A\n\n# last\nicon: key\n---\n",
            ),
            ("---\nicon: x\n---\n", "title", "B", "---\ntitle: B\nicon: x\n---\n"),
            ("---\ntitle: A\nicon: x\n---\n", "description", "D", "---\ntitle: A\ndescription: D\nicon: x\n---\n"),
            ("---\r\ntitle: A\r\n---\r\nx", "title", "B", "---\r\ntitle: B\r\n---\r\nx"),
            ("---\ntitle: A\ntags:\n- a\n- b\nz: 1\n---\n", "tags", "c", "---\ntitle: A\ntags: c\nz: 1\n---\n"),
            ("---\ntitle: >\n  A\n  long\n\nz: 1\n---\n", "title", "B", "---\ntitle: B\n\nz: 1\n---\n"),
            ("---\ntitle:\n---\n", "title", "B", "---\ntitle: B\n---\n"),
            ("Words.\n", "title", "B", "---\ntitle: B\n---\n\nWords.\n"),
            ("\u{feff}Words.", "title", "B", "\u{feff}---\ntitle: B\n---\n\nWords."),
            ("---\n---\nx", "title", "B", "---\ntitle: B\n---\nx"),
            ("---\ntitle: A\n---\n", "title", "B: \"c\" #d", "---\ntitle: \"B: \\\"c\\\" #d\"\n---\n"),
            ("---\ntitle: A\n---\n", "title", "404", "---\ntitle: \"404\"\n---\n"),
            ("---\ntitle: A\n---\n", "hidden", "true", "---\ntitle: A\nhidden: true\n---\n"),
            ("---\norder: 1\n---\n", "order", "2", "---\norder: 2\n---\n"),
            ("---\nversion: 1.0\n---\n", "version", "1.10", "---\nversion: \"1.10\"\n---\n"),
            ("---\n\"og:title\": A\n---\n", "og:title", "B", "---\n\"og:title\": B\n---\n"),
            ("---\nog:title: A\n---\n", "og:title", "B", "---\nog:title: B\n---\n"),
            ("---\nname: A\n---\n", "title", "no", "---\ntitle: \"no\"\nname: A\n---\n"),
            ("---\ntitle: A\n---\nx", "sidebar.label", "B", "---\ntitle: A\nsidebar:\n  label: B\n---\nx"),
            (
                "---\nsidebar:\n    order: 2 # why\n    label: A\nz: 1\n---\n",
                "sidebar.label",
                "B",
                "---\nsidebar:\n    order: 2 # why\n    label: B\nz: 1\n---\n",
            ),
            (
                "---\nsidebar:\n  order: 2\n---\n",
                "sidebar.label",
                "B: c",
                "---\nsidebar:\n  label: \"B: c\"\n  order: 2\n---\n",
            ),
            ("---\nsidebar.label: A\n---\n", "sidebar.label", "B", "---\nsidebar.label: B\n---\n"),
            ("Words.\n", "sidebar.order", "3", "---\nsidebar:\n  order: 3\n---\n\nWords.\n"),
        ] {
            assert_eq!(set_text(before, field, value), expected, "{before:?} {field} {value}");
        }
    }

    #[test]
    fn set_fields_are_not_touched() {
        let tree = site(&[("a.mdx", "---\ntitle: A\n---\n"), ("b.mdx", "---\ntitle: \"A\"\n---\n"), ("c.mdx", "x")]);
        let content = FieldContent::Text("A".into());
        let refactored = set_front_matter(&tree, "title", &content, &["*.mdx".into()]).expect("set");
        assert_eq!(touched(&refactored), ["c.mdx"]);
        assert_eq!(refactored.summary, "Set `title` to “A” in 1 page; 2 had it already");
    }

    #[test]
    fn a_front_matter_that_cannot_be_changed_safely_is_left() {
        let tree = site(&[("a.mdx", "---\n{title: A, x: 1}\n---\n")]);
        let refactored =
            set_front_matter(&tree, "title", &FieldContent::Text("B".into()), &["a".into()]).expect("an outcome");
        assert_eq!(refactored.changes, []);
        assert_eq!(refactored.left.len(), 1);
    }

    #[test]
    fn front_matter_is_put_only_where_it_is_taken_off_again() {
        let plain = site(&[("a.md", "x"), ("b.md", "---\ntitle: B\n---\n"), ("c.md", "x")]);
        let content = FieldContent::Text("T".into());
        let refactored = set_front_matter(&plain, "title", &content, &[]).expect("an outcome");
        assert_eq!(touched(&refactored), ["b.md"]);
        assert_eq!(refactored.left.len(), 2);
        let known = site(&[("docs.json", "{}"), ("a.md", "x"), ("README.md", "x"), ("skills/x/SKILL.md", "x")]);
        let refactored = set_front_matter(&known, "title", &content, &[]).expect("an outcome");
        assert_eq!(touched(&refactored), ["a.md"]);
    }

    #[test]
    fn a_mapping_that_is_none_stays() {
        for before in ["---\nsidebar: false\n---\n", "---\nsidebar: {order: 1}\n---\n", "---\nsidebar:\n- a\n---\n"] {
            let tree = site(&[("a.mdx", before)]);
            let content = FieldContent::Text("B".into());
            let refactored = set_front_matter(&tree, "sidebar.label", &content, &[]).expect("an outcome");
            assert_eq!((refactored.changes.len(), refactored.left.len()), (0, 1), "{before}");
        }
    }

    #[test]
    fn a_field_needs_a_name() {
        let tree = site(&[("a.mdx", "x")]);
        let refused = set_front_matter(&tree, "a b", &FieldContent::Flag(true), &[]);
        assert_eq!(refused, Err(RefactorError::BadField("a b".into())));
    }
}
