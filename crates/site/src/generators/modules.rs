//! Reads the scripts of a configuration and follows names across their imports.

use std::collections::HashMap;

use docent_markdown::{folder, regex, text_of};
use regex::Regex;

use super::script::{Script, returned_at, value_at};
use crate::tree::Tree;

/// Maximum depth to which a value is resolved; each name followed and each level of nesting counts.
const FARTHEST: usize = 24;

/// Maximum number of values resolved for one configuration. Bounds the growth of a list that contains itself twice.
const MOST_VALUES: usize = 200_000;

/// Maximum size of a script in bytes; larger ones are not read.
const LARGEST: usize = 2 << 20;

/// File extensions of scripts, in the order in which they are tried for an import without extension.
pub(crate) const ENDINGS: [&str; 8] = ["ts", "mts", "js", "mjs", "cjs", "tsx", "cts", "json"];

/// Scripts of a tree, each read once.
pub(crate) struct Modules<'t> {
    tree: &'t dyn Tree,
    /// Whether a file may be read: only files that `Layout::files` lists.
    allowed: &'t dyn Fn(&str) -> bool,
    texts: HashMap<String, Option<String>>,
    left: usize,
}

impl<'t> Modules<'t> {
    pub(crate) fn new(tree: &'t dyn Tree, allowed: &'t dyn Fn(&str) -> bool) -> Self {
        Self { tree, allowed, texts: HashMap::new(), left: MOST_VALUES }
    }

    /// The default export of a script, with names resolved. What cannot be resolved is [`Script::Computed`].
    pub(crate) fn default_export(&mut self, file: &str) -> Option<Script> {
        let script = self.exported(file, "default")?;
        Some(self.resolved(script, file, 0))
    }

