//! What of a description of the API breaks clients of an older one.
//!
//! What was sent must go on being taken, and what is answered must stay what was expected: a schema of requests may only
//! grow, one of answers only shrink, and nothing that has a name may go.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};

const METHODS: [&str; 3] = ["get", "post", "delete"];
/// How deep schemas are compared; none is as deep.
const DEEPEST: usize = 30;

/// The differences between two descriptions that break clients of the old one.
pub(crate) fn breaking(old: &Value, new: &Value) -> Vec<String> {
    let (old, new) = (Api(old), Api(new));
    let mut found = Vec::new();
    for (path, item) in map(&old.0["paths"]) {
        let now = &new.0["paths"][path];
        for method in METHODS.into_iter().filter(|method| item[method].is_object()) {
            let place = format!("{} {path}", method.to_uppercase());
            if now[method].is_object() {
                operation(Side { api: old, item, method }, Side { api: new, item: now, method }, &place, &mut found);
            } else {
                found.push(format!("{place} is gone"));
            }
        }
    }
    found
}

#[derive(Clone, Copy)]
struct Api<'a>(&'a Value);

impl<'a> Api<'a> {
    fn followed(self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => self.0.pointer(&reference[1..]).unwrap_or(&Value::Null),
            None => value,
        }
    }
}

/// An operation of one of the descriptions.
#[derive(Clone, Copy)]
struct Side<'a> {
    api: Api<'a>,
    item: &'a Value,
    method: &'a str,
}

impl<'a> Side<'a> {
    fn operation(self) -> &'a Value {
        &self.item[self.method]
    }

    fn parameters(self) -> impl Iterator<Item = &'a Value> {
        let lists = [&self.item["parameters"], &self.operation()["parameters"]];
        lists.into_iter().flat_map(list).map(move |parameter| self.api.followed(parameter))
    }

    fn parameter(self, like: &Value) -> Option<&'a Value> {
        self.parameters().find(|parameter| parameter["name"] == like["name"] && parameter["in"] == like["in"])
    }

    fn body(self) -> Schema<'a> {
        let body = self.api.followed(&self.operation()["requestBody"]);
        Schema::of(self.api, &body["content"]["application/json"]["schema"])
    }
}

fn operation(old: Side<'_>, new: Side<'_>, place: &str, found: &mut Vec<String>) {
    for parameter in old.parameters() {
        let name = format!("{place}: the parameter {}", parameter["name"]);
        match new.parameter(parameter) {
            Some(now) => {
                let (before, after) = (Schema::of(old.api, &parameter["schema"]), Schema::of(new.api, &now["schema"]));
                refused(&before, &after, &name, DEEPEST, found);
            }
            None => found.push(format!("{name} is gone")),
        }
    }
    for parameter in new.parameters().filter(|parameter| parameter["required"] == true) {
        if old.parameter(parameter).is_none_or(|before| before["required"] != true) {
            found.push(format!("{place}: the parameter {} is required now", parameter["name"]));
        }
    }
    let body = format!("{place}: the body");
    refused(&old.body(), &new.body(), &body, DEEPEST, found);
    gone(&old.body(), &new.body(), &body, DEEPEST, found);
    for (status, response) in map(&old.operation()["responses"]) {
        let place = format!("{place}: {status}");
        let Some(now) = new.operation()["responses"].get(status) else {
            found.push(format!("{place} is gone"));
            continue;
        };
        let (response, now) = (old.api.followed(response), new.api.followed(now));
        for (header, _) in map(&response["headers"]).iter().filter(|(name, _)| now["headers"].get(*name).is_none()) {
            found.push(format!("{place}: the header {header} is gone"));
        }
        for (kind, content) in map(&response["content"]) {
            let Some(now) = now["content"].get(kind) else {
                found.push(format!("{place}: {kind} is gone"));
                continue;
            };
            let (before, after) = (Schema::of(old.api, &content["schema"]), Schema::of(new.api, &now["schema"]));
            // The other way round: what may be answered now must be what was expected.
            refused(&after, &before, &place, DEEPEST, found);
            gone(&before, &after, &place, DEEPEST, found);
        }
    }
}

/// A schema with its references followed and the parts of its `allOf` in one.
struct Schema<'a> {
    api: Api<'a>,
    members: Map<String, Value>,
}

impl<'a> Schema<'a> {
    fn of(api: Api<'a>, value: &Value) -> Self {
        let mut members = Map::new();
        Self::gather(api, value, &mut members, DEEPEST);
        Self { api, members }
    }

    fn gather(api: Api<'_>, value: &Value, into: &mut Map<String, Value>, deep: usize) {
        let Some(deep) = deep.checked_sub(1) else { return };
        for (name, member) in map(value) {
            match (name.as_str(), into.get_mut(name)) {
                ("$ref", _) => Self::gather(api, api.followed(value), into, deep),
                ("allOf", _) => list(member).for_each(|part| Self::gather(api, part, into, deep)),
                ("properties", Some(Value::Object(have))) => have.extend(map(member).clone()),
                ("required", Some(Value::Array(have))) => have.extend(list(member).cloned()),
                _ => drop(into.insert(name.clone(), member.clone())),
            }
        }
    }

