//! The description as a page, without scripts.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Map, Value};

const STYLE: &str = "
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{overflow:auto;padding:.75rem;border:1px solid #8886}
section{border-top:1px solid #8886;margin-top:2rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8883}
.old{opacity:.7}
";

pub(crate) fn page(api: &Value) -> Markup {
    let info = &api["info"];
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { (text(&info["title"])) " API" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (text(&info["title"])) " API " (text(&info["version"])) }
                p { (text(&info["description"])) }
                p { a href="/openapi.json" { "openapi.json" } }
                @for tag in list(&api["tags"]) { (tagged(api, tag)) }
                section {
                    h2 { "Webhooks" }
                    @for (_, item) in members(&api["webhooks"]) { (operation(api, "post", "your URL", item, &item["post"])) }
                }
                section {
                    h2 { "Schemas" }
                    @for (name, schema) in members(&api["components"]["schemas"]) {
                        h3 id=(format!("schema-{name}")) { (name) }
                        (shape(schema))
                    }
                }
            }
        }
    }
}

/// The operations of a tag.
fn tagged(api: &Value, tag: &Value) -> Markup {
    html! {
        section {
            h2 { (text(&tag["name"])) }
            p { (text(&tag["description"])) }
            @for (path, item) in members(&api["paths"]) {
                @for method in ["get", "post", "delete"] {
                    @if list(&item[method]["tags"]).contains(&tag["name"]) {
                        (operation(api, method, path, item, &item[method]))
                    }
                }
            }
        }
    }
}

fn operation(api: &Value, method: &str, path: &str, item: &Value, operation: &Value) -> Markup {
    let is_old = operation["deprecated"] == Value::Bool(true);
    let parameters = list(&item["parameters"]).iter().chain(list(&operation["parameters"]));
    let parameters: Vec<&Value> = parameters.map(|parameter| resolved(api, parameter)).collect();
    let body = members(&operation["requestBody"]["content"]);
    html! {
        article id=(text(&operation["operationId"])) class=[is_old.then_some("old")] {
            h3 { code { (method.to_uppercase()) " " (path) } }
            p { (text(&operation["summary"])) "." @if is_old { " Deprecated." } }
            @if operation["description"].is_string() { p { (text(&operation["description"])) } }
            @if let Some(key) = key(operation) { p { (key) } }
            @if !parameters.is_empty() {
                table {
                    @for parameter in parameters {
                        tr {
                            td { code { (text(&parameter["name"])) } }
                            td { (text(&parameter["in"])) }
                            td { (kind(&parameter["schema"])) }
                            td { (text(&parameter["description"])) }
                        }
                    }
                }
            }
            @for (_, content) in body {
                p { "Body: " (kind(&content["schema"])) }
                @if content["example"].is_object() { pre { (content["example"].to_string()) } }
            }
            table {
                @for (status, response) in members(&operation["responses"]) {
                    @let response = resolved(api, response);
                    tr {
                        td { (status) }
                        td { (text(&response["description"])) }
                        td {
                            @for (media, content) in members(&response["content"]) {
                                code { (media) } " " (kind(&content["schema"])) " "
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Which key an operation takes, in words.
fn key(operation: &Value) -> Option<&'static str> {
    let kinds = list(&operation["security"]);
    let takes = |name: &str| kinds.iter().any(|kind| kind.get(name).is_some());
    let is_optional = kinds.iter().any(|kind| kind.as_object().is_some_and(Map::is_empty));
    match (takes("adminKey"), takes("assistantKey"), is_optional) {
        (true, ..) => Some("With an admin key."),
        (_, true, false) => Some("With an assistant key."),
        (_, true, true) => Some("With an assistant key, or without one where the docs are public."),
        _ => None,
    }
}

/// The properties of an object, or the kind of another value.
fn shape(schema: &Value) -> Markup {
    let required = list(&schema["required"]);
    html! {
        @for part in list(&schema["allOf"]) {
            @if part["$ref"].is_string() { p { "As " (kind(part)) ", and:" } } @else { (shape(part)) }
        }
        @if schema["properties"].is_object() {
            table {
                @for (name, property) in members(&schema["properties"]) {
                    tr {
                        td { code { (name) } @if required.iter().any(|one| one == name) { " *" } }
                        td { (kind(property)) }
                        td { (text(&property["description"])) }
                    }
                }
            }
        } @else if schema["allOf"].is_null() {
            p { (kind(schema)) " " (text(&schema["description"])) }
        }
    }
}

/// The kind of a value in a few words, with links to schemas.
fn kind(schema: &Value) -> Markup {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return html! { a href=(format!("#schema-{name}")) { (name) } };
    }
    if schema["items"].is_object() {
        return html! { "array of " (kind(&schema["items"])) };
    }
    let choices = list(&schema["enum"]);
    if !choices.is_empty() {
        let choices: Vec<_> = choices.iter().map(text).collect();
        return html! { (choices.join(" · ")) };
    }
    if !schema["const"].is_null() {
        return html! { code { (schema["const"].to_string()) } };
    }
    let either = list(&schema["anyOf"]);
    if !either.is_empty() {
        return html! { @for (at, one) in either.iter().enumerate() { @if at > 0 { " or " } (kind(one)) } };
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    };
    let name = if kinds.is_empty() { "object".to_owned() } else { kinds.join(" or ") };
    html! {
        (name)
        @if schema["properties"].is_object() && schema["$ref"].is_null() {
            " { " (members(&schema["properties"]).map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")) " }"
        }
    }
}

fn resolved<'a>(api: &'a Value, part: &'a Value) -> &'a Value {
    part["$ref"].as_str().and_then(|reference| api.pointer(reference.strip_prefix('#')?)).unwrap_or(part)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use crate::description::description;

    use super::*;

    #[test]
    fn the_page_has_every_operation_once_and_its_links_lead_to_schemas() {
        let api = &description().value;
        let page = page(api).into_string();
        for (path, item) in members(&api["paths"]) {
            for method in ["get", "post", "delete"] {
                if let Some(name) = item[method]["operationId"].as_str() {
                    assert_eq!(page.matches(&format!("id=\"{name}\"")).count(), 1, "{method} {path}");
                }
            }
        }
        for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!("id=\"{link}\"")), "{link}");
        }
        assert!(!page.contains("<script"));
    }
}
