//! Reads and writes link targets.

use std::borrow::Cow;

use docent_markdown::{LinkKind, folder, is_markdown_page, site_path};
use percent_encoding::percent_decode_str;

/// The syntax of a link. Generators resolve Markdown links; most of them leave HTML links to the browser, and
/// components resolve links in their own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkSyntax {
    #[default]
    Markdown,
    /// An attribute of an HTML element.
    Html,
    /// An attribute of a component.
    Component,
    /// A field of the front matter.
    Field,
}

impl LinkSyntax {
    pub fn of(kind: &LinkKind) -> Self {
        match kind {
            LinkKind::Attribute { element, .. } => {
                // An `include` directive names its file by the rules of the page's markup language.
                let is_component = element == "include"
                    || element.contains(['.', '-'])
                    || element.starts_with(|c: char| c.is_uppercase());
                if is_component { Self::Component } else { Self::Html }
            }
            LinkKind::Field => Self::Field,
            LinkKind::Inline | LinkKind::Reference | LinkKind::Autolink | LinkKind::Image => Self::Markdown,
        }
    }
}

/// A link on a page, to another page or a file of the site.
#[derive(Debug)]
pub struct ParsedLink<'a> {
    /// The file that contains the link.
    pub from: &'a str,
    /// The target, verbatim.
    pub target: &'a str,
    /// The path of the target, decoded, without query and anchor.
    pub path: String,
    /// Decoded and without `#`.
    pub anchor: Option<String>,
    pub syntax: LinkSyntax,
}

impl<'a> ParsedLink<'a> {
    /// `None` for expressions and templates, which only the running site can resolve.
    pub(crate) fn read(from: &'a str, target: &'a str, syntax: LinkSyntax) -> Option<Self> {
        if target.contains(['{', '}', '$', '<', '>', '`']) || target.contains("%}") {
            return None;
        }
        let (path, anchor) = parts(target);
        Some(Self { from, target, path: decoded(path), anchor, syntax })
    }

    pub(crate) fn is_absolute(&self) -> bool {
        self.path.starts_with('/')
    }
}

/// A link to write.
#[derive(Debug)]
pub struct LinkRequest<'a> {
    /// The file that will contain the link.
    pub from: &'a str,
    /// The file the link must lead to, a page or not.
    pub to: &'a str,
    /// `None`: the anchor of `like`.
    pub anchor: Option<&'a str>,
    /// A link whose style is kept: absolute or relative, with or without file extension, its query and its anchor.
    pub like: &'a str,
    pub syntax: LinkSyntax,
}

/// Whether a file is a fragment of other pages rather than a page: it is in a folder `snippets`, `_snippets` or
/// `partials`, or a name in its path begins with an underscore.
pub fn is_fragment(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "snippets" | "_snippets" | "partials") || part.starts_with('_'))
}

/// Whether a target leaves the site: it has a scheme or a host.
pub fn is_external(target: &str) -> bool {
    if target.starts_with("//") {
        return true;
    }
    let scheme = target.split([':', '/', '?', '#']).next().unwrap_or("");
    let begins_with_letter = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    begins_with_letter
        && target[scheme.len()..].starts_with(':')
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
}

/// Splits a target into its path, without query, and its anchor, decoded and without `#`. An empty anchor is no anchor.
pub fn parts(target: &str) -> (&str, Option<String>) {
    let (rest, anchor) = match target.split_once('#') {
        Some((rest, anchor)) => (rest, Some(decoded(anchor)).filter(|anchor| !anchor.is_empty())),
        None => (target, None),
    };
    (rest.split('?').next().unwrap_or(rest), anchor)
}

/// A percent-encoded text, decoded; returned unchanged if it does not decode to UTF-8.
pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}

/// Whether a name has the extension of a page, in any markup language.
pub fn has_page_ending(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    has_markdown_ending(&name) || [".rst", ".adoc", ".asciidoc", ".ipynb"].iter().any(|ending| name.ends_with(ending))
}

/// Whether a name has the extension of a Markdown page.
pub(crate) fn has_markdown_ending(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".md", ".mdx", ".markdown"].iter().any(|ending| name.ends_with(ending))
}

