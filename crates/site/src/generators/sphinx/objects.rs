//! Finds references to names that Sphinx resolves from any page: names documented by directives, and labels in
//! docstrings.
//!
//! | written | documents or names |
//! |---|---|
//! | `.. class:: A`, `.. autoclass:: a.A`, `.. setting:: X` | a name, qualified by the module and the class around it |
//! | `` :class:`a.A` ``, `` :meth:`~a.A.run` ``, `` :setting:`X` `` | a name, on any page and in any docstring |
//! | `` :ref:`label` ``, `` :doc:`/path` `` in a docstring | a label or a page, resolved where the docstring is shown |
//! | `.. setting:: X` in a docstring | a name, on the page that shows the docstring |
//! | `def run(a: A) -> B` | classes, where a page shows the signature |

use std::collections::BTreeSet;

use docent_markdown::{Lines, file_name, has_word, line_of, on_one_line, regex, stem};

use crate::generators::Reference;
use crate::model::{Site, Target};
use crate::tree::Tree;

/// Kinds of objects in source code. A role of one kind may name an object of another, as `:obj:` does.
const CODE_KINDS: &str = "any attr attribute class classmethod const data decorator decoratormethod enum enumerator \
    exc exception func function macro member meth method mod module obj property staticmethod struct type union var \
    variable";

/// A name that a page documents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectName {
    /// `code` for objects in source code, else the name of the directive, which is also that of the role.
    kind: String,
    /// Qualified by module and class where they are known.
    name: String,
}

impl ObjectName {
    /// Whether a role that names `other` refers to this name: the names are equal or, for code, `other` is the end of
    /// this name, a member of it, or the same last part in another module of its package.
    fn is_referenced_by(&self, other: &Self) -> bool {
        let is_below = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
        let ends_in = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'));
        let (own, referenced) = (self.name.as_str(), other.name.as_str());
        let shares_package =
            |name: &str| (name.split('.').next() == own.split('.').next()) && own.contains('.') && name.contains('.');
        self.kind == other.kind
            && (own == referenced
                || self.kind == "code"
                    && (is_below(referenced, own)
                        || ends_in(own, referenced)
                        || shares_package(referenced) && last_part(own) == last_part(referenced)))
    }
}

fn kind(name: &str) -> String {
    let last = name.rsplit(':').next().unwrap_or(name);
    let plain = last.strip_prefix("auto").unwrap_or(last);
    if has_word(CODE_KINDS, plain) { "code".to_owned() } else { last.to_owned() }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The names that a page documents, each with whether autodoc takes its signature and docstring from the source code.
fn documented(text: &str) -> Vec<(ObjectName, bool)> {
    regex!(DIRECTIVE, r"(?m)^([ \t]*)(?:\.\. ([\w:+-]+)::|[`:]{3,}\{([\w:+-]+)\})[ \t]+(\S[^\n]*)");
    let mut names = Vec::new();
    let mut module = String::new();
    // The code objects around a line: indentation and name.
    let mut enclosing: Vec<(usize, String)> = Vec::new();
    for found in DIRECTIVE.captures_iter(text) {
        let directive = found.get(2).or(found.get(3)).map_or("", |name| name.as_str());
        let argument = found[4].split(['(', ' ', '\r']).next().unwrap_or_default();
        enclosing.retain(|(indent, _)| *indent < found[1].len());
        let kind = kind(directive);
        if ["module", "currentmodule", "automodule"].contains(&directive.rsplit(':').next().unwrap_or_default()) {
            argument.clone_into(&mut module);
            if directive.ends_with("currentmodule") {
                continue;
            }
        }
        let outer = enclosing.last().map_or(module.as_str(), |(_, name)| name);
        // For autodoc, too, a name that begins with a class is relative to the current module.
        let has_module =
            directive.contains("auto") && argument.contains('.') && argument.starts_with(char::is_lowercase);
        let is_qualified = kind != "code" || outer.is_empty() || argument.starts_with(outer) || has_module;
        let name = if is_qualified { argument.to_owned() } else { format!("{outer}.{argument}") };
        if kind == "code" {
            enclosing.push((found[1].len(), name.clone()));
        }
        if !argument.is_empty() {
            names.push((
                ObjectName { kind, name },
                directive.rsplit(':').next().is_some_and(|name| name.starts_with("auto")),
            ));
        }
    }
    names
}

/// The roles in a text: byte offset, name and target.
fn roles(text: &str) -> impl Iterator<Item = (usize, &str, String)> {
    regex!(ROLE, r"(?::([A-Za-z][\w:+.-]*):|\{([A-Za-z][\w:+.-]*)\})`([^`]+)`");
    ROLE.captures_iter(text).filter_map(|found| {
        let (at, words) = (found.get(0)?.start(), found.get(3)?.as_str().trim());
        let target =
            words.strip_suffix('>').and_then(|words| words.rsplit_once('<')).map_or(words, |(_, target)| target);
        let target = on_one_line(target);
        let role = found.get(1).or(found.get(2))?.as_str();
        (!target.starts_with('!')).then_some((at, role, target))
    })
}

/// A class or a function of source code.
struct Definition<'t> {
    name: ObjectName,
    start: usize,
    is_function: bool,
    /// Its whole source text.
    text: &'t str,
}

