//! GitBook: a book of the pages that `SUMMARY.md` links to. Two tools with different rules read such books: GitBook's
//! own command-line tool, continued by HonKit, builds what `book.json` or `book.js` configures; gitbook.com serves a
//! repository with a `.gitbook.yaml`.

mod links;

use docent_markdown::{ActiveTokens, AnchorStyle, FrontMatter, file_name, joined};

use super::mdbook::{chapters, links_of_summary};
use super::modules::Modules;
use super::script_value::ScriptValue;
use super::{Facts, Root, Rules};
use crate::glob::Globs;
use crate::layout::{Generator, Layout, PageEntries, PageEntry, below};
use crate::link_target::{parts, relative_path};
use crate::paths::index_path;
use crate::settings;
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder, joined_in};

const HOSTED_CONFIG: &str = ".gitbook.yaml";
const BOOK_FILES: [&str; 2] = ["book.js", "book.json"];
const IGNORE_FILE: &str = ".bookignore";
const SUMMARY: &str = "SUMMARY.md";
const LANGUAGES: &str = "LANGS.md";

/// Folders that are always ignored, in the syntax of `.gitignore`.
const ALWAYS_IGNORED: &str = "node_modules\n_book\n_layouts\n";

/// Whether a file configures the layout of a book; `folder` is relative to the folder of the configuration. A
/// configuration may rename the summary, but only a summary named `SUMMARY.md` is read.
pub(crate) fn is_file(folder: &str, name: &str) -> bool {
    let is_configuration =
        folder.is_empty() && (name == HOSTED_CONFIG || name == IGNORE_FILE || BOOK_FILES.contains(&name));
    is_configuration || is_summary(name) || name.eq_ignore_ascii_case(LANGUAGES)
}

fn is_summary(name: &str) -> bool {
    name.eq_ignore_ascii_case(SUMMARY)
}

/// Settings of a book that its links depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct GitBookOptions {
    /// The folder of the pages and assets.
    pub(crate) source: String,
    /// Whether gitbook.com serves the book.
    pub(crate) is_hosted: bool,
    /// Files that are read as configuration and not served: summaries, the list of languages, `book.json` or `book.js`.
    pub(crate) structure: Vec<String>,
    /// Files that are left out, relative to the configuration's folder.
    pub(crate) ignored: Globs,
}

pub(super) struct GitBook;

impl Rules for GitBook {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| [".gitbook.yaml", "book.json", "book.js"].contains(&name)),
            ids_in_any_case: true,
            inert_fields: "\
                layout.width layout.title.visible layout.description.visible layout.tableOfContents.visible \
                layout.outline.visible layout.pagination.visible layout.metadata.visible coverY",
            active_tokens: ActiveTokens { templates_in_code: true, ..ActiveTokens::default() },
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let file = from_config_folder(tree, home, HOSTED_CONFIG);
        let script = BOOK_FILES.iter().map(|name| from_config_folder(tree, home, name)).find(|file| has(file));
        if has(&file) {
            let (config, error) = settings::parse_or_empty(&file, &tree.text(&file)?);
            let structure = config.get("structure");
            let special_files = special_files(|part, name| match part {
                "" => config.get(name)?.text().map(str::to_owned),
                _ => structure?.get(name)?.text().map(str::to_owned),
            });
            let mut layout = book(tree, home, has, &special_files, true)?;
            let redirects = config.members_of("redirects");
            for (from, to) in redirects {
                let Some(to) = to.text() else { continue };
                let (path, anchor) = (parts(to).0, to.find('#').map_or("", |at| &to[at..]));
                let file = joined(&layout.options.gitbook.source, path).unwrap_or_default();
                let address = layout.place(&file).site_path;
                layout.redirects.push((format!("/{}", from.trim_matches('/')), format!("/{address}{anchor}")));
            }
            if let Some(message) = error {
                layout.problem(&file, message);
            }
            return Some(layout);
        }
        let script = Modules::new(tree, &|file| is_file("", file_name(file)))
            .default_export(&script?)
            .unwrap_or(ScriptValue::Computed);
        let special_files = special_files(|part, name| match part {
            "" => script.text_of(name).map(str::to_owned),
            _ => script.get("structure")?.text_of(name).map(str::to_owned),
        });
        book(tree, home, has, &special_files, false)
    }

    fn address(&self, root: &Root, relative_path: &str, _front: &FrontMatter) -> String {
        let rewritten = root.rewritten(relative_path);
        let stem = docent_markdown::stem(&rewritten).unwrap_or(&rewritten);
        below(&root.base_path, &index_path(stem, &["README", "index"]))
    }

    fn has_html_urls(&self, layout: &Layout) -> bool {
        !layout.options.gitbook.is_hosted
    }

    /// The summary and the list of languages are no pages, even where every other file is one.
    fn skips_path(&self, _root: &Root, relative_path: &str) -> Option<SkipReason> {
        let is_structure = is_summary(relative_path) || relative_path.eq_ignore_ascii_case(LANGUAGES);
        is_structure.then_some(SkipReason::Configuration)
    }

    fn skips(&self, layout: &Layout, file: &str) -> Option<SkipReason> {
        layout.options.gitbook.structure.iter().any(|known| known == file).then_some(SkipReason::Configuration)
    }
}

/// The paths of the special files of a book, configured or default.
struct SpecialFiles {
    /// Whether the configuration sets the path of the summary.
    has_summary: bool,
    root: String,
    readme: String,
    summary: String,
    glossary: String,
    languages: String,
}

