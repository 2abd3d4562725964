//! Document attributes, and the ids that depend on them.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::depth::Depth;
use crate::front_matter::{Field, FieldValue, FrontMatter};

/// Maximum nesting depth of text: in macros, and in the values of attributes, which may refer to themselves.
const DEEPEST: usize = 20;

/// In bytes: the longest value of an attribute, so that values built from each other stay small.
const MAX_VALUE_BYTES: usize = 4_096;

/// In bytes: most text that attribute references may insert on a page, besides twice its own length.
const MAX_INSERTED_BYTES: usize = 64 << 10;

/// In bytes: most text that attribute references may insert on a page of any length.
const MAX_INSERTED_BYTES_IN_ALL: usize = 1 << 20;

/// Attributes that a site or a forge sets before a page is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdocAttributes {
    set: BTreeMap<String, Given>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Given {
    /// `None` if the attribute is known to be unset.
    value: Option<String>,
    /// Whether a page may override the value.
    is_soft: bool,
}

impl AdocAttributes {
    /// Sets an attribute in the notation of a configuration: `@` after its name or its value lets pages override it,
    /// `!` before or after its name (or a `value` of `None`) unsets it. An attribute that was set before stays, unless
    /// pages may override it.
    pub fn set(&mut self, name: &str, value: Option<&str>) {
        let bare = name.trim_end_matches('@');
        let soft_value = value.and_then(|value| value.strip_suffix('@'));
        let is_soft = bare.len() < name.len() || soft_value.is_some();
        let name = bare.trim_matches('!');
        if self.set.get(&name.to_lowercase()).is_some_and(|set| !set.is_soft) {
            return;
        }
        let value = soft_value.or(value).filter(|_| name.len() == bare.len());
        let value = value.map(|value| self.replaced(value));
        self.set.insert(name.to_lowercase(), Given { value, is_soft });
    }

    /// The value of an attribute that is set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.set.get(&name.to_lowercase())?.value.as_deref()
    }

    /// Expands the attribute references of a text; unknown ones stay verbatim.
    pub fn replaced(&self, text: &str) -> String {
        replaced(text, |name| self.get(name))
    }
}

/// The attributes at one position of a page.
#[derive(Debug, Clone)]
pub(super) struct Attributes<'g> {
    given: &'g AdocAttributes,
    page_values: HashMap<String, Option<String>>,
    inserted_bytes: usize,
    /// Maximum of [`Self::inserted_bytes`]. References beyond it stay verbatim.
    most_inserted_bytes: usize,
    /// How deep inline markup may still be nested.
    pub(super) depth: Depth,
}

impl<'g> Attributes<'g> {
    /// The attributes at the beginning of a page of this length.
    pub(super) fn of(given: &'g AdocAttributes, length: usize) -> Self {
        Self {
            given,
            page_values: HashMap::new(),
            inserted_bytes: 0,
            most_inserted_bytes: (MAX_INSERTED_BYTES + 2 * length).min(MAX_INSERTED_BYTES_IN_ALL),
            depth: Depth::of(DEEPEST),
        }
    }

    /// Whether references stay verbatim because too much text was inserted before them.
    pub(super) fn is_exhausted(&self) -> bool {
        self.inserted_bytes > self.most_inserted_bytes
    }

    pub(super) fn set(&mut self, name: &str, value: Option<&str>) {
        let is_fixed = self.given.set.get(name).is_some_and(|given| !given.is_soft);
        if is_fixed {
            return;
        }
        let value = value.map(|value| {
            let value = self.replaced(value);
            value[..value.floor_char_boundary(MAX_VALUE_BYTES)].to_owned()
        });
        self.page_values.insert(name.to_owned(), value);
    }

    /// `None` if the attribute is unknown, `Some(None)` if it is known to be unset.
    pub(super) fn known(&self, name: &str) -> Option<Option<&str>> {
        let page_value = self.page_values.get(name).map(Option::as_deref);
        page_value.or_else(|| self.given.set.get(name).map(|given| given.value.as_deref()))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.known(name).flatten().or_else(|| character(name))
    }

    pub(super) fn replaced(&mut self, text: &str) -> String {
        if !text.contains('{') || self.is_exhausted() {
            return text.to_owned();
        }
        let out = replaced(text, |name| self.get(name));
        self.inserted_bytes += out.len();
        out
    }

    /// The value to insert for a name; `None` if there is none, or if the page has inserted too much.
    pub(super) fn value_to_insert(&mut self, name: &str) -> Option<String> {
        let length = self.get(&name.to_lowercase())?.len();
        self.inserted_bytes += length;
        if self.is_exhausted() {
            return None;
        }
        self.get(&name.to_lowercase()).map(str::to_owned)
    }
}

/// Replaces each `{name}` of a text that has a known value.
fn replaced<'v>(text: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        match reference(rest).and_then(|name| Some((name, value(&name.to_lowercase())?))) {
            Some((name, value)) if out.len() < 4 * MAX_VALUE_BYTES => {
                out.push_str(value);
                rest = &rest[name.len() + 2..];
            }
            _ => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// The name in `{name}` at the beginning of a text.
