//! Parses the front matter of a page.

use std::ops::Range;

use crate::parse_lines::{Lines, lines_after};
use crate::problem::Problem;
use crate::text::bom_length;
use crate::{front_matter_toml, front_matter_yaml};

/// The front matter of a page. Values are the author's text: `no` stays `no`, `012` stays `012`. Only TOML numbers are
/// formatted anew, so `1.10` is `1.1`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrontMatter {
    /// The whole block, both fences and the last line break included; `None` when there is none.
    pub span: Option<Range<usize>>,
    /// What is between the fences; `None` when there is no block.
    pub body: Option<Range<usize>>,
    /// The language of the block.
    pub syntax: Syntax,
    /// Top-level fields in file order.
    pub fields: Vec<Field>,
}

/// The language of a front matter block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Syntax {
    /// Between lines of `---`.
    #[default]
    Yaml,
    /// Between lines of `+++`, or after `---toml`.
    Toml,
    /// Between lines of `;;;`, or after `---json`.
    Json,
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub value: FieldValue,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A scalar.
    Text(String),
    /// A list of scalars.
    List(Vec<String>),
    /// Nothing, or `null`.
    Empty,
    /// The fields of a mapping. A list whose items are not all scalars is also `Nested`, without fields.
    Nested(Vec<Field>),
}

impl FrontMatter {
    /// The scalar value of a field, unless it is blank. A dot descends into a mapping: `sidebar.label`.
    pub fn get(&self, name: &str) -> Option<&str> {
        match self.value(name) {
            Some(FieldValue::Text(text)) if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        }
    }

    /// The values of a field that may be a list or a scalar; a scalar is split at commas.
    pub fn list(&self, name: &str) -> Vec<&str> {
        match self.value(name) {
            Some(FieldValue::Text(text)) => text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect(),
            Some(FieldValue::List(items)) => items.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the field is `true`, `yes`, `on` or `1`, in any case.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|text| ["true", "yes", "on", "1"].contains(&text.trim().to_lowercase().as_str()))
    }

    /// Whether the field is `false`, `no`, `off` or `0`, in any case.
    fn is_false(&self, name: &str) -> bool {
        self.get(name).is_some_and(|text| ["false", "no", "off", "0"].contains(&text.trim().to_lowercase().as_str()))
    }

    /// The value of the first field with that name. A dot descends into a mapping.
    pub fn value(&self, name: &str) -> Option<&FieldValue> {
        fn find<'f>(fields: &'f [Field], name: &str) -> Option<&'f FieldValue> {
            let of = |name: &str| fields.iter().find(|field| field.name == name).map(|field| &field.value);
            of(name).or_else(|| match name.split_once('.').and_then(|(outer, inner)| Some((of(outer)?, inner)))? {
                (FieldValue::Nested(fields), inner) => find(fields, inner),
                _ => None,
            })
        }
        find(&self.fields, name)
    }

    pub fn title(&self) -> Option<&str> {
        self.get("title")
    }

    pub fn description(&self) -> Option<&str> {
        self.get("description")
    }

    /// The page's title in the navigation: `sidebarTitle`, `sidebar_title`, `sidebar_label`, `sidebar.label`,
    /// `nav_title` or `linkTitle`.
    pub fn sidebar_title(&self) -> Option<&str> {
        ["sidebarTitle", "sidebar_title", "sidebar_label", "sidebar.label", "nav_title", "linkTitle"]
            .iter()
            .find_map(|name| self.get(name))
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

    /// Search keywords: `keywords`.
    pub fn keywords(&self) -> Vec<&str> {
        self.list("keywords")
    }

    /// Paths that redirect to this page: `aliases`, `redirect_from`, `redirects`.
    pub fn aliases(&self) -> Vec<&str> {
        ["aliases", "redirect_from", "redirects"].iter().flat_map(|name| self.list(name)).collect()
    }

    /// Whether the page is excluded from listings or search: it is a draft, hidden, unlisted, or not to be indexed.
    pub fn is_excluded_from_listings(&self) -> bool {
        self.excluding_field().is_some()
    }

    /// The field that excludes the page from listings or search.
    pub fn excluding_field(&self) -> Option<&'static str> {
        const EXCLUDING_IF_TRUE: [&str; 8] =
            ["draft", "headless", "hidden", "noindex", "unlisted", "search.exclude", "seo.noindex", "search_exclude"];
        const EXCLUDING_IF_FALSE: [&str; 3] = ["search", "pagefind", "published"];
        let if_true = EXCLUDING_IF_TRUE.into_iter().find(|name| self.flag(name));
        let robots = || self.get("robots").filter(|robots| robots.to_lowercase().contains("noindex"));
        if_true
            .or_else(|| EXCLUDING_IF_FALSE.into_iter().find(|name| self.is_false(name)))
            .or_else(|| ["build.render", "_build.render"].into_iter().find(|name| self.is_unrendered(name)))
            .or_else(|| robots().map(|_| "robots"))
    }

    /// Whether a field with this name keeps Hugo from making a page.
    pub fn is_unrendered(&self, name: &str) -> bool {
        matches!(self.get(name), Some("never" | "link"))
    }
}

