//! The part of JSON Schema that the description uses. A keyword that is not understood is a fault of its own, so that
//! nothing counts as checked which is not.

use serde_json::Value;

/// What of a value is not as a schema says. `api` has what references lead to.
pub fn faults(api: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(api, schema, value, "", &mut found);
    found
}

fn check(api: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let Some(members) = schema.as_object() else { panic!("{place}: no schema: {schema}") };
    for (keyword, rule) in members {
        let holds = match keyword.as_str() {
            "$ref" => {
                let target = api.pointer(&rule.as_str().expect("a reference")[1..]).expect("it leads somewhere");
                check(api, target, value, place, found);
                true
            }
            "allOf" => {
                list(rule).iter().for_each(|part| check(api, part, value, place, found));
                true
            }
            "anyOf" => list(rule).iter().any(|part| faults(api, part, value).is_empty()),
            "oneOf" => list(rule).iter().filter(|part| faults(api, part, value).is_empty()).count() == 1,
            "type" => match rule {
                Value::Array(kinds) => kinds.iter().any(|kind| is_a(value, kind)),
                kind => is_a(value, kind),
            },
            "enum" => list(rule).contains(value),
            "const" => rule == value,
            "required" => value
                .as_object()
                .is_none_or(|has| list(rule).iter().all(|name| has.contains_key(name.as_str().expect("a name")))),
            "properties" => {
                for (name, part) in rule.as_object().expect("properties") {
                    if let Some(inner) = value.get(name) {
                        check(api, part, inner, &format!("{place}/{name}"), found);
                    }
                }
                true
            }
            "items" => {
                for (at, inner) in value.as_array().into_iter().flatten().enumerate() {
                    check(api, rule, inner, &format!("{place}/{at}"), found);
                }
                true
            }
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= number(rule)),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= number(rule)),
            "minLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 >= number(rule)),
            "maxLength" => value.as_str().is_none_or(|text| text.chars().count() as u64 <= number(rule)),
            "minimum" => value.as_f64().is_none_or(|given| given >= rule.as_f64().expect("a number")),
            "maximum" => value.as_f64().is_none_or(|given| given <= rule.as_f64().expect("a number")),
            "format" => value.as_str().is_none_or(|text| match rule.as_str() {
                Some("date-time") => text.len() == "2026-11-28T15:00:00.000Z".len() && text.ends_with('Z'),
                Some("date") => text.len() == "2026-11-28".len(),
                other => panic!("{place}: the format {other:?} is not understood"),
            }),
            // What a server may refuse is checked by those who send it.
            "description" | "default" | "pattern" => true,
            other => panic!("{place}: the keyword {other} is not understood"),
        };
        if !holds {
            found.push(format!("{place}: {keyword} is {rule}, and the value {value}"));
        }
    }
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match kind.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the type {other} is not understood"),
    }
}

fn list(rule: &Value) -> &[Value] {
    rule.as_array().expect("a list")
}

fn number(rule: &Value) -> u64 {
    rule.as_u64().expect("a whole number")
}
