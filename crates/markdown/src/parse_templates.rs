//! Finds templates in link destinations (`[words]({{< relref "page.md" >}})`), and GitBook blocks that are links
//! themselves (`{% content-ref url="page.md" %}`).

use std::borrow::Cow;
use std::ops::Range;

use crate::page::{Link, LinkKind};
use crate::regex;

/// Replaces each template in a link destination with one word of the same length. Generators expand templates before
/// they parse Markdown, so the content of a template never ends a destination.
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

/// Longest template, in bytes.
const LONGEST: usize = 2_000;

fn templates(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains("{{") && !text.contains("{%") {
        return found;
    }
    // Where the destination ends that was searched last, or a template in it begins: openings may share it.
    let mut searched = 0..0;
    for (at, opening) in text.match_indices("](").chain(text.match_indices("]: ")) {
        let mut from = at + opening.len();
        from += text[from..].len() - text[from..].trim_start_matches(' ').len();
        loop {
            if !searched.contains(&from) {
                // Parts of the path may precede, separate and follow the templates.
                let end = text[from..].find(|c: char| c.is_whitespace() || c == ')' || c == '{');
                searched = from..end.map_or(text.len(), |length| from + length);
            }
            from = searched.end;
            let Some(end) = template(&text[from..]) else { break };
            found.push(from..from + end);
            from += end;
        }
    }
    found
}

/// The length in bytes of the template at the beginning of a text. Only templates on one line count.
fn template(text: &str) -> Option<usize> {
    let closing = match text.get(..2)? {
        "{{" => "}}",
        "{%" => "%}",
        _ => return None,
    };
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let line = text.split('\n').next().unwrap_or_default();
    Some(line.find(closing)? + closing.len())
}

/// The links of GitBook blocks after `body` and outside of code.
pub(crate) fn blocks(text: &str, body: usize, code: &[Range<usize>]) -> Vec<Link> {
    regex!(
        BLOCK,
        r#"\{%[ \t]*(?:(content-ref)[ \t]+(url)|(file)[ \t]+(src))[ \t]*=[ \t]*"([^"\n]{1,1000})"[^%\n]{0,1000}%\}"#
    );
    if !text.contains("{%") {
        return Vec::new();
    }
    let found = BLOCK.captures_iter(&text[body..]).filter_map(|found| {
        let range = |range: Range<usize>| body + range.start..body + range.end;
        let (span, dest_span) = (range(found.get_match().range()), range(found.get(5)?.range()));
        let name = |own: usize, other: usize| found.get(own).or(found.get(other)).map(|name| name.as_str().to_owned());
        let kind = LinkKind::Attribute { element: name(1, 3)?, attribute: name(2, 4)? };
        let target = text[dest_span.clone()].to_owned();
        Some(Link { target, dest_span, span, text: String::new(), kind })
    });
    found.filter(|link| !code.iter().any(|code| code.contains(&link.span.start))).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Format, LinkKind, parse_as};

    #[test]
    fn blocks_of_gitbook_are_links() {
        let text = "{% content-ref url=\"../a b.md\" %}\n[a](x.md)\n{% endcontent-ref %}\n\n{% file src=\"f.pdf\" caption=\"F\" %}\n\n\
                    `{% content-ref url=\"c.md\" %}` {% hint style=\"info\" %}\n";
        let page = parse_as("a.md", text.as_bytes(), Format::Markdown, Default::default());
        let links: Vec<_> =
            page.links.iter().map(|link| (link.target.as_str(), &text[link.dest_span.clone()])).collect();
        assert_eq!(links, [("../a b.md", "../a b.md"), ("x.md", "x.md"), ("f.pdf", "f.pdf")]);
        let kind = |element: &str, attribute: &str| LinkKind::Attribute {
            element: element.into(),
            attribute: attribute.into(),
        };
        assert_eq!((&page.links[0].kind, &page.links[2].kind), (&kind("content-ref", "url"), &kind("file", "src")));
    }

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

    #[test]
    fn a_template_may_stand_in_the_middle_of_a_destination() {
        // An invalid definition would be a paragraph, and the definitions directly below it part of that paragraph.
        let text = "[a][], [b][] and [c](/docs/{{< param \"v\" >}}/c/).\n\n\
                    [a]: https://a.org/{{< param tag >}}.zip\n[b]: {{< relref \"b\" >}}\n";
        let page = parse_as("a.md", text.as_bytes(), Format::Markdown, Default::default());
        let targets: Vec<&str> = page.links.iter().map(|link| link.target.as_str()).collect();
        assert_eq!(
            targets,
            ["https://a.org/{{< param tag >}}.zip", "{{< relref \"b\" >}}", "/docs/{{< param \"v\" >}}/c/"]
        );
    }
}
