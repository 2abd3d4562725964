//! What a link's target names, and how to write a target that names something else.
//!
//! A target is read as a browser on the site would read it: absolute from the site's root, relative from the page's
//! own folder, with or without the file's ending. [`Routes`] knows the site by the names of its files alone, so that
//! nothing has to be parsed to follow a link.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use docent_markdown::{Field, FieldValue, Format, FrontMatter, Page, folder, is_page, joined, parse_as, site_path};

use crate::layout::Layout;
use crate::site::Tree;

/// What a target names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Something outside of the site: another host, a mail address.
    External,
    /// A page, this one included, and the anchor on it.
    Page { file: String, anchor: Option<String> },
    /// A file that is no page.
    Asset { file: String },
    /// A path that the site's configuration redirects elsewhere.
    Redirect { destination: String },
    /// Nothing in this site. The path as read, relative to the site's root; `None` when it leads out of the root.
    Missing { path: Option<String>, anchor: Option<String> },
    /// Something only the running site knows, such as an expression.
    Unknown,
}

/// Where everything of a site is, by name.
#[derive(Debug, Clone, Default)]
pub struct Routes {
    layout: Layout,
    files: BTreeSet<String>,
    /// Site path to file.
    served: HashMap<String, String>,
    /// A page's own path without its ending to its file: how pages that lie beside each other name each other, whatever
    /// the site path.
    named: HashMap<String, String>,
    /// Source and destination, without leading slash.
    redirects: Vec<(String, String)>,
}

impl Routes {
    /// The routes of a tree. Reads its configuration and nothing else: a page that names its own path (`slug`) is known
    /// only after [`Routes::add_slug`].
    pub fn of(tree: &dyn Tree) -> Self {
        let paths = tree.paths();
        let layout = Layout::read_paths(tree, &paths);
        let files: BTreeSet<String> = paths.into_iter().collect();
        let mut served = HashMap::with_capacity(files.len());
        let mut named = HashMap::with_capacity(files.len());
        for file in files.iter().filter(|file| is_page(file)) {
            if layout.holds_pages(file) {
                served.entry(layout.place(file).site_path).or_insert_with(|| file.clone());
            }
            named.entry(site_path(file)).or_insert_with(|| file.clone());
        }
        let redirects = layout.redirects();
        let redirects =
            redirects.map(|(source, destination)| (trimmed(source).to_owned(), destination.to_owned())).collect();
        Self { layout, files, served, named, redirects }
    }

    /// Says that a page is served at a path of its own choice.
    pub fn add_slug(&mut self, slug: &str, file: &str) {
        self.served.entry(trimmed(slug).to_owned()).or_insert_with(|| file.to_owned());
        let field = Field { name: "slug".to_owned(), value: FieldValue::Text(slug.to_owned()) };
        let front = FrontMatter { fields: vec![field], ..FrontMatter::default() };
        self.served.entry(self.layout.place_of(file, &front).site_path).or_insert_with(|| file.to_owned());
    }

    /// What the configuration of the tree says.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Reads a page, its headings anchored as this site does it.
    pub fn parse(&self, file: &str, bytes: &[u8]) -> Page {
        parse_as(file, bytes, Format::of(file), self.layout.anchors())
    }

    /// [`respelled`], where an absolute target without an ending is the path the file is served at.
    pub fn respelled(&self, target: &str, from: &str, file: &str, anchor: Option<&str>) -> String {
        let path = self.layout.place(file).site_path;
        let is_absolute = target.starts_with('/') && is_page(file);
        let (written, _) = parts(target);
        if !is_absolute || has_page_ending(written) || path == site_path(file) || !self.layout.holds_pages(file) {
            return respelled(target, from, file, anchor);
        }
        respelled(target, "", &format!("{path}.md"), anchor)
    }

    /// Whether the tree holds this very file.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// The file served at a site path; leading and trailing slashes do not matter.
    pub fn file_at(&self, site_path: &str) -> Option<&str> {
        let path = trimmed(site_path);
        self.served.get(path).or_else(|| self.named.get(path)).map(String::as_str)
    }

    /// Every file in order.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Every site path with its file, in order.
    pub fn served(&self) -> BTreeMap<&str, &str> {
        self.served.iter().map(|(path, file)| (path.as_str(), file.as_str())).collect()
    }

    /// The paths that are redirected, without leading slash.
    pub fn redirect_sources(&self) -> impl Iterator<Item = &str> {
        self.redirects.iter().map(|(source, _)| source.as_str())
    }

