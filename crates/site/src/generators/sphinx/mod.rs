//! Sphinx sites, with pages in reStructuredText and in Markdown (MyST). `conf.py` is a program: only its plain literals
//! are read, and it is never executed.

use std::ops::Range;

use docent_markdown::{
    ActiveTokens, AnchorStyle, Format, Notebook, Page, file_name, folder, is_page, joined, regex, rst_id, rst_labels,
};

use super::built_site::BuiltSite;
use super::generated_pages::GeneratedPages;
use super::{Facts, LinkRules, Reference, Root, Rules};
use crate::generators::fallback_links::resolve_by_name_if_there;
use crate::glob::Globs;
use crate::layout::{Generator, Layout};
use crate::link_target::{
    LinkRequest, LinkSyntax, ParsedLink, encoded, has_page_ending, parts, relative, retargeted_link, suffix_of,
    with_dot_slash_like,
};
use crate::model::{Site, Target};
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder, from_root, joined_in};

mod myst;
mod objects;
mod rst;

const CONFIG_FILE: &str = "conf.py";

/// Folders that may contain `conf.py`, relative to the folder of the docs.
const CONFIG_FOLDERS: [&str; 3] = ["", "source", "src"];

/// Extensions that make pages of Markdown files.
const MARKDOWN_PARSERS: [&str; 3] = ["myst_parser", "myst_nb", "recommonmark"];

/// Extensions that make pages of notebooks.
const NOTEBOOK_PARSERS: [&str; 2] = ["myst_nb", "nbsphinx"];

/// Extensions that make pages without a source file in the docs, from source code or from example programs, each with the
/// setting for their folders and the usual one. Those for redirects make no document that a link can name.
const PAGE_GENERATING_EXTENSIONS: [(&str, &str, &str); 3] = [
    ("autodoc2", "autodoc2_output_dir", "apidocs"),
    ("autoapi", "autoapi_root", "autoapi"),
    ("sphinx_gallery", "gallery_dirs", "auto_examples"),
];

/// Whether a file is a configuration; `folder` is relative to the folder of the docs.
pub(crate) fn is_file(folder: &str, name: &str) -> bool {
    name == CONFIG_FILE && CONFIG_FOLDERS.contains(&folder)
}

/// Settings that pages and links depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct SphinxOptions {
    /// The folder of the pages.
    pub(crate) source: String,
    /// Whether Markdown files become pages.
    pub(crate) reads_markdown: bool,
    /// Whether notebooks become pages.
    pub(crate) reads_notebooks: bool,
    /// Whether Read the Docs is told to build a folder for each page.
    builds_folders: bool,
    /// Where extensions make pages without a source file.
    generated: GeneratedPages,
    /// Whether `autosummary` makes pages of modules, classes and functions.
    summarizes_code: bool,
    /// The role of text in single backquotes in reStructuredText; empty where it is just text.
    default_role: String,
}

impl SphinxOptions {
    /// Whether an extension may make the document at a path.
    fn may_generate(&self, site: &Site, path: &str) -> bool {
        let (own, name) = (folder(path), file_name(path));
        let is_module = || {
            let (package, module) = (format!("{name}/__init__.py"), format!("{name}.py"));
            let is_in = |file: &str, end: &str| {
                file.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
            };
            site.all_files().any(|file| is_in(file, &package) || is_in(file, &module))
        };
        let has_page = || site.files().any(|file| folder(file) == own && site.address(file).is_some());
        self.is_generated(path) || self.summarizes_code && (name.contains('.') || !has_page() || is_module())
    }

    /// Whether an extension may write a page to a path.
    fn is_generated(&self, path: &str) -> bool {
        let inside = path.strip_prefix(self.source.as_str()).filter(|rest| rest.starts_with('/')).unwrap_or(path);
        self.generated.may_include(inside)
    }

    /// Whether files of this format become pages.
    pub(crate) fn reads(&self, file: &str) -> bool {
        match Format::of(file) {
            Format::Rst => true,
            Format::Markdown | Format::Mdx => self.reads_markdown,
            Format::Notebook => self.reads_notebooks,
            Format::Adoc => false,
        }
    }
}

pub(super) struct Sphinx;

