//! Generates heading ids by the rules of kramdown, for its GFM and its native mode.

use std::collections::HashMap;

/// The text of a heading without `--` and `---`, which are typographic dashes by then and so not part of an id. In code
/// they stay; `line` is the source of the heading.
pub(crate) fn without_dashes(words: &str, line: &str) -> String {
    if !words.contains("--") {
        return words.to_owned();
    }
    let mut out = String::with_capacity(words.len());
    let mut rest = words;
    for code in line.split('`').skip(1).step_by(2).map(str::trim).filter(|code| !code.is_empty()) {
        if let Some((before, after)) = rest.split_once(code) {
            out.push_str(&before.replace("---", "").replace("--", ""));
            out.push_str(code);
            rest = after;
        }
    }
    out + &rest.replace("---", "").replace("--", "")
}

/// The source of a heading without its `#` markers.
pub(crate) fn without_hashes(line: &str) -> &str {
    let line = line.trim();
    match line.starts_with('#') {
        true => line.trim_start_matches('#').trim_end_matches('#').trim(),
        false => line,
    }
}

/// Keeps ASCII letters and digits, spaces and hyphens, from the first letter on.
pub(crate) fn slug(text: &str) -> String {
    let text = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let kept = text.chars().filter(|c| c.is_ascii_alphanumeric() || *c == ' ' || *c == '-');
    let out: String = kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect();
    if out.is_empty() { "section".to_owned() } else { out }
}

/// The second occurrence of a slug gets `-1`, even if that id is taken.
pub(crate) fn with_repeat_number(slug: String, taken: &mut HashMap<String, usize>) -> String {
    let count = taken.entry(slug.clone()).and_modify(|count| *count += 1).or_insert(0);
    if *count == 0 { slug } else { format!("{slug}-{count}") }
}

/// The id in a heading's own attribute list: `{#id}` at the end of its line.
pub(crate) fn own_id(line: &str) -> Option<&str> {
    let line = line.trim_end().trim_end_matches('#').trim_end();
    let (_, id) = line.strip_suffix('}')?.rsplit_once("{#")?;
    let fits = id.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == ':')
        && id.chars().all(|c| c.is_alphanumeric() || "-._:".contains(c));
    fits.then_some(id)
}

/// The id in an attribute list on the line below a heading: `{: #id .class}`.
pub(crate) fn id_below(below: &str) -> Option<&str> {
    let line = below.lines().next()?.trim();
    let (_, rest) = line.strip_prefix("{:")?.strip_suffix('}')?.split_once('#')?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || "-_:".contains(c))).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|id| !id.is_empty())
}

/// The id in an attribute list on the line above a heading, unless a block directly before the list owns it.
pub(crate) fn id_above(above: &str) -> Option<&str> {
    let mut lines = above.trim_end_matches(['\r', '\n']).rsplit('\n');
    let list = lines.next()?;
    lines.next().is_none_or(|line| line.trim().is_empty()).then(|| id_below(list))?
}

#[cfg(test)]
mod tests {
    use crate::{AnchorStyle, Format, parse_as};

    fn ids(style: AnchorStyle, text: &str) -> Vec<String> {
        let page = parse_as("a.md", text.as_bytes(), Format::Markdown, style);
        page.headings.into_iter().map(|heading| heading.anchor).collect()
    }

    const PAGE: &str = "# 1. Über Foo_bar `x`\n\n## A & B\n\n## A & B\n\n## A -- B and `--flag` and --flag\n\n\
                        ## Named {#mine}\n\n## Named below\n{: #lower .wide}\n\n## Plain below\n{: .no_toc }\n\n\
                        ## A [link](http://x.y/) -- \"quoted\"...\n\n# 123\n\nLine\n----\n\n\
                        ## Same line {: #same .x}\n\n{: #before}\n## After\n";

    #[test]
    fn headings_inside_of_elements_are_read_in_the_native_way() {
        let text = "## Über uns\n\n<div markdown=\"1\">\n\n## Über uns\n\n## 快速\n\n### 快\n\n</div>\n\n## 快速\n";
        assert_eq!(ids(AnchorStyle::KramdownGfm, text), ["über-uns", "ber-uns", "section", "section-1", "快速"]);
    }

    #[test]
    fn pictures_are_no_part_of_an_id() {
        let text = "## ![The logo](logo.png) Logo\n\n## Our ![logo](logo.png) logo\n\n## Plain ![a](b.png)\n";
        assert_eq!(ids(AnchorStyle::KramdownGfm, text), ["-logo", "our--logo", "plain-"]);
        assert_eq!(ids(AnchorStyle::Kramdown, "## ![The logo](logo.png) Logo\n"), ["the-logologopng-logo"]);
    }

    #[test]
    fn ids_are_those_that_jekyll_made_of_the_markdown_of_github() {
        let expected = [
            "1-über-foo_bar-x",
            "a--b",
            "a--b-1",
            "a--b-and---flag-and-flag",
            "mine",
            "lower",
            "plain-below",
            "a-link--quoted",
            "123",
            "line",
            "same-line--same-x",
            "before",
        ];
        assert_eq!(ids(AnchorStyle::KramdownGfm, PAGE), expected);
    }

    #[test]
    fn ids_are_those_that_jekyll_made_of_the_markdown_of_kramdown() {
        let expected = [
            "ber-foobar-x",
            "a--b",
            "a--b-1",
            "a----b-and---flag-and---flag",
            "mine",
            "lower",
            "plain-below",
            "a-linkhttpxy----quoted",
            "section",
            "line",
            "same-line--same-x",
            "before",
        ];
        assert_eq!(ids(AnchorStyle::Kramdown, PAGE), expected);
    }

    #[test]
    fn a_heading_that_a_template_fills_in_has_an_id_that_only_a_build_knows() {
        let text = "## Filters {% include badge.html %}\n\n## {{ year }}\n\n## Named {{ year }} {#named}\n";
        assert_eq!(ids(AnchorStyle::KramdownGfm, text), ["", "", "named"]);
    }
}
