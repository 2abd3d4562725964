//! Finds roles that are code: some are harmless by name, and of others only the site knows the effect.

use super::{CodeFinder, names};
use crate::regex;

regex!(ROLE, r":(\w[\w.+:-]*):`");
regex!(ROLE_BEHIND, r"`:(\w[\w.+:-]*):");
regex!(NEW_ROLE, r"\A *([A-Za-z0-9_-]+) *(?:\( *([a-z-]*) *\))? *(?:\n|\z)");
regex!(PLAIN, r"\A[\w #@+,=-]+(?:[./:][\w #@+,=-]+)*(?: <[0-9#][\w#+,=-]*(?:[./:][\w#+,=-]+)*>)?\z");

impl CodeFinder<'_> {
    /// Whether a `role` directive defines a role that formats text or displays code. Its uses count as unknown all the
    /// same, because the site may have a role with that name.
    pub(super) fn defines_plain_role(&self, end: usize) -> bool {
        let found = NEW_ROLE.captures(&self.found.text[end..]);
        found.is_some_and(|found| names::BASES.contains(&found.get(2).map_or("", |base| base.as_str())))
    }

    /// Whether a `default-role` directive names a role that formats text, or none.
    pub(super) fn names_plain_role(&self, start: usize, end: usize) -> bool {
        self.argument(start, end).is_some_and(|name| {
            let name = name.to_lowercase();
            name.is_empty() || (names::is_role(&name) && name != "download")
        })
    }

    pub(super) fn roles(&mut self) {
        let text = self.found.text;
        for found in ROLE.captures_iter(text) {
            let (whole, name) = (found.get_match().range(), found[1].to_lowercase());
            let content = content_of(&text[whole.end..]);
            if names::plain(&name) == "download" {
                self.download(whole.start, content);
            } else if !names::is_role(&name) {
                match content {
                    // Keyed by name: another use of a role that is in use already runs the site's own code.
                    Some(content) if PLAIN.is_match(content) => self.found.add_as(whole, format!("role {name}")),
                    Some(content) => self.found.add_as(whole, format!("role {name} `{content}`")),
                    None => self.paragraph("role", whole.start),
                }
            }
        }
        for found in ROLE_BEHIND.captures_iter(text) {
            let (at, name) = (found.get_match().start(), found[1].to_lowercase());
            let is_harmless = names::is_role(&name) && names::plain(&name) != "download";
            if !is_harmless {
                self.paragraph("role", at);
            }
        }
    }

    /// Reads a `download` role, whose file is published with the pages.
    fn download(&mut self, at: usize, content: Option<&str>) {
        let Some(content) = content else { return self.paragraph("role", at) };
        let titled = content.strip_suffix('>').and_then(|rest| rest.rsplit_once('<'));
        let path = titled.map_or(content, |(_, path)| path).trim();
        let is_url = ["https://", "http://"].iter().any(|scheme| path.starts_with(scheme));
        if !is_url && !self.is_of_docs(path) {
            let end = at + self.found.text[at..].find(content).map_or(0, |start| start + content.len());
            self.found.add_as(at..end, format!("download {}", self.path_in_docs(path)));
        }
    }
}

/// The content of a role after its opening backtick; `None` if its end is uncertain.
fn content_of(text: &str) -> Option<&str> {
    let end = text.find(['`', '\n'])?;
    let (content, rest) = (&text[..end], &text[end..]);
    let is_end = rest.starts_with('`')
        && !content.ends_with(|c: char| c.is_whitespace() || c == '\\')
        && rest[1..].chars().next().is_none_or(|c| c.is_whitespace() || ".,;:!?'\")]}>-/|".contains(c));
    (is_end && !content.is_empty()).then_some(content)
}