impl Rules for Sphinx {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(is_file),
            ids_in_any_case: true,
            follows_links: true,
            inert_fields: "orphan tocdepth myst.html_meta.description myst.html_meta.keywords html_meta.description",
            active_tokens: ActiveTokens { attribute_lists: true, directives: true, ..ActiveTokens::default() },
            program_folders: &["_ext", "_themes", "_theme"],
            formats: &[Format::Rst, Format::Markdown, Format::Notebook],
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        CONFIG_FOLDERS.iter().find_map(|folder| {
            let source = joined_in(tree.root(), home, folder)?;
            let file = from_config_folder(tree, &source, CONFIG_FILE);
            let mut layout = read(&tree.text(&file).filter(|_| has(&file))?, home, &file, source)?;
            layout.options.sphinx.builds_folders = builds_folders(tree);
            Some(layout)
        })
    }

    fn has_html_urls(&self, layout: &Layout) -> bool {
        !layout.options.sphinx.builds_folders
    }

    fn skips_path(&self, _root: &Root, relative_path: &str) -> Option<SkipReason> {
        relative_path.ends_with(".mdx").then_some(SkipReason::Unsupported)
    }

    /// Markdown files and notebooks become pages only with an extension for them.
    fn skips(&self, layout: &Layout, file: &str) -> Option<SkipReason> {
        (!layout.options.sphinx.reads(file)).then_some(SkipReason::Unsupported)
    }

    fn parse_options_key(&self, layout: &Layout) -> String {
        format!("{:?} {}", layout.notebook_anchors, layout.options.sphinx.default_role)
    }

    fn parse(&self, file: &str, bytes: &[u8]) -> Option<Page> {
        (Format::of(file) == Format::Markdown).then(|| myst::parse(file, bytes))
    }

    /// Clears numbered anchors (`id1`) on pages with docstrings or included files. Headings without an id of their own are
    /// numbered, and those in docstrings and included files count, too, so the numbers are unknown.
    fn post_process(&self, layout: &Layout, text: &str, page: &mut Page) {
        let default_role = layout.options.sphinx.default_role.as_str();
        match page.format {
            Format::Markdown => show_labels_of_toctrees(text, page),
            Format::Rst if !default_role.is_empty() => rst::read_default_role(text, default_role, page),
            _ => {}
        }
        let inserts_content = |line: &str| {
            let directive = line.trim_start().strip_prefix(".. ").and_then(|rest| rest.split_once("::"));
            directive.is_some_and(|(name, _)| name.starts_with("auto") || name == "include")
        };
        let is_numbered =
            |anchor: &str| anchor.strip_prefix("id").is_some_and(|number| number.parse::<usize>().is_ok());
        if page.format == Format::Rst && text.lines().any(inserts_content) {
            let headings = page.headings.iter_mut();
            headings.filter(|heading| is_numbered(&heading.anchor)).for_each(|heading| heading.anchor.clear());
        }
    }

    fn labels(&self, format: Format, text: &dyn Fn() -> String) -> Vec<(String, String)> {
        let with_anchor = |label: String| (label.clone(), rst_id(&label));
        let text = match format {
            Format::Rst => return rst_labels(&text()).map(with_anchor).collect(),
            Format::Notebook => Notebook::read(text().as_bytes()).unwrap_or_default().text,
            _ => text(),
        };
        text.lines().filter_map(myst_label).map(|label| with_anchor(label.to_lowercase())).collect()
    }

    fn references_to_page(&self, tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
        objects::references_to_page(tree, site, file)
    }

    fn named_in_sources(&self, tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
        objects::named_in_sources(tree, site, file)
    }
}

/// Takes captions and titles in directives `toctree`, which readers see in the navigation, from the code of a page to its
/// prose.
fn show_labels_of_toctrees(text: &str, page: &mut Page) {
    regex!(LABEL, r"(?m)^[ \t]*(?::caption:[ \t]+(\S[^\n\r]*?)|([^\s:`~<][^\n\r<]*?)[ \t]+<[^<>\n]+>)[ \t]*\r?$");
    let is_toctree = |range: &Range<usize>| {
        text.get(range.clone()).is_some_and(|code| code.trim_start_matches(['`', '~']).starts_with("{toctree}"))
    };
    let (toctrees, mut code): (Vec<Range<usize>>, Vec<Range<usize>>) = page.code.drain(..).partition(is_toctree);
    for toctree in toctrees {
        let mut start = toctree.start;
        for label in LABEL.captures_iter(&text[toctree.clone()]).filter_map(|found| found.get(1).or(found.get(2))) {
            let label = toctree.start + label.start()..toctree.start + label.end();
            code.push(start..label.start);
            start = label.end;
            page.prose.push(label);
        }
        code.push(start..toctree.end);
    }
    code.sort_by_key(|range| range.start);
    page.code = code;
    page.prose.sort_by_key(|range| range.start);
}

