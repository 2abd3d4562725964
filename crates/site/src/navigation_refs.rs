//! Navigation in several files: `{"$ref": "./nav/en.json"}` is replaced by the contents of that file.

use docent_markdown::{Depth, Lines, Problem, folder, joined, text_of};

use crate::layout::FileProblem;
use crate::navigation_json::{self, Json, Value};
use crate::tree::{Tree, from_config_folder};

/// Maximum nesting of values, over all files together.
const MAX_DEPTH: usize = 2 * navigation_json::MAX_DEPTH;

/// In bytes: most that is read by references; a file that is referred to several times counts each time.
const MAX_BYTES: usize = 4 << 20;

/// Maximum number of references that are followed in one navigation.
const MAX_REFERENCES: usize = 500;

/// A configuration with its references resolved. [`Json::file`] of each value is the index of the file that contains
/// it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resolved {
    /// `None` when the first file is not JSON.
    pub(crate) root: Option<Json>,
    /// The files and their texts, the configuration itself first.
    pub(crate) files: Vec<(String, String)>,
    pub(crate) problems: Vec<FileProblem>,
}

/// Reads a configuration in the folder `home`, if it exists.
pub(crate) fn resolved(tree: &dyn Tree, home: &str, name: &str) -> Option<Resolved> {
    let file = from_config_folder(tree, home, name);
    let bytes = tree.read(&file)?;
    let mut reader = ReferenceReader { tree, home, out: Resolved::default(), followed: 0, bytes_left: MAX_BYTES };
    reader.out.root = reader.read(&file, &bytes, name).map(|(json, _)| json);
    Some(reader.out)
}

struct ReferenceReader<'t> {
    tree: &'t dyn Tree,
    home: &'t str,
    out: Resolved,
    followed: usize,
    bytes_left: usize,
}

impl ReferenceReader<'_> {
    /// Reads a file and resolves its references; returns its value and its index. `inside` is its path relative to the
    /// folder of the configuration.
    fn read(&mut self, file: &str, bytes: &[u8], inside: &str) -> Option<(Json, usize)> {
        let mut around = Vec::new();
        self.read_within(file, bytes, inside, &mut around, Depth::of(MAX_DEPTH))
    }

    fn read_within(
        &mut self,
        file: &str,
        bytes: &[u8],
        inside: &str,
        around: &mut Vec<String>,
        depth: Depth,
    ) -> Option<(Json, usize)> {
        let text = text_of(bytes).into_owned();
        let number = match self.out.files.iter().position(|(known, _)| known == file) {
            Some(number) => number,
            None => {
                self.out.files.push((file.to_owned(), text.clone()));
                self.out.files.len() - 1
            }
        };
        match navigation_json::read(&text) {
            Ok(json) => {
                around.push(inside.to_owned());
                let json = self.value(json, number, inside, around, depth);
                around.pop();
                Some((json, number))
            }
            Err(at) => {
                let line = Lines::of(&text).number(at);
                self.problem(file, line, format!("{file} is not JSON from here on"));
                None
            }
        }
    }

    /// A value with its references resolved. What is nested too deep, over all files together, becomes an empty list.
    fn value(&mut self, json: Json, number: usize, inside: &str, around: &mut Vec<String>, depth: Depth) -> Json {
        let Json { span, value, .. } = json;
        let Some(depth) = depth.inside() else {
            let at = self.out.files[number].0.clone();
            self.problem(&at, 1, "the references are nested too deep; what is inside is left out".to_owned());
            return Json { span, value: Value::List(Vec::new()), file: number };
        };
        let value = match value {
            Value::List(items) => {
                Value::List(items.into_iter().map(|item| self.value(item, number, inside, around, depth)).collect())
            }
            Value::Object(members) => {
                let reference = members.iter().find(|(name, _)| name == "$ref").and_then(|(_, value)| value.text());
                if let Some(reference) = reference.map(str::to_owned)
                    && let Some(found) = self.resolve(&reference, number, inside, around, depth)
                {
                    let own = members.into_iter().filter(|(name, _)| name != "$ref");
                    let own: Vec<(String, Json)> =
                        own.map(|(name, value)| (name, self.value(value, number, inside, around, depth))).collect();
                    let Value::Object(mut members) = found.value else { return found };
                    // Members beside the reference override members of the referenced object.
                    members.retain(|(name, _)| own.iter().all(|(owned, _)| owned != name));
                    members.extend(own);
                    return Json { value: Value::Object(members), ..found };
                }
                let members = members.into_iter();
                Value::Object(
                    members.map(|(name, value)| (name, self.value(value, number, inside, around, depth))).collect(),
                )
            }
            other => other,
        };
        Json { span, value, file: number }
    }

    fn resolve(
        &mut self,
        reference: &str,
        number: usize,
        inside: &str,
        around: &mut Vec<String>,
        depth: Depth,
    ) -> Option<Json> {
        let at = self.out.files[number].0.clone();
        let Some(wanted) = joined(folder(inside), reference) else {
            self.problem(&at, 1, format!("`{reference}` leads out of the docs"));
            return None;
        };
        self.followed += 1;
        if around.contains(&wanted) || self.followed > MAX_REFERENCES {
            self.problem(&at, 1, format!("`{reference}` leads in a circle, or there are too many references"));
            return None;
        }
        let file = from_config_folder(self.tree, self.home, &wanted);
        let Some(bytes) = self.tree.read(&file).filter(|bytes| bytes.len() <= self.bytes_left) else {
            self.problem(&at, 1, format!("there is no file `{reference}`, or too much is referred to"));
            return None;
        };
        self.bytes_left -= bytes.len();
        self.read_within(&file, &bytes, &wanted, around, depth).map(|(json, _)| json)
    }

    fn problem(&mut self, file: &str, line: usize, message: String) {
        self.out.problems.push(FileProblem { file: file.to_owned(), problem: Problem { line, message } });
    }
}
