//! The changes that an agent may make: those to documents.
//!
//! This is an allow list of documents, not a deny list of dangerous files: the build of a site, which previews run
//! before any review of the branch, reads files that no list could name completely. Every change is compared with the
//! files before the job, so that the verdict does not depend on intermediate steps, and can be repeated before the
//! commit.
//!
//! | kind | what may change |
//! |---|---|
//! | pages | everything but code: anything that MDX, directives, templates and browsers run must be on a page of the site already |
//! | pictures, recordings, fonts, tables | everything; an SVG like a page |
//! | navigation and redirects | those parts of `docs.json`, `mkdocs.yml`, `book.toml` and similar files |
//! | scripts that hold navigation | the plain texts in them that name pages |
//! | API descriptions | existing ones, and new ones by name |
//! | samples | text files that pages display, and new ones in the same folders |
//! | everything else | files that the owner of the project allows by a glob |

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashSet};

use docent_markdown::{Code, CodeRules, folder, is_markdown_page, is_markup, is_page};
use docent_site::{Layout, SiteData, Tree, code_of, is_api_description, read_file};

use crate::allowed::Allowed;
use crate::paths::{check_new_name, check_path, is_build_file, is_hidden};

/// Extensions of pages.
const PAGES: [&str; 4] = ["md", "mdx", "markdown", "rst"];

/// Extensions of other texts that may include reStructuredText.
const INCLUDING: [&str; 4] = ["txt", "inc", "rest", "in"];

/// Files that are displayed or played, and never executed.
const ASSETS: [&str; 36] = [
    "png",
    "jpg",
    "jpeg",
    "gif",
    "webp",
    "avif",
    "ico",
    "bmp",
    "tif",
    "tiff",
    "heic",
    "pdf",
    "mp4",
    "m4v",
    "webm",
    "mov",
    "ogv",
    "mp3",
    "m4a",
    "wav",
    "ogg",
    "flac",
    "woff",
    "woff2",
    "ttf",
    "otf",
    "eot",
    "csv",
    "tsv",
    "vtt",
    "srt",
    "bib",
    "mmd",
    "puml",
    "drawio",
    "excalidraw",
];

/// Text files for crawlers and language models.
const FOR_READERS: [&str; 3] = ["llms.txt", "llms-full.txt", "robots.txt"];

/// Extensions of components: a page that displays one may also run it.
const COMPONENTS: [&str; 5] = ["jsx", "tsx", "vue", "svelte", "astro"];

/// The rules, with `base` as the files before the job.
pub(crate) struct Writable<'b> {
    base: &'b dyn Tree,
    allowed: Allowed,
    layout: OnceCell<Layout>,
    code: RefCell<KnownCode>,
    including: OnceCell<Vec<String>>,
    shown: OnceCell<BTreeSet<String>>,
}

impl<'b> Writable<'b> {
    /// `allowed` are the globs of the project's owner.
    pub(crate) fn new(base: &'b dyn Tree, allowed: &[String]) -> Self {
        let allowed = Allowed::of(allowed);
        let (layout, including, shown) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { base, allowed, layout, code: RefCell::default(), including, shown }
    }

    /// Whether an agent may change a file to `after`, or remove it (`None`). The error is for the model, and for
    /// people.
    pub(crate) fn check(&self, path: &str, after: Option<&[u8]>) -> Result<(), String> {
        let refused = |why: &dyn std::fmt::Display| format!("`{path}`: {why}");
        let before = self.base.read(path);
        // Outside of the docs root, an agent may only change the navigation of the site.
        let inside = match path.trim_start_matches("../") {
            inside if inside.len() < path.len() && before.is_some() && SiteData::of(path).is_some() => inside,
            _ => path,
        };
        check_path(inside).map_err(|why| refused(&why))?;
        if before.is_none() {
            check_new_name(path).map_err(|why| refused(&why))?;
        }
        if before.as_deref() == after || (inside == path && self.allowed.has(path)) {
            return Ok(());
        }
        let judged = match self.kind(path, before.as_deref(), after) {
            FileRules::Page => self
                .without_new_code(before.as_deref(), after, &|bytes| code_of(self.layout(), path, bytes))
                .and_then(|()| self.without_new_code_where_included(path, before.as_deref(), after)),
            FileRules::Asset => self.without_new_code_where_included(path, before.as_deref(), after),
            FileRules::Data(data) => navigation_alone(data, before.as_deref(), after),
            FileRules::Other => Err(OTHER.to_owned()),
        };
        judged.map_err(|why| {
            refused(&format!(
                "{why}. Leave it to people and say so in the summary; the owner of the project can allow it with `docent \
                 project set ID --allow-path '{path}'`, and whoever runs `docent run` with its `--allow-path`"
            ))
        })
    }

