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
use std::sync::Arc;

use docent_markdown::{
    Code, CodeRules, Format, INCLUDE_KEY, folder, has_word, is_markdown_page, is_markup, is_page, joined, regex,
};
use docent_site::{
    Layout, SiteData, Tree, active_in_diagram, active_in_svg, code_of, is_api_description, is_program, is_template,
    read_file,
};

use crate::allowed::{Allowances, Allowed, Remedy};
use crate::paths::{check_new_name, check_path, is_build_file, is_hidden};

/// Extensions of pages.
const PAGES: &str = "md mdx markdown rst adoc asciidoc";

/// Extensions of other texts that may include reStructuredText or AsciiDoc.
const INCLUDING: &str = "txt inc rest in";

/// Files that are displayed or played, and never executed.
const ASSETS: &str = "png jpg jpeg gif webp avif ico bmp tif tiff heic pdf mp4 m4v webm mov ogv mp3 m4a wav ogg flac woff woff2 ttf \
    otf eot csv tsv vtt srt bib mmd puml drawio excalidraw";

/// Text files for crawlers and language models.
const FOR_READERS: [&str; 3] = ["llms.txt", "llms-full.txt", "robots.txt"];

/// Extensions of components: a page that displays one may also run it.
const COMPONENTS: [&str; 5] = ["jsx", "tsx", "vue", "svelte", "astro"];

/// Why a change is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) path: String,
    pub(crate) why: String,
    /// `None`: nobody can allow it.
    pub(crate) remedy: Option<Remedy>,
}

/// How a file begins that stands for one in Git LFS.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// The language of a file that is read by its own name.
const PAGE: &str = "page";

/// The code of a file before the job.
struct CodeBefore {
    path: String,
    language: &'static str,
    keys: Arc<HashSet<String>>,
}

/// The rules, with `base` as the files before the job.
pub(crate) struct Writable<'b> {
    base: &'b dyn Tree,
    allowed: Allowed,
    allowed_code: Allowed,
    layout: OnceCell<Layout>,
    code: RefCell<KnownCode>,
    had: RefCell<Option<CodeBefore>>,
    including: OnceCell<Vec<(CodeRules, String)>>,
    shown: OnceCell<BTreeSet<String>>,
    paths: OnceCell<HashSet<String>>,
}

impl<'b> Writable<'b> {
    pub(crate) fn new(base: &'b dyn Tree, allowances: &Allowances) -> Self {
        Self {
            base,
            allowed: Allowed::of(&allowances.paths),
            allowed_code: Allowed::of(&allowances.code),
            layout: OnceCell::new(),
            code: RefCell::default(),
            had: RefCell::default(),
            including: OnceCell::new(),
            shown: OnceCell::new(),
            paths: OnceCell::new(),
        }
    }

    /// Whether an agent may change a file to `after`, or remove it (`None`). The error is for the model, and for
    /// people.
    pub(crate) fn check(&self, path: &str, after: Option<&[u8]>) -> Result<(), Refusal> {
        let refused =
            |why: &dyn std::fmt::Display| Refusal { path: path.to_owned(), why: why.to_string(), remedy: None };
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
        if before.as_deref() == after || self.allowed.has(path) {
            return Ok(());
        }
        if before.as_deref().is_some_and(|before| before.starts_with(LFS_POINTER)) && after.is_some() {
            return Err(refused(&"it is kept in Git LFS: what is here is a pointer, and not the file"));
        }
        let kind = self.kind(path, before.as_deref(), after);
        let is_new_template = after.is_some_and(|after| is_template(path, after)) && !is_page(path);
        let read: &dyn Fn(&[u8]) -> Vec<Code> = match kind {
            FileRules::Page => &|bytes| code_of(self.layout(), path, bytes),
            FileRules::Svg => &active_in_svg,
            _ => &|bytes| active_in_diagram(path, bytes),
        };
        let (judged, remedy) = match kind {
            FileRules::Program => (Err(PROGRAM.to_owned()), Remedy::Path),
            FileRules::Asset | FileRules::Svg | FileRules::Other if is_new_template => {
                (Err(TEMPLATE.to_owned()), Remedy::Path)
            }
            FileRules::Data(data) => (navigation_alone(data, before.as_deref(), after), Remedy::Path),
            FileRules::Other => (Err(OTHER.to_owned()), Remedy::Path),
            FileRules::Page | FileRules::Svg | FileRules::Asset if self.allowed_code.has(path) => return Ok(()),
            FileRules::Page | FileRules::Svg | FileRules::Asset => {
                let judged = self.without_new_code(path, PAGE, before.as_deref(), after, read);
                let included = |()| self.without_new_code_where_included(path, before.as_deref(), after);
                (judged.and_then(included), Remedy::Code)
            }
        };
        judged.map_err(|why| Refusal { path: path.to_owned(), why, remedy: Some(remedy) })
    }