/// In bytes: a larger block is read line by line, because parsing its language costs more than parsing a page of that
/// size.
const MAX_PARSED_BYTES: usize = 64 << 10;

/// Parses the front matter at the top of a text, if there is any.
pub fn read(text: &str, lines: &Lines<'_>) -> (FrontMatter, Option<Problem>) {
    let Some(Block { span, body, syntax }) = find_block(text) else { return (FrontMatter::default(), None) };
    let inside = &text[body.clone()];
    let (read, name) = match syntax {
        _ if inside.len() > MAX_PARSED_BYTES => {
            (Err(format!("it is larger than {} KiB", MAX_PARSED_BYTES >> 10)), "read whole")
        }
        Syntax::Yaml => (front_matter_yaml::fields(inside), "YAML"),
        Syntax::Toml => (front_matter_toml::fields(inside), "TOML"),
        // YAML is a superset of JSON.
        Syntax::Json => (front_matter_yaml::fields(&braced(inside)), "JSON"),
    };
    let (fields, problem) = match read {
        Ok(fields) => (fields, None),
        Err(message) => {
            let message = format!("the front matter is not {name}: {message}");
            let sign = if syntax == Syntax::Toml { '=' } else { ':' };
            let fields = front_matter_yaml::fields_by_line(inside, sign);
            (fields, Some(Problem { line: lines.number(body.start), message }))
        }
    };
    (FrontMatter { span: Some(span), body: Some(body), syntax, fields }, problem)
}

/// The byte offset at which the front matter ends; 0 if there is none.
pub fn end(text: &str) -> usize {
    find_block(text).map_or(0, |block| block.span.end)
}

fn braced(json: &str) -> std::borrow::Cow<'_, str> {
    match json.trim_start().starts_with('{') {
        true => json.into(),
        false => format!("{{{json}}}").into(),
    }
}

struct Block {
    /// Fences included.
    span: Range<usize>,
    /// What is between the fences.
    body: Range<usize>,
    syntax: Syntax,
}

fn find_block(text: &str) -> Option<Block> {
    let bom = bom_length(text);
    let first = text[bom..].split_inclusive('\n').next()?;
    let (syntax, ends): (Syntax, &[&str]) = match first.trim_end() {
        "---" => (Syntax::Yaml, &["---", "..."]),
        "---json" => (Syntax::Json, &["---"]),
        "---toml" => (Syntax::Toml, &["---"]),
        "+++" => (Syntax::Toml, &["+++"]),
        ";;;" => (Syntax::Json, &[";;;"]),
        _ => return None,
    };
    let start = bom + first.len();
    for (at, line) in lines_after(text, start) {
        if ends.contains(&line.trim_end()) {
            // Two rules with a text between them are no block.
            let is_block = first.trim_end() != "---" || may_be_mapping(&text[start..at]);
            return is_block.then(|| Block { span: bom..at + line.len(), body: start..at, syntax });
        }
    }
    None
}