    fn names(&self, keyword: &str) -> Option<BTreeSet<String>> {
        match self.members.get(keyword)? {
            Value::Array(names) => Some(names.iter().map(Value::to_string).collect()),
            name => Some(BTreeSet::from([name.to_string()])),
        }
    }

    /// The values that are allowed, where they are listed.
    fn values(&self) -> Option<BTreeSet<String>> {
        self.names("enum").or_else(|| Some(BTreeSet::from([self.members.get("const")?.to_string()])))
    }

    fn types(&self) -> Option<BTreeSet<String>> {
        let mut types = self.names("type")?;
        if types.contains("\"number\"") {
            types.insert("\"integer\"".to_owned());
        }
        Some(types)
    }

    fn parts(&self) -> Vec<(String, Self)> {
        let properties = self.members.get("properties").into_iter().flat_map(map);
        let properties = properties.map(|(name, part)| (format!("/{name}"), part));
        let items = self.members.get("items").map(|part| ("/*".to_owned(), part));
        properties.chain(items).map(|(name, part)| (name, Self::of(self.api, part))).collect()
    }

    fn ways(&self) -> Vec<Self> {
        let ways = ["anyOf", "oneOf"].into_iter().filter_map(|keyword| self.members.get(keyword)).flat_map(list);
        ways.map(|way| Self::of(self.api, way)).collect()
    }
}

/// What fits `given` and does not fit `wanted`.
fn refused(given: &Schema<'_>, wanted: &Schema<'_>, place: &str, deep: usize, found: &mut Vec<String>) {
    let Some(deep) = deep.checked_sub(1) else { return };
    for (what, given, wanted) in [("type", given.types(), wanted.types()), ("value", given.values(), wanted.values())] {
        match (given, wanted) {
            (Some(given), Some(wanted)) => {
                found.extend(given.difference(&wanted).map(|name| format!("{place}: the {what} {name}")));
            }
            (None, Some(_)) => found.push(format!("{place}: any {what}")),
            _ => {}
        }
    }
    let (has, needs) = (given.names("required").unwrap_or_default(), wanted.names("required").unwrap_or_default());
    found.extend(needs.difference(&has).map(|name| format!("{place}: required is {name}")));
    for (bound, is_lower) in [
        ("minimum", true),
        ("minLength", true),
        ("minItems", true),
        ("maximum", false),
        ("maxLength", false),
        ("maxItems", false),
    ] {
        let number = |schema: &Schema<'_>| schema.members.get(bound).and_then(Value::as_f64);
        let Some(limit) = number(wanted) else { continue };
        if number(given).is_none_or(|given| if is_lower { given < limit } else { given > limit }) {
            found.push(format!("{place}: {bound} is {limit}"));
        }
    }
    let parts = wanted.parts();
    for (name, part) in given.parts() {
        if let Some((_, other)) = parts.iter().find(|(other, _)| *other == name) {
            refused(&part, other, &format!("{place}{name}"), deep, found);
        }
    }
    let (ways, into) = (given.ways(), wanted.ways());
    for (at, way) in ways.iter().enumerate().filter(|_| !into.is_empty()) {
        let fits = |other: &Schema<'_>| {
            let mut faults = Vec::new();
            refused(way, other, place, deep, &mut faults);
            faults.is_empty()
        };
        if !into.iter().any(fits) {
            found.push(format!("{place}: alternative {}", at + 1));
        }
    }
}

/// The properties of `old` that `new` does not name.
fn gone(old: &Schema<'_>, new: &Schema<'_>, place: &str, deep: usize, found: &mut Vec<String>) {
    let Some(deep) = deep.checked_sub(1) else { return };
    let parts = new.parts();
    for (name, part) in old.parts() {
        match parts.iter().find(|(other, _)| *other == name) {
            Some((_, other)) => gone(&part, other, &format!("{place}{name}"), deep, found),
            None => found.push(format!("{place}{name} is gone")),
        }
    }
}

