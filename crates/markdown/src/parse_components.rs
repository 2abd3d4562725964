//! Which attributes and elements of common documentation themes are displayed, and how.

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

/// Whether an HTML element is inline.
pub(crate) fn is_inline(name: &str) -> bool {
    const INLINE: [&str; 14] =
        ["a", "abbr", "b", "code", "em", "i", "img", "kbd", "s", "small", "span", "strong", "sub", "sup"];
    INLINE.iter().any(|inline| name.eq_ignore_ascii_case(inline))
}
