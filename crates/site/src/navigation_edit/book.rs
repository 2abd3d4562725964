//! Edits redirects of mdBook: the table `output.html.redirect` of `book.toml`.
//!
//! A key is the path of a page that no longer exists, relative to the book. With an anchor it is a place on a page,
//! whether that page exists or not. The value is a URL that a browser resolves against the key.

use std::ops::Range;

use docent_markdown::{folder, joined, line_end, line_of, line_start};
use toml::de::{DeTable, DeValue};

use super::{FileEdit, NavigationPlace, relative_file_path};
use crate::generators::mdbook::{self, built_path, page_at, path_from};
use crate::layout::Generator;
use crate::link_target::{LinkSyntax, ParsedLink, encoded, is_external};
use crate::model::Site;
use crate::tree::{Tree, from_config_folder};

/// The redirects of a book that has at least one.
pub(super) struct BookRedirects {
    file: String,
    text: String,
    /// In file order.
    entries: Vec<BookRedirect>,
}

struct BookRedirect {
    /// The path that is redirected, relative to the book.
    page: String,
    anchor: Option<String>,
    /// The key without quotes, verbatim.
    source: String,
    destination: String,
    /// Quotes included.
    key: Range<usize>,
    /// Quotes included.
    value: Range<usize>,
    /// The line of the entry, if it has one to itself.
    line: Option<Range<usize>>,
}

