//! Names that Sphinx follows from anywhere: of what directives document, and labels that docstrings name.
//!
//! | written | documents or names |
//! |---|---|
//! | `.. class:: A`, `.. autoclass:: a.A`, `.. setting:: X` | a name, below the module and the class it stands in |
//! | `` :class:`a.A` ``, `` :meth:`~a.A.run` ``, `` :setting:`X` `` | a name, on any page and in any docstring |
//! | `` :ref:`label` ``, `` :doc:`/path` `` in a docstring | a label or a page, read where the docstring is shown |

use std::collections::BTreeSet;
use std::sync::LazyLock;

use docent_markdown::{is_page, line_of, stem, text_of};
use regex::Regex;

use crate::generators::Reference;
use crate::model::{Site, Target};
use crate::tree::Tree;

/// Kinds of what source code is made of; a role may name one by another's kind, as `:obj:` does.
const OF_CODE: [&str; 29] = [
    "any",
    "attr",
    "attribute",
    "class",
    "classmethod",
    "const",
    "data",
    "decorator",
    "decoratormethod",
    "enum",
    "enumerator",
    "exc",
    "exception",
    "func",
    "function",
    "macro",
    "member",
    "meth",
    "method",
    "mod",
    "module",
    "obj",
    "property",
    "staticmethod",
    "struct",
    "type",
    "union",
    "var",
    "variable",
];

/// A name that a page documents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    /// `code`, or the directive's own name, by which a role refers to it.
    kind: String,
    /// With module and class where they are known.
    name: String,
}

impl Name {
    /// Whether a role that names `other` means this: the same name, the end of it, a part of it, or it by way of another module
    /// of its package.
    fn is_meant_by(&self, other: &Self) -> bool {
        let is_below = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
        let ends_in = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'));
        let (own, named) = (self.name.as_str(), other.name.as_str());
        let ends =
            |name: &str| (name.split('.').next() == own.split('.').next()) && own.contains('.') && name.contains('.');
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        self.kind == other.kind
            && (own == named
                || self.kind == "code"
                    && (is_below(named, own) || ends_in(own, named) || ends(named) && last(own) == last(named)))
    }
}

fn kind(name: &str) -> String {
    let last = name.rsplit(':').next().unwrap_or(name);
    let plain = last.strip_prefix("auto").unwrap_or(last);
    if OF_CODE.contains(&plain) { "code".to_owned() } else { last.to_owned() }
}