    /// The file a person means by a path: with or without ending, with or without leading slash, or the path it is
    /// served at.
    pub fn page_named(&self, name: &str) -> Option<&str> {
        let name = trimmed(name.trim().trim_start_matches("./"));
        match self.files.get(name) {
            Some(file) if is_page(file) => Some(file),
            _ => self.file_at(name).or_else(|| self.file_at(&site_path(name))),
        }
    }

    /// What `target` names when it stands in `from`, a file.
    pub fn resolve(&self, from: &str, target: &str) -> Target {
        let target = target.trim();
        if is_external(target) {
            return Target::External;
        }
        if target.contains(['{', '}', '$', '<', '>', '`']) || target.contains("%}") {
            return Target::Unknown;
        }
        let (path, anchor) = parts(target);
        if path.is_empty() {
            return match target.is_empty() {
                true => Target::Missing { path: None, anchor: None },
                false => Target::Page { file: from.to_owned(), anchor },
            };
        }
        let path = decoded(path);
        if is_fragment(from) && !path.starts_with('/') {
            // It stands wherever the fragment is put.
            return Target::Unknown;
        }
        let mut first_try = None;
        for base in bases(from) {
            let joined = joined(if path.starts_with('/') { "" } else { &base }, &path);
            if let Some(found) = joined.as_deref().and_then(|path| self.find(path, anchor.as_deref())) {
                return found;
            }
            first_try.get_or_insert(joined);
            if path.starts_with('/') {
                break;
            }
        }
        Target::Missing { path: first_try.flatten(), anchor }
    }

    fn find(&self, path: &str, anchor: Option<&str>) -> Option<Target> {
        let page = |file: &str| Target::Page { file: file.to_owned(), anchor: anchor.map(str::to_owned) };
        if let Some(file) = self.files.get(path) {
            return Some(if is_page(file) { page(file) } else { Target::Asset { file: file.clone() } });
        }
        let index = matches!(path.rsplit('/').next(), Some("index" | "README")).then(|| site_path(path));
        if let Some(file) = self.file_at(path).or_else(|| self.file_at(&index?)) {
            return Some(page(file));
        }
        // Sites serve these folders from the root.
        let asset = ["public", "static"].iter().find_map(|folder| self.files.get(&format!("{folder}/{path}")));
        if let Some(file) = asset {
            return Some(Target::Asset { file: file.clone() });
        }
        let redirect = self.redirects.iter().find(|(source, _)| redirects(source, path))?;
        Some(Target::Redirect { destination: redirect.1.clone() })
    }
}

/// Whether a redirect's source, which may hold `:name`, `:name*` and `*`, is meant for a path.
fn redirects(source: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    for wanted in source.split('/') {
        if wanted == "*" || (wanted.starts_with(':') && wanted.ends_with('*')) {
            return true;
        }
        match parts.next() {
            Some(part) if wanted == part || (wanted.starts_with(':') && !part.is_empty()) => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}

/// Whether a file is a piece of other pages rather than a page of its own: in a folder `snippets`, or named with a
/// leading underscore.
pub fn is_fragment(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "snippets" | "_snippets" | "partials") || part.starts_with('_'))
}

/// Whether a target leaves the site: it has a scheme, or a host.
pub fn is_external(target: &str) -> bool {
    if target.starts_with("//") {
        return true;
    }
    let scheme = target.split([':', '/', '?', '#']).next().unwrap_or("");
    let begins = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    begins
        && target[scheme.len()..].starts_with(':')
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
}

/// The path of a target without its query, and its anchor, decoded and without `#`. An empty anchor is none.
pub fn parts(target: &str) -> (&str, Option<String>) {
    let (rest, anchor) = match target.split_once('#') {
        Some((rest, anchor)) => (rest, Some(decoded(anchor)).filter(|anchor| !anchor.is_empty())),
        None => (target, None),
    };
    (rest.split('?').next().unwrap_or(rest), anchor)
}

/// `%20` and its like as the characters they stand for; what cannot be decoded stays.
fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| bytes[at] == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// The folders a relative target of a file may start from: the file's own, and for the index of a folder also the one
/// above, where the folder's own path without a slash would lead.
fn bases(from: &str) -> Vec<String> {
    let folder = folder(from).to_owned();
    let is_index = site_path(from) == folder && !folder.is_empty();
    let above = is_index.then(|| docent_markdown::folder(&folder).to_owned());
    std::iter::once(folder).chain(above).collect()
}

fn trimmed(path: &str) -> &str {
    path.trim_matches('/')
}