    fn kind(&self, path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> FileRules {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
        match SiteData::of(path) {
            // VitePress has its configuration in a hidden folder, and some plug-ins of MkDocs use hidden files.
            Some(data) if matches!(data, SiteData::Script(_)) || !is_hidden(path) || !is_hidden(folder(path)) => {
                return FileRules::Data(data);
            }
            _ if is_hidden(path) => return FileRules::Other,
            _ => {}
        }
        match ending.as_str() {
            ending if PAGES.contains(&ending) => FileRules::Page,
            "svg" => FileRules::Page,
            ending if ASSETS.contains(&ending) => FileRules::Asset,
            _ if FOR_READERS.contains(&name) => FileRules::Asset,
            _ if is_build_file(path) || Layout::files([path].into_iter()).len() == 1 => FileRules::Other,
            "json" | "yaml" | "yml" if is_described(path, before, after) => FileRules::Asset,
            "html" | "htm" if self.is_sample(path, &ending) => FileRules::Page,
            ending if self.is_sample(path, ending) => FileRules::Asset,
            _ => FileRules::Other,
        }
    }

    fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Layout::read(self.base))
    }

    /// Refuses code that is not on any page of the site yet. `read` finds the code in a text.
    fn without_new_code(
        &self,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
        read: &dyn Fn(&[u8]) -> Vec<Code>,
    ) -> Result<(), String> {
        let Some(after) = after else { return Ok(()) };
        let had: HashSet<String> = read(before.unwrap_or_default()).into_iter().map(|code| code.key).collect();
        let new = read(after).into_iter().find(|code| !had.contains(&code.key) && !self.is_known(&code.key));
        match new {
            None => Ok(()),
            Some(Code { line, shown, .. }) => Err(format!(
                "line {line} holds code that no page of the site has, and the build of the site or the browser of a reader \
                 would run it: `{shown}`. A page may import and compute what another page does, and literals"
            )),
        }
    }

    /// The same check for a file that a reStructuredText page includes: it is parsed as a part of that page, whatever
    /// its name, and its paths are relative to that page's folder.
    fn without_new_code_where_included(
        &self,
        path: &str,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Result<(), String> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if !self.including().iter().any(|named| named.contains(name)) {
            return Ok(());
        }
        let read = |bytes: &[u8]| docent_markdown::code_of(CodeRules::RstPart, path, bytes);
        self.without_new_code(before, after, &read)
            .map_err(|why| format!("a page includes it as reStructuredText, and so read, {why}"))
    }

    /// The arguments of all `include::` directives in the base.
    fn including(&self) -> &[String] {
        self.including.get_or_init(|| {
            let may_include = |path: &String| {
                let ending = path.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase());
                PAGES.contains(&ending.as_str()) || INCLUDING.contains(&ending.as_str())
            };
            let mut named = Vec::new();
            for path in self.base.paths().into_iter().filter(may_include) {
                let bytes = self.base.read(&path).unwrap_or_default();
                named.extend(named_behind_include(&String::from_utf8_lossy(&bytes)));
            }
            named
        })
    }

    /// Whether a page of the base contains this piece of code. Reads only as many pages as needed.
    fn is_known(&self, key: &str) -> bool {
        let mut known = self.code.borrow_mut();
        loop {
            if known.keys.contains(key) {
                return true;
            }
            if !self.read_on(&mut known) {
                return false;
            }
        }
    }

    /// Reads one more page of the base; `false` when all are read.
    fn read_on(&self, known: &mut KnownCode) -> bool {
        let unread = known.unread.get_or_insert_with(|| {
            let is_page = |path: &String| {
                path.rsplit_once('.').is_some_and(|(_, ending)| PAGES.contains(&ending.to_ascii_lowercase().as_str()))
            };
            self.base.paths().into_iter().filter(is_page).collect()
        });
        let Some(path) = unread.pop() else { return false };
        let bytes = self.base.read(&path).unwrap_or_default();
        known.keys.extend(code_of(self.layout(), &path, &bytes).into_iter().map(|code| code.key));
        true
    }

    /// Whether a page displays this text file, or whether it is a new file in the folder of such a file, with the same
    /// extension.
    fn is_sample(&self, path: &str, ending: &str) -> bool {
        // Pages in other languages than Markdown are never samples, even if another page includes them.
        if COMPONENTS.contains(&ending) || ending.is_empty() || is_markup(path) {
            return false;
        }
        let Some((folder, _)) = path.rsplit_once('/') else { return false };
        let is_beside = |shown: &String| {
            shown.rsplit_once('/').is_some_and(|(beside, name)| {
                beside == folder && name.rsplit_once('.').is_some_and(|(_, other)| other.eq_ignore_ascii_case(ending))
            })
        };
        let shown = self.shown();
        (shown.contains(path) || (self.base.read(path).is_none() && shown.iter().any(is_beside)))
            && !self.is_imported(path)
            && !self.is_configured(path)
    }

    /// Whether a file that a build reads names this one: a page may display a file that the generator also runs.
    fn is_configured(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        // A configuration that is a page (`SUMMARY.md`, `_index.md`) names pages and the files they display, not
        // programs that a build runs.
        let is_configuration = |other: &str| !is_page(other) && !Layout::files([other].into_iter()).is_empty();
        let reads = |other: &String| is_build_file(other) || is_configuration(other);
        let named =
            |other: String| self.base.read(&other).is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains(name));
        self.base.paths().into_iter().filter(reads).any(named)
    }

    /// Whether a page imports a module of this name.
    fn is_imported(&self, path: &str) -> bool {
        let stem = |path: &str| path.rsplit('/').next().and_then(|name| name.split('.').next()).map(str::to_owned);
        let name = stem(path);
        let mut known = self.code.borrow_mut();
        while self.read_on(&mut known) {}
        let modules = known.keys.iter().filter_map(|key| key.strip_prefix("import ")?.split_once(" from "));
        modules.into_iter().any(|(_, module)| stem(module) == name)
    }

    /// The files that Markdown pages display. AsciiDoc pages are excluded, because AsciiDoc may parse an included file
    /// as AsciiDoc, whatever its extension.
    fn shown(&self) -> &BTreeSet<String> {
        self.shown.get_or_init(|| {
            let pages = self.base.paths().into_iter().filter(|path| is_markdown_page(path));
            let read = pages.filter_map(|path| Some((self.base.read(&path)?, path)));
            read.flat_map(|(bytes, path)| read_file(self.layout(), &path, &bytes, self.base).included).collect()
        })
    }
}

