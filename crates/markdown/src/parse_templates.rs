//! Templates in the destinations of links: `[words]({{< relref "page.md" >}})`.

use std::borrow::Cow;
use std::ops::Range;

/// The text with templates in destinations spelled as one word of the same length. Generators fill in their templates
/// before they read Markdown, so that what is in one never ends a destination.
pub(crate) fn masked(text: Cow<'_, str>) -> Cow<'_, str> {
    let found = templates(&text);
    if found.is_empty() {
        return text;
    }
    let mut bytes = text.as_bytes().to_vec();
    for span in found {
        bytes[span].iter_mut().filter(|byte| byte.is_ascii()).for_each(|byte| *byte = b'_');
    }
    // ASCII was written over ASCII.
    String::from_utf8(bytes).map_or(text, Cow::Owned)
}

fn templates(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, opening) in text.match_indices("](").chain(text.match_indices("]: ")) {
        let mut from = at + opening.len();
        from += text[from..].len() - text[from..].trim_start_matches(' ').len();
        while let Some(end) = template(&text[from..]) {
            found.push(from..from + end);
            from += end;
            // More of the path may stand between two of them.
            from += text[from..].find(|c: char| c.is_whitespace() || c == ')' || c == '{').unwrap_or(0);
        }
    }
    found
}

/// How long the template is that a text begins with. Only those on one line.
fn template(text: &str) -> Option<usize> {
    let closing = match text.get(..2)? {
        "{{" => "}}",
        "{%" => "%}",
        _ => return None,
    };
    let line = &text[..text.find('\n').unwrap_or(text.len())];
    Some(line.find(closing)? + closing.len())
}

#[cfg(test)]
mod tests {
    use crate::{Format, parse_as};

    #[test]
    fn a_template_is_the_destination_of_a_link() {
        let text = "[a]({{< relref \"x.md#y\" >}}) [b]({{ site.baseurl }}{% link _docs/b.md %}#z \"t\") [c][d] `[e]({{ f }})`\n\n\
                    [d]: {{% ref \"d\" %}}\n\n```\n[g]({{< ref \"h\" >}})\n```\n";
        let page = parse_as("a.md", text.as_bytes(), Format::Markdown, Default::default());
        let targets: Vec<&str> = page.links.iter().map(|link| link.target.as_str()).collect();
        assert_eq!(
            targets,
            ["{{< relref \"x.md#y\" >}}", "{{ site.baseurl }}{% link _docs/b.md %}#z", "{{% ref \"d\" %}}"]
        );
        for link in &page.links {
            assert_eq!(&text[link.dest_span.clone()], link.target);
        }
        let code = &page.sections[0].code;
        assert!(
            code.iter().any(|block| block.text.contains("relref") || block.text.contains("{{< ref \"h\" >}}")),
            "{code:?}"
        );
        assert!(page.sections[0].text.contains("[e]({{ f }})"), "{}", page.sections[0].text);
    }
}