    fn kind(&self, path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> FileRules {
        let (name, ending) = (name_of(path), ending_of(path));
        let data = SiteData::of(path);
        if is_program(self.layout(), path) && !(data.is_some() && is_in_data_folder(path)) {
            return FileRules::Program;
        }
        match data {
            // VitePress has its configuration in a hidden folder, and some plug-ins of MkDocs use hidden files.
            Some(data) if matches!(data, SiteData::Script(_)) || !is_hidden(path) || !is_hidden(folder(path)) => {
                return FileRules::Data(data);
            }
            _ if is_hidden(path) => return FileRules::Other,
            _ => {}
        }
        match ending.as_str() {
            ending if has_word(PAGES, ending) => FileRules::Page,
            "svg" => FileRules::Svg,
            ending if has_word(ASSETS, ending) => FileRules::Asset,
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
        path: &str,
        language: &'static str,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
        read: &dyn Fn(&[u8]) -> Vec<Code>,
    ) -> Result<(), String> {
        let Some(after) = after else { return Ok(()) };
        let had = self.code_before(path, language, || read(before.unwrap_or_default()));
        let is_new = |code: &Code| {
            let is_included = |key: &str| key.strip_prefix(INCLUDE_KEY).is_some_and(|path| self.shown().contains(path));
            !had.contains(&code.key) && !self.is_known(&code.key) && !is_included(&code.key) && {
                let same_file = self.leading_from(folder(path), &code.key);
                same_file == code.key || !self.is_known(&same_file)
            }
        };
        match read(after).into_iter().find(is_new) {
            None => Ok(()),
            Some(Code { line, shown, .. }) => Err(format!(
                "line {line} holds code that no page of the site has, and the build of the site or the browser of a reader \
                 would run it: `{shown}`. A page may import and compute what another page does, and literals"
            )),
        }
    }

    /// The keys of the code that a file had before the job, read as a language. A file is checked many times in a row while the part
    /// of a change that may be made is looked for.
    fn code_before(
        &self,
        path: &str,
        language: &'static str,
        read: impl FnOnce() -> Vec<Code>,
    ) -> Arc<HashSet<String>> {
        let mut last = self.had.borrow_mut();
        match &*last {
            Some(last) if last.path == path && last.language == language => Arc::clone(&last.keys),
            _ => {
                let keys = Arc::new(read().into_iter().map(|code| code.key).collect());
                *last = Some(CodeBefore { path: path.to_owned(), language, keys: Arc::clone(&keys) });
                keys
            }
        }
    }

    /// The same check for a file that a page in reStructuredText or AsciiDoc includes: it is parsed as a part of that
    /// page, whatever its name, and its paths are relative to that page's folder.
    fn without_new_code_where_included(
        &self,
        path: &str,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Result<(), String> {
        let name = name_of(path);
        for (rules, language) in [(CodeRules::Rst, "reStructuredText"), (CodeRules::Adoc, "AsciiDoc")] {
            let is_included = |(includer, named): &(CodeRules, String)| *includer == rules && named.contains(name);
            if self.including().iter().any(is_included) {
                // Nobody knows the folder of the page that includes it.
                let file = if rules == CodeRules::Rst { "" } else { path };
                let read = |bytes: &[u8]| docent_markdown::code_of(rules, file, bytes);
                self.without_new_code(path, language, before, after, &read)
                    .map_err(|why| format!("a page includes it as {language}, and so read, {why}"))?;
            }
        }
        Ok(())
    }

    /// The arguments of all `include::` directives in the base, with the rules of the page that includes. Any other text
    /// than a page in AsciiDoc may be a part of one in reStructuredText.
    fn including(&self) -> &[(CodeRules, String)] {
        self.including.get_or_init(|| {
            let may_include = |path: &String| [PAGES, INCLUDING].iter().any(|list| has_word(list, &ending_of(path)));
            let including = self.base.paths().into_iter().filter(may_include);
            let named = including.flat_map(|path| {
                let bytes = self.base.read(&path).unwrap_or_default();
                let rules = if Format::of(&path) == Format::Adoc { CodeRules::Adoc } else { CodeRules::Rst };
                named_behind_include(&String::from_utf8_lossy(&bytes)).into_iter().map(move |named| (rules, named))
            });
            named.collect()
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
            self.base.paths().into_iter().filter(|path| has_word(PAGES, &ending_of(path))).collect()
        });
        let Some(path) = unread.pop() else { return false };
        let bytes = self.base.read(&path).unwrap_or_default();
        for code in code_of(self.layout(), &path, &bytes) {
            let same_file = self.leading_from(folder(&path), &code.key);
            known.keys.extend([same_file, code.key]);
        }
        true
    }

    /// A piece of code with the relative paths in it resolved, where they lead to a file of the base: what a page that
    /// moves imports and includes is the same as before.
    fn leading_from(&self, folder: &str, key: &str) -> String {
        regex!(RELATIVE, r"[\w@.-]*(?:/[\w@.-]+)+|[\w-]+\.\w+|\.\.?");
        let root = self.base.root();
        let in_repository = |path: &str| joined(root, path);
        let paths = self.paths.get_or_init(|| {
            let all = self.base.paths().into_iter().chain(self.base.paths_outside());
            all.filter_map(|path| in_repository(&path)).collect()
        });
        let from = in_repository(folder).unwrap_or_default();
        let resolved = RELATIVE.replace_all(key, |written: &regex::Captures<'_>| {
            let file = joined(&from, &written[0]).filter(|file| paths.contains(file));
            file.map_or_else(|| written[0].to_owned(), |file| format!("\0{file}"))
        });
        // Such a key of reStructuredText has the folder that its paths are relative to.
        match resolved.contains('\0') && !resolved.contains("../") {
            true => resolved.replacen(&format!(" in {folder} "), " ", 1),
            false => resolved.into_owned(),
        }
    }

    /// Whether a page displays this text file, or whether it is a new file in the folder of such a file, with the same
    /// extension.
    fn is_sample(&self, path: &str, ending: &str) -> bool {
        // Pages in other languages than Markdown are never samples, even if another page includes them.
        if COMPONENTS.contains(&ending) || ending.is_empty() || is_markup(path) {
            return false;
        }
        if folder(path).is_empty() {
            return false;
        }
        let is_beside = |shown: &String| folder(shown) == folder(path) && ending_of(shown) == ending;
        let shown = self.shown();
        (shown.contains(path) || (self.base.read(path).is_none() && shown.iter().any(is_beside)))
            && !self.is_imported(path)
            && !self.is_configured(path)
    }

    /// Whether a file that a build reads names this one: a page may display a file that the generator also runs.
    fn is_configured(&self, path: &str) -> bool {
        let name = name_of(path);
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
        let stem = |path: &str| name_of(path).split('.').next().unwrap_or_default().to_owned();
        let (file, name) = (name_of(path), stem(path));
        let mut known = self.code.borrow_mut();
        while self.read_on(&mut known) {}
        known.keys.iter().any(|key| match key.split_once(' ') {
            Some(("import", import)) => import.split_once(" from ").is_some_and(|(_, module)| stem(module) == name),
            // A script, a frame or a block that runs may name the file as well.
            Some(("tag" | "executed", written)) => written.contains(file),
            _ => false,
        })
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
    regex!(INCLUDE, r"(?i)(literal)?include\s*::");
    let lines: Vec<&str> = text.lines().collect();
    let includes = |line: &str| INCLUDE.captures_iter(line).any(|found| found.get(1).is_none());
    let named = lines.iter().enumerate().filter(|(_, line)| includes(line));
    named.map(|(at, line)| format!("{line}\n{}", lines.get(at + 1).unwrap_or(&""))).collect()
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The ending of a file's name, in lower case.
fn ending_of(path: &str) -> String {
    name_of(path).rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase())
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
    Svg,
    Asset,
    Data(SiteData),
    /// Run, expanded or obeyed, whatever its ending.
    Program,
    Other,
}

const PROGRAM: &str = "it is no document: the generator of the site runs it or expands it as a template, or coding agents \
                       obey it";
const TEMPLATE: &str = "front matter makes a template of a file that is no page";

/// Whether a file is in a folder of data that templates read; its navigation may be edited.
fn is_in_data_folder(path: &str) -> bool {
    folder(path).split('/').any(|part| ["data", "_data"].contains(&part))
}

const OTHER: &str = "an agent writes documents: pages, pictures and other plain files that they show, code samples that a \
                     page shows, and the navigation and redirects of the site. This is none of them";

fn navigation_alone(data: SiteData, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<(), String> {
    let why = match after {
        Some(after) => data.more_than_navigation(before, after),
        None => (!data.is_deletable()).then(|| "the site would be without its configuration".to_owned()),
    };
    why.map_or(Ok(()), |why| {
        Err(format!(
            "of this file an agent changes the navigation and the redirects alone, and as it would be then, {why}"
        ))
    })
}

/// Whether a file is an API description, before and after the change.
fn is_described(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> bool {
    let name = name_of(path).to_ascii_lowercase();
    let is_new = before.is_none() && ["openapi", "swagger", "asyncapi"].iter().any(|word| name.contains(word));
    (is_new || before.is_some_and(is_api_description)) && after.is_none_or(is_api_description)
}

/// Checks whether an agent may make these changes to `before`; returns a sentence about the first refused one.
pub fn refused_change(
    before: &dyn Tree,
    after: &dyn Tree,
    changed: &[String],
    allowances: &Allowances,
) -> Option<String> {
    let writable = Writable::new(before, allowances);
    let refusal = changed.iter().find_map(|path| writable.check(path, after.read(path).as_deref()).err())?;
    Some(refused(&[refusal], allowances))
}

/// The heading of what was refused, in the answer of a tool.
pub(crate) const NOT_ALLOWED: &str = "Not allowed:";

/// The beginning of the line that names the command.
pub(crate) const REMEDY: &str = "The owner can allow it: ";

/// What was refused, one line each, and the command that would allow it.
pub(crate) fn refused(refusals: &[Refusal], allowances: &Allowances) -> String {
    let lines: Vec<String> = refusals.iter().map(|Refusal { path, why, .. }| format!("- `{path}`: {why}")).collect();
    let remedies: Vec<(&str, Remedy)> =
        refusals.iter().filter_map(|refusal| Some((refusal.path.as_str(), refusal.remedy?))).collect();
    let mut text = format!("{NOT_ALLOWED}\n\n{}", lines.join("\n"));
    if !remedies.is_empty() {
        text.push_str(&format!("\n\n{REMEDY}`{}`", allowances.command_for(&remedies)));
    }
    text
}

#[cfg(test)]
mod tests;
