//! Expands `include::` directives of AsciiDoc pages: whole files, or parts by line or tag.
//!
//! An include whose file cannot be located, such as one named through an attribute of the page, is left verbatim.

use std::rc::Rc;

use docent_markdown::{each_line, folder, text_of};

use super::adoc_parts::{CutFile, option};
use super::{Expanded, MAX_DEPTH, MAX_INCLUDES, Work};
use crate::generators::antora;
use crate::layout::{Generator, Layout};
use crate::tree::Tree;

/// Expands the includes of a page; `None` if it has none.
pub(crate) fn expand(layout: &Layout, file: &str, text: &str, tree: &dyn Tree) -> Option<Expanded> {
    text.lines().any(|line| line.starts_with("include::")).then_some(())?;
    let mut work = Work::new(layout, file, tree);
    work.put_adoc(file, text, None);
    Some(work.out)
}

impl Work<'_> {
    /// Appends a text. `origin` is the line of the page whose include it replaces; `None` for the page itself.
    fn put_adoc(&mut self, file: &str, text: &str, origin: Option<usize>) {
        for (number, line) in each_line(text).enumerate() {
            let origin = origin.unwrap_or(number + 1);
            match included(line).filter(|_| self.open.len() <= MAX_DEPTH && self.include_count < MAX_INCLUDES) {
                Some((target, options)) if self.include_adoc(file, target, options, origin) => {}
                _ => self.out.composed.push(line, origin),
            }
        }
    }

    /// Expands the include of one line; false if the file was not found or could not be included.
    fn include_adoc(&mut self, from: &str, target: &str, options: &str, origin: usize) -> bool {
        self.include_count += 1;
        let candidates = match self.layout.generator() {
            Generator::Antora => antora::included(self.layout, self.tree.root(), from, target),
            _ => self.joined(folder(from), target).into_iter().collect(),
        };
        let found = candidates.iter().find_map(|file| Some((file, self.cut_file(file)?)));
        if let Some(file) = found.as_ref().map(|(file, _)| *file).or(candidates.first()) {
            self.record(file);
        }
        let Some((file, cut)) = found.filter(|(file, cut)| !self.open.contains(file) && cut.len() <= self.bytes_left)
        else {
            return false;
        };
        let text = cut.part(options);
        self.bytes_left -= text.len().min(self.bytes_left);
        let offset = option(options, "leveloffset").filter(|_| file.ends_with(".adoc"));
        if let Some(offset) = offset {
            self.out.composed.push(&format!("\n:leveloffset: {offset}\n\n"), origin);
        }
        self.open.push(file.clone());
        self.put_adoc(file, &text, Some(origin));
        self.open.pop();
        self.end_line(origin);
        if offset.is_some() {
            self.out.composed.push("\n:!leveloffset:\n\n", origin);
        }
        true
    }

    /// A file cut into its lines and regions.
    fn cut_file(&mut self, file: &str) -> Option<Rc<CutFile>> {
        if let Some(known) = self.cut_files.get(file) {
            return known.clone();
        }
        let cut = self.tree.read(file).map(|bytes| Rc::new(CutFile::of(text_of(&bytes).into_owned())));
        self.cut_files.insert(file.to_owned(), cut.clone());
        cut
    }
}

/// The target and the options of an `include::` line.
fn included(line: &str) -> Option<(&str, &str)> {
    let (target, options) = line.trim_end().strip_prefix("include::")?.strip_suffix(']')?.split_once('[')?;
    (!target.is_empty()).then_some((target, options))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::site;

    fn expanded(page: &str) -> (String, Vec<String>) {
        let tree = site(&[
            ("antora.yml", "name: a\nversion: ~\nasciidoc:\n  attributes:\n    where: b\n"),
            ("modules/ROOT/pages/sub/page.adoc", page),
            ("modules/ROOT/pages/sub/beside.adoc", "beside\n"),
            (
                "modules/ROOT/partials/b/part.adoc",
                "== Part\ninclude::partial$b/part.adoc[]\ninclude::partial$end.adoc[]",
            ),
            ("modules/ROOT/partials/end.adoc", "the end"),
            ("modules/m/examples/x.rb", "a\n# tag::one[]\nb\n# tag::two[]\nc\n# end::two[]\n# end::one[]\nd\n"),
        ]);
        let layout = Layout::read(&tree);
        let expanded = expand(&layout, "modules/ROOT/pages/sub/page.adoc", page, &tree).unwrap();
        (expanded.composed.text, expanded.included)
    }

    #[test]
    fn included_text_replaces_the_directive() {
        let (text, included) = expanded(
            "= T\n\ninclude::partial${where}/part.adoc[leveloffset=+1]\ninclude::beside.adoc[]\ninclude::{no}.adoc[]\n",
        );
        assert_eq!(
            text,
            "= T\n\n\n:leveloffset: +1\n\n== Part\ninclude::partial$b/part.adoc[]\nthe end\n\n:!leveloffset:\n\nbeside\ninclude::{no}.adoc[]\n"
        );
        assert_eq!(
            included[..3],
            [
                "modules/ROOT/partials/b/part.adoc",
                "modules/ROOT/partials/end.adoc",
                "modules/ROOT/pages/sub/beside.adoc"
            ]
        );
    }

    #[test]
    fn parts_are_named_by_tags_and_lines() {
        for (options, expected) in [
            ("", "a\nb\nc\nd\n"),
            ("tag=two", "c\n"),
            ("tags=one,indent=0", "b\nc\n"),
            ("lines=\"1;3..\"", "a\nb\nc\nd\n"),
            ("lines=1..3", "a\nb\n"),
        ] {
            let text = expanded(&format!("include::m:example$x.rb[{options}]\n")).0;
            assert_eq!(text, expected, "{options}");
        }
    }
}
