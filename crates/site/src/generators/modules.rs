//! Reads the scripts of a configuration and follows names across their imports.

use std::collections::HashMap;

use docent_markdown::{folder, regex, text_of};
use regex::Regex;

use super::script::{ScriptValue, returned_at, value_at};
use crate::tree::Tree;

/// Maximum depth to which a value is resolved; each name followed and each level of nesting counts.
const MAX_DEPTH: usize = 24;

/// Maximum number of values resolved for one configuration. Bounds the growth of a list that contains itself twice.
const MAX_VALUES: usize = 200_000;

/// Maximum size of a script in bytes; larger ones are not read.
const MAX_SCRIPT_BYTES: usize = 2 << 20;

/// File extensions of scripts, in the order in which they are tried for an import without extension.
pub(crate) const SCRIPT_EXTENSIONS: [&str; 8] = ["ts", "mts", "js", "mjs", "cjs", "tsx", "cts", "json"];

/// Scripts of a tree, each read once.
pub(crate) struct Modules<'t> {
    tree: &'t dyn Tree,
    /// Whether a file may be read: only files that `Layout::files` lists.
    allowed: &'t dyn Fn(&str) -> bool,
    texts: HashMap<String, Option<String>>,
    remaining_values: usize,
}

impl<'t> Modules<'t> {
    pub(crate) fn new(tree: &'t dyn Tree, allowed: &'t dyn Fn(&str) -> bool) -> Self {
        Self { tree, allowed, texts: HashMap::new(), remaining_values: MAX_VALUES }
    }

    /// The default export of a script, with names resolved. What cannot be resolved is [`ScriptValue::Computed`].
    pub(crate) fn default_export(&mut self, file: &str) -> Option<ScriptValue> {
        let script = self.exported_value(file, "default")?;
        Some(self.resolved(script, file, 0))
    }

    /// The first argument of the first call of `function` in a script, with names resolved.
    pub(crate) fn argument_of(&mut self, file: &str, function: &str) -> Option<ScriptValue> {
        let text = self.text(file)?;
        let call = format!("{function}(");
        let at = text
            .match_indices(&call)
            .map(|(at, _)| at)
            .find(|at| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.'))?;
        let (script, _) = value_at(&text, at);
        match self.resolved(script, file, 0) {
            ScriptValue::Call(_, arguments) => arguments.into_iter().next(),
            _ => None,
        }
    }

    /// A value of the script `file` with its names resolved.
    pub(crate) fn resolve_names(&mut self, script: ScriptValue, file: &str) -> ScriptValue {
        self.resolved(script, file, 0)
    }

    /// The text of a script; `None` if it is missing, too large or not allowed.
    pub(crate) fn text(&mut self, file: &str) -> Option<String> {
        if let Some(known) = self.texts.get(file) {
            return known.clone();
        }
        let text = if (self.allowed)(file) {
            self.tree
                .read(file)
                .filter(|bytes| bytes.len() <= MAX_SCRIPT_BYTES)
                .map(|bytes| text_of(&bytes).into_owned())
        } else {
            None
        };
        self.texts.insert(file.to_owned(), text.clone());
        text
    }

    fn exported_value(&mut self, file: &str, name: &str) -> Option<ScriptValue> {
        regex!(DEFAULT, r"(?m)^\s*(?:export\s+default\b|module\.exports\s*=|export\s*=)");
        let text = self.text(file)?;
        if file.ends_with(".json") {
            return Some(value_at(&text, 0).0);
        }
        if name != "default" {
            return self.defined_value(file, name);
        }
        DEFAULT.find(&text).map(|found| value_at(&text, found.end()).0)
    }

    /// The value of a name that a script defines: that of a constant, or what a function returns.
    fn defined_value(&mut self, file: &str, name: &str) -> Option<ScriptValue> {
        let is_identifier = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        is_identifier.then_some(())?;
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
    fn look_up(&mut self, file: &str, name: &str) -> Option<(ScriptValue, String)> {
        if let Some(script) = self.defined_value(file, name) {
            return Some((script, file.to_owned()));
        }
        let (from, exported) = self.import_source(file, name)?;
        let script = self.exported_value(&from, &exported)?;
        Some((script, from))
    }

    fn import_source(&mut self, file: &str, name: &str) -> Option<(String, String)> {
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
                return Some((self.imported_file(file, import.get(3)?.as_str())?, exported));
            }
        }
        None
    }

    /// The script that the relative import path `path` refers to in the script `from`.
    fn imported_file(&mut self, from: &str, path: &str) -> Option<String> {
        path.starts_with('.').then_some(())?;
        let joined = docent_markdown::joined(folder(from), path)?;
        let stem = joined.strip_suffix(".js").unwrap_or(&joined).to_owned();
        let candidates = std::iter::once(joined.clone())
            .chain(SCRIPT_EXTENSIONS.iter().map(|ending| format!("{stem}.{ending}")))
            .chain(SCRIPT_EXTENSIONS.iter().map(|ending| format!("{joined}/index.{ending}")));
        candidates.into_iter().find(|candidate| self.text(candidate).is_some())
    }

    /// Replaces the names in a value by the values that they refer to.
    fn resolved(&mut self, script: ScriptValue, file: &str, depth: usize) -> ScriptValue {
        if depth > MAX_DEPTH || self.remaining_values == 0 {
            return ScriptValue::Computed;
        }
        self.remaining_values -= 1;
        match script {
            ScriptValue::Name(name) => match self.look_up(file, &name) {
                Some((script, from)) => self.resolved(script, &from, depth + 1),
                None => ScriptValue::Computed,
            },
            ScriptValue::Call(name, arguments) if name == "require" => {
                let path = arguments.first().and_then(ScriptValue::text).map(str::to_owned);
                let Some(from) = path.and_then(|path| self.imported_file(file, &path)) else {
                    return ScriptValue::Computed;
                };
                let script = self.exported_value(&from, "default").unwrap_or(ScriptValue::Computed);
                self.resolved(script, &from, depth + 1)
            }
            ScriptValue::Call(name, arguments) => {
                // A call without arguments is replaced by the return value of the function. Calls with arguments are
                // not evaluated.
                if arguments.is_empty()
                    && let Some((script, from)) = self.look_up(file, &name)
                {
                    return self.resolved(script, &from, depth + 1);
                }
                let arguments = arguments.into_iter().map(|value| self.resolved(value, file, depth + 1)).collect();
                ScriptValue::Call(name, arguments)
            }
            ScriptValue::List(items) => {
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    match item {
                        ScriptValue::Spread(inner) => match self.resolved(*inner, file, depth + 1) {
                            ScriptValue::List(items) => all.extend(items),
                            _ => all.push(ScriptValue::Computed),
                        },
                        item => all.push(self.resolved(item, file, depth + 1)),
                    }
                }
                ScriptValue::List(all)
            }
            ScriptValue::Object(members) => {
                let mut all = Vec::with_capacity(members.len());
                for (name, value) in members {
                    let value = self.resolved(value, file, depth + 1);
                    match (name.as_str(), value) {
                        ("...", ScriptValue::Object(members)) => all.extend(members),
                        // `defineConfig` and similar functions return their argument.
                        ("...", ScriptValue::Call(name, arguments)) if name.starts_with("define") => {
                            match arguments.into_iter().next() {
                                Some(ScriptValue::Object(members)) => all.extend(members),
                                _ => all.push(("...".to_owned(), ScriptValue::Computed)),
                            }
                        }
                        (_, value) => all.push((name, value)),
                    }
                }
                ScriptValue::Object(all)
            }
            other => other,
        }
    }
}