fn read(text: &str, home: &str, file: &str, source: String) -> Option<Layout> {
    regex!(
        EXCLUDED,
        r"(?m)^(?:exclude_patterns|templates_path|html_static_path|html_extra_path)\s*(?::[^=\n]*)?\+?=\s*\[([^\]]*)\]"
    );
    regex!(SPHINX, r"(?m)^(?:extensions|html_theme|master_doc|root_doc|exclude_patterns|project)\s*(?::[^=\n]*)?=");
    regex!(STRING, r#""([^"\n]*)"|'([^'\n]*)'"#);
    regex!(DEFAULT_ROLE, r#"(?m)^default_role\s*(?::[^=\n]*)?=\s*["']([\w:-]+)["']"#);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let text = lines.join("\n");
    let reads_markdown = MARKDOWN_PARSERS.iter().any(|name| text.contains(name));
    if !reads_markdown && !SPHINX.is_match(&text) {
        return None;
    }
    let mut root = Root { folder: source.clone(), generator: Generator::Sphinx, ..Root::default() };
    let mut excluded = vec!["_build/**".to_owned()];
    for list in EXCLUDED.captures_iter(&text) {
        for string in STRING.captures_iter(&list[1]) {
            let pattern = string.get(1).or(string.get(2)).map_or("", |pattern| pattern.as_str()).trim_matches('/');
            excluded.extend([pattern.to_owned(), format!("{pattern}/**")]);
        }
    }
    if !reads_markdown {
        excluded.extend(["**/*.md".to_owned(), "**/*.markdown".to_owned()]);
    }
    let reads_notebooks = NOTEBOOK_PARSERS.iter().any(|name| text.contains(name));
    if !reads_notebooks {
        excluded.push("**/*.ipynb".to_owned());
    }
    root.excluded = Globs::of(file, excluded.iter().map(String::as_str));
    let mut layout = Layout::of(Generator::Sphinx, home, vec![root]);
    layout.anchors = AnchorStyle::Docutils;
    layout.notebook_anchors =
        Some(if text.contains(NOTEBOOK_PARSERS[1]) { AnchorStyle::Nbsphinx } else { AnchorStyle::Docutils });
    let default_role = DEFAULT_ROLE.captures(&text).map_or_else(String::new, |found| found[1].to_owned());
    layout.options.sphinx = SphinxOptions {
        source,
        reads_markdown,
        reads_notebooks,
        builds_folders: false,
        generated: generated_pages(&text),
        summarizes_code: text.contains("sphinx.ext.autosummary"),
        default_role,
    };
    Some(layout)
}

/// The folders that extensions write pages to: strings behind their setting, or behind none the usual ones.
fn generated_pages(text: &str) -> GeneratedPages {
    regex!(FOLDERS, r#"^["']?\s*(?::\s*str\s*)?[:=]\s*(?:"([^"\n]*)"|'([^'\n]*)'|\[\s*([^\[\]()]*)\])\s*(?:[,}\n]|$)"#);
    regex!(STRING, r#"["']([^"'\n]*)["']"#);
    let is_string = |item: &str| ['"', '\''].iter().any(|quote| item.starts_with(*quote) && item.ends_with(*quote));
    let mut pages = GeneratedPages::default();
    for (_, setting, usual) in PAGE_GENERATING_EXTENSIONS.iter().filter(|(name, ..)| text.contains(name)) {
        let set = text.match_indices(setting).map(|(at, name)| {
            let found = FOLDERS.captures(&text[at + name.len()..])?;
            let folders = match (found.get(1).or(found.get(2)), found.get(3)) {
                (Some(one), _) => vec![one.as_str().to_owned()],
                // A list of strings alone.
                (None, list)
                    if list?.as_str().split(',').map(str::trim).all(|item| item.is_empty() || is_string(item)) =>
                {
                    STRING.captures_iter(list?.as_str()).map(|found| found[1].to_owned()).collect()
                }
                _ => return None,
            };
            Some(folders.into_iter().map(|folder| folder.trim_start_matches("./").trim_matches('/').to_owned()))
        });
        let set: Option<Vec<_>> = set.collect();
        let set = set.map(|folders| folders.into_iter().flatten().collect::<Vec<String>>());
        pages.add(set.map(|set| if set.is_empty() { vec![(*usual).to_owned()] } else { set }));
    }
    pages
}

/// Where Read the Docs is told how to build the site.
const HOST_FILES: [&str; 2] = [".readthedocs.yaml", ".readthedocs.yml"];

/// Whether a file, relative to the repository, tells Read the Docs how to build the site.
pub(crate) fn is_of_host(path: &str) -> bool {
    HOST_FILES.contains(&path)
}

/// Whether Read the Docs builds the site with `dirhtml`. Other hosts are told so by commands, which are not read.
fn builds_folders(tree: &dyn Tree) -> bool {
    regex!(BUILDER, r#"(?m)^\s+builder\s*:\s*["']?dirhtml\b"#);
    let texts = HOST_FILES.map(|name| tree.text(&from_root(tree.root(), name)));
    texts.into_iter().flatten().any(|text| BUILDER.is_match(&text))
}

/// `(label)=`
fn myst_label(line: &str) -> Option<&str> {
    line.strip_prefix('(')?
        .trim_end()
        .strip_suffix(")=")
        .filter(|label| !label.is_empty() && !label.contains(['(', ')']))
}

impl LinkRules for Sphinx {
    /// Resolves a link to a file: relative to the folder of the page, or absolute from the docs folder. Any other target
    /// may be a label on any page, which only a build knows.
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let options = &site.layout().options.sphinx;
        if Format::of(link.from) == Format::Rst {
            return rst::resolve(site, link);
        }
        if site.address(link.from).is_none() {
            return resolve_by_name_if_there(site, link);
        }
        if link.syntax != LinkSyntax::Markdown {
            let browser = BuiltSite { site, base: "", directory_urls: false, assets: &options.source };
            return match browser.resolve(link) {
                // The generator copies images and adds pages of its own.
                Target::Missing { .. } if !has_page_ending(&link.path) || link.is_absolute() => Target::NotUnderstood,
                _ if link.is_absolute() => Target::NotUnderstood,
                target => target,
            };
        }
        let path = match link.is_absolute() {
            true => joined_in(site.root(), &options.source, &link.path),
            false => joined(folder(link.from), &link.path),
        };
        let Some(path) = path else { return Target::NotUnderstood };
        if site.has_file(&path) {
            return match (is_page(&path), site.address(&path)) {
                (true, Some(_)) => link.page(path),
                // The file is no page; Sphinx links to the file itself.
                (true, None) if !options.reads(&path) => Target::Asset { file: path },
                // The configuration excludes the file, so it is no document.
                (true, None) => link.missing(Some(path)),
                (false, _) => Target::Asset { file: path },
            };
        }
        if has_page_ending(&link.path) {
            return if options.is_generated(&path) { Target::NotUnderstood } else { link.missing(Some(path)) };
        }
        // A link may omit the extension of a page, or name the built `.html` file.
        let stem = path.strip_suffix(".html").unwrap_or(&path);
        match document_at(site, stem) {
            Some(file) => link.page(file),
            None => Target::NotUnderstood,
        }
    }

    /// Writes a link by file path, absolute if `like` is.
    fn write(&self, site: &Site, wanted: &LinkRequest<'_>) -> String {
        let LinkRequest { from, to, anchor, like, .. } = *wanted;
        if Format::of(from) == Format::Rst {
            return rst::write(site, wanted);
        }
        if site.address(from).is_none() {
            return retargeted_link(like, from, to, anchor);
        }
        let (path, _) = parts(like);
        let suffix = suffix_of(&like[like.find('#').unwrap_or(like.len())..], anchor);
        let source = site.layout().options.sphinx.source.as_str();
        if rst::is_role(like) {
            return rst::write(site, wanted);
        }
        if wanted.syntax != LinkSyntax::Markdown {
            let browser = BuiltSite { site, base: "", directory_urls: false, assets: source };
            return format!("{}{suffix}", browser.relative(from, to).unwrap_or_else(|| relative(folder(from), to)));
        }
        // `like` may omit the extension of a document, or name the built `.html` file.
        let stem = docent_markdown::stem(to).filter(|_| site.address(to).is_some() && !path.is_empty());
        let name = match stem {
            Some(stem) if path.ends_with(".html") => format!("{stem}.html"),
            Some(stem) if !has_page_ending(path) && !path.ends_with('/') => stem.to_owned(),
            _ => to.to_owned(),
        };
        let path_to_target = match path.starts_with('/') {
            true => rst::absolute_path(site, &name),
            false => relative(folder(from), &name),
        };
        format!("{}{suffix}", encoded(&with_dot_slash_like(path, path_to_target)))
    }

    /// In MyST, an anchor may be a label on any page. In reStructuredText it is part of a URL, and references to labels
    /// are roles.
    fn is_label(&self, format: Format, _anchor: &str) -> bool {
        format != Format::Rst
    }

    fn resolve_template(&self, site: &Site, from: &str, target: &str) -> Target {
        rst::role(site, from, target)
    }
}

/// The file of a document, given its path without extension.
fn document_at(site: &Site, stem: &str) -> Option<String> {
    let mut files = [".rst", ".md", ".ipynb", ".markdown"].iter().map(|ending| format!("{stem}{ending}"));
    files.find(|file| site.address(file).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::{Files, as_docs_root, assert_link_leads, asset, missing, page, site};

    fn docs() -> Files {
        site(&[
            (
                "docs/conf.py",
                "extensions = ['myst_parser']\nexclude_patterns = [\n  \"_build\", 'drafts',\n  \"**/part.md\"]\n",
            ),
            ("docs/index.md", ""),
            ("docs/guide/start.md", ""),
            ("docs/guide/index.md", ""),
            ("docs/guide/part.md", ""),
            ("docs/guide/other.rst", ".. _Some Label:\n\nOther\n=====\n"),
            ("docs/drafts/a.md", ""),
            ("docs/a page.md", ""),
            ("docs/img/a.png", ""),
            ("README.md", ""),
        ])
    }

    #[test]
    fn numbered_ids_are_not_known_where_docstrings_count_too() {
        let anchors = |directive: &str| {
            let text = format!("A\n=\n\nSame\n----\n\nSame\n----\n\n.. {directive}:: pkg\n");
            let tree = site(&[("conf.py", "extensions = ['sphinx.ext.autodoc']\n"), ("index.rst", text.as_str())]);
            let page = Site::read(&tree).parse("index.rst", text.as_bytes());
            page.headings.into_iter().map(|heading| heading.anchor).collect::<Vec<_>>()
        };
        assert_eq!(anchors("note"), ["a", "same", "id1"]);
        assert_eq!(anchors("automodule"), ["a", "same", ""]);
    }

    #[test]
    fn links_name_files_and_labels_are_left_alone() {
        let site = Site::read(&docs());
        for (target, expected) in [
            ("../index.md", page("docs/index.md")),
            ("/guide/index.md", page("docs/guide/index.md")),
            ("../a%20page.md", page("docs/a page.md")),
            ("../a%20page", page("docs/a page.md")),
            ("index.html", page("docs/guide/index.md")),
            ("../img/a.png", asset("docs/img/a.png")),
            ("other.rst", page("docs/guide/other.rst")),
            ("other", page("docs/guide/other.rst")),
            ("part.md", missing("docs/guide/part.md")),
            ("nowhere.md", missing("docs/guide/nowhere.md")),
            ("some-label", Target::NotUnderstood),
            ("#some-label", Target::NotUnderstood),
            ("https://x.y/", Target::External),
        ] {
            assert_eq!(site.resolve("docs/guide/start.md", target), expected, "{target}");
        }
        let served: Vec<_> = site.served().into_values().collect();
        assert_eq!(
            served,
            ["docs/index.md", "docs/a page.md", "docs/guide/index.md", "docs/guide/other.rst", "docs/guide/start.md"]
        );
    }

    proptest! {
        #[test]
        fn a_link_that_is_written_leads_to_its_page(
            from in 0..4_usize,
            to in 0..5_usize,
            like in prop::sample::select(vec!["", "x.md", "./x.md#y", "../x", "/x.md", "x.html"]),
            starts_in_source in any::<bool>(),
        ) {
            let files = ["index.md", "guide/index.md", "guide/start.md", "a page.md", "img/a.png"];
            let name = |file: &str| if starts_in_source { file.to_owned() } else { format!("docs/{file}") };
            let site = if starts_in_source { Site::read(&as_docs_root("docs", docs())) } else { Site::read(&docs()) };
            let (from, to) = (name(files[from]), name(files[to]));
            assert_link_leads(&site, &from, &to, like, LinkSyntax::Markdown);
        }
    }
}
