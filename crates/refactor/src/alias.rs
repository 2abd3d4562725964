//! Adds a redirect to the front matter of the page it leads to: one more item of a list of addresses.

use std::ops::Range;

use docent_markdown::{
    FieldValue, Format, FrontMatter, Page, Syntax, adoc_header, line_end, line_start, lines_after, parse, text_of,
};

use super::edit::{TextEdit, apply};
use super::field::{begins_with_metadata, find, new_block, others};

/// The edit that adds an address to a field; `None` if the field has it already. The error is the reason why it cannot
/// be written.
pub(super) fn added(page: &Page, bytes: &[u8], field: &str, address: &str) -> Result<Option<TextEdit>, &'static str> {
    let text = text_of(bytes);
    // The header alone, without the attributes that the site sets.
    let header = (page.format == Format::Adoc).then(|| adoc_header(&text));
    let front_matter = header.as_ref().unwrap_or(&page.front_matter);
    if front_matter.list(field).contains(&address) {
        return Ok(None);
    }
    let signs = if page.format == Format::Adoc { "/._-~: @" } else { "/._-~" };
    if !address.chars().all(|c| c.is_alphanumeric() || signs.contains(c)) {
        return Err("the old address has characters that front matter may not take as they are");
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let edit = match (front_matter.syntax, &front_matter.body) {
        _ if page.format == Format::Adoc => in_adoc(&text, field, address, newline),
        (Syntax::Yaml, None) if begins_with_metadata(&text) => None,
        (Syntax::Yaml, None) => Some(new_block(&text, &format!("{field}:{newline}  - {address}{newline}"), newline)),
        (Syntax::Yaml, Some(body)) => in_yaml(&text, body, field, address, newline),
        (Syntax::Toml, Some(body)) => in_toml(&text, body, field, address, newline),
        _ => None,
    };
    let edit = edit.ok_or("its front matter is written in a way I could not change without touching more")?;
    let after = parse(&page.path, &apply(bytes, std::slice::from_ref(&edit)));
    match adds_only(front_matter, &after.front_matter, field, address) {
        true => Ok(Some(edit)),
        false => Err("its front matter is written in a way I could not change without touching more"),
    }
}

/// The edit that removes a page's own address from a field, because the page would redirect to itself; `None` if the
/// address is not there, or the field is written in an unsupported form.
pub(super) fn without(page: &Page, bytes: &[u8], field: &str, own: &str) -> Option<TextEdit> {
    let text = text_of(bytes);
    if page.format == Format::Adoc {
        return without_in_adoc(&text, field, own);
    }
    let edit = without_in_list(&text, &page.front_matter, field, own)?;
    let after = parse(&page.path, &apply(bytes, std::slice::from_ref(&edit)));
    adds_only(&after.front_matter, &page.front_matter, field, own).then_some(edit)
}

fn without_in_adoc(text: &str, field: &str, own: &str) -> Option<TextEdit> {
    let name = format!(":{field}:");
    for (at, line) in lines_after(text, 0) {
        let words = line.trim_end();
        if let Some(value) = words.strip_prefix(name.as_str()).filter(|value| !value.ends_with('\\')) {
            let path = own.split_once(':').map_or(own, |(_, path)| path);
            // The other items are kept verbatim, with or without spaces.
            let is_own = |item: &&str| [own, path].contains(&item.trim());
            let kept: Vec<&str> = value.split(',').filter(|item| !is_own(item)).collect();
            return match kept.as_slice() {
                kept if kept.len() == value.split(',').count() => None,
                [] => Some(TextEdit::new(at..at + line.len(), "")),
                kept => Some(TextEdit::new(at..at + words.len(), format!("{name} {}", kept.join(",").trim_start()))),
            };
        }
    }
    None
}

/// Removes the last item of a list with its separator, or the field with its only item, or the front matter with its
/// only field.
fn without_in_list(text: &str, front_matter: &FrontMatter, field: &str, own: &str) -> Option<TextEdit> {
    if front_matter.list(field).last() != Some(&own) {
        return None;
    }
    let body = front_matter.body.clone()?;
    let (start, value) = match front_matter.syntax {
        Syntax::Yaml => find(text, &body, field).map(|place| (place.value.start, place.value.start..place.end))?,
        Syntax::Toml => toml_value(text, &body, field).map(|start| (start, start..body.end))?,
        _ => return None,
    };
    let is_in_brackets = text[value.clone()].trim_start().starts_with('[');
    let end = if is_in_brackets { value.start + text[value.clone()].find(']')? } else { value.end };
    let item = value.start + text[value.start..end].rfind(own)?;
    if front_matter.list(field).len() > 1 {
        return Some(match is_in_brackets {
            // Includes the comma after the previous item.
            true => {
                let quote = text[..item].chars().next_back().filter(|c| ['"', '\''].contains(c));
                let last = item + own.len() + quote.map_or(0, char::len_utf8);
                TextEdit::new(value.start + text[value.start..item].rfind(',')?..last, "")
            }
            false => TextEdit::new(line_start(text, item)..line_end(text, item), ""),
        });
    }
    let lines = line_start(text, start)..if is_in_brackets { line_end(text, end) } else { end };
    if lines != body || front_matter.syntax != Syntax::Yaml {
        return Some(TextEdit::new(lines, ""));
    }
    let after = line_end(text, body.end);
    let blank = text[after..].len() - text[after..].trim_start_matches(['\r', '\n']).len();
    Some(TextEdit::new(
        line_start(text, body.start - 1)..after + blank.min(text[after..].find('\n').map_or(0, |at| at + 1)),
        "",
    ))
}