impl BookRedirects {
    pub(super) fn of(tree: &dyn Tree, site: &Site) -> Option<Self> {
        (site.generator() == Generator::MdBook).then_some(())?;
        let file = from_config_folder(tree, site.layout().home(), "book.toml");
        let text = tree.text(&file)?;
        let mut entries = {
            let root = DeTable::parse(&text).ok()?;
            let names = ["output", "html", "redirect"];
            let table = names.iter().try_fold(root.get_ref(), |table, name| match table.get(*name)?.get_ref() {
                DeValue::Table(table) => Some(table),
                _ => None,
            })?;
            let read = |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, &toml::Spanned<DeValue<'_>>)| {
                BookRedirect::read(&text, key.get_ref(), key.span(), value.get_ref().as_str()?, value.span())
            };
            table.iter().filter_map(read).collect::<Vec<_>>()
        };
        entries.sort_by_key(|entry| entry.key.start);
        (!entries.is_empty()).then_some(Self { file, text, entries })
    }

    /// Redirects from the old address of a page that moves to its new one, and retargets redirects that led to the old
    /// one. The second value lists what is left to the user.
    pub(super) fn redirect(&self, site: &Site, from: &str, to: &str) -> (Vec<FileEdit>, Vec<String>) {
        let (mut edits, mut manual_steps) = (Vec::new(), Vec::new());
        let (Some(old), Some(new)) = (built_path(site, from), built_path(site, to)) else {
            return (edits, manual_steps);
        };
        if old == new {
            return (edits, manual_steps);
        }
        let mut is_there = false;
        for entry in &self.entries {
            let leads_to = entry.leads_to(site);
            let to_path = leads_to.as_ref().map(|(_, path)| path.as_str());
            match (&entry.anchor, entry.page.as_str()) {
                // The page is now served at this address, and mdBook refuses to build a book that also redirects it.
                (None, page) if page == new => match &entry.line {
                    Some(line) => edits.push(self.edit(line.clone(), String::new())),
                    None => manual_steps.push(self.message_about(entry, "is the page's own address now, and is to go")),
                },
                (None, page) if page == old => {
                    is_there = true;
                    edits.push(
                        self.edit(entry.value.clone(), self.quoted(&entry.value, &entry.written(site, &old, &new))),
                    );
                }
                // A redirect of an anchor on the page moves with the page.
                (Some(anchor), page) if page == old => {
                    let target = if to_path == Some(old.as_str()) { Some(new.as_str()) } else { to_path };
                    match target {
                        Some(path) => {
                            edits.push(
                                self.edit(
                                    entry.value.clone(),
                                    self.quoted(&entry.value, &entry.moved(site, &new, path)),
                                ),
                            );
                        }
                        None if entry.is_relative() => {
                            manual_steps.push(self.message_about(entry, "leads elsewhere from where the page is now"));
                            continue;
                        }
                        None => {}
                    }
                    edits.push(self.edit(entry.key.clone(), self.quoted(&entry.key, &format!("/{new}#{anchor}"))));
                }
                (_, page) if leads_to.as_ref().is_some_and(|(file, _)| file == from) => {
                    edits.push(
                        self.edit(entry.value.clone(), self.quoted(&entry.value, &entry.moved(site, page, &new))),
                    );
                }
                _ => {}
            }
        }
        if !is_there {
            match self.added(site, &old, &new) {
                Some(edit) => edits.push(edit),
                None => {
                    manual_steps.push(format!("{}: a redirect from `/{old}` to `/{new}` is yours to add", self.file));
                }
            }
        }
        (edits, manual_steps)
    }

    /// Adds a redirect after an existing one that has a line to itself, in the same form. Redirects of whole pages,
    /// then those within the book, then later ones are preferred as the model.
    fn added(&self, site: &Site, old: &str, new: &str) -> Option<FileEdit> {
        let is_plain = |path: &str| path.chars().all(|c| c.is_alphanumeric() || "/._-~ ".contains(c));
        (is_plain(old) && is_plain(new)).then_some(())?;
        let lines = self.entries.iter().filter_map(|entry| Some((entry, entry.line.clone()?)));
        let (entry, line) = lines
            .max_by_key(|(entry, _)| (entry.anchor.is_none(), !is_external(&entry.destination), entry.key.start))?;
        let lead = &entry.source[..entry.source.find(entry.page.as_str()).unwrap_or(0)];
        let value = if is_external(&entry.destination) {
            encoded(&relative_file_path(folder(old), new))
        } else {
            entry.written(site, old, new)
        };
        let part = |range: Range<usize>| &self.text[range];
        let newline = if part(line.clone()).contains("\r\n") { "\r\n" } else { "\n" };
        let before = if part(line.clone()).ends_with('\n') { "" } else { newline };
        let text = format!(
            "{before}{}{}{}{}{newline}",
            part(line.start..entry.key.start),
            self.quoted(&entry.key, &format!("{lead}{old}")),
            part(entry.key.end..entry.value.start),
            self.quoted(&entry.value, &value)
        );
        Some(self.edit(line.end..line.end, text))
    }

    /// Removes the redirects of anchors on a page, because the book would not build without the page. The second value
    /// lists what is left to the user.
    pub(super) fn remove(&self, site: &Site, file: &str) -> (Vec<FileEdit>, Vec<String>) {
        let (mut edits, mut manual_steps) = (Vec::new(), Vec::new());
        let path = built_path(site, file);
        for entry in self.entries.iter().filter(|entry| entry.anchor.is_some() && path.as_deref() == Some(&entry.page))
        {
            match &entry.line {
                Some(line) => edits.push(self.edit(line.clone(), String::new())),
                None => manual_steps.push(self.message_about(entry, "redirects a place on it")),
            }
        }
        (edits, manual_steps)
    }

    /// The redirects that lead to a page, except those of its own anchors.
    pub(super) fn leading_to(&self, site: &Site, file: &str) -> Vec<(NavigationPlace, String)> {
        let own = built_path(site, file);
        let leading = self.entries.iter().filter(|entry| {
            own.as_deref() != Some(&entry.page) && entry.leads_to(site).is_some_and(|(to, _)| to == file)
        });
        let place = |entry: &BookRedirect| NavigationPlace::of(&self.file, &self.text, entry.key.start);
        leading.map(|entry| (place(entry), entry.source.clone())).collect()
    }

    fn edit(&self, range: Range<usize>, text: String) -> FileEdit {
        FileEdit { file: self.file.clone(), range, text }
    }

    /// Quotes a text in the style of the text it replaces.
    fn quoted(&self, like: &Range<usize>, text: &str) -> String {
        let is_literal = self.text[like.clone()].starts_with('\'') && !text.contains('\'');
        if is_literal { format!("'{text}'") } else { toml::Value::from(text).to_string() }
    }

    fn message_about(&self, entry: &BookRedirect, what: &str) -> String {
        format!("{}:{} `{}` {what}", self.file, line_of(&self.text, entry.key.start), entry.source)
    }
}