/// What a page documents.
fn documented(text: &str) -> BTreeSet<Name> {
    static DIRECTIVE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^([ \t]*)(?:\.\. ([\w:+-]+)::|[`:]{3,}\{([\w:+-]+)\})[ \t]+(\S[^\n]*)")
            .expect("the pattern is written out above")
    });
    let mut names = BTreeSet::new();
    let mut module = String::new();
    // The classes around a line: how far they are indented, and their names.
    let mut around: Vec<(usize, String)> = Vec::new();
    for found in DIRECTIVE.captures_iter(text) {
        let directive = found.get(2).or(found.get(3)).map_or("", |name| name.as_str());
        let argument = found[4].split(['(', ' ', '\r']).next().unwrap_or_default();
        around.retain(|(indent, _)| *indent < found[1].len());
        let kind = kind(directive);
        if ["module", "currentmodule", "automodule"].contains(&directive.rsplit(':').next().unwrap_or_default()) {
            argument.clone_into(&mut module);
            if directive.ends_with("currentmodule") {
                continue;
            }
        }
        let outer = around.last().map_or(module.as_str(), |(_, name)| name);
        let is_whole = kind != "code" || outer.is_empty() || argument.starts_with(outer) || directive.contains("auto");
        let name = if is_whole { argument.to_owned() } else { format!("{outer}.{argument}") };
        if kind == "code" {
            around.push((found[1].len(), name.clone()));
        }
        if !argument.is_empty() {
            names.insert(Name { kind, name });
        }
    }
    names
}

/// Roles in a text: where each stands, its name and what it names.
fn roles(text: &str) -> impl Iterator<Item = (usize, &str, String)> {
    static ROLE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?::([A-Za-z][\w:+.-]*):|\{([A-Za-z][\w:+.-]*)\})`([^`]+)`")
            .expect("the pattern is written out above")
    });
    ROLE.captures_iter(text).filter_map(|found| {
        let (at, words) = (found.get(0)?.start(), found.get(3)?.as_str().trim());
        let named = words.strip_suffix('>').and_then(|words| words.rsplit_once('<')).map_or(words, |(_, named)| named);
        let named = named.split_whitespace().collect::<Vec<_>>().join(" ");
        let role = found.get(1).or(found.get(2))?.as_str();
        (!named.starts_with('!')).then_some((at, role, named))
    })
}

/// Where pages and docstrings refer to what a page alone documents.
pub(super) fn referring(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
    let mut own = documented(&text_of(&tree.read(file).unwrap_or_default()));
    let mut found = Vec::new();
    for from in site.all_files().filter(|from| *from != file && (site.address(from).is_some() || is_source(from))) {
        if own.is_empty() {
            break;
        }
        let bytes = tree.read(from).unwrap_or_default();
        let text = text_of(&bytes);
        if is_page(from) {
            let others = documented(&text);
            own.retain(|name| !others.contains(name));
        }
        for (at, role, named) in roles(&text) {
            let name = named.trim_start_matches(['~', '.']).trim_end_matches("()").to_owned();
            let named = Name { kind: kind(role), name };
            found.push((from, line_of(&text, at), named));
        }
    }
    found.retain(|(_, _, named)| own.iter().any(|own| own.is_meant_by(named)));
    let reference =
        |(from, line, named): (&str, usize, Name)| Reference { file: from.to_owned(), line, name: named.name };
    found.into_iter().map(reference).collect()
}

/// Where docstrings name a page, by its path or by a label of it: the role as it is written.
pub(super) fn named_in_sources(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
    let labels: BTreeSet<&str> = site.labels_of(file).collect();
    let name = stem(file).unwrap_or(file).rsplit('/').next().unwrap_or_default();
    let mut found = Vec::new();
    for from in site.all_files().filter(|from| is_source(from)) {
        let bytes = tree.read(from).unwrap_or_default();
        let text = text_of(&bytes);
        for (at, role, named) in roles(&text) {
            let leads_there = match role {
                "ref" => labels.contains(named.to_lowercase().as_str()),
                // What is relative is so to the page that shows the docstring, which only a build knows.
                "doc" if named.starts_with('/') => {
                    matches!(super::rst::role(site, file, &format!(":doc:`{named}`")), Target::Page { file: to, .. } if to == file)
                }
                "doc" => named.rsplit('/').next() == Some(name),
                _ => false,
            };
            if leads_there {
                found.push(Reference {
                    file: from.to_owned(),
                    line: line_of(&text, at),
                    name: format!(":{role}:`{named}`"),
                });
            }
        }
    }
    found
}

fn is_source(file: &str) -> bool {
    file.ends_with(".py") && !file.split('/').any(|part| part == "tests" || part == "conf.py")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_below_their_module_and_class() {
        let text = ".. currentmodule:: a.b\n\n.. class:: C(x)\n\n   .. method:: run()\n\n.. function:: f()\n.. autoclass:: a.d.D\n   :members:\n.. setting:: NAME\n.. note:: Words\n";
        let names: Vec<_> = documented(text).into_iter().map(|name| format!("{} {}", name.kind, name.name)).collect();
        assert_eq!(names, ["code a.b.C", "code a.b.C.run", "code a.b.f", "code a.d.D", "note Words", "setting NAME"]);
    }

    #[test]
    fn roles_mean_what_is_documented() {
        let own = |kind: &str, name: &str| Name { kind: kind.to_owned(), name: name.to_owned() };
        for (documented, named, expected) in [
            (own("code", "a.C"), own("code", "a.C"), true),
            (own("code", "a.C"), own("code", "C"), true),
            (own("code", "a.C"), own("code", "a.C.run"), true),
            (own("code", "a.C"), own("code", "a.inner.C"), true),
            (own("code", "a.C"), own("code", "b.C"), false),
            (own("code", "a.C"), own("code", "a.CD"), false),
            (own("setting", "X"), own("setting", "X"), true),
            (own("setting", "X"), own("signal", "X"), false),
        ] {
            assert_eq!(documented.is_meant_by(&named), expected, "{documented:?} {named:?}");
        }
    }
}