/// Adds an attribute after the existing attributes of the header, or one more value to an existing attribute.
fn in_adoc(text: &str, field: &str, address: &str, newline: &str) -> Option<TextEdit> {
    let name = format!(":{field}:");
    let mut at = 0;
    let mut has_title = false;
    for line in text.split_inclusive('\n') {
        let words = line.trim_end();
        if let Some(value) = words.strip_prefix(name.as_str()) {
            let separator = if value.trim().is_empty() { " " } else { ", " };
            return (!words.ends_with('\\'))
                .then(|| TextEdit::insert(at + words.len(), format!("{separator}{address}")));
        }
        if has_title && words.is_empty() {
            break;
        }
        has_title |= words.starts_with("= ");
        at += line.len();
    }
    let before = if text[..at].ends_with('\n') { "" } else { newline };
    has_title.then(|| TextEdit::insert(at, format!("{before}{name} {address}{newline}")))
}

fn in_yaml(text: &str, body: &Range<usize>, field: &str, address: &str, newline: &str) -> Option<TextEdit> {
    let Some(place) = find(text, body, field) else {
        let before = if body.end > body.start && !text[..body.end].ends_with('\n') { newline } else { "" };
        return Some(TextEdit::insert(body.end, format!("{before}{field}:{newline}  - {address}{newline}")));
    };
    let written = &text[place.value.clone()];
    if let Some(edit) = in_brackets(text, &place.value, address, "") {
        return Some(edit);
    }
    // A block list: the new item has the format of the last.
    let last = written.lines().rfind(|line| line.trim_start().starts_with("- "))?;
    let indent = &last[..last.len() - last.trim_start().len()];
    let item = last.trim_start().trim_start_matches('-');
    let space = &item[..item.len() - item.trim_start().len()];
    let quote = ['"', '\''].into_iter().find(|quote| item.trim_start().starts_with(*quote));
    let quote = quote.map_or(String::new(), String::from);
    let before = if text[..place.end].ends_with('\n') { "" } else { newline };
    Some(TextEdit::insert(place.end, format!("{before}{indent}-{space}{quote}{address}{quote}{newline}")))
}

fn in_toml(text: &str, body: &Range<usize>, field: &str, address: &str, newline: &str) -> Option<TextEdit> {
    match toml_value(text, body, field) {
        Some(start) => in_brackets(text, &(start..body.end), address, "\""),
        None => Some(TextEdit::insert(body.start, format!("{field} = [\"{address}\"]{newline}"))),
    }
}

/// The offset at which the value of a TOML field begins.
fn toml_value(text: &str, body: &Range<usize>, field: &str) -> Option<usize> {
    for (at, line) in lines_after(&text[..body.end], body.start) {
        let value = line.strip_prefix(field).and_then(|rest| rest.trim_start().strip_prefix('='));
        // Fields after a table header belong to that table.
        if line.trim_start().starts_with('[') {
            return None;
        }
        if let Some(value) = value {
            return Some(at + line.len() - value.len());
        }
    }
    None
}

/// Adds an item to a list in brackets, which may span several lines. It is quoted like the other items, or else with
/// `quote`.
fn in_brackets(text: &str, value: &Range<usize>, address: &str, quote: &str) -> Option<TextEdit> {
    let written = &text[value.clone()];
    let open = written.len() - written.trim_start().len();
    let inside = written.trim_start().strip_prefix('[')?;
    let end = inside.find(']')?;
    let items = &inside[..end];
    let kept = items.trim_end();
    let quoted = ['"', '\''].into_iter().find(|quote| kept.trim_start().starts_with(*quote));
    let quote = quoted.map_or(quote.to_owned(), String::from);
    let comma = if kept.is_empty() || kept.ends_with(',') { "" } else { "," };
    // Items on lines of their own have the same indentation.
    let gap = match kept.rfind('\n') {
        Some(line) => {
            let last = &kept[line + 1..];
            format!("\n{}", &last[..last.len() - last.trim_start().len()])
        }
        None if kept.is_empty() => String::new(),
        None => " ".to_owned(),
    };
    let at = value.start + open + 1 + kept.len();
    Some(TextEdit::insert(at, format!("{comma}{gap}{quote}{address}{quote}")))
}