impl BookRedirect {
    fn read(text: &str, source: &str, key: Range<usize>, destination: &str, value: Range<usize>) -> Option<Self> {
        let (page, anchor) = match source.split_once('#') {
            Some((page, anchor)) => (page, Some(anchor.to_owned())),
            None => (source, None),
        };
        let start = line_start(text, key.start);
        let end = line_end(text, value.end);
        let is_key = |before: &str| before.chars().all(|c| c.is_alphanumeric() || " \t._-".contains(c));
        let rest = text[value.end..end].trim_start();
        let is_alone = is_key(&text[start..key.start]) && (rest.is_empty() || rest.starts_with('#'));
        Some(Self {
            page: joined("", page.trim_start_matches('/'))?,
            anchor,
            source: source.to_owned(),
            destination: destination.to_owned(),
            key,
            value,
            line: is_alone.then_some(start..end),
        })
    }

    fn is_relative(&self) -> bool {
        !is_external(&self.destination) && !self.destination.starts_with('/')
    }

    /// The page that an entry redirects to, and the path it is built at.
    fn leads_to(&self, site: &Site) -> Option<(String, String)> {
        if is_external(&self.destination) {
            return None;
        }
        let link = ParsedLink::read("", &self.destination, LinkSyntax::Html)?;
        let file = match link.path.as_str() {
            "" => page_at(site, &self.page),
            path => page_at(site, &path_from(site, &self.page, path)?),
        }?;
        let path = built_path(site, &file)?;
        Some((file, path))
    }

    fn path_length(&self) -> usize {
        self.destination.find(['#', '?']).unwrap_or(self.destination.len())
    }

    /// The URL of another path, with the existing query and anchor.
    fn moved(&self, site: &Site, page: &str, path: &str) -> String {
        format!("{}{}", self.written(site, page, path), &self.destination[self.path_length()..])
    }