/// The line of each `include::` directive, with the next line. `literalinclude::` is left out, because the file it
/// names is not parsed.
fn named_behind_include(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut named = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let line = line.to_ascii_lowercase();
        let is_include = |found: usize| {
            let behind = line[found + "include".len()..].trim_start();
            behind.starts_with("::") && !line[..found].ends_with("literal")
        };
        if line.match_indices("include").any(|(found, _)| is_include(found)) {
            named.push(format!("{}\n{}", lines[at], lines.get(at + 1).unwrap_or(&"")));
        }
    }
    named
}

/// The code of the pages read so far.
#[derive(Default)]
struct KnownCode {
    keys: HashSet<String>,
    /// Pages not read yet; `None` before the first use.
    unread: Option<Vec<String>>,
}

/// The rules for a kind of file.
enum FileRules {
    Page,
    Asset,
    Data(SiteData),
    Other,
}

const OTHER: &str = "an agent writes documents: pages, pictures and other plain files that they show, code samples that a \
                     page shows, and the navigation and redirects of the site. This is none of them";

fn navigation_alone(data: SiteData, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<(), String> {
    let why = match after {
        Some(after) => data.more_than_navigation(before, after),
        None => (!data.is_deletable()).then_some("the site would be without its configuration"),
    };
    let refused = |why: &str| {
        format!("of this file an agent changes the navigation and the redirects alone, and as it would be then, {why}")
    };
    why.map_or(Ok(()), |why| Err(refused(why)))
}

/// Whether a file is an API description, before and after the change.
fn is_described(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let is_new = before.is_none() && ["openapi", "swagger", "asyncapi"].iter().any(|word| name.contains(word));
    (is_new || before.is_some_and(is_api_description)) && after.is_none_or(is_api_description)
}

/// Checks whether an agent may make these changes to `before`; returns a sentence about the first refused one.
/// `allowed` are the globs of the project's owner.
pub fn refused_change(before: &dyn Tree, after: &dyn Tree, changed: &[String], allowed: &[String]) -> Option<String> {
    let writable = Writable::new(before, allowed);
    changed.iter().find_map(|path| writable.check(path, after.read(path).as_deref()).err())
}

#[cfg(test)]
mod tests;