/// A target that names `file`, in the style of `target`: absolute or relative, with or without extension, with the same
/// query and, unless `anchor` is given, the same anchor. `from` is the file that will contain the target.
pub fn retargeted_link(target: &str, from: &str, file: &str, anchor: Option<&str>) -> String {
    let path = &target[..target.find(['#', '?']).unwrap_or(target.len())];
    let with_ending = has_markdown_ending(path) || !is_markdown_page(file);
    let named = if with_ending { file.to_owned() } else { site_path(file) };
    let mut new_path = if path.starts_with('/') || (path.is_empty() && !named.is_empty()) {
        format!("/{named}")
    } else {
        with_dot_slash_like(path, relative(folder(from), &named))
    };
    if path.ends_with('/') && !new_path.ends_with('/') && !with_ending {
        new_path.push('/');
    }
    format!("{}{}", encoded(&new_path), suffix_of(target, anchor))
}

/// Prefixes a relative path with `./` if `like` has that prefix.
pub(crate) fn with_dot_slash_like(like: &str, path: String) -> String {
    if like.starts_with("./") && !path.starts_with("..") && path != "." { format!("./{path}") } else { path }
}

/// The part of a target after its path: its query, and `anchor` or else its own anchor.
pub(crate) fn suffix_of(target: &str, anchor: Option<&str>) -> String {
    let suffix = &target[target.find(['#', '?']).unwrap_or(target.len())..];
    match anchor {
        Some(anchor) => format!("{}#{}", suffix.split('#').next().unwrap_or(""), encoded(anchor)),
        None => suffix.to_owned(),
    }
}

