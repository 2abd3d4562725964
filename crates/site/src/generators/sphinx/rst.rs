//! Resolves and writes links in reStructuredText, and roles in MyST.
//!
//! | written | means |
//! |---|---|
//! | `` :doc:`path` ``, an entry of a `toctree` | a document without extension, from the page or from the docs folder |
//! | `` :ref:`label` `` | the place that has the label, on any page |
//! | `` :any:`name` `` | a document, a label, or an object of the source code |
//! | `` `name` `` | what the `default_role` of the configuration makes of it |
//! | an image, an included file | a file, from the folder of the page or from the docs folder |
//! | any other address | a URL, which the browser resolves against that of the page |

use std::ops::Range;

use docent_markdown::{AnchorStyle, Format, Link, LinkKind, Page, folder, is_page, joined, on_one_line, stem};

use super::document_at;
use crate::link_target::{
    LinkRequest, ParsedLink, encoded, has_page_ending, parts, relative, relative_path, suffix_of,
};
use crate::model::{Site, Target};
use crate::tree::joined_in;

/// Extensions of image files.
const IMAGE_EXTENSIONS: [&str; 8] = [".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".bmp"];

/// A role, split into its parts.
struct Role<'a> {
    /// The name with its colons or braces and the opening backtick; the backtick alone for the default role.
    head: &'a str,
    /// The link text and the `<` after it; empty if there is no text.
    words: &'a str,
    path: &'a str,
    tail: &'a str,
}

impl<'a> Role<'a> {
    fn read(target: &'a str) -> Option<Self> {
        let marks = if target.starts_with('{') { '}' } else { ':' };
        let length = match target.starts_with('`') {
            true => 1,
            false => target.strip_prefix([':', '{'])?.split_once(&format!("{marks}`"))?.0.len() + 3,
        };
        let (head, rest) = target.split_at(length);
        let content = rest.strip_suffix('`')?;
        match content.strip_suffix('>').and_then(|content| content.rsplit_once('<')) {
            Some((words, path)) if !words.trim().is_empty() => {
                let at = words.len() + 1;
                Some(Self { head, words: &content[..at], path, tail: ">`" })
            }
            _ => Some(Self { head, words: "", path: content, tail: "`" }),
        }
    }
}

/// Whether a target is a role, in reStructuredText or in MyST (`` {doc}`path` ``).
pub(super) fn is_role(target: &str) -> bool {
    Role::read(target).is_some()
}

/// What a role leads to.
pub(super) fn role(site: &Site, from: &str, target: &str) -> Target {
    let fits_page_syntax = target.starts_with('{') == Format::of(from).is_markdown();
    let Some(role) = Role::read(target).filter(|_| fits_page_syntax) else {
        return Target::NotUnderstood;
    };
    let name = match role.head {
        "`" => site.layout().options.sphinx.default_role.as_str(),
        head => head.trim_matches([':', '`', '{', '}']),
    };
    match name {
        "doc" => doc(site, from, role.path.trim()),
        "ref" => labelled(site, role.path).unwrap_or(Target::NotUnderstood),
        "any" => match doc(site, from, role.path.trim()) {
            page @ Target::Page { .. } => page,
            // An object of the source code, which only the build knows.
            _ => labelled(site, role.path).unwrap_or(Target::External),
        },
        _ => Target::NotUnderstood,
    }
}

fn labelled(site: &Site, label: &str) -> Option<Target> {
    let label = on_one_line(label).to_lowercase();
    let (file, anchor) = site.labelled(&label)?;
    Some(Target::Page { file: file.to_owned(), anchor: Some(anchor.to_owned()) })
}

/// Reads text in single backquotes, without a role, by the default role: a name of something, and no prose.
pub(super) fn read_default_role(text: &str, role: &str, page: &mut Page) {
    let mut names: Vec<Range<usize>> = Vec::new();
    page.prose.retain(|range| {
        let Some(whole) = default_role_around(text, range.start) else { return true };
        let has_words = range.end + 1 < whole.end;
        if !has_words {
            page.code.push(range.clone());
        }
        names.push(whole);
        has_words
    });
    page.code.sort_by_key(|range| range.start);
    if !["any", "doc", "ref"].contains(&role) {
        return;
    }
    page.links.extend(names.into_iter().map(|span| {
        let target = text[span.clone()].to_owned();
        let words = Role::read(&target).map_or("", |role| if role.words.is_empty() { role.path } else { role.words });
        let text = words.trim_end_matches('<').trim().to_owned();
        Link { target, dest_span: span.clone(), span, text, kind: LinkKind::Inline }
    }));
    page.links.sort_by_key(|link| link.span.start);
}