/// Whether a name ends as a page's file does.
pub fn has_page_ending(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".md", ".mdx", ".markdown"].iter().any(|ending| name.ends_with(ending))
}

/// A target that names `file` instead, spelled as the one before: absolute or relative, with or without ending, with
/// the same query and, unless `anchor` says otherwise, the same anchor. `from` is the file it will stand in.
pub fn respelled(target: &str, from: &str, file: &str, anchor: Option<&str>) -> String {
    let end_of_path = target.find(['#', '?']).unwrap_or(target.len());
    let (path, suffix) = target.split_at(end_of_path);
    let suffix = match anchor {
        Some(anchor) => format!("{}#{}", suffix.split('#').next().unwrap_or(""), encoded(anchor)),
        None => suffix.to_owned(),
    };
    let with_ending = has_page_ending(path) || !is_page(file);
    let named = if with_ending { file.to_owned() } else { site_path(file) };
    let mut spelled = if path.starts_with('/') || (path.is_empty() && !named.is_empty()) {
        format!("/{named}")
    } else {
        let relative = relative(folder(from), &named);
        let dotted = path.starts_with("./") && !relative.starts_with("..");
        if dotted { format!("./{relative}") } else { relative }
    };
    if path.ends_with('/') && !spelled.ends_with('/') && !with_ending {
        spelled.push('/');
    }
    format!("{}{suffix}", encoded(&spelled))
}

