//! Anchors that the components of common documentation themes derive from their titles.

use crate::parse_tags::Tag;

/// The anchor that a component derives from its title with `slug`; `None` if it has an explicit id.
pub(crate) fn component_anchor(tag: &Tag, text: &str, slug: fn(&str) -> String) -> Option<String> {
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
            assert_eq!(component_anchor(&tag, text, crate::slug).as_deref(), anchor, "{text}");
        }
    }
}
