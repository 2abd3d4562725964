//! What the elements of the common documentation themes mean to a reader.

use crate::anchors::slug;
use crate::parse_tags::Tag;

/// Whether a reader sees the value of this attribute.
pub(crate) fn is_readable(tag: &Tag, name: &str) -> bool {
    match name {
        "title" | "alt" => true,
        "label" | "description" | "summary" | "caption" | "tip" | "header" | "name" | "path" | "query" | "body"
        | "heading" | "text" => tag.is_component(),
        _ => false,
    }
}

/// The anchor a component of the common documentation themes makes of its title.
pub(crate) fn made_anchor(tag: &Tag, text: &str) -> Option<String> {
    if tag.value(text, "id").is_some() {
        return None;
    }
    match tag.name.as_str() {
        "Accordion" | "Expandable" | "Step" | "Tab" => tag.value(text, "title").map(slug),
        "Update" => tag.value(text, "label").map(slug),
        "ParamField" => ["path", "query", "body", "header"]
            .iter()
            .find_map(|name| tag.value(text, name))
            .map(|name| format!("param-{}", slug(name))),
        "ResponseField" => tag.value(text, "name").map(|name| format!("response-{}", slug(name))),
        _ => None,
    }
}

/// Whether an element stands inside of a line.
pub(crate) fn is_inline(name: &str) -> bool {
    const INLINE: [&str; 14] =
        ["a", "abbr", "b", "code", "em", "i", "img", "kbd", "s", "small", "span", "strong", "sub", "sup"];
    INLINE.iter().any(|inline| name.eq_ignore_ascii_case(inline))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_tags::{Dialect, scan_tag};

    #[test]
    fn components_make_anchors_of_their_titles() {
        for (text, anchor) in [
            ("<Step title=\"Get a key\">", Some("get-a-key")),
            ("<Accordion title='Why?' id='why'>", None),
            ("<Update label=\"v1.2\">", Some("v12")),
            ("<ParamField path=\"user_id\" type=\"string\">", Some("param-user_id")),
            ("<ResponseField name=\"id\">", Some("response-id")),
            ("<Card title=\"A\">", None),
        ] {
            let tag = scan_tag(text, 0, Dialect::Jsx).expect(text);
            assert_eq!(made_anchor(&tag, text).as_deref(), anchor, "{text}");
        }
    }
}
