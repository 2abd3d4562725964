//! The description of the API, `crates/api-docs/openapi.yaml`, and whether an answer is as it says.
//!
//! Every answer of an operation that is described is checked as it is read ([`http`](crate::http)): its status, the
//! headers that are declared for it, its content type and its body. With `$DOCENT_SEEN`, a file, the operation and the
//! status are added there, so that what no test of a run has seen can be told afterwards.

mod schema;

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use parking_lot::Mutex;
use serde_json::Value;

pub use self::schema::faults;

use crate::binary::source_root;
use crate::http::{Headers, Request};

/// The environment variable that names the file of what was seen.
pub const SEEN: &str = "DOCENT_SEEN";

const METHODS: [&str; 3] = ["get", "post", "delete"];

/// The description of the source tree.
///
/// # Panics
/// When it can't be read.
pub fn api_description() -> &'static Value {
    static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
        let text = fs::read_to_string(source_root().join("crates/api-docs/openapi.yaml")).expect("read openapi.yaml");
        serde_saphyr::from_str(&text).expect("openapi.yaml is YAML")
    });
    &DESCRIPTION
}

/// An operation of a description.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    api: &'static Value,
    /// With its parameters in braces.
    pub path: &'static str,
    /// In small letters.
    pub method: &'static str,
    pub value: &'static Value,
}

/// The operations of a description.
///
/// # Panics
/// When it has none.
pub fn operations(api: &'static Value) -> impl Iterator<Item = Operation> {
    let paths = api["paths"].as_object().expect("a description has paths").iter();
    paths.flat_map(move |(path, item)| {
        METHODS.into_iter().filter(|method| item[method].is_object()).map(move |method| Operation {
            api,
            path,
            method,
            value: &item[method],
        })
    })
}

impl Operation {
    /// The operation that a request asks for; `None` where no such is described.
    pub fn of(method: &str, target: &str) -> Option<Self> {
        let method = if method == "HEAD" { "get".to_owned() } else { method.to_lowercase() };
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let found = operations(api_description()).filter(|operation| operation.method == method && operation.has(path));
        // `llms.txt` has an operation of its own beside that of all pages.
        found.min_by_key(|operation| operation.path.matches('{').count())
    }

    fn has(&self, path: &str) -> bool {
        let mut given = path.trim_end_matches('/').split('/');
        for part in self.path.split('/') {
            let Some(given) = given.next() else { return false };
            let fits = if part.starts_with('{') { !given.is_empty() } else { part == given };
            if !fits {
                return false;
            }
        }
        // The address of a page may have slashes.
        given.next().is_none() || self.path.ends_with("/{page}")
    }