/// Whether an edit added this address to the front matter and changed nothing else.
fn adds_only(before: &FrontMatter, after: &FrontMatter, field: &str, address: &str) -> bool {
    let mut wanted = before.list(field);
    wanted.push(address);
    let is_list = matches!(after.value(field), Some(FieldValue::List(_) | FieldValue::Text(_)));
    is_list && after.list(field) == wanted && others(before, field) == others(after, field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_asciidoc_has_one_more_attribute() {
        for (before, after) in [
            ("= T\n\nText.\n", "= T\n:page-aliases: m:old.adoc\n\nText.\n"),
            ("= T\nA <a@b.c>\n:x: y", "= T\nA <a@b.c>\n:x: y\n:page-aliases: m:old.adoc\n"),
            ("= T\n:page-aliases: a.adoc\n:x: y\n", "= T\n:page-aliases: a.adoc, m:old.adoc\n:x: y\n"),
        ] {
            let page = parse("a.adoc", before.as_bytes());
            let edit = added(&page, before.as_bytes(), "page-aliases", "m:old.adoc").expect(before).expect(before);
            assert_eq!(String::from_utf8(apply(before.as_bytes(), &[edit])).as_deref(), Ok(after));
        }
        for (before, after) in [
            ("= T\n:page-aliases: m:old.adoc\n:x: y\n", Some("= T\n:x: y\n")),
            ("= T\n:page-aliases: a.adoc, old.adoc , n:old.adoc\n", Some("= T\n:page-aliases: a.adoc, n:old.adoc\n")),
            ("= T\n:page-aliases: old.adoc,a.adoc,b.adoc\n", Some("= T\n:page-aliases: a.adoc,b.adoc\n")),
            ("= T\n:page-aliases: n:old.adoc\n", None),
        ] {
            let page = parse("b.adoc", before.as_bytes());
            let edit = without(&page, before.as_bytes(), "page-aliases", "m:old.adoc");
            let text = edit.map(|edit| String::from_utf8(apply(before.as_bytes(), &[edit])).expect("text"));
            assert_eq!(text.as_deref(), after);
        }
        let page = parse("a.adoc", b"no title\n");
        assert!(added(&page, b"no title\n", "page-aliases", "m:old.adoc").is_err());
    }

    #[test]
    fn an_address_is_added_as_the_others_are_written() {
        for (before, after) in [
            ("Text.\n", "---\naliases:\n  - /old/\n---\n\nText.\n"),
            ("---\ntitle: x # y\n---\nText.\n", "---\ntitle: x # y\naliases:\n  - /old/\n---\nText.\n"),
            ("---\naliases: [\"/a\"]\nb: c\n---\n", "---\naliases: [\"/a\", \"/old/\"]\nb: c\n---\n"),
            ("---\naliases: []\n---\n", "---\naliases: [/old/]\n---\n"),
            ("---\naliases:\n- '/a' # note\nb: c\n---\n", "---\naliases:\n- '/a' # note\n- '/old/'\nb: c\n---\n"),
            ("---\r\naliases:\r\n    - /a\r\n---\r\n", "---\r\naliases:\r\n    - /a\r\n    - /old/\r\n---\r\n"),
            (
                "+++\ntitle = \"x\"\n[menu]\nname = \"y\"\n+++\n",
                "+++\naliases = [\"/old/\"]\ntitle = \"x\"\n[menu]\nname = \"y\"\n+++\n",
            ),
            ("+++\naliases = [\n  '/a',\n]\n+++\n", "+++\naliases = [\n  '/a',\n  '/old/'\n]\n+++\n"),
        ] {
            let page = parse("a.md", before.as_bytes());
            let edit = added(&page, before.as_bytes(), "aliases", "/old/").expect(before).expect(before);
            let text = apply(before.as_bytes(), &[edit]);
            assert_eq!(String::from_utf8(text).as_deref(), Ok(after));
            // Removing the address restores the original text.
            let page = parse("a.md", after.as_bytes());
            let edit = without(&page, after.as_bytes(), "aliases", "/old/").expect(after);
            let text = String::from_utf8(apply(after.as_bytes(), &[edit])).expect("text");
            let emptied = before.replace("aliases: []\n", "").replace("---\n---\n", "").replace("'/a',\n]", "'/a'\n]");
            assert_eq!(text, emptied);
        }
        let page = "---\naliases: [/old/, /a/]\n---\n";
        assert_eq!(without(&parse("a.md", page.as_bytes()), page.as_bytes(), "aliases", "/old/"), None);
    }

    #[test]
    fn existing_and_unwritable_aliases_are_left() {
        let of =
            |text: &str, address: &str| added(&parse("a.md", text.as_bytes()), text.as_bytes(), "aliases", address);
        assert_eq!(of("---\naliases: [/old/]\n---\n", "/old/"), Ok(None));
        assert!(of("---\naliases: /a\n---\n", "/old/").is_err());
        assert!(of("---\na: b\n---\n", "/old: x/").is_err());
    }
}
