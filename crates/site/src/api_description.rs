//! Reads an API description.

use std::sync::{Arc, LazyLock};

use docent_markdown::{Problem, text_of, yaml};
use parking_lot::Mutex;
use regex::bytes::Regex;
use serde_json::Value;

/// The HTTP methods that operations are read for, in the order of their pages.
pub(crate) const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "options", "head", "trace"];

/// Maximum length of a chain of references.
const MAX_REFERENCE_CHAIN: usize = 16;

/// Number of descriptions that are cached for the pages that show their operations.
const KEPT: usize = 4;

/// A description of an API.
#[derive(Debug)]
pub(crate) struct Description {
    root: Value,
}

/// One operation of an API.
#[derive(Debug)]
pub(crate) struct Operation<'d> {
    /// `GET /users/{id}`, or `WEBHOOK name`.
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) path: &'d str,
    pub(crate) value: &'d Value,
    /// The path item, which holds the fields shared by all operations of the path.
    pub(crate) around: &'d Value,
    pub(crate) tag: Option<&'d str>,
}

impl Operation<'_> {
    /// Whether its authors hide it from readers.
    pub(crate) fn is_hidden(&self) -> bool {
        ["x-hidden", "x-internal", "x-excluded"].iter().any(|name| is_true(self.value.get(name)))
    }
}

/// Whether a value is true; YAML values may be the string `true`.
pub(crate) fn is_true(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Bool(true))) || value.and_then(Value::as_str) == Some("true")
}

/// Whether a file looks like an API description, before it is parsed.
pub(crate) fn may_be(bytes: &[u8]) -> bool {
    static SIGN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?m-u)(?:^["']?(?:openapi|swagger)["']?[ \t]*:|"(?:openapi|swagger)"\s*:\s*")"#)
            .expect("the pattern is written out above")
    });
    SIGN.is_match(bytes)
}

impl Description {
    /// Parses a file; `None` if it is not an API description.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>, Problem> {
        if !may_be(bytes) {
            return Ok(None);
        }
        let text = text_of(bytes);
        let text = text.trim_start_matches('\u{feff}');
        let root = if text.trim_start().starts_with('{') { json(text)? } else { yaml(text)? };
        let is_one = ["openapi", "swagger"].iter().any(|name| root.get(name).is_some())
            && ["paths", "webhooks"].iter().any(|name| root.get(name).is_some_and(Value::is_object));
        Ok(is_one.then_some(Self { root }))
    }

    pub(crate) fn title(&self) -> Option<&str> {
        self.root.get("info")?.get("title")?.as_str()
    }

    pub(crate) fn is_swagger(&self) -> bool {
        self.root.get("swagger").is_some()
    }

    /// The operations in file order, those of one path in the order of [`METHODS`], and webhooks last.
    pub(crate) fn operations(&self) -> Vec<Operation<'_>> {
        let mut found = Vec::new();
        for (group, webhooks) in [("paths", false), ("webhooks", true), ("x-webhooks", true)] {
            let Some(paths) = self.root.get(group).and_then(Value::as_object) else { continue };
            found.extend(paths.iter().flat_map(|(path, around)| self.operations_of(path, around, webhooks)));
        }
        found
    }

    fn operations_of<'d>(
        &'d self,
        path: &'d str,
        around: &'d Value,
        webhooks: bool,
    ) -> impl Iterator<Item = Operation<'d>> {
        let around = self.resolved(around);
        METHODS.into_iter().filter_map(move |method| {
            let value = around.get(method).map(|value| self.resolved(value)).filter(|value| value.is_object())?;
            let key = if webhooks { format!("WEBHOOK {path}") } else { format!("{} {path}", method.to_uppercase()) };
            let tag = value.get("tags").and_then(|tags| tags.get(0)).and_then(Value::as_str);
            Some(Operation { key, method, path, value, around, tag })
        })
    }

    /// The operation with the key `GET /users/{id}` or `WEBHOOK name`.
    pub(crate) fn operation(&self, key: &str) -> Option<Operation<'_>> {
        let (method, path) = key.split_once(' ')?;
        let groups: &[(&str, bool)] = match method {
            "WEBHOOK" => &[("webhooks", true), ("x-webhooks", true)],
            _ => &[("paths", false)],
        };
        groups.iter().find_map(|(group, webhooks)| {
            let (path, around) = self.root.get(*group)?.as_object()?.get_key_value(path)?;
            self.operations_of(path, around, *webhooks).find(|operation| operation.key == key)
        })
    }

    /// Follows references within this file and returns the referenced value, or the value itself if there is none to
    /// follow.
    pub(crate) fn resolved<'d>(&'d self, value: &'d Value) -> &'d Value {
        let mut value = value;
        for _ in 0..MAX_REFERENCE_CHAIN {
            match reference(value).and_then(|pointer| self.at(pointer)) {
                Some(next) => value = next,
                None => break,
            }
        }
        value
    }

    fn at(&self, pointer: &str) -> Option<&Value> {
        let pointer = pointer.strip_prefix('#')?;
        if pointer.contains('%') {
            let pointer = pointer.replace("%7B", "{").replace("%7D", "}").replace("%20", " ").replace("%2F", "/");
            return self.root.pointer(&pointer);
        }
        // Fast path: nearly all references go through objects by plain names, and they are resolved often.
        let plain = pointer.strip_prefix('/').filter(|pointer| !pointer.contains('~'));
        let found =
            plain.and_then(|names| names.split('/').try_fold(&self.root, |value, name| value.as_object()?.get(name)));
        found.or_else(|| self.root.pointer(pointer))
    }
}

/// The target of a value that is a reference.
pub(crate) fn reference(value: &Value) -> Option<&str> {
    text(value, "$ref")
}

/// The text of a member.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

fn json(text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text).map_err(|error| Problem {
        line: error.line().max(1),
        message: format!("this description of an API is not JSON: {error}"),
    })
}

fn yaml(text: &str) -> Result<Value, Problem> {
    yaml::read_as(text)
        .map_err(|sentence| Problem { line: 1, message: format!("this description of an API is not YAML: {sentence}") })
}

/// Caches parsed descriptions with the bytes they were parsed from, because many pages may show operations of one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cache(Arc<Mutex<Vec<Kept>>>);

type Read = Result<Option<Arc<Description>>, Problem>;

#[derive(Debug)]
struct Kept {
    file: String,
    bytes: Vec<u8>,
    read: Read,
}

impl Cache {
    /// The description in a file; `None` if the file is not an API description.
    pub(crate) fn get(&self, file: &str, bytes: &[u8]) -> Read {
        let find = |kept: &[Kept]| {
            kept.iter().find(|kept| kept.file == file && kept.bytes == bytes).map(|kept| kept.read.clone())
        };
        if let Some(read) = find(&self.0.lock()) {
            return read;
        }
        let read = Description::read(bytes).map(|read| read.map(Arc::new));
        let mut kept = self.0.lock();
        kept.retain(|kept| kept.file != file);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(Kept { file: file.to_owned(), bytes: bytes.to_vec(), read: read.clone() });
        read
    }
}