    /// # Panics
    /// When the description does not name it.
    pub fn name(&self) -> &'static str {
        self.value["operationId"].as_str().expect("every operation has a name")
    }

    /// The statuses that are declared.
    ///
    /// # Panics
    /// When one is not a number.
    pub fn statuses(&self) -> Vec<u16> {
        let declared = self.value["responses"].as_object().expect("an operation declares responses");
        declared.keys().map(|status| status.parse().expect("a status is a number")).collect()
    }

    /// Whether a key of this kind, `adminKey` or `assistantKey`, is good for it.
    pub fn takes(&self, kind: &str) -> bool {
        self.value["security"].as_array().is_some_and(|ways| ways.iter().any(|way| way[kind].is_array()))
    }

    /// A request for it: `named` gives the names of the path, and the body is the example of the description.
    ///
    /// # Panics
    /// When it wants a body and has no example.
    pub fn request(&self, named: impl Fn(&str) -> String) -> Request {
        let parts =
            self.path.split('/').map(|part| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
                Some(name) => named(name),
                None => part.to_owned(),
            });
        let request = Request::new(&self.method.to_uppercase(), parts.collect::<Vec<_>>().join("/"));
        match self.example() {
            Some(example) => request.json(example),
            None => request,
        }
    }

    /// The example of its body; `None` without a body.
    ///
    /// # Panics
    /// When it wants a body and has no example.
    pub fn example(&self) -> Option<&'static Value> {
        let body = self.value.get("requestBody")?;
        Some(
            body["content"]["application/json"]
                .get("example")
                .unwrap_or_else(|| panic!("{} has an example", self.name())),
        )
    }

    fn response(&self, status: u16) -> Option<&'static Value> {
        let declared = self.value["responses"].get(status.to_string())?;
        Some(self.followed(declared))
    }

    fn followed(&self, value: &'static Value) -> &'static Value {
        match value["$ref"].as_str() {
            Some(reference) => self.api.pointer(&reference[1..]).expect("a reference leads somewhere"),
            None => value,
        }
    }

    /// What is not as described in the head of an answer.
    pub fn head_faults(&self, status: u16, headers: &Headers) -> Vec<String> {
        let Some(response) = self.response(status) else { return vec!["the status is not declared".to_owned()] };
        let mut found = Vec::new();
        if headers.get("X-Request-Id").is_none_or(str::is_empty) {
            found.push("there is no X-Request-Id".to_owned());
        }
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let header = self.followed(header);
            match headers.get(name) {
                Some(given) => found.extend(self.header_faults(name, &header["schema"], given)),
                None if header["required"] == true => found.push(format!("there is no {name}")),
                None => {}
            }
        }
        match content_type(headers) {
            Some(kind) if response["content"][kind]["schema"].is_null() => {
                found.push(format!("the content type {kind} is not declared"));
            }
            None if response["content"].is_object() => found.push("there is no content type".to_owned()),
            _ => {}
        }
        found
    }

    fn header_faults(&self, name: &str, schema: &Value, given: &str) -> Vec<String> {
        let value = match schema["type"].as_str() {
            Some("integer") => given.parse::<u64>().map_or_else(|_| Value::from(given), Value::from),
            _ => Value::from(given),
        };
        faults(self.api, schema, &value).into_iter().map(|fault| format!("{name}: {fault}")).collect()
    }

    /// What is not as described in the body of an answer.
    pub fn body_faults(&self, status: u16, headers: &Headers, body: &[u8]) -> Vec<String> {
        let Some(response) = self.response(status) else { return Vec::new() };
        let Some(kind) = content_type(headers) else {
            return if body.is_empty() { Vec::new() } else { vec!["a body without a content type".to_owned()] };
        };
        let Ok(text) = std::str::from_utf8(body) else { return vec!["the body is not UTF-8".to_owned()] };
        let value = match kind {
            "application/json" => match serde_json::from_str(text) {
                Ok(value) => value,
                Err(error) => return vec![format!("the body is not JSON: {error}")],
            },
            "text/event-stream" if !text.split('\n').all(is_line_of_events) => {
                return vec!["the body is not a stream of events".to_owned()];
            }
            _ => Value::from(text),
        };
        faults(self.api, &response["content"][kind]["schema"], &value)
    }

    /// Notes that an answer with this status was seen.
    pub fn note(&self, status: u16) {
        static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
        let Some(file) = std::env::var_os(SEEN).map(PathBuf::from) else { return };
        let line = format!("{} {status}\n", self.name());
        if NOTED.lock().insert(line.clone()) {
            let mut file =
                OpenOptions::new().create(true).append(true).open(file).expect("open the file of $DOCENT_SEEN");
            file.write_all(line.as_bytes()).expect("note what was seen");
        }
    }
}

fn content_type(headers: &Headers) -> Option<&str> {
    headers.get("Content-Type").and_then(|kind| kind.split(';').next())
}

/// Whether a line is one of server-sent events: a field, a comment, or the end of an event.
fn is_line_of_events(line: &str) -> bool {
    line.is_empty() || [":", "data:", "event:", "id:", "retry:"].iter().any(|start| line.starts_with(start))
}
