//! Lines of a page that arrange what stands between them: tabs, hints, components. They are no text of an answer, except
//! for the labels of tabs, which say what the code below is for.

/// What such a line means to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark<'a> {
    /// The label of what follows: `Go` of `{% tab title="Go" %}`, `=== "Go"` and `<TabItem label="Go">`.
    Label(&'a str),
    Nothing,
}

/// What a trimmed line means if it is such a mark as a whole.
pub(crate) fn mark(line: &str) -> Option<Mark<'_>> {
    if let Some(rest) = line.strip_prefix("=== ").or_else(|| line.strip_prefix("===! ")) {
        return rest.trim().strip_prefix('"')?.strip_suffix('"').map(Mark::Label);
    }
    let is_shortcode =
        line.starts_with("{{<") && line.ends_with(">}}") || line.starts_with("{{%") && line.ends_with("%}}");
    if line.starts_with(":::") || is_shortcode && !line.contains("mermaid") && line.matches("}}").count() == 1 {
        return Some(Mark::Nothing);
    }
    let template = line.strip_prefix("{%").and_then(|rest| rest.strip_suffix("%}"));
    let tag = template.or_else(|| {
        let rest = line.strip_prefix('<')?.strip_suffix('>')?;
        // Elements of HTML have small letters, and text between them is text.
        let is_component = rest.trim_start_matches('/').starts_with(|first: char| first.is_ascii_uppercase());
        (is_component && !rest.contains(['<', '>'])).then_some(rest)
    })?;
    let label = || ["label", "title"].into_iter().find_map(|name| attribute(tag, name));
    let is_tab = tag.trim_start().to_ascii_lowercase().starts_with("tab");
    Some(label().filter(|label| is_tab && !label.trim().is_empty()).map_or(Mark::Nothing, Mark::Label))
}

/// The value of `name="value"` in a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let at = tag.match_indices(name).map(|(at, _)| at).find(|at| tag[..*at].ends_with(char::is_whitespace))?;
    let value = tag[at + name.len()..].strip_prefix('=')?;
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_have_labels_and_other_marks_say_nothing() {
        for (line, expected) in [
            ("{% tab title=\"Go\" %}", Some(Mark::Label("Go"))),
            ("=== \"Go\"", Some(Mark::Label("Go"))),
            ("<TabItem value=\"go\" label='Go 1'>", Some(Mark::Label("Go 1"))),
            ("{% hint style=\"info\" %}", Some(Mark::Nothing)),
            ("{% endtab %}", Some(Mark::Nothing)),
            ("</Tabs>", Some(Mark::Nothing)),
            (":::tip", Some(Mark::Nothing)),
            ("{{< warning >}}", Some(Mark::Nothing)),
            ("{{< a >}} and {{< b >}}", None),
            ("<Card title=\"A\">words</Card>", None),
            ("<b>words</b>", None),
            ("use {% raw %}", None),
            ("text", None),
            ("", None),
        ] {
            assert_eq!(mark(line), expected, "{line}");
        }
    }
}