    /// The first argument of the first call of `function` in a script, with names resolved.
    pub(crate) fn argument_of(&mut self, file: &str, function: &str) -> Option<Script> {
        let text = self.text(file)?;
        let call = format!("{function}(");
        let at = text
            .match_indices(&call)
            .map(|(at, _)| at)
            .find(|at| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.'))?;
        let (script, _) = value_at(&text, at);
        match self.resolved(script, file, 0) {
            Script::Call(_, arguments) => arguments.into_iter().next(),
            _ => None,
        }
    }

    /// A value of the script `file` with its names resolved.
    pub(crate) fn settled(&mut self, script: Script, file: &str) -> Script {
        self.resolved(script, file, 0)
    }

    /// The text of a script; `None` if it is missing, too large or not allowed.
    pub(crate) fn text(&mut self, file: &str) -> Option<String> {
        if let Some(known) = self.texts.get(file) {
            return known.clone();
        }
        let text = if (self.allowed)(file) {
            self.tree.read(file).filter(|bytes| bytes.len() <= LARGEST).map(|bytes| text_of(&bytes).into_owned())
        } else {
            None
        };
        self.texts.insert(file.to_owned(), text.clone());
        text
    }

    fn exported(&mut self, file: &str, name: &str) -> Option<Script> {
        regex!(DEFAULT, r"(?m)^\s*(?:export\s+default\b|module\.exports\s*=|export\s*=)");
        let text = self.text(file)?;
        if file.ends_with(".json") {
            return Some(value_at(&text, 0).0);
        }
        if name != "default" {
            return self.defined(file, name);
        }
        DEFAULT.find(&text).map(|found| value_at(&text, found.end()).0)
    }

    /// The value of a name that a script defines: that of a constant, or what a function returns.
    fn defined(&mut self, file: &str, name: &str) -> Option<Script> {
        let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        plain.then_some(())?;
        let text = self.text(file)?;
        let name = regex::escape(name);
        let constant =
            Regex::new(&format!(r"(?m)^[ \t]*(?:export\s+)?(?:const|let|var)\s+{name}(?:\s*:[^\n=]*)?\s*=")).ok()?;
        if let Some(found) = constant.find(&text) {
            return Some(value_at(&text, found.end()).0);
        }
        let function =
            Regex::new(&format!(r"(?m)^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s+{name}\s*\("))
                .ok()?;
        function.find(&text).and_then(|found| returned_at(&text, found.end()))
    }

    /// The value of a name defined in this script or in one it imports, and the script that defines it.
    fn look_up(&mut self, file: &str, name: &str) -> Option<(Script, String)> {
        if let Some(script) = self.defined(file, name) {
            return Some((script, file.to_owned()));
        }
        let (from, exported) = self.imported(file, name)?;
        let script = self.exported(&from, &exported)?;
        Some((script, from))
    }

    fn imported(&mut self, file: &str, name: &str) -> Option<(String, String)> {
        regex!(
            IMPORT,
            r#"(?m)^[ \t]*import\s+(?:type\s+)?(?:([\w$]+)\s*,?\s*)?(?:\{([^}]*)\}\s*)?from\s*['"]([^'"]+)['"]"#
        );
        let text = self.text(file)?;
        for import in IMPORT.captures_iter(&text) {
            let exported = if import.get(1).is_some_and(|default| default.as_str() == name) {
                Some("default".to_owned())
            } else {
                import.get(2).and_then(|names| {
                    names.as_str().split(',').find_map(|part| {
                        let (exported, local) = part.split_once(" as ").unwrap_or((part, part));
                        (local.trim() == name).then(|| exported.trim().to_owned())
                    })
                })
            };
            if let Some(exported) = exported {
                return Some((self.file_of(file, import.get(3)?.as_str())?, exported));
            }
        }
        None
    }

    /// The script that the relative import path `path` refers to in the script `from`.
    fn file_of(&mut self, from: &str, path: &str) -> Option<String> {
        path.starts_with('.').then_some(())?;
        let joined = docent_markdown::joined(folder(from), path)?;
        let stem = joined.strip_suffix(".js").unwrap_or(&joined).to_owned();
        let candidates = std::iter::once(joined.clone())
            .chain(ENDINGS.iter().map(|ending| format!("{stem}.{ending}")))
            .chain(ENDINGS.iter().map(|ending| format!("{joined}/index.{ending}")));
        candidates.into_iter().find(|candidate| self.text(candidate).is_some())
    }

    /// Replaces the names in a value by the values that they refer to.
    fn resolved(&mut self, script: Script, file: &str, depth: usize) -> Script {
        if depth > FARTHEST || self.left == 0 {
            return Script::Computed;
        }
        self.left -= 1;
        match script {
            Script::Name(name) => match self.look_up(file, &name) {
                Some((script, from)) => self.resolved(script, &from, depth + 1),
                None => Script::Computed,
            },
            Script::Call(name, arguments) if name == "require" => {
                let path = arguments.first().and_then(Script::text).map(str::to_owned);
                let Some(from) = path.and_then(|path| self.file_of(file, &path)) else { return Script::Computed };
                let script = self.exported(&from, "default").unwrap_or(Script::Computed);
                self.resolved(script, &from, depth + 1)
            }
            Script::Call(name, arguments) => {
                // A call without arguments is replaced by the return value of the function. Calls with arguments are
                // not evaluated.
                if arguments.is_empty()
                    && let Some((script, from)) = self.look_up(file, &name)
                {
                    return self.resolved(script, &from, depth + 1);
                }
                let arguments = arguments.into_iter().map(|value| self.resolved(value, file, depth + 1)).collect();
                Script::Call(name, arguments)
            }
            Script::List(items) => {
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    match item {
                        Script::Spread(inner) => match self.resolved(*inner, file, depth + 1) {
                            Script::List(items) => all.extend(items),
                            _ => all.push(Script::Computed),
                        },
                        item => all.push(self.resolved(item, file, depth + 1)),
                    }
                }
                Script::List(all)
            }
            Script::Object(members) => {
                let mut all = Vec::with_capacity(members.len());
                for (name, value) in members {
                    let value = self.resolved(value, file, depth + 1);
                    match (name.as_str(), value) {
                        ("...", Script::Object(members)) => all.extend(members),
                        // `defineConfig` and similar functions return their argument.
                        ("...", Script::Call(name, arguments)) if name.starts_with("define") => {
                            match arguments.into_iter().next() {
                                Some(Script::Object(members)) => all.extend(members),
                                _ => all.push(("...".to_owned(), Script::Computed)),
                            }
                        }
                        (_, value) => all.push((name, value)),
                    }
                }
                Script::Object(all)
            }
            other => other,
        }
    }
}
