//! Reads the scripts of a configuration and follows names across their imports.

use std::collections::HashMap;
use std::sync::Arc;

use docent_markdown::{Depth, folder, text_of};

use super::HasFile;
use super::script_value::{ScriptValue, value_at};
use crate::script::Script;
use crate::tree::{Tree, from_config_folder};

/// Maximum depth to which a value is resolved; each name followed and each level of nesting counts.
const MAX_DEPTH: usize = 24;

/// Maximum number of values resolved for one configuration. Bounds the growth of a list that contains itself twice.
const MAX_VALUES: usize = 200_000;

/// Number of tokens read for the values of names, after which no name is followed; a value that is named several times
/// counts each time.
const MAX_NAMED_TOKENS: usize = 2 << 20;

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
    modules: HashMap<String, Option<Arc<Module>>>,
    remaining_values: usize,
    remaining_tokens: usize,
}

/// A script, and what it defines and imports, by name.
#[derive(Debug)]
struct Module {
    script: Arc<Script>,
    /// The tokens at which the values of constants and functions start.
    values: HashMap<String, usize>,
    /// The path that a name is imported from, and its name there.
    imports: HashMap<String, (String, String)>,
}

impl Module {
    fn of(text: &str) -> Self {
        let script = Arc::new(Script::of(text));
        let mut values = HashMap::new();
        for (name, value) in script.definitions() {
            values.entry(name.to_owned()).or_insert(value);
        }
        let mut imports = HashMap::new();
        for import in script.imports() {
            let source = || (import.path.to_owned(), import.exported.to_owned());
            imports.entry(import.local.to_owned()).or_insert_with(source);
        }
        Self { script, values, imports }
    }
}

impl<'t> Modules<'t> {
    pub(crate) fn new(tree: &'t dyn Tree, allowed: &'t dyn Fn(&str) -> bool) -> Self {
        Self {
            tree,
            allowed,
            modules: HashMap::new(),
            remaining_values: MAX_VALUES,
            remaining_tokens: MAX_NAMED_TOKENS,
        }
    }

    /// The default export of a script, with names resolved. What cannot be resolved is [`ScriptValue::Computed`].
    pub(crate) fn default_export(&mut self, file: &str) -> Option<ScriptValue> {
        let script = self.exported_value(file, "default")?;
        Some(self.resolved(script, file, Depth::of(MAX_DEPTH)))
    }

    /// The first argument of the first call of `function` in a script, with names resolved.
    pub(crate) fn argument_of(&mut self, file: &str, function: &str) -> Option<ScriptValue> {
        let module = self.module(file)?;
        let call = module.script.calls(function).next()?;
        match self.resolved(value_at(&module.script, call).0, file, Depth::of(MAX_DEPTH)) {
            ScriptValue::Call(_, arguments) => arguments.into_iter().next(),
            _ => None,
        }
    }

    /// A value of the script `file` with its names resolved.
    pub(crate) fn resolve_names(&mut self, script: ScriptValue, file: &str) -> ScriptValue {
        self.resolved(script, file, Depth::of(MAX_DEPTH))
    }

    /// A script; `None` if it is missing, too large or not allowed.
    pub(crate) fn script(&mut self, file: &str) -> Option<Arc<Script>> {
        Some(self.module(file)?.script.clone())
    }

    fn module(&mut self, file: &str) -> Option<Arc<Module>> {
        if let Some(known) = self.modules.get(file) {
            return known.clone();
        }
        let bytes = if (self.allowed)(file) { self.tree.read(file) } else { None };
        let bytes = bytes.filter(|bytes| bytes.len() <= MAX_SCRIPT_BYTES);
        let module = bytes.map(|bytes| Arc::new(Module::of(&text_of(&bytes))));
        self.modules.insert(file.to_owned(), module.clone());
        module
    }

    fn exported_value(&mut self, file: &str, name: &str) -> Option<ScriptValue> {
        if name != "default" && !file.ends_with(".json") {
            return self.defined_value(file, name);
        }
        let module = self.module(file)?;
        let at = if file.ends_with(".json") { 0 } else { module.script.default_export()? };
        Some(value_at(&module.script, at).0)
    }

    /// The value of a name that a script defines: that of a constant, or what a function returns.
    fn defined_value(&mut self, file: &str, name: &str) -> Option<ScriptValue> {
        let module = self.module(file)?;
        let at = *module.values.get(name).filter(|_| self.remaining_tokens > 0)?;
        let (value, end) = value_at(&module.script, at);
        self.remaining_tokens = self.remaining_tokens.saturating_sub(end - at);
        Some(value)
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
        let module = self.module(file)?;
        let (path, exported) = module.imports.get(name)?;
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
        candidates.into_iter().find(|candidate| self.module(candidate).is_some())
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
