//! Tags of templates in Markdown: Hugo's shortcodes and Liquid's tags. A generator makes something of them; away from it
//! only their titles and links mean anything.

use std::ops::Range;

/// The forms of tags: how they begin and end.
const FORMS: [(&str, &str); 3] = [("{{<", ">}}"), ("{{%", "%}}"), ("{%", "%}")];
/// Longest tag, in bytes.
const LONGEST: usize = 4_000;
const TITLES: [&str; 3] = ["title", "text", "label"];
const LINKS: [&str; 3] = ["link", "href", "url"];
const NOTES: [&str; 2] = ["subtitle", "description"];

/// The tags of a text outside of `code`, in order, each with what stands for it: a link, a title or nothing. A tag alone
/// on its line stands there with its line break. `code` is in order.
pub(crate) fn tags(text: &str, code: &[Range<usize>]) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(from) = text[at..].find('{').map(|from| at + from) {
        at = from + 1;
        let before = code.partition_point(|span| span.start <= from);
        if let Some(span) = before.checked_sub(1).and_then(|last| code.get(last)).filter(|span| from < span.end) {
            at = span.end.max(at);
            continue;
        }
        let Some((inner, end)) = tag(&text[from..]) else { continue };
        at = from + end;
        let words = words(inner);
        found.push((if words.is_empty() { whole_line(text, from..at) } else { from..at }, words));
    }
    found
}

/// What is inside the tag at the beginning of a text, and where it ends.
fn tag(text: &str) -> Option<(&str, usize)> {
    let (opening, closing) = FORMS.into_iter().find(|(opening, _)| text.starts_with(opening))?;
    let head = &text[..text.floor_char_boundary(LONGEST)];
    let end = head[opening.len()..].find(closing)? + opening.len();
    Some((&text[opening.len()..end], end + closing.len()))
}

/// The line of a tag that stands alone on it, with its line break.
fn whole_line(text: &str, tag: Range<usize>) -> Range<usize> {
    let begin = text[..tag.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[tag.end..].find('\n').map(|at| tag.end + at + 1);
    let is_alone =
        text[begin..tag.start].trim().is_empty() && text[tag.end..end.unwrap_or(text.len())].trim().is_empty();
    if is_alone { begin..end.unwrap_or(text.len()) } else { tag }
}

/// What a tag says to readers.
fn words(inner: &str) -> String {
    let parameter = |names: &[&str]| names.iter().find_map(|name| value(inner, name));
    let Some(title) = parameter(&TITLES) else { return String::new() };
    let title = title.replace(['[', ']', '\n'], " ");
    let link = parameter(&LINKS).filter(|link| !link.contains(|c: char| c.is_whitespace() || "()<>".contains(c)));
    let title = link.map_or_else(|| format!("**{title}**"), |link| format!("[{title}]({link})"));
    parameter(&NOTES).map_or_else(|| title.clone(), |note| format!("{title}: {}", note.replace('\n', " ")))
}

/// The value of a named parameter, in quotes.
fn value<'t>(inner: &'t str, name: &str) -> Option<&'t str> {
    inner.match_indices(name).find_map(|(at, _)| {
        let stands_alone = inner[..at].ends_with(|c: char| c.is_whitespace());
        let rest = inner[at + name.len()..].trim_start().strip_prefix(['=', ':'])?.trim_start();
        let quote = rest.chars().next().filter(|quote| stands_alone && "\"'`".contains(*quote))?;
        let value = rest[1..].split_once(quote)?.0.trim();
        (!value.is_empty()).then_some(value)
    })
}

/// The path in a destination that a template makes: `{{< relref "guides/retries.md#backoff" >}}`.
pub(crate) fn referred(destination: &str) -> Option<&str> {
    let (inner, end) = tag(destination)?;
    let (name, path) = inner.trim().split_once(char::is_whitespace)?;
    let refers = name.eq_ignore_ascii_case("relref") || name.eq_ignore_ascii_case("ref");
    let is_alone = refers && end == destination.len();
    let path = path.trim().trim_matches(|c| "\"'`".contains(c));
    (is_alone && !path.is_empty() && !path.contains(|c: char| c.is_whitespace() || "\"'`".contains(c))).then_some(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn without(text: &str, code: &[Range<usize>]) -> String {
        let (mut out, mut at) = (String::new(), 0);
        for (span, words) in tags(text, code) {
            out.push_str(&text[at..span.start]);
            out.push_str(&words);
            at = span.end;
        }
        out + &text[at..]
    }

    #[test]
    fn a_tag_leaves_its_title_and_its_link() {
        for (text, expected) in [
            ("{{< cards >}}\n  {{< card link=\"setup\" title=\"Set up\" >}}\n{{< /cards >}}\n", "  [Set up](setup)\n"),
            ("a {{< icon name=\"x\" >}} b", "a  b"),
            ("{% hint style=\"info\" %}\nMind.\n{% endhint %}", "Mind.\n"),
            ("{{% steps title='One' subtitle=\"and\ntwo\" %}}", "**One**: and two"),
            ("{% tab title=\"[x]\" %}", "** x **"),
            ("{{< x subtitle=\"no\" >}}", ""),
            ("${{ secrets.KEY }} {{ name }} {a} {% open", "${{ secrets.KEY }} {{ name }} {a} {% open"),
        ] {
            assert_eq!(without(text, &[]), expected, "{text}");
        }
        assert_eq!(without("`{{< a >}}` {{< a >}} `b`", &[0..11, 22..25]), "`{{< a >}}`  `b`");
        assert_eq!(referred("{{< relref \"docs/a.md#b\" >}}"), Some("docs/a.md#b"));
        assert_eq!(referred("{{% relRef docs/a %}}"), Some("docs/a"));
        assert_eq!(referred("{{% figure docs/a %}}"), None);
        assert_eq!(referred("{{< relref \"a\" >}}#b"), None);
    }

    proptest! {
        #[test]
        fn tags_are_in_order_and_inside_the_text(text in "(\\{\\{<|>\\}\\}|\\{%|%\\}|title=\"|\"|\n| |é|a){0,40}") {
            let mut at = 0;
            for (span, _) in tags(&text, &[]) {
                prop_assert!(span.start >= at && text.get(span.clone()).is_some());
                at = span.end;
            }
        }
    }
}