/// The text in single backquotes whose content begins at `start`, backquotes included; `None` where it is something else.
fn default_role_around(text: &str, start: usize) -> Option<Range<usize>> {
    let before = text.get(..start)?.strip_suffix('`')?;
    if before.chars().next_back().is_some_and(|c| !c.is_whitespace() && !"-/'\"<([{".contains(c)) {
        return None;
    }
    let length = text[start..].find('`').filter(|length| *length < 1_000)?;
    let (content, behind) = (&text[start..start + length], &text[start + length + 1..]);
    let has_role_behind = behind
        .strip_prefix(':')
        .and_then(|behind| behind.split_once(':'))
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-._+".contains(c)));
    let is_text =
        !content.is_empty() && !content.starts_with(char::is_whitespace) && !content.ends_with(char::is_whitespace);
    (is_text && !behind.starts_with(['`', '_']) && !has_role_behind).then(|| start - 1..start + length + 1)
}

fn doc(site: &Site, from: &str, path: &str) -> Target {
    let options = &site.layout().options.sphinx;
    let Some(path) = resolve_path(site, from, path) else { return Target::NotUnderstood };
    match document_at(site, &path) {
        Some(file) => Target::Page { file, anchor: None },
        // Pages of another project begin with its name, as in `python:library/os`.
        None if path.contains(':') || options.may_generate(site, &path) => Target::NotUnderstood,
        None => Target::Missing { path: Some(path), anchor: None },
    }
}

/// Resolves a path from the docs folder if it is absolute, else from the folder of the page.
fn resolve_path(site: &Site, from: &str, path: &str) -> Option<String> {
    match path.starts_with('/') {
        true => joined_in(site.root(), &site.layout().options.sphinx.source, path),
        false => joined(folder(from), path),
    }
}

/// The path of a file from the docs folder, as Sphinx writes it.
pub(super) fn absolute_path(site: &Site, file: &str) -> String {
    let source_path = site.layout().root(file).and_then(|root| root.source_path(file));
    format!("/{}", source_path.as_deref().unwrap_or(file))
}

/// Resolves a link that is no role.
pub(super) fn resolve(site: &Site, link: &ParsedLink<'_>) -> Target {
    let options = &site.layout().options.sphinx;
    let Some(path) = resolve_path(site, link.from, &link.path) else { return Target::NotUnderstood };
    if Format::of(&path) == Format::Notebook && site.layout().notebook_anchors != Some(AnchorStyle::Nbsphinx) {
        // Only nbsphinx turns a link to a notebook into one to its page; a browser requests the file, which may not be
        // served.
        return Target::NotUnderstood;
    }
    if site.has_file(&path) {
        return match is_page(&path) && site.address(&path).is_some() {
            true => link.page(path),
            false => Target::Asset { file: path },
        };
    }
    if let Some(file) = document_at(site, path.strip_suffix(".html").unwrap_or(&path)) {
        return link.page(file);
    }
    let lower = path.to_ascii_lowercase();
    let is_file = has_page_ending(&path) || IMAGE_EXTENSIONS.iter().any(|ending| lower.ends_with(ending));
    let is_made = options.is_generated(&path)
        || has_page_ending(&path) && options.may_generate(site, stem(&path).unwrap_or(&path));
    match is_file && !is_made && !link.target.contains('*') {
        true => link.missing(Some(path)),
        false => Target::NotUnderstood,
    }
}