    /// The URL that leads from one path to another, in the form of the URL it replaces.
    fn written(&self, site: &Site, page: &str, path: &str) -> String {
        let like = self.destination.as_str();
        let before = &like[..self.path_length()];
        let named = before.ends_with(".html") || before.is_empty();
        let url = match path.strip_suffix("index.html").filter(|up| up.is_empty() || up.ends_with('/')) {
            Some(up) if !named => up,
            _ if named || before.ends_with('/') => path,
            _ => path.strip_suffix(".html").unwrap_or(path),
        };
        let new_path = match before.starts_with('/') {
            true => match mdbook::base(site) {
                "" => format!("/{url}"),
                base => format!("/{base}/{url}"),
            },
            false if before.is_empty() && page == path => String::new(),
            false => {
                let relative = relative_file_path(folder(page), url);
                let is_dotted = relative.is_empty() || before.starts_with("./") && !relative.starts_with("../");
                if is_dotted { format!("./{relative}") } else { relative }
            }
        };
        encoded(&new_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigation_edit::{NavigationEdits, NavigationFiles};
    use crate::sample::{Files, site};

    const SUMMARY: (&str, &str) = ("src/SUMMARY.md", "[A](a.md)\n[B](in/b.md)\n[I](in/README.md)\n");

    fn book(redirects: &str) -> Files {
        let toml = format!("[book]\ntitle = 'x' # y\n\n{redirects}");
        site(&[("book.toml", &toml), SUMMARY, ("src/a.md", ""), ("src/in/b.md", ""), ("src/in/README.md", "")])
    }

    /// The redirects of the book after a change, and the messages to the user.
    fn changed(before: &str, change: impl Fn(&NavigationFiles<'_>) -> NavigationEdits) -> (String, Vec<String>) {
        let tree = book(before);
        let site = Site::read(&tree);
        let edits = change(&NavigationFiles::of(&tree, &site));
        let mut text = String::from_utf8(tree["book.toml"].clone()).expect("text");
        for (range, new) in edits.files.get("book.toml").into_iter().flatten().rev() {
            text.replace_range(range.clone(), new);
        }
        text.parse::<toml::Table>().unwrap_or_else(|why| panic!("{why} in {text}"));
        (text.split_once("\n\n").expect("the rest").1.to_owned(), edits.manual_steps)
    }

    #[test]
    fn redirects_follow_a_page_that_moves() {
        for (before, after) in [
            (
                "[output.html.redirect]\n\"./b.html\" = \"./in/b.html#x\" # old\n\n[build]\n",
                "[output.html.redirect]\n\"./b.html\" = \"./to/in/b.html#x\" # old\n\"./in/b.html\" = \"../to/in/b.html\"\n\n[build]\n",
            ),
            (
                "[output.html.redirect]\n'/x/b.html' = '../in/b.html'\n'/c.html' = 'https://x.y'",
                "[output.html.redirect]\n'/x/b.html' = '../to/in/b.html'\n'/in/b.html' = '../to/in/b.html'\n'/c.html' = 'https://x.y'",
            ),
            // Absolute destinations include the base path of the book; they may lack the extension, or lead to another
            // page.
            (
                "[output.html]\nsite-url = '/h/'\nredirect.\"/b\" = \"/h/in/b\"\nredirect.\"/a2.html\" = \"/h/a.html\"\n",
                "[output.html]\nsite-url = '/h/'\nredirect.\"/b\" = \"/h/to/in/b\"\nredirect.\"/a2.html\" = \"/h/a.html\"\nredirect.\"/in/b.html\" = \"/h/to/in/b.html\"\n",
            ),
            // The page moves to an address that was redirected.
            (
                "[output.html.redirect]\n\"/to/in/b.html\" = \"/in/b.html\"\n\"/c.html\" = \"/to/in/b.html\"\n",
                "[output.html.redirect]\n\"/c.html\" = \"/to/in/b.html\"\n\"/in/b.html\" = \"/to/in/b.html\"\n",
            ),
            // Redirects of its anchors move with it.
            (
                "[output.html.redirect]\n\"/in/b.html#x\" = \"b.html#y\"\n\"/in/b.html#z\" = \"#w\"\n\"/in/b.html#a\" = \"../a.html\"\n\"/c.html\" = \"d.html\"\n",
                "[output.html.redirect]\n\"/to/in/b.html#x\" = \"b.html#y\"\n\"/to/in/b.html#z\" = \"#w\"\n\"/to/in/b.html#a\" = \"../../a.html\"\n\"/c.html\" = \"d.html\"\n\"/in/b.html\" = \"../to/in/b.html\"\n",
            ),
            ("[output.html]\n", "[output.html]\n"),
            ("[output.html.redirect]\n", "[output.html.redirect]\n"),
        ] {
            let (text, manual_steps) = changed(before, |files| files.redirect("src/in/b.md", "src/to/in/b.md"));
            assert_eq!((text.as_str(), manual_steps), (after, Vec::new()), "{before}");
        }
    }

    #[test]
    fn the_index_of_a_folder_is_named_as_it_was() {
        let (text, _) =
            changed("[output.html.redirect]\n\"/i.html\" = \"in/\"\n\"/j.html\" = \"in/index.html\"\n", |files| {
                files.redirect("src/in/README.md", "src/to/README.md")
            });
        assert_eq!(
            text,
            "[output.html.redirect]\n\"/i.html\" = \"to/\"\n\"/j.html\" = \"to/index.html\"\n\"/in/index.html\" = \"../to/index.html\"\n"
        );
    }

    #[test]
    fn inline_redirect_tables_are_left_to_a_person() {
        let before = "[output.html]\nredirect = { \"/b.html\" = \"in/b.html\" }\n";
        let (text, manual_steps) = changed(before, |files| files.redirect("src/in/b.md", "src/c.md"));
        assert_eq!(text, "[output.html]\nredirect = { \"/b.html\" = \"c.html\" }\n");
        assert_eq!(manual_steps, ["book.toml: a redirect from `/in/b.html` to `/c.html` is yours to add"]);
    }

    #[test]
    fn redirects_to_a_page_that_goes_are_told() {
        let before = "[output.html.redirect]\n\"/in/b.html#x\" = \"#y\"\n\"/c.html\" = \"in/b.html#x\"\n";
        let tree = book(before);
        let site = Site::read(&tree);
        let leading = NavigationFiles::of(&tree, &site).redirects_to("src/in/b.md");
        let leading: Vec<_> = leading.iter().map(|(place, source)| (place.line, source.as_str())).collect();
        assert_eq!(leading, [(6, "/c.html")]);
        let (text, _) = changed(before, |files| files.remove("src/in/b.md"));
        assert_eq!(text, "[output.html.redirect]\n\"/c.html\" = \"in/b.html#x\"\n");
    }
}