fn map(value: &Value) -> &Map<String, Value> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    value.as_object().unwrap_or(&NONE)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::description::description;

    #[test]
    fn nothing_breaks_clients_of_the_last_release() {
        let released: Value = serde_saphyr::from_str(include_str!("../released.yaml")).expect("YAML");
        assert_eq!(breaking(&released, &description().value), [""; 0]);
    }

    fn api() -> Value {
        json!({
            "paths": {"/jobs/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
                "get": {"responses": {"200": {"description": "d"}}},
                "post": {
                    "parameters": [{"$ref": "#/components/parameters/wait"}],
                    "requestBody": {"content": {"application/json": {"schema": {
                        "allOf": [{"$ref": "#/components/schemas/Base"}],
                        "required": ["kind"],
                        "properties": {"kind": {"enum": ["a", "b"]}, "size": {"type": ["integer", "null"], "maximum": 9}},
                    }}}},
                    "responses": {
                        "200": {
                            "headers": {"ETag": {"schema": {"type": "string"}}},
                            "content": {
                                "application/json": {"schema": {
                                    "type": "object",
                                    "required": ["state"],
                                    "properties": {
                                        "state": {"enum": ["on", "off"]},
                                        "at": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                                        "more": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                                    },
                                }},
                                "text/csv": {"schema": {"type": "string"}},
                            },
                        },
                        "404": {"description": "d"},
                    },
                },
            }},
            "components": {
                "parameters": {"wait": {"name": "wait", "in": "query", "schema": {"type": "integer", "maximum": 60}}},
                "schemas": {"Base": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string", "maxLength": 20}}}},
            },
        })
    }

    /// The description with what is at a place replaced, or removed if the new value is null.
    fn with(place: &str, value: &Value) -> Value {
        let mut api = api();
        let (holder, name) = place.rsplit_once('/').expect("a place");
        let (holder, name) = (api.pointer_mut(holder).expect("it is there"), name.replace("~1", "/"));
        match (holder, value) {
            (Value::Object(members), Value::Null) => drop(members.remove(&name).expect("it was there")),
            (Value::Object(members), value) => drop(members.insert(name, value.clone())),
            _ => panic!("{place} is in an object"),
        }
        api
    }

    const POST: &str = "/paths/~1jobs~1{id}/post";
    const BODY: &str = "/paths/~1jobs~1{id}/post/requestBody/content/application~1json/schema";
    const ANSWER: &str = "/paths/~1jobs~1{id}/post/responses/200/content/application~1json/schema";

    #[test]
    fn each_kind_of_difference_that_breaks_clients_is_found() {
        let gone = Value::Null;
        for (place, value, expected) in [
            ("/paths".to_owned() + "/~1jobs~1{id}", &json!({}), "GET /jobs/{id} is gone"),
            (POST.to_owned(), &gone, "POST /jobs/{id} is gone"),
            (format!("{POST}/responses/404"), &gone, ": 404 is gone"),
            (format!("{POST}/responses/200/headers/ETag"), &gone, ": the header ETag is gone"),
            (format!("{POST}/responses/200/content/text~1csv"), &gone, ": text/csv is gone"),
            (format!("{POST}/parameters"), &json!([]), ": the parameter \"wait\" is gone"),
            (
                "/components/parameters/wait/required".to_owned(),
                &json!(true),
                ": the parameter \"wait\" is required now",
            ),
            (
                "/components/parameters/wait/schema".to_owned(),
                &json!({"type": "integer", "maximum": 30}),
                ": maximum is 30",
            ),
            (format!("{BODY}/required"), &json!(["kind", "size"]), ": the body: required is \"size\""),
            (format!("{BODY}/properties/kind/enum"), &json!(["a"]), "/kind: the value \"b\""),
            (format!("{BODY}/properties/size/type"), &json!("integer"), "/size: the type \"null\""),
            (format!("{BODY}/properties/size"), &gone, ": the body/size is gone"),
            ("/components/schemas/Base/properties/name/maxLength".to_owned(), &json!(10), "/name: maxLength is 10"),
            ("/components/schemas/Base/properties/name/minLength".to_owned(), &json!(1), "/name: minLength is 1"),
            (format!("{ANSWER}/required"), &json!([]), ": 200: required is \"state\""),
            (format!("{ANSWER}/properties/state/enum"), &json!(["on", "off", "odd"]), "/state: the value \"odd\""),
            (format!("{ANSWER}/properties/state"), &json!({"type": "string"}), "/state: any value"),
            (format!("{ANSWER}/properties/more"), &gone, ": 200/more is gone"),
            (format!("{ANSWER}/properties/more/items/minimum"), &gone, "/more/*: minimum is 0"),
            (format!("{ANSWER}/properties/more/items/type"), &json!("number"), "/more/*: the type \"number\""),
            (
                format!("{ANSWER}/properties/at/anyOf"),
                &json!([{"type": "string"}, {"type": "integer"}]),
                "/at: alternative 2",
            ),
        ] {
            let found = breaking(&api(), &with(&place, value));
            assert!(found.iter().any(|fault| fault.ends_with(expected)), "{place}: {found:?}");
        }
    }

    #[test]
    fn what_clients_do_not_notice_is_no_difference() {
        assert_eq!(breaking(&api(), &api()), [""; 0]);
        for (place, value) in [
            ("/paths/~1more".to_owned(), json!({"get": {}})),
            (format!("{POST}/responses/409"), json!({"description": "d"})),
            (format!("{BODY}/properties/new"), json!({"type": "string"})),
            (format!("{BODY}/required"), json!([])),
            (format!("{BODY}/properties/kind/enum"), json!(["a", "b", "c"])),
            (format!("{BODY}/properties/size/maximum"), Value::Null),
            (format!("{ANSWER}/required"), json!(["state", "at"])),
            (format!("{ANSWER}/properties/state/enum"), json!(["on"])),
            (format!("{ANSWER}/properties/new"), json!({"type": "string"})),
        ] {
            assert_eq!(breaking(&api(), &with(&place, &value)), [""; 0], "{place}");
        }
    }
}