/// Writes a link in the form of `like`; a new link to a document is a role.
pub(super) fn write(site: &Site, wanted: &LinkRequest<'_>) -> String {
    let LinkRequest { from, to, anchor, like, .. } = *wanted;
    let is_document = site.address(to).is_some();
    let name = |file: &str| if is_document { stem(file).unwrap_or(file).to_owned() } else { file.to_owned() };
    let path_to = |is_absolute: bool, file: &str| match is_absolute {
        true => absolute_path(site, file),
        false => relative_path(folder(from), file),
    };
    if let Some(role) = Role::read(like) {
        // `:ref:` becomes `:doc:`, because the label may have been removed with its target.
        let is_doc = matches!(role.head, ":doc:`" | "{doc}`" | ":any:`" | "{any}`" | "`");
        let target_path = path_to(!is_doc || role.path.trim().starts_with('/'), &name(to));
        let dotted = role.path.trim().starts_with("./") && !target_path.starts_with(['.', '/']);
        let head = if role.head.starts_with('{') { "{doc}`" } else { ":doc:`" };
        return format!("{head}{}{}{target_path}{}", role.words, if dotted { "./" } else { "" }, role.tail);
    }
    if like.is_empty() && is_document {
        return format!(":doc:`{}`", path_to(true, &name(to)));
    }
    let (path, _) = parts(like);
    let suffix = suffix_of(&like[like.find('#').unwrap_or(like.len())..], anchor);
    let is_absolute = path.starts_with('/');
    let file = if !is_document || path.is_empty() || has_page_ending(path) {
        to.to_owned()
    } else if path.ends_with(".html") {
        format!("{}.html", name(to))
    } else {
        name(to)
    };
    let target_path = if is_absolute { path_to(true, &file) } else { relative(folder(from), &file) };
    format!("{}{suffix}", encoded(&target_path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link_target::LinkSyntax;
    use crate::sample::{Files, as_docs_root, assert_link_leads, asset, built_site, missing, page, site};

    fn docs() -> Files {
        site(&[
            ("docs/conf.py", "project = 'x'\nexclude_patterns = ['drafts']\nhtml_static_path = ['_static']\n"),
            ("docs/index.rst", ".. _Home:\n\nHome\n====\n"),
            ("docs/guide/index.rst", ""),
            ("docs/guide/start.rst", ".. _twice:\n.. _the start:\n\nStart\n=====\n"),
            ("docs/guide/a page.rst", ".. _twice:\n"),
            ("docs/drafts/later.rst", ""),
            ("docs/notes.md", ""),
            ("docs/_static/a.rst", ""),
            ("docs/img/a.png", ""),
            ("README.rst", ""),
        ])
    }

    #[test]
    fn roles_name_documents_and_labels() {
        let site = Site::read(&docs());
        let at = |file: &str, anchor: &str| Target::Page { file: file.to_owned(), anchor: Some(anchor.to_owned()) };
        for (target, expected) in [
            (":doc:`../index`", page("docs/index.rst")),
            (":doc:`words\nof it </guide/index>`", page("docs/guide/index.rst")),
            (":doc:`a page`", page("docs/guide/a page.rst")),
            (":doc:`index.rst`", missing("docs/guide/index.rst")),
            (":doc:`nowhere`", missing("docs/guide/nowhere")),
            (":doc:`/drafts/later`", missing("docs/drafts/later")),
            (":doc:`python:library/os`", Target::NotUnderstood),
            (":ref:`home`", at("docs/index.rst", "home")),
            (":ref:`words <The\n Start>`", at("docs/guide/start.rst", "the-start")),
            (":ref:`twice`", Target::NotUnderstood),
            (":ref:`genindex`", Target::NotUnderstood),
            ("../index", page("docs/index.rst")),
            ("../index.html#x", at("docs/index.rst", "x")),
            ("/guide/index.rst", page("docs/guide/index.rst")),
            ("#start", at("docs/guide/start.rst", "start")),
            ("../img/a.png", asset("docs/img/a.png")),
            ("/img/a.*", Target::NotUnderstood),
            ("/img/b.png", missing("docs/img/b.png")),
            ("/notes.md", asset("docs/notes.md")),
            ("/_static/a.rst", asset("docs/_static/a.rst")),
            ("nowhere.html", Target::NotUnderstood),
            ("../../..", Target::NotUnderstood),
            ("https://x.y/", Target::External),
        ] {
            assert_eq!(site.resolve("docs/guide/start.rst", target), expected, "{target}");
        }
        let served: Vec<_> = site.served().into_iter().collect();
        assert_eq!(
            served,
            [
                ("", "docs/index.rst"),
                ("guide", "docs/guide/index.rst"),
                ("guide/a page", "docs/guide/a page.rst"),
                ("guide/start", "docs/guide/start.rst"),
            ]
        );
    }

    #[test]
    fn what_extensions_make_excuses_no_other_document() {
        let with = |extension: &str| {
            let config = format!("extensions = ['{extension}']\n");
            let mut files = docs();
            files.insert("docs/conf.py".to_owned(), config.into_bytes());
            files.insert("src/acme/__init__.py".to_owned(), Vec::new());
            Site::read(&files)
        };
        let (summaries, unknown) = ("sphinx.ext.autosummary", Target::NotUnderstood);
        for (extension, target, expected) in [
            (summaries, ":doc:`nowhere`", missing("docs/guide/nowhere")),
            (summaries, "gone.png", missing("docs/guide/gone.png")),
            (summaries, ":doc:`acme`", unknown.clone()),
            (summaries, ":doc:`acme.Client`", unknown.clone()),
            (summaries, ":doc:`/generated/Client`", unknown.clone()),
            ("sphinxext.rediraffe", ":doc:`nowhere`", missing("docs/guide/nowhere")),
            ("autoapi.extension", ":doc:`nowhere`", missing("docs/guide/nowhere")),
            ("autoapi.extension", ":doc:`/autoapi/acme/index`", unknown.clone()),
            ("autoapi.extension']\nautoapi_root = 'api/ref'\nx = ['", ":doc:`/api/ref/acme`", unknown.clone()),
            (
                "autoapi.extension']\nautoapi_root = 'api/ref'\nx = ['",
                ":doc:`/autoapi/acme`",
                missing("docs/autoapi/acme"),
            ),
            ("sphinx_gallery.gen_gallery']\nc = {'gallery_dirs': [own]}\nx = ['", "/c/gone.rst", unknown.clone()),
            ("autoapi.extension']\nautoapi_root = folder()\nx = ['", ":doc:`nowhere`", unknown.clone()),
            ("sphinx_gallery.gen_gallery']\nc = {'gallery_dirs': ['a', 'b']}\nx = ['", "/b/gone.rst", unknown),
            (
                "sphinx_gallery.gen_gallery']\nc = {'gallery_dirs': ['a', 'b']}\nx = ['",
                "/c/gone.rst",
                missing("docs/c/gone.rst"),
            ),
        ] {
            assert_eq!(with(extension).resolve("docs/guide/start.rst", target), expected, "{extension} {target}");
        }
    }

    #[test]
    fn text_in_single_backquotes_is_a_name_where_a_default_role_is_configured() {
        let text =
            "See `names`, `the guide <guide>` and `pkg.x`/`f()`; not `a`_, `b`:sub:, :sub:`c`, ``d``, or `e` f.\n";
        let page = |config: &str| {
            let files = [("conf.py", config), ("index.rst", text), ("names.rst", ".. _e:\n"), ("guide.rst", "")];
            let site = Site::read(&site(&files));
            let page = site.parse("index.rst", text.as_bytes());
            let prose = page.prose.iter().map(|range| &text[range.clone()]).collect::<Vec<_>>().concat();
            let target = |link: &Link| (link.target.clone(), site.resolve_link("index.rst", link));
            (prose, page.links.iter().map(target).collect::<Vec<_>>())
        };
        assert!(page("project = 'x'\n").0.contains("pkg.x"));
        let (prose, links) = page("project = 'x'\ndefault_role = \"any\"\n");
        assert!(!prose.contains("pkg.x") && !prose.contains("names") && prose.contains("the guide"), "{prose}");
        let at = |file: &str| Target::Page { file: file.to_owned(), anchor: None };
        let label = Target::Page { file: "names.rst".to_owned(), anchor: Some("e".to_owned()) };
        let expected = [
            ("`names`", at("names.rst")),
            ("`the guide <guide>`", at("guide.rst")),
            ("`pkg.x`", Target::External),
            ("`f()`", Target::External),
            ("`e`", label),
        ];
        assert_eq!(links, expected.map(|(target, to)| (target.to_owned(), to)));
        let (prose, links) = page("project = 'x'\ndefault_role = 'py:obj'\n");
        assert!(!prose.contains("pkg.x") && links.is_empty(), "{prose}");
    }

    #[test]
    fn the_sample_is_what_sphinx_makes_of_it() {
        let files = built_site("sphinx-rst");
        let site = Site::read(&files);
        let file = "docs/guide/start.rst";
        let page = site.parse(file, &files[file]);
        let anchors: Vec<_> = page.headings.iter().map(|heading| heading.anchor.as_str()).collect();
        assert_eq!(anchors, ["start-here", "install", "id1", "id3", "third-step", "uber-x-v", "strasze"]);
        assert_eq!(page.title.as_deref(), Some("Start here"));
    }

    proptest! {
        #[test]
        fn a_link_that_is_written_leads_to_its_page(
            from in 0..4_usize,
            to in 0..5_usize,
            like in prop::sample::select(vec![
                "", "x", "../x", "/x", "x.rst#y", "/x.rst", "x.html", "../x.html#y", ":doc:`x`", ":doc:`words </x>`", ":ref:`x`", ":any:`x`", "`words <x>`",
            ]),
            starts_in_source in any::<bool>(),
        ) {
            let files = ["index.rst", "guide/index.rst", "guide/start.rst", "guide/a page.rst", "img/a.png"];
            let is_role = like.starts_with([':', '`']);
            prop_assume!(to < 4 || !is_role);
            let name = |file: &str| if starts_in_source { file.to_owned() } else { format!("docs/{file}") };
            let site = if starts_in_source { Site::read(&as_docs_root("docs", docs())) } else { Site::read(&docs()) };
            let (from, to) = (name(files[from]), name(files[to]));
            assert_link_leads(&site, &from, &to, like, LinkSyntax::Markdown);
        }

        #[test]
        fn any_role_is_read_without_a_panic(target in "\\PC{0,24}", name in "(:[a-z]{0,4}:`)?") {
            let site = Site::read(&docs());
            let target = format!("{name}{target}");
            site.resolve("docs/index.rst", &target);
            site.link(&LinkRequest { from: "docs/index.rst", to: "docs/guide/start.rst", anchor: None, like: &target, syntax: LinkSyntax::Markdown });
        }
    }
}