pub(super) fn reference(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('{')?;
    let length = rest.bytes().take(200).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte)).count();
    (length > 0 && rest[length..].starts_with('}') && !rest.starts_with('-')).then_some(&rest[..length])
}

/// `:name: value`, `:!name:` and `:name!:`; a value of `None` unsets the attribute.
pub(super) fn entry(line: &str) -> Option<(String, Option<&str>)> {
    let rest = line.strip_prefix(':')?;
    let end = rest.find(':').filter(|end| (1..200).contains(end))?;
    let (name, value) = (&rest[..end], &rest[end + 1..]);
    let bare = name.strip_prefix('!').or_else(|| name.strip_suffix('!')).unwrap_or(name);
    let fits = bare.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && bare.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
        && (value.is_empty() || value.starts_with([' ', '\t']));
    fits.then(|| (bare.to_lowercase(), (bare.len() == name.len()).then(|| value.trim())))
}

/// A value without the `pass:` macro around it, which prevents markup from being parsed.
pub(super) fn unwrapped(value: &str) -> &str {
    let inside = value.strip_prefix("pass:").and_then(|rest| rest.strip_suffix(']'));
    inside.and_then(|rest| rest.split_once('[')).map_or(value, |(_, inside)| inside)
}

/// The header attributes that describe the page, by their frontmatter keys.
pub(super) fn front_matter_of(attributes: &Attributes<'_>) -> FrontMatter {
    let names = [
        ("description", "description"),
        ("keywords", "keywords"),
        ("navtitle", "nav_title"),
        ("page-aliases", "page-aliases"),
    ];
    let mut front = FrontMatter::default();
    for (name, field) in names {
        if let Some(Some(value)) =
            attributes.page_values.get(name).filter(|value| value.as_ref().is_some_and(|v| !v.is_empty()))
        {
            let value = FieldValue::Text(value.clone());
            front.fields.push(Field { name: field.to_owned(), value });
        }
    }
    front
}

/// The predefined attributes for characters.
fn character(name: &str) -> Option<&'static str> {
    Some(match name {
        "empty" | "blank" => "",
        "sp" => " ",
        "nbsp" => "\u{a0}",
        "zwsp" => "\u{200b}",
        "wj" => "\u{2060}",
        "apos" => "'",
        "quot" => "\"",
        "lsquo" => "‘",
        "rsquo" => "’",
        "ldquo" => "“",
        "rdquo" => "”",
        "deg" => "°",
        "plus" => "+",
        "brvbar" => "¦",
        "vbar" => "|",
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "startsb" => "[",
        "endsb" => "]",
        "caret" => "^",
        "asterisk" => "*",
        "tilde" => "~",
        "backslash" => "\\",
        "backtick" => "`",
        "two-colons" => "::",
        "two-semicolons" => ";;",
        "cpp" => "C++",
        "pp" => "++",
        "cxx" => "C++",
        _ => return None,
    })
}

/// The ids of one page.
#[derive(Debug, Default)]
pub(super) struct PageIds {
    used: HashSet<String>,
    /// The next number for an id that was used before.
    next: HashMap<String, usize>,
}

impl PageIds {
    pub(super) fn take(&mut self, id: &str) {
        self.used.insert(id.to_owned());
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.used.contains(id)
    }

    /// The id of a heading, from its text; unique on the page.
    pub(super) fn of_heading(&mut self, words: &str, prefix: &str, separator: &str) -> String {
        let id = slug(words, prefix, separator);
        if self.used.insert(id.clone()) {
            return id;
        }
        let count = self.next.entry(id.clone()).or_insert(2);
        loop {
            let numbered = format!("{id}{separator}{count}");
            *count += 1;
            if self.used.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// The id that Asciidoctor derives from the text of a heading.
pub(crate) fn slug(words: &str, prefix: &str, separator: &str) -> String {
    let separator = separator.chars().next();
    let mut id = String::new();
    for c in words.chars().flat_map(char::to_lowercase) {
        let is_gap = matches!(c, ' ' | '-' | '.') || Some(c) == separator;
        match separator {
            None if c == ' ' => {}
            Some(separator) if is_gap => {
                // A separator at the end of the prefix counts, too.
                let ends_in_separator = id.ends_with(separator) || id.is_empty() && prefix.ends_with(separator);
                id.extend((!ends_in_separator).then_some(separator));
            }
            _ if c.is_alphanumeric() || c == '_' || is_gap || unicode_normalization::char::is_combining_mark(c) => {
                id.push(c);
            }
            _ => {}
        }
    }
    if let Some(separator) = separator {
        if id.ends_with(separator) {
            id.pop();
        }
        if prefix.is_empty() && id.starts_with(separator) {
            id.remove(0);
        }
    }
    format!("{prefix}{id}")
}