/// The relative path from a folder to a path, `.` if they are the same.
pub(crate) fn relative_path(folder: &str, path: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut parts = vec![".."; from.len() - shared];
    parts.extend(&to[shared..]);
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// The relative path from a folder to a file. Its last segment is always the file's name: a path that is the folder
/// itself becomes `../name`, because `.` would be read as the page. A trailing slash is kept.
pub(crate) fn relative_file_path(folder: &str, path: &str) -> String {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    match relative_path(folder, parent).as_str() {
        "." => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Like [`relative_file_path`], with slashes around `path` removed; the path from the root folder to itself is `.`.
pub(crate) fn relative(folder: &str, path: &str) -> String {
    match path.trim_matches('/') {
        "" => relative_path(folder, ""),
        path => relative_file_path(folder, path),
    }
}

/// Percent-encodes the characters that would end a Markdown destination or an attribute.
pub(crate) fn encoded(path: &str) -> String {
    encoded_with(path, "")
}

/// Percent-encodes an address or the path of a file for a URL.
pub(crate) fn escaped(path: &str) -> String {
    encoded_with(path, "%#?")
}

/// Like [`encoded`], with additional characters.
pub(crate) fn encoded_with(path: &str, more: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() || " ()<>\"'\\{}".contains(c) || more.contains(c) {
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
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::generators::fallback_links::resolve_by_name;
    use crate::model::{Site, Target};
    use crate::sample::missing;

    fn sample() -> BTreeMap<String, Vec<u8>> {
        let files = [
            ("index.mdx", ""),
            ("guides/index.md", ""),
            ("guides/retries.mdx", ""),
            ("guides/my page.md", ""),
            ("images/a.png", ""),
            ("public/logo.svg", ""),
            ("snippets/note.mdx", ""),
            ("_redirects", "/old /guides/retries\n/v1/* /\n"),
        ];
        files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn page(file: &str, anchor: Option<&str>) -> Target {
        Target::Page { file: file.to_owned(), anchor: anchor.map(str::to_owned) }
    }

    /// The target of a link for a generator without resolution rules of its own.
    fn by_names_in(site: &Site, from: &str, target: &str) -> Target {
        resolve_by_name(site, &ParsedLink::read(from, target, LinkSyntax::Markdown).expect("no template"))
    }

    #[test]
    fn external_links_and_anchors_need_no_rules() {
        let site = Site::read(&sample());
        for (target, expected) in [
            ("#top", page("index.mdx", Some("top"))),
            ("https://example.com/guides", Target::External),
            ("//example.com", Target::External),
            ("mailto:a@example.com", Target::External),
            ("{base}/x", Target::NotUnderstood),
        ] {
            assert_eq!(site.resolve("index.mdx", target), expected, "{target}");
        }
    }

    #[test]
    fn targets_are_read_as_a_browser_would() {
        let site = Site::read(&sample());
        for (from, target, expected) in [
            ("index.mdx", "/guides/retries", page("guides/retries.mdx", None)),
            ("index.mdx", "/guides/retries.mdx", page("guides/retries.mdx", None)),
            ("index.mdx", "guides/retries#back%20off", page("guides/retries.mdx", Some("back off"))),
            ("index.mdx", "/guides/", page("guides/index.md", None)),
            ("index.mdx", "/", page("index.mdx", None)),
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
            ("snippets/note.mdx", "retries", Target::NotUnderstood),
            ("snippets/note.mdx", "/guides/retries", page("guides/retries.mdx", None)),
        ] {
            assert_eq!(by_names_in(&site, from, target), expected, "{target} in {from}");
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
        let site = Site::read(&tree);
        for (from, target, expected) in [
            ("docs/a.md", "in/b.md", page("docs/in/b.md", None)),
            ("docs/a.md", "../in/b", page("docs/in/b.md", None)),
            ("docs/a.md", "/in/b/#x", page("docs/in/b.md", Some("x"))),
            ("docs/in/b.md", "/old", Target::Redirect { destination: "/a".into() }),
            ("README.md", "docs/a.md", page("docs/a.md", None)),
        ] {
            assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
        }
        assert_eq!(site.served().into_iter().collect::<Vec<_>>(), [("a", "docs/a.md"), ("in/b", "docs/in/b.md")]);
        for (target, expected) in
            [("/x", "/in/b/"), ("/x/#y", "/in/b/#y"), ("/x.md", "/in/b/"), ("x.md", "in/b.md"), ("../x/", "../in/b/")]
        {
            assert_eq!(
                site.link(&LinkRequest {
                    from: "docs/a.md",
                    to: "docs/in/b.md",
                    anchor: None,
                    like: target,
                    syntax: LinkSyntax::Markdown
                }),
                expected,
                "{target}"
            );
        }
    }

    #[test]
    fn a_page_is_named_in_many_ways() {
        let site = Site::read(&sample());
        for name in
            ["guides/retries", "/guides/retries", "guides/retries.mdx", "./guides/retries.mdx", "guides/retries.md"]
        {
            assert_eq!(site.page_named(name), Some("guides/retries.mdx"), "{name}");
        }
        assert_eq!(site.page_named("guides"), Some("guides/index.md"));
        assert_eq!(site.page_named("/"), Some("index.mdx"));
        assert_eq!(site.page_named("images/a.png"), None);
    }

    #[test]
    fn a_retargeted_link_keeps_its_style() {
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
            assert_eq!(retargeted_link(target, from, file, None), expected, "{target} in {from}");
        }
        assert_eq!(retargeted_link("/a#x", "index.md", "b.md", Some("y")), "/b#y");
    }

    proptest! {
        #[test]
        fn a_retargeted_link_names_what_it_should(
            from in prop::sample::select(vec!["index.mdx", "guides/retries.mdx", "guides/my page.md", "guides/index.md"]),
            file in prop::sample::select(vec!["index.mdx", "guides/index.md", "guides/retries.mdx", "guides/my page.md"]),
            target in prop::sample::select(vec!["/x", "x", "./x", "../x", "/x.md", "x.mdx", "../x/"]),
        ) {
            let site = Site::read(&sample());
            let link = retargeted_link(target, from, file, None);
            prop_assert_eq!(by_names_in(&site, from, &link), page(file, None), "{}", link);
        }

        #[test]
        fn any_target_is_read_without_a_panic(from in "\\PC{0,12}", target in "\\PC{0,24}") {
            let site = Site::read(&sample());
            site.resolve(&from, &target);
            retargeted_link(&target, &from, "guides/retries.mdx", Some("x"));
        }
    }
}
