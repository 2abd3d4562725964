//! The description, read once.

use std::sync::LazyLock;

use serde_json::Value;

/// The description of the API.
pub(crate) struct ApiDescription {
    pub(crate) value: Value,
    pub(crate) json: String,
}

pub(crate) fn description() -> &'static ApiDescription {
    static DESCRIPTION: LazyLock<ApiDescription> = LazyLock::new(|| {
        let value: Value = serde_saphyr::from_str(include_str!("../openapi.yaml")).expect("a test reads the same file");
        let json = value.to_string();
        ApiDescription { value, json }
    });
    &DESCRIPTION
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_part_is_referred_to() {
        let ApiDescription { value, .. } = description();
        assert_eq!((&value["openapi"], &value["info"]["version"]), (&Value::from("3.1.0"), &Value::from("2.0.0")));
        let mut found = Vec::new();
        references(value, &mut found);
        for reference in &found {
            assert!(value.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
        for kind in ["schemas", "responses", "parameters", "headers"] {
            for name in value["components"][kind].as_object().expect("a map").keys() {
                let reference = format!("#/components/{kind}/{name}");
                assert!(found.contains(&reference.as_str()), "{reference} is not used");
            }
        }
    }

    #[test]
    fn no_text_is_cut_at_a_comma() {
        fn check(value: &Value) {
            match value {
                Value::Object(members) => members.values().for_each(check),
                Value::Array(items) => items.iter().for_each(check),
                _ => {}
            }
            let cut = value.as_object().and_then(|members| members.iter().find(|(_, value)| value.is_null()));
            assert_eq!(cut, None, "what is behind a comma in braces is a member: put the text in quotes");
        }
        check(&description().value);
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_and_declares_the_parameters_of_its_path() {
        let value = &description().value;
        let mut names = Vec::new();
        for (path, item) in value["paths"].as_object().expect("a map") {
            let shared = item["parameters"].as_array().map_or(&[][..], Vec::as_slice);
            let declared = shared.iter().map(|parameter| match parameter["$ref"].as_str() {
                Some(reference) => &value.pointer(&reference[1..]).expect("it leads somewhere")["name"],
                None => &parameter["name"],
            });
            let declared: Vec<_> = declared.filter_map(Value::as_str).collect();
            let in_path: Vec<_> =
                path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            assert_eq!(declared, in_path, "{path}");
            for method in ["get", "post", "delete"] {
                names.extend(item[method]["operationId"].as_str());
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