/// Whether a text may be a mapping in YAML or JSON, however broken: it is empty or has comments alone, or a line of it has a
/// name and a colon, or begins with a bracket or a template.
fn may_be_mapping(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    lines.peek().is_none()
        || lines.any(|line| {
            // A colon in a sentence behind another one is no sign of a name.
            let name = &line[..line.find(". ").unwrap_or(line.len())];
            let is_sign = |at: usize| line[at + 1..].chars().next().is_none_or(char::is_whitespace);
            line.starts_with(['{', '[', '<']) || name.match_indices(':').any(|(at, _)| is_sign(at))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        assert_eq!(front.get("openapi.a"), Some("b"));
        assert_eq!(front.description(), Some("two lines\n"));
        assert_eq!(&text[front.span.expect("a block").end..], "text");
    }

    #[test]
    fn three_syntaxes_say_the_same() {
        for (text, syntax) in [
            ("---\ntitle: A b\ntags: [x, y]\nsidebar:\n  label: L\n  order: 2\ndraft: true\n---\n", Syntax::Yaml),
            (
                "+++\ntitle = \"A b\"\ntags = [\"x\", \"y\"]\ndraft = true\n[sidebar]\nlabel = 'L'\norder = 2\n+++\n",
                Syntax::Toml,
            ),
            (
                ";;;\n\"title\": \"A b\", \"tags\": [\"x\", \"y\"], \"sidebar\": {\"label\": \"L\", \"order\": 2}, \"draft\": true\n;;;\n",
                Syntax::Json,
            ),
            (
                "---json\n{\"title\": \"A b\", \"tags\": [\"x\", \"y\"], \"sidebar\": {\"label\": \"L\", \"order\": 2}, \"draft\": true}\n---\n",
                Syntax::Json,
            ),
        ] {
            let (front, problem) = of(text);
            assert_eq!((problem, front.syntax), (None, syntax), "{text}");
            assert_eq!(front.title(), Some("A b"), "{text}");
            assert_eq!(front.tags(), ["x", "y"], "{text}");
            assert_eq!(front.sidebar_title(), Some("L"), "{text}");
            assert_eq!(front.get("sidebar.order"), Some("2"), "{text}");
            assert!(front.is_excluded_from_listings(), "{text}");
        }
    }

    #[test]
    fn a_page_is_excluded_from_listings_by_many_fields() {
        for fields in [
            "draft: true",
            "hidden: yes",
            "noindex: true",
            "unlisted: true",
            "search: false",
            "search:\n  exclude: true",
            "pagefind: false",
            "robots: noindex, nofollow",
            "headless: true",
            "build:\n  render: never",
            "_build: {render: link}",
        ] {
            assert!(of(&format!("---\n{fields}\n---\n")).0.is_excluded_from_listings(), "{fields}");
        }
        for fields in ["draft: false", "search:\n  boost: 2", "sidebar:\n  hidden: true", "title: hidden"] {
            assert!(!of(&format!("---\n{fields}\n---\n")).0.is_excluded_from_listings(), "{fields}");
        }
    }

    #[test]
    fn broken_blocks_still_give_their_plain_fields() {
        for (text, name) in [
            ("---\ntitle: Foo: bar\nslug: /x # note\nlist:\n  - a\n---\n", "YAML"),
            ("+++\ntitle = \"Foo: bar\"\nslug = '/x'\nlist = [\n+++\n", "TOML"),
        ] {
            let (front, problem) = of(text);
            assert!(problem.is_some_and(|problem| problem.message.contains(name)), "{text}");
            assert_eq!(front.title(), Some("Foo: bar"));
            assert_eq!(front.slug(), Some("/x"));
        }
    }

    #[test]
    fn only_a_block_at_the_top_with_both_fences_counts() {
        for text in [
            "",
            "---",
            "---\n\nThe zebrafish swims.\n\n---\n",
            "---\n# Title\n\nWords\n---\n",
            "---\ntitle: x\n",
            "\n---\ntitle: x\n---\n",
            "--- x\n---\n",
            "----\n---\n",
            "+++\n---\n",
        ] {
            assert_eq!(of(text), (FrontMatter::default(), None), "{text:?}");
        }
        assert_eq!(of("---\r\ntitle: x\r\n---\r\n").0.title(), Some("x"));
        assert_eq!(of("\u{feff}---\ntitle: x\n---").0.title(), Some("x"));
        assert_eq!(of("---\n---\n").0.fields, []);
    }

    #[test]
    fn hostile_blocks_are_read() {
        for unit in
            ["[", "{", "a: [", "a = [", "&a [*a, ", "a:\n  ", "- ", "[a]\n", "[[a]]\n", "a.b.", "\"", "{a=", "? ", "| "]
        {
            for fence in ["---", "+++", ";;;"] {
                of(&format!("{fence}\n{}\n{fence}\n", unit.repeat(20_000)));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn any_block_is_read(fence in prop::sample::select(vec!["---", "+++", ";;;", "---json"]), body in "[a-z:=\\[\\]{}\"'\\-,.#&*!|>\n \u{e9}]{0,80}") {
            of(&format!("{fence}\n{body}\n{fence}\n"));
        }
    }
}
