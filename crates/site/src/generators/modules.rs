//! Reads the scripts of a configuration and follows names across their imports.

use std::collections::HashMap;
use std::sync::Arc;

use docent_markdown::{Depth, folder, regex, text_of};

use super::HasFile;
use super::script::{ScriptValue, returned_at, value_at};
use crate::tree::{Tree, from_config_folder};

/// Maximum depth to which a value is resolved; each name followed and each level of nesting counts.
const MAX_DEPTH: usize = 24;

/// Maximum number of values resolved for one configuration. Bounds the growth of a list that contains itself twice.
const MAX_VALUES: usize = 200_000;

/// Maximum number of bytes read for the values of names; a value that is named several times counts each time.
const MAX_NAMED_BYTES: usize = 8 << 20;

/// Maximum size of a script in bytes; larger ones are not read.
const MAX_SCRIPT_BYTES: usize = 2 << 20;

/// File extensions of scripts, in the order in which they are tried for an import without extension.
pub(crate) const SCRIPT_EXTENSIONS: [&str; 8] = ["ts", "mts", "js", "mjs", "cjs", "tsx", "cts", "json"];

/// Whether a file is a script with this name and any extension of one.
pub(super) fn is_script(name: &str, stem: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(own, ending)| own == stem && SCRIPT_EXTENSIONS.contains(&ending))
}

/// The script with this name in the folder of a configuration, with the first extension that exists.
pub(super) fn find_script(tree: &dyn Tree, home: &str, name: &str, has: &HasFile<'_>) -> Option<String> {
    let mut files = SCRIPT_EXTENSIONS.iter().map(|ending| from_config_folder(tree, home, &format!("{name}.{ending}")));
    files.find(|file| has(file))
}

/// Scripts of a tree, each read once.
pub(crate) struct Modules<'t> {
    tree: &'t dyn Tree,
    /// Whether a file may be read: only files that `Layout::files` lists.
    allowed: &'t dyn Fn(&str) -> bool,
    texts: HashMap<String, Option<Arc<str>>>,
    names: HashMap<String, Arc<Names>>,
    remaining_values: usize,
    remaining_bytes: usize,
}

/// What a script defines and imports, by name.
#[derive(Debug, Default)]
struct Names {
    /// Where the values of constants begin.
    constants: HashMap<String, usize>,
    /// Where the parameters of functions begin.
    functions: HashMap<String, usize>,
    /// The path that a name is imported from, and its name there.
    imports: HashMap<String, (String, String)>,
}

impl Names {
    fn of(text: &str) -> Self {
        regex!(CONSTANT, r"(?m)^[ \t]*(?:export\s+)?(?:const|let|var)\s+([\w$]+)(?:\s*:[^\n=]*)?\s*=");
        regex!(FUNCTION, r"(?m)^[ \t]*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s+([\w$]+)\s*\(");
        regex!(
            IMPORT,
            r#"(?m)^[ \t]*import\s+(?:type\s+)?(?:([\w$]+)\s*,?\s*)?(?:\{([^}]*)\}\s*)?from\s*['"]([^'"]+)['"]"#
        );
        let mut names = Self::default();
        for found in CONSTANT.captures_iter(text) {
            names.constants.entry(found[1].to_owned()).or_insert(found.get_match().end());
        }
        for found in FUNCTION.captures_iter(text) {
            names.functions.entry(found[1].to_owned()).or_insert(found.get_match().end());
        }
        for found in IMPORT.captures_iter(text) {
            let mut add = |local: &str, exported: &str| {
                let source = || (found[3].to_owned(), exported.trim().to_owned());
                names.imports.entry(local.trim().to_owned()).or_insert_with(source);
            };
            if let Some(local) = found.get(1) {
                add(local.as_str(), "default");
            }
            for part in found.get(2).map_or("", |names| names.as_str()).split(',') {
                let (exported, local) = part.split_once(" as ").unwrap_or((part, part));
                add(local, exported);
            }
        }
        names
    }
}

impl<'t> Modules<'t> {
    pub(crate) fn new(tree: &'t dyn Tree, allowed: &'t dyn Fn(&str) -> bool) -> Self {
        Self {
            tree,
            allowed,
            texts: HashMap::new(),
            names: HashMap::new(),
            remaining_values: MAX_VALUES,
            remaining_bytes: MAX_NAMED_BYTES,
        }
    }

