//! The chores of the builtin agent. Each is one tool call.

use std::fmt;

use serde_json::{Value, json};

/// One chore, parsed from an instruction.
#[derive(Debug, Clone, PartialEq)]
pub enum Chore {
    /// Replace a text.
    ReplaceText {
        from: String,
        to: String,
        scope: Scope,
    },
    /// Move a page with its links and navigation, leaving a redirect.
    MovePage {
        from: String,
        to: String,
    },
    DeletePage {
        page: String,
    },
    /// Change broken links to the page or anchor that is clearly the nearest.
    FixLinks {
        scope: Scope,
    },
    AddDescriptions {
        scope: Scope,
    },
    AddTitles {
        scope: Scope,
    },
    AddPage {
        page: String,
        title: String,
        outline: Vec<OutlineItem>,
    },
    /// Set a front matter field. The value is a JSON string, boolean or number.
    SetFrontMatter {
        field: String,
        value: Value,
        scope: Scope,
    },
}

/// A heading of a page to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// 2 for the outermost headings, 3 for those below them, and so on to 6.
    pub level: u8,
    pub text: String,
}

/// Which pages a chore applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Everywhere,
    /// Paths and globs, verbatim, at least one.
    In(Vec<String>),
}

impl Chore {
    /// The tool call that carries out the chore: the tool's name and its input.
    pub fn call(&self) -> (&'static str, Value) {
        let (tool, mut input) = match self {
            Self::ReplaceText { from, to, .. } => ("replace_text", json!({ "find": from, "replace": to })),
            Self::MovePage { from, to } => ("move_page", json!({ "from": from, "to": to })),
            Self::DeletePage { page } => ("delete_page", json!({ "page": page })),
            Self::FixLinks { .. } => ("fix_links", json!({})),
            Self::AddDescriptions { .. } => ("add_descriptions", json!({})),
            Self::AddTitles { .. } => ("add_titles", json!({})),
            Self::AddPage { page, title, outline } => {
                let outline: Vec<Value> =
                    outline.iter().map(|item| json!({ "level": item.level, "heading": item.text })).collect();
                ("add_page", json!({ "path": page, "title": title, "outline": outline }))
            }
            Self::SetFrontMatter { field, value, .. } => {
                ("set_front_matter", json!({ "field": field, "value": value }))
            }
        };
        if let Some(Scope::In(patterns)) = self.scope() {
            input["in"] = json!(patterns);
        }
        (tool, input)
    }

    /// `None` for a chore about a single page.
    fn scope(&self) -> Option<&Scope> {
        match self {
            Self::ReplaceText { scope, .. }
            | Self::FixLinks { scope }
            | Self::AddDescriptions { scope }
            | Self::AddTitles { scope }
            | Self::SetFrontMatter { scope, .. } => Some(scope),
            Self::MovePage { .. } | Self::DeletePage { .. } | Self::AddPage { .. } => None,
        }
    }

    /// Why the chore must not be carried out, or `None`. A text with a control character is refused: it is a mistake,
    /// and nobody would see it in the docs.
    pub fn refusal(&self) -> Option<String> {
        control_character(&self.call().1).map(|c| {
            format!("it holds the control character U+{:04X}, which docs cannot hold; write it without", u32::from(c))
        })
    }
}

/// The tools that chores call.
pub(crate) const TOOLS: [&str; 8] = [
    "replace_text", "move_page", "delete_page", "fix_links", "add_descriptions", "add_titles", "add_page",
    "set_front_matter",
];

/// The chore as an instruction in its canonical form.
impl fmt::Display for Chore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReplaceText { from, to, .. } => write!(f, "Replace {} with {}", Quoted(from), Quoted(to))?,
            Self::MovePage { from, to } => write!(f, "Move page {} to {}", Name(from), Name(to))?,
            Self::DeletePage { page } => write!(f, "Delete page {}", Name(page))?,
            Self::FixLinks { .. } => f.write_str("Fix broken links")?,
            Self::AddDescriptions { .. } => f.write_str("Add missing descriptions")?,
            Self::AddTitles { .. } => f.write_str("Add missing titles")?,
            Self::AddPage { page, title, .. } => write!(f, "Add a page {} titled {}", Name(page), Quoted(title))?,
            Self::SetFrontMatter { field, value, .. } => match value {
                Value::String(text) => write!(f, "Set {field} to {}", Quoted(text))?,
                other => write!(f, "Set {field} to {other}")?,
            },
        }
        match self.scope() {
            Some(Scope::In(patterns)) => {
                for (index, pattern) in patterns.iter().enumerate() {
                    f.write_str(if index == 0 { " in " } else { ", " })?;
                    Name(pattern).fmt(f)?;
                }
            }
            Some(Scope::Everywhere) if matches!(self, Self::SetFrontMatter { .. }) => f.write_str(" in all pages")?,
            Some(Scope::Everywhere) | None => {}
        }
        Ok(())
    }
}

/// The first control character in any text of a value, except tabs and line breaks.
fn control_character(value: &Value) -> Option<char> {
    match value {
        Value::String(text) => text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n')),
        Value::Array(items) => items.iter().find_map(control_character),
        Value::Object(members) => members.values().find_map(control_character),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A text in straight double quotes. A `"` is escaped, and control characters are shown as Unicode escapes.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                c if c.is_control() && c != '\t' && c != '\n' => write!(f, "{}", c.escape_unicode())?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

/// A path, quoted only if it has unusual characters.
struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-*".contains(c);
        if !self.0.is_empty() && self.0.chars().all(plain) && !self.0.ends_with('.') {
            f.write_str(self.0)
        } else {
            Quoted(self.0).fmt(f)
        }
    }
}
