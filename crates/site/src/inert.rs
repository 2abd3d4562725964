//! Whether a value is inert wherever a generator prints it: as text, as HTML without escapes, or as an address.
//!
//! Themes print titles and taglines as HTML, and put values into `href`. So a value of front matter or of a navigation
//! file is judged without knowing the theme.

use docent_markdown::{regex, runs_script};

use crate::generators::yaml::Yaml;

// The beginning of a tag, of a template or of an include.
regex!(MARKUP, r"<[A-Za-z/!?%]|\{\{|\{%|<%|--8<--|\x00");
// Schemes that run what follows them. A title such as `JavaScript: basics` is none.
regex!(SCRIPT, r"(?i)(?:java|vb|live)script:[^\s]");
regex!(SCHEME, r"\A\s*([A-Za-z][A-Za-z0-9+.-]*):\S|\A\s*(//)");
regex!(DATA, r"(?i)\Adata:\S");
// A character reference that browsers decode in an address.
regex!(REFERENCE, r"(?i)&(?:#|colon|tab|newline|lt;|lpar)");

/// Whether a text holds no markup, no template and no address that runs a script.
pub(crate) fn is_inert_text(text: &str) -> bool {
    let visible: String = text.chars().filter(|c| !c.is_control() && *c != '\u{feff}').collect();
    !MARKUP.is_match(text) && !SCRIPT.is_match(&visible) && !DATA.is_match(&visible)
}

/// Whether a text is also harmless as an address that a reader follows or that a page loads.
pub(crate) fn is_inert_address(text: &str) -> bool {
    is_inert_text(text) && !runs_script(text) && !REFERENCE.is_match(text)
}

/// The scheme that a text begins with, in lower case; `//` for an address of another host.
pub(crate) fn scheme(text: &str) -> Option<String> {
    let found = SCHEME.captures(text)?;
    found.get(1).or(found.get(2)).map(|scheme| scheme.as_str().to_ascii_lowercase())
}

/// Names of members whose values are shown and not followed.
const LABELS: [&str; 11] =
    ["title", "label", "text", "name", "description", "group", "tab", "anchor", "dropdown", "item", "product"];

/// What is not inert in the data of a navigation file, in the form in which it is shown and compared.
pub(crate) fn active_parts(data: &Yaml) -> Vec<String> {
    let mut found = Vec::new();
    collect(data, None, &mut found);
    found
}

fn collect(data: &Yaml, member: Option<&str>, found: &mut Vec<String>) {
    match data {
        Yaml::Empty => {}
        Yaml::Text(text) => {
            let is_inert = match member {
                Some(member) if LABELS.contains(&member) => is_inert_text(text),
                Some("$ref") => !text.starts_with('/') && !text.contains("..") && scheme(text).is_none(),
                // Plug-ins of MkDocs read another configuration where a value begins with `!include` or `!import`.
                _ => is_inert_address(text) && !text.trim_start().starts_with(['!', '*']),
            };
            if !is_inert {
                found.push(text.clone());
            }
        }
        Yaml::List(items) => items.iter().for_each(|item| collect(item, member, found)),
        Yaml::Map(members) => {
            // An item of a Docusaurus sidebar that is printed as HTML.
            if members.iter().any(|(name, value)| name == "type" && value.text() == Some("html")) {
                found.push(format!("{{\"type\": \"html\", …}} {members:?}"));
                return;
            }
            for (name, value) in members {
                // Titles, and paths from which a plug-in redirects by writing a file there.
                if !is_inert_text(name) || name.split(['/', '\\']).any(|part| part == "..") {
                    found.push(name.clone());
                }
                collect(value, Some(name), found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_inert_and_markup_is_not() {
        for text in
            ["A & B: start", "JavaScript: basics", "a < b", "x <= y", "Data: what it is", "C++ {a}", "Don&#39;t"]
        {
            assert!(is_inert_text(text), "{text}");
        }
        for text in [
            "<img src=x>", "a</b>", "{{ site }}", "{% include x %}", "javascript:f()", "java\tscript:f()", "<!-- a",
            "data:text/html,x",
        ] {
            assert!(!is_inert_text(text), "{text}");
        }
        for address in ["/a", "b.md#c", "https://example.org/?a=b&c=d", "mailto:a@example.org"] {
            assert!(is_inert_address(address), "{address}");
        }
        for address in ["javascript: f()", "&#106;avascript:f()", "java&Tab;script:f()", "data:text/html,x"] {
            assert!(!is_inert_address(address), "{address}");
        }
    }

    #[test]
    fn a_scheme_is_what_an_address_begins_with() {
        for (text, expected) in
            [("HTTPS://a.b", Some("https")), ("//a.b", Some("//")), ("/a:b", None), ("A: b", None), ("a/b:c", None)]
        {
            assert_eq!(scheme(text).as_deref(), expected, "{text}");
        }
    }
}