/// The way from a folder to a path; `.` to the folder itself.
fn relative(folder: &str, path: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    // A target that is the folder itself is written from the folder above, as `.` would be read as the page.
    let shared = if shared == to.len() && shared > 0 { shared - 1 } else { shared };
    let mut parts = vec![".."; from.len() - shared];
    parts.extend(&to[shared..]);
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// A path with what would end a Markdown destination or an attribute written as `%20` and its like.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() || " ()<>\"'\\{}".contains(c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn site() -> BTreeMap<String, Vec<u8>> {
        let files = [
            ("index.mdx", ""),
            ("guides/index.md", ""),
            ("guides/retries.mdx", ""),
            ("guides/my page.md", ""),
            ("images/a.png", ""),
            ("public/logo.svg", ""),
            ("snippets/note.mdx", ""),
            (
                "docs.json",
                r#"{"redirects": [{"source": "/old", "destination": "/guides/retries"}, {"source": "/v1/:path*", "destination": "/"}]}"#,
            ),
        ];
        files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn page(file: &str, anchor: Option<&str>) -> Target {
        Target::Page { file: file.to_owned(), anchor: anchor.map(str::to_owned) }
    }

    #[test]
    fn targets_are_read_as_a_browser_would() {
        let routes = Routes::of(&site());
        let missing = |path: &str| Target::Missing { path: Some(path.to_owned()), anchor: None };
        for (from, target, expected) in [
            ("index.mdx", "/guides/retries", page("guides/retries.mdx", None)),
            ("index.mdx", "/guides/retries.mdx", page("guides/retries.mdx", None)),
            ("index.mdx", "guides/retries#back%20off", page("guides/retries.mdx", Some("back off"))),
            ("index.mdx", "/guides/", page("guides/index.md", None)),
            ("index.mdx", "/", page("index.mdx", None)),
            ("index.mdx", "#top", page("index.mdx", Some("top"))),
            ("index.mdx", "/guides/my%20page?x=1#y", page("guides/my page.md", Some("y"))),
            ("guides/retries.mdx", "../index.mdx", page("index.mdx", None)),
            ("guides/retries.mdx", "./index", page("guides/index.md", None)),
            ("guides/retries.mdx", "retries", page("guides/retries.mdx", None)),
            ("guides/index.md", "retries", page("guides/retries.mdx", None)),
            ("guides/index.md", "guides/retries", page("guides/retries.mdx", None)),
            ("guides/retries.mdx", "../images/a.png", Target::Asset { file: "images/a.png".into() }),
            ("index.mdx", "/logo.svg", Target::Asset { file: "public/logo.svg".into() }),
            ("index.mdx", "/old", Target::Redirect { destination: "/guides/retries".into() }),
            ("index.mdx", "/v1/a/b", Target::Redirect { destination: "/".into() }),
            ("index.mdx", "/nowhere", missing("nowhere")),
            ("guides/retries.mdx", "nowhere", missing("guides/nowhere")),
            ("index.mdx", "../up", Target::Missing { path: None, anchor: None }),
            ("index.mdx", "https://example.com/guides", Target::External),
            ("index.mdx", "//example.com", Target::External),
            ("index.mdx", "mailto:a@example.com", Target::External),
            ("index.mdx", "{base}/x", Target::Unknown),
            ("snippets/note.mdx", "retries", Target::Unknown),
            ("snippets/note.mdx", "/guides/retries", page("guides/retries.mdx", None)),
        ] {
            assert_eq!(routes.resolve(from, target), expected, "{target} in {from}");
        }
    }

    #[test]
    fn links_are_followed_where_the_generator_serves_pages() {
        let tree: BTreeMap<String, Vec<u8>> = [
            ("mkdocs.yml", "plugins:\n  - redirects:\n      redirect_maps: {old.md: a.md}\n"),
            ("docs/a.md", ""),
            ("docs/in/b.md", ""),
            ("README.md", ""),
        ]
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .collect();
        let routes = Routes::of(&tree);
        for (from, target, expected) in [
            ("docs/a.md", "in/b.md", page("docs/in/b.md", None)),
            ("docs/a.md", "in/b", page("docs/in/b.md", None)),
            ("docs/a.md", "/in/b/#x", page("docs/in/b.md", Some("x"))),
            ("docs/in/b.md", "/old", Target::Redirect { destination: "/a".into() }),
            ("README.md", "docs/a.md", page("docs/a.md", None)),
        ] {
            assert_eq!(routes.resolve(from, target), expected, "{target} in {from}");
        }
        assert_eq!(routes.served().into_iter().collect::<Vec<_>>(), [("a", "docs/a.md"), ("in/b", "docs/in/b.md")]);
        for (target, spelled) in
            [("/x", "/in/b"), ("/x/#y", "/in/b/#y"), ("/x.md", "/docs/in/b.md"), ("x.md", "in/b.md")]
        {
            assert_eq!(routes.respelled(target, "docs/a.md", "docs/in/b.md", None), spelled, "{target}");
        }
    }

    #[test]
    fn a_page_is_named_in_many_ways() {
        let routes = Routes::of(&site());
        for name in
            ["guides/retries", "/guides/retries", "guides/retries.mdx", "./guides/retries.mdx", "guides/retries.md"]
        {
            assert_eq!(routes.page_named(name), Some("guides/retries.mdx"), "{name}");
        }
        assert_eq!(routes.page_named("guides"), Some("guides/index.md"));
        assert_eq!(routes.page_named("/"), Some("index.mdx"));
        assert_eq!(routes.page_named("images/a.png"), None);
    }

    #[test]
    fn a_respelled_target_keeps_its_style() {
        for (target, from, file, expected) in [
            ("/guides/a", "index.mdx", "ref/b.mdx", "/ref/b"),
            ("/guides/a.mdx#x", "index.mdx", "ref/b.mdx", "/ref/b.mdx#x"),
            ("a?q=1#x", "guides/c.mdx", "ref/b.mdx", "../ref/b?q=1#x"),
            ("./a", "guides/c.mdx", "guides/b.mdx", "./b"),
            ("../guides/a.md", "ref/c.md", "ref/b.md", "b.md"),
            ("/guides/", "c.md", "ref/index.md", "/ref/"),
            ("guides", "c.md", "my page.md", "my%20page"),
            ("a", "guides/b/c.md", "guides/index.md", "../../guides"),
        ] {
            assert_eq!(respelled(target, from, file, None), expected, "{target} in {from}");
        }
        assert_eq!(respelled("/a#x", "index.md", "b.md", Some("y")), "/b#y");
    }

    proptest! {
        #[test]
        fn a_respelled_target_names_what_it_should(
            from in prop::sample::select(vec!["index.mdx", "guides/retries.mdx", "guides/my page.md", "guides/index.md"]),
            file in prop::sample::select(vec!["index.mdx", "guides/index.md", "guides/retries.mdx", "guides/my page.md"]),
            target in prop::sample::select(vec!["/x", "x", "./x", "../x", "/x.md", "x.mdx", "../x/"]),
        ) {
            let routes = Routes::of(&site());
            let spelled = respelled(target, from, file, None);
            prop_assert_eq!(routes.resolve(from, &spelled), page(file, None), "{}", spelled);
        }

        #[test]
        fn any_target_is_read_without_a_panic(from in "\\PC{0,12}", target in "\\PC{0,24}") {
            let routes = Routes::of(&site());
            routes.resolve(&from, &target);
            respelled(&target, &from, "guides/retries.mdx", Some("x"));
        }
    }
}