    /// The default export of a script, with names resolved. What cannot be resolved is [`ScriptValue::Computed`].
    pub(crate) fn default_export(&mut self, file: &str) -> Option<ScriptValue> {
        let script = self.exported_value(file, "default")?;
        Some(self.resolved(script, file, Depth::of(MAX_DEPTH)))
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
        match self.resolved(script, file, Depth::of(MAX_DEPTH)) {
            ScriptValue::Call(_, arguments) => arguments.into_iter().next(),
            _ => None,
        }
    }

    /// A value of the script `file` with its names resolved.
    pub(crate) fn resolve_names(&mut self, script: ScriptValue, file: &str) -> ScriptValue {
        self.resolved(script, file, Depth::of(MAX_DEPTH))
    }

    /// The text of a script; `None` if it is missing, too large or not allowed.
    pub(crate) fn text(&mut self, file: &str) -> Option<Arc<str>> {
        if let Some(known) = self.texts.get(file) {
            return known.clone();
        }
        let text = if (self.allowed)(file) {
            self.tree.read(file).filter(|bytes| bytes.len() <= MAX_SCRIPT_BYTES).map(|bytes| Arc::from(text_of(&bytes)))
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
        let text = self.text(file)?;
        let names = self.names(file)?;
        if let Some(at) = names.constants.get(name) {
            let (value, end) = value_at(&text[..text.floor_char_boundary(at + self.remaining_bytes)], *at);
            self.remaining_bytes -= end - at;
            return Some(value);
        }
        let at = names.functions.get(name)?;
        let (value, end) = returned_at(&text[..text.floor_char_boundary(at + self.remaining_bytes)], *at)?;
        self.remaining_bytes -= end - at;
        Some(value)
    }

    fn names(&mut self, file: &str) -> Option<Arc<Names>> {
        if !self.names.contains_key(file) {
            let names = Arc::new(Names::of(&self.text(file)?));
            self.names.insert(file.to_owned(), names);
        }
        self.names.get(file).cloned()
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
        let names = self.names(file)?;
        let (path, exported) = names.imports.get(name)?;
        Some((self.imported_file(file, path)?, exported.clone()))
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
    fn resolved(&mut self, script: ScriptValue, file: &str, depth: Depth) -> ScriptValue {
        let Some(depth) = depth.inside().filter(|_| self.remaining_values > 0) else {
            return ScriptValue::Computed;
        };
        self.remaining_values -= 1;
        match script {
            ScriptValue::Name(name) => match self.look_up(file, &name) {
                Some((script, from)) => self.resolved(script, &from, depth),
                None => ScriptValue::Computed,
            },
            ScriptValue::Call(name, arguments) if name == "require" => {
                let path = arguments.first().and_then(ScriptValue::text).map(str::to_owned);
                let Some(from) = path.and_then(|path| self.imported_file(file, &path)) else {
                    return ScriptValue::Computed;
                };
                let script = self.exported_value(&from, "default").unwrap_or(ScriptValue::Computed);
                self.resolved(script, &from, depth)
            }
            ScriptValue::Call(name, arguments) => {
                // A call without arguments is replaced by the return value of the function. Calls with arguments are
                // not evaluated.
                if arguments.is_empty()
                    && let Some((script, from)) = self.look_up(file, &name)
                {
                    return self.resolved(script, &from, depth);
                }
                let arguments = arguments.into_iter().map(|value| self.resolved(value, file, depth)).collect();
                ScriptValue::Call(name, arguments)
            }
            ScriptValue::List(items) => {
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    match item {
                        ScriptValue::Spread(inner) => match self.resolved(*inner, file, depth) {
                            ScriptValue::List(items) => all.extend(items),
                            _ => all.push(ScriptValue::Computed),
                        },
                        item => all.push(self.resolved(item, file, depth)),
                    }
                }
                ScriptValue::List(all)
            }
            ScriptValue::Object(members) => {
                let mut all = Vec::with_capacity(members.len());
                for (name, value) in members {
                    let value = self.resolved(value, file, depth);
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