impl<'t> Definition<'t> {
    fn all(file: &str, text: &'t str) -> Vec<Self> {
        regex!(HEAD, r"(?m)^([ \t]*)(?:async[ \t]+)?(class|def)[ \t]+(\w+)");
        let path = file.trim_start_matches("../").trim_end_matches(".py").trim_end_matches("/__init__");
        let module = path.strip_prefix("src/").unwrap_or(path).replace('/', ".");
        let heads: Vec<_> = HEAD.captures_iter(text).filter_map(|head| Some((head.get(0)?.start(), head))).collect();
        let mut enclosing: Vec<(usize, String)> = Vec::new();
        let mut definitions = Vec::new();
        for (at, (start, head)) in heads.iter().enumerate() {
            let indent = head[1].len();
            enclosing.retain(|(outer, _)| *outer < indent);
            let name = format!("{}.{}", enclosing.last().map_or(module.as_str(), |(_, name)| name), &head[3]);
            enclosing.push((indent, name.clone()));
            let end =
                heads[at + 1..].iter().find(|(_, next)| next[1].len() <= indent).map_or(text.len(), |(end, _)| *end);
            definitions.push(Definition {
                name: ObjectName { kind: "code".to_owned(), name },
                start: *start,
                is_function: &head[2] == "def",
                text: &text[*start..end],
            });
        }
        definitions
    }

    fn is_shown_by(&self, names: &[ObjectName]) -> bool {
        names.iter().any(|name| name.is_referenced_by(&self.name))
    }

    /// The lines of its signature: parameters with their types, and the return type.
    fn signature(&self) -> &'t str {
        let mut lines = self.text.split_inclusive('\n').scan(0, |end, line| {
            *end += line.len();
            Some((*end, line.trim_end().ends_with(':')))
        });
        lines.find(|(_, is_last)| *is_last).map_or("", |(end, _)| &self.text[..end])
    }
}

/// References in pages and source code to names that only this page documents.
pub(super) fn references_to_page(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
    let read = |file: &str| tree.text(file).unwrap_or_default();
    let documented_here = documented(&read(file));
    let mut only_here: BTreeSet<ObjectName> = documented_here.iter().map(|(name, _)| name.clone()).collect();
    let mut shown_elsewhere = Vec::new();
    let mut found: Vec<(&str, usize, ObjectName)> = Vec::new();
    for from in site.all_files().filter(|from| *from != file && site.address(from).is_some()) {
        if only_here.is_empty() {
            return Vec::new();
        }
        let text = read(from);
        for (name, is_shown) in documented(&text) {
            only_here.remove(&name);
            shown_elsewhere.extend(is_shown.then_some(name));
        }
        found.extend(role_references(from, &text));
    }
    let shown_here: Vec<ObjectName> = documented_here
        .into_iter()
        .filter(|(name, is_shown)| *is_shown && only_here.contains(name))
        .map(|(name, _)| name)
        .collect();
    // Classes begin with a capital letter.
    let is_class = |name: &&ObjectName| name.kind == "code" && last_part(&name.name).starts_with(char::is_uppercase);
    let classes: Vec<ObjectName> = only_here.iter().filter(is_class).cloned().collect();
    for from in site.all_files().filter(|from| is_source(from)) {
        let text = read(from);
        for definition in Definition::all(from, &text) {
            let is_elsewhere = || definition.is_shown_by(&shown_elsewhere);
            if definition.text.contains(".. ") && definition.is_shown_by(&shown_here) && !is_elsewhere() {
                only_here.extend(documented(definition.text).into_iter().map(|(name, _)| name));
            }
            let signature = if definition.is_function { definition.signature() } else { "" };
            let is_word =
                |word: &str| signature.split(|c: char| !c.is_alphanumeric() && c != '_').any(|one| one == word);
            for class in classes.iter().filter(|class| is_word(last_part(&class.name)) && is_elsewhere()) {
                let class_name = ObjectName { name: last_part(&class.name).to_owned(), ..class.clone() };
                found.push((from, line_of(&text, definition.start), class_name));
            }
        }
        found.extend(role_references(from, &text));
    }
    found.retain(|(_, _, name)| only_here.iter().any(|own| own.is_referenced_by(name)));
    let reference =
        |(from, line, name): (&str, usize, ObjectName)| Reference { file: from.to_owned(), line, name: name.name };
    found.into_iter().map(reference).collect()
}

/// The roles in a text, each as file, line and name.
fn role_references<'f>(file: &'f str, text: &str) -> Vec<(&'f str, usize, ObjectName)> {
    let name = |target: String| target.trim_start_matches(['~', '.']).trim_end_matches("()").to_owned();
    let lines = Lines::of(text);
    roles(text)
        .map(|(at, role, target)| (file, lines.number(at), ObjectName { kind: kind(role), name: name(target) }))
        .collect()
}

