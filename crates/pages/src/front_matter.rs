//! The block of fields at the top of a page.

use std::ops::Range;

use crate::front_matter_yaml;
use crate::page::Problem;
use crate::parse_lines::Lines;

/// The front matter of a page. Values are text as the author wrote it: `no` stays `no`, `012` stays `012`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrontMatter {
    /// The whole block, both fences and the last line break included; `None` when there is none.
    pub span: Option<Range<usize>>,
    /// What is between the fences; `None` when there is no block.
    pub body: Option<Range<usize>>,
    /// Top-level fields in order of the file.
    pub fields: Vec<Field>,
}

/// One top-level field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub value: FieldValue,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A single value.
    Text(String),
    /// A list of single values.
    List(Vec<String>),
    /// Nothing, or `null`.
    Empty,
    /// A mapping, or a list that holds more than single values.
    Nested,
}

impl FrontMatter {
    /// The single value of a field, if it has one that is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.value(name) {
            Some(FieldValue::Text(text)) if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        }
    }

    /// The values of a field that may be a list or a single value; a single value is split at commas.
    pub fn list(&self, name: &str) -> Vec<&str> {
        match self.value(name) {
            Some(FieldValue::Text(text)) => text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect(),
            Some(FieldValue::List(items)) => items.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a field says yes.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|text| ["true", "yes", "on", "1"].contains(&text.trim().to_lowercase().as_str()))
    }

    /// What a field holds; the first one of that name counts.
    pub fn value(&self, name: &str) -> Option<&FieldValue> {
        self.fields.iter().find(|field| field.name == name).map(|field| &field.value)
    }

    pub fn title(&self) -> Option<&str> {
        self.get("title")
    }

    pub fn description(&self) -> Option<&str> {
        self.get("description")
    }

    /// `sidebarTitle`, or `sidebar_title`.
    pub fn sidebar_title(&self) -> Option<&str> {
        self.get("sidebarTitle").or_else(|| self.get("sidebar_title"))
    }

    pub fn slug(&self) -> Option<&str> {
        self.get("slug")
    }

    pub fn version(&self) -> Option<&str> {
        self.get("version")
    }

    /// `language`, or `lang`.
    pub fn language(&self) -> Option<&str> {
        self.get("language").or_else(|| self.get("lang"))
    }

    /// Who may read the page: `groups`.
    pub fn groups(&self) -> Vec<&str> {
        self.list("groups")
    }

    /// `tag` and `tags` together.
    pub fn tags(&self) -> Vec<&str> {
        let mut tags = self.list("tag");
        tags.extend(self.list("tags"));
        tags
    }
}

/// Reads the block at the top of a text, if there is one.
pub(crate) fn read(text: &str, lines: &Lines) -> (FrontMatter, Option<Problem>) {
    let Some((span, body)) = cut(text) else { return (FrontMatter::default(), None) };
    let yaml = &text[body.clone()];
    let (fields, problem) = match front_matter_yaml::fields(yaml) {
        Ok(fields) => (fields, None),
        Err(message) => {
            let message = format!("the front matter is not YAML: {message}");
            (front_matter_yaml::fields_by_line(yaml), Some(Problem { line: lines.number(body.start), message }))
        }
    };
    (FrontMatter { span: Some(span), body: Some(body), fields }, problem)
}

/// The whole block and what is between its fences.
fn cut(text: &str) -> Option<(Range<usize>, Range<usize>)> {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let first = text[bom..].split_inclusive('\n').next().filter(|line| line.trim_end() == "---")?;
    let start = bom + first.len();
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((bom..at + line.len(), start..at));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (FrontMatter, Option<Problem>) {
        read(text, &Lines::of(text))
    }

    #[test]
    fn values_stay_as_they_were_written() {
        let text = "---\ntitle: \"Hello: World\"\nversion: 1.10\ncode: 012\ncountry: no\nhidden: true\n\
                    tags: [a, 1.0, no]\ngroups:\n  - x\n  - y\nempty:\nopenapi: {a: b}\ndescription: >\n  two\n  lines\n---\ntext";
        let (front, problem) = of(text);
        assert_eq!(problem, None);
        assert_eq!(front.title(), Some("Hello: World"));
        assert_eq!(front.version(), Some("1.10"));
        assert_eq!(front.get("code"), Some("012"));
        assert_eq!(front.get("country"), Some("no"));
        assert!(front.flag("hidden") && !front.flag("country"));
        assert_eq!(front.tags(), ["a", "1.0", "no"]);
        assert_eq!(front.groups(), ["x", "y"]);
        assert_eq!(front.value("empty"), Some(&FieldValue::Empty));
        assert_eq!(front.value("openapi"), Some(&FieldValue::Nested));
        assert_eq!(front.description(), Some("two lines\n"));
        assert_eq!(&text[front.span.expect("a block").end..], "text");
    }

    #[test]
    fn broken_yaml_still_gives_its_plain_fields() {
        let (front, problem) = of("---\ntitle: Foo: bar\nslug: /x # note\nlist:\n  - a\n---\n");
        assert!(problem.is_some_and(|problem| problem.message.contains("not YAML")));
        assert_eq!(front.title(), Some("Foo: bar"));
        assert_eq!(front.slug(), Some("/x"));
    }

    #[test]
    fn only_a_block_at_the_top_with_both_fences_counts() {
        for text in ["", "---", "---\ntitle: x\n", "\n---\ntitle: x\n---\n", "--- x\n---\n", "----\n---\n"] {
            assert_eq!(of(text), (FrontMatter::default(), None), "{text:?}");
        }
        assert_eq!(of("---\r\ntitle: x\r\n---\r\n").0.title(), Some("x"));
        assert_eq!(of("\u{feff}---\ntitle: x\n---").0.title(), Some("x"));
        assert_eq!(of("---\n---\n").0.fields, []);
    }
}