/// The layout of a book without configuration, recognised by a `SUMMARY.md` that links to the `README.md` beside it.
pub(crate) fn without_configuration(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
    let file = from_config_folder(tree, home, SUMMARY);
    let bytes = tree.read(&file).filter(|_| has(&file))?;
    let names_readme = |(target, _): &(String, String)| {
        docent_markdown::joined("", parts(target).0).is_some_and(|path| path.eq_ignore_ascii_case("readme.md"))
    };
    links_of_summary(&bytes).iter().any(names_readme).then_some(())?;
    book(tree, home, has, &special_files(|_, _| None), true)
}

fn special_files(text: impl Fn(&str, &str) -> Option<String>) -> SpecialFiles {
    let path = |part: &str, name: &str, default: &str| {
        let path = text(part, name).unwrap_or_else(|| default.to_owned());
        joined("", &path).unwrap_or(path)
    };
    SpecialFiles {
        has_summary: text("structure", "summary").is_some(),
        root: path("", "root", ""),
        readme: path("structure", "readme", "README.md"),
        summary: path("structure", "summary", SUMMARY),
        glossary: path("structure", "glossary", "GLOSSARY.md"),
        languages: path("structure", "langs", LANGUAGES),
    }
}

/// The layout of a book, if there is one.
fn book(
    tree: &dyn Tree,
    home: &str,
    has: &dyn Fn(&str) -> bool,
    special_files: &SpecialFiles,
    is_hosted: bool,
) -> Option<Layout> {
    let source = joined_in(tree.root(), home, &special_files.root)?;
    let ignoring = from_config_folder(tree, home, IGNORE_FILE);
    let lines = tree.text(&ignoring).filter(|_| !is_hosted).unwrap_or_default();
    let mut options = GitBookOptions {
        source: source.clone(),
        is_hosted,
        structure: BOOK_FILES.iter().map(|name| from_config_folder(tree, home, name)).collect(),
        ignored: Globs::ignored(&ignoring, &format!("{ALWAYS_IGNORED}{lines}")),
    };
    let languages = below(&source, &special_files.languages);
    let languages = tree.read(&languages).filter(|_| has(&languages) && !is_hosted).map(|bytes| {
        options.structure.push(languages.clone());
        links_of_summary(&bytes)
    });
    let languages: Vec<String> =
        languages.unwrap_or_default().iter().filter_map(|(target, _)| language(target)).collect();
    let mut layout = Layout::of(Generator::GitBook, home, Vec::new());
    let mut entries = PageEntries::default();
    let folders: Vec<Option<&str>> = match languages.is_empty() {
        true => vec![None],
        false => languages.iter().map(|language| Some(language.as_str())).collect(),
    };
    let mut has_summary = special_files.has_summary;
    for language in folders {
        let folder = below(&source, language.unwrap_or_default());
        let mut root = Root {
            folder: folder.clone(),
            base_path: language.unwrap_or_default().to_owned(),
            generator: Generator::GitBook,
            language: language.map(str::to_owned),
            ..Root::default()
        };
        if special_files.readme != "README.md" {
            root.rewrites.push((special_files.readme.clone(), "README.md".to_owned()));
        }
        let summary = below(&folder, &special_files.summary);
        // A summary under another name is no page either.
        root.excluded = Globs::of_paths(std::iter::once(&special_files.summary));
        let bytes = tree.read(&summary).filter(|_| is_summary(file_name(&summary)));
        has_summary |= bytes.is_some();
        let chapters = bytes.map(|bytes| chapters(&bytes, is_hosted));
        options.structure.push(summary);
        root.included = chapters.as_ref().map(|chapters| {
            let listed = chapters.iter().map(|(path, _)| path).chain([&special_files.readme]);
            let built = listed.chain((!is_hosted).then_some(&special_files.glossary));
            Globs::of_paths(
                built.filter(|path| !options.ignored.is_match(&from_home(tree.root(), home, &below(&folder, path)))),
            )
        });
        for (path, title) in chapters.into_iter().flatten() {
            let path = root.path(&below(&folder, &path), &FrontMatter::default());
            let entry = PageEntry {
                title: Some(title).filter(|title| !title.is_empty()),
                language: language.map(str::to_owned),
                ..PageEntry::default()
            };
            entries.add(path, entry);
        }
        layout.roots.push(root);
    }
    // Other tools have a `book.json`, too.
    (has_summary || is_hosted).then_some(())?;
    layout.entries = entries.by_key;
    layout.snippets = vec![source];
    // How gitbook.com makes anchors from headings is not documented.
    layout.anchors = if is_hosted { AnchorStyle::GitHub } else { AnchorStyle::GitBook };
    layout.anchors_computed = is_hosted;
    options.ignored.problems().for_each(|(file, message)| layout.problem(&file, message));
    layout.summary = Some(below(&options.source, SUMMARY));
    layout.options.gitbook = options;
    Some(layout)
}

/// The language that an entry in the list of languages links to, which is the name of its folder.
fn language(target: &str) -> Option<String> {
    let path = joined("", parts(target).0)?;
    let name = file_name(&path);
    (!name.is_empty() && !name.contains('.')).then(|| name.to_owned())
}

/// Converts a file's path relative to the docs root into one relative to the folder of the configuration, `home`.
pub(super) fn from_home(root: &str, home: &str, file: &str) -> String {
    let in_repository = |path: &str| joined(root, path).unwrap_or_default();
    relative_path(&in_repository(home), &in_repository(file))
}

#[cfg(test)]
mod tests;