/// References in docstrings to a page, by its path or by one of its labels; the name of each is the role, verbatim.
pub(super) fn named_in_sources(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
    let labels: BTreeSet<&str> = site.labels_of(file).collect();
    let name = stem(file).unwrap_or(file).rsplit('/').next().unwrap_or_default();
    let mut found = Vec::new();
    for from in site.all_files().filter(|from| is_source(from)) {
        let text = tree.text(from).unwrap_or_default();
        for (at, role, target) in roles(&text) {
            let leads_there = match role {
                "ref" => labels.contains(target.to_lowercase().as_str()),
                // A relative path starts from the page that shows the docstring, which only a build knows.
                "doc" if target.starts_with('/') => {
                    matches!(super::rst::role(site, file, &format!(":doc:`{target}`")), Target::Page { file: to, .. } if to == file)
                }
                "doc" => file_name(&target) == name,
                _ => false,
            };
            if leads_there {
                found.push(Reference {
                    file: from.to_owned(),
                    line: line_of(&text, at),
                    name: format!(":{role}:`{target}`"),
                });
            }
        }
    }
    found.extend(named_in_templates(tree, site, file));
    found
}

/// Calls of `pathto` with a document in templates, which only people can change.
fn named_in_templates(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
    regex!(PATHTO, r#"\bpathto\(\s*["']([^"'\n]+)["']"#);
    let mut found = Vec::new();
    for from in site.all_files().filter(|from| from.ends_with(".html")) {
        let text = tree.text(from).unwrap_or_default();
        for call in PATHTO.captures_iter(&text) {
            let role = format!(":doc:`/{}`", &call[1]);
            let leads_there =
                matches!(super::rst::role(site, file, &role), Target::Page { file: to, .. } if to == file);
            if leads_there && let Some(whole) = call.get(0) {
                let line = line_of(&text, whole.start());
                found.push(Reference { file: from.to_owned(), line, name: format!("{})", whole.as_str()) });
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
    fn a_template_names_a_document() {
        let template = "<a>\n{{ pathto('guide/api') }} {{ pathto('_static/x.png', 1) }} {{ pathto(root_doc) }}\n";
        let files = [
            ("docs/conf.py", "project = 'x'\n"),
            ("docs/_templates/sidebar.html", template),
            ("docs/guide/api.rst", ""),
            ("docs/index.rst", ""),
        ];
        let tree = crate::sample::site(&files);
        let site = Site::read(&tree);
        let named = |file: &str| {
            let found = named_in_sources(&tree, &site, file).into_iter();
            found.map(|found| format!("{}:{} {}", found.file, found.line, found.name)).collect::<Vec<_>>()
        };
        assert_eq!(named("docs/guide/api.rst"), ["docs/_templates/sidebar.html:2 pathto('guide/api')"]);
        assert!(named("docs/index.rst").is_empty());
    }

    #[test]
    fn names_stand_below_their_module_and_class() {
        let text = ".. currentmodule:: a.b\n\n.. class:: C(x)\n\n   .. method:: run()\n\n.. function:: f()\n.. autoclass:: a.d.D\n   :members:\n.. automethod:: E.run\n.. setting:: NAME\n.. note:: Words\n";
        let shown = |(name, is_shown): (ObjectName, bool)| {
            format!("{} {}{}", name.kind, name.name, if is_shown { " *" } else { "" })
        };
        let names: Vec<_> = documented(text).into_iter().map(shown).collect();
        assert_eq!(
            names,
            [
                "code a.b.C", "code a.b.C.run", "code a.b.f", "code a.d.D *", "code a.b.E.run *", "setting NAME",
                "note Words"
            ]
        );
    }

    #[test]
    fn docstrings_document_names_and_signatures_name_classes() {
        let code = "class A:\n    \"\"\"Words.\n\n    .. setting:: LIMIT\n    \"\"\"\n\n\nclass Other:\n    \"\"\"\n    .. setting:: MORE\n    \"\"\"\n\n    async def run(\n        self, a: A | None = None\n    ) -> None:\n        pass\n\n    def hidden(self, b: B): ...\n";
        let tree = crate::sample::site(&[
            ("conf.py", "extensions = ['sphinx.ext.autodoc']\n"),
            ("index.rst", "Home\n====\n\n:setting:`LIMIT` :setting:`MORE`\n\n.. automethod:: pkg.Other.run\n"),
            ("a.rst", "A\n=\n\n.. autoclass:: pkg.A\n"),
            ("b.rst", "B\n=\n\n.. class:: pkg.B\n"),
            ("pkg/code.py", code),
        ]);
        let site = Site::read(&tree);
        let references = |file: &str| -> Vec<String> {
            let found = references_to_page(&tree, &site, file).into_iter();
            found.map(|found| format!("{}:{} {}", found.file, found.line, found.name)).collect()
        };
        assert_eq!(references("a.rst"), ["index.rst:4 LIMIT", "pkg/code.py:13 A"]);
        assert!(references("b.rst").is_empty(), "no page shows the function that names it");
    }

    #[test]
    fn roles_mean_what_is_documented() {
        let own = |kind: &str, name: &str| ObjectName { kind: kind.to_owned(), name: name.to_owned() };
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
            assert_eq!(documented.is_referenced_by(&named), expected, "{documented:?} {named:?}");
        }
    }
}
