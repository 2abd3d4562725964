use proptest::prelude::*;

use super::*;
use crate::read_file::read_file;
use crate::sample::{Files, site};

const PETS: &str = r##"{
  "openapi": "3.1.0",
  "info": {"title": "Pets"},
  "paths": {
    "/pets/{id}": {
      "parameters": [{"$ref": "#/components/parameters/Id"}],
      "get": {
        "tags": ["Pet care"], "summary": "Get a pet", "description": "Gives one pet.\n\nAnd more.",
        "responses": {"200": {"description": "A pet", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}, "404": {"description": "None | there"}}
      },
      "delete": {"tags": ["Pet care"], "operationId": "deletePet", "responses": {}}
    },
    "/pets": {
      "post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}, "example": {"name": "Rex"}}}}}
    }
  },
  "webhooks": {"petBorn": {"post": {"summary": "A pet is born"}}},
  "components": {
    "parameters": {"Id": {"name": "id", "in": "path", "required": true, "description": "Which | one", "schema": {"type": "string", "format": "uuid"}}},
    "schemas": {"Pet": {"type": "object", "required": ["name"], "properties": {
      "name": {"type": "string", "description": "What it\nis called"},
      "kind": {"type": "string", "enum": ["cat", "dog"], "default": "cat"},
      "parents": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}
    }}}
  }
}"##;

fn read_in(tree: &Files, file: &str) -> FileRead {
    read_file(&Layout::read(tree), file, &tree[file], tree)
}

fn paths(read: &FileRead) -> Vec<&str> {
    read.pages.iter().map(|page| page.place.site_path.as_str()).collect()
}

#[test]
fn every_operation_is_a_page() {
    let tree = site(&[("index.md", "# Home"), ("reference/pets.json", PETS)]);
    let read = read_in(&tree, "reference/pets.json");
    assert_eq!(read.problems, []);
    assert_eq!(
        paths(&read),
        [
            "reference/pets/pet-care/get-a-pet",
            "reference/pets/pet-care/deletepet",
            "reference/pets/post-pets",
            "reference/pets/a-pet-is-born"
        ]
    );
    let get = &read.pages[0];
    assert_eq!(get.page.title.as_deref(), Some("Get a pet"));
    assert_eq!(get.page.front_matter.description(), Some("Gives one pet."));
    assert_eq!(get.place.groups, ["Pets", "Pet care"]);
    let text: String = get.page.sections.iter().map(|section| section.markdown.as_str()).collect::<Vec<_>>().join("\n");
    for expected in [
        "`GET /pets/{id}`",
        "And more.",
        "| `id` | path | string (uuid) | yes | Which \\| one |",
        "- `name` (string, required): What it is called",
        "- `kind` (string): One of `cat`, `dog`. Default `cat`.",
        "- `parents` (array of Pet)",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let anchors: Vec<&str> = get.page.anchors().collect();
    assert_eq!(anchors, ["parameters", "responses", "200", "404"]);
    assert!(
        read.pages[2].page.sections.iter().any(|section| section.code.iter().any(|code| code.text.contains("Rex")))
    );
}

#[test]
fn yaml_and_older_descriptions_are_read_alike() {
    let yaml = "swagger: '2.0'\ninfo: {title: Old}\npaths:\n  /a:\n    get:\n      summary: Get it\n      parameters:\n        - {name: q, in: query, type: integer, required: true}\n        - name: body\n          in: body\n          schema: {type: object, properties: {x: {type: string}}}\n      responses:\n        200:\n          description: Fine\n          schema: {type: array, items: {type: string}}\n";
    let tree = site(&[("index.md", "# Home"), ("api/swagger.yaml", yaml)]);
    let read = read_in(&tree, "api/swagger.yaml");
    assert_eq!(paths(&read), ["api/swagger/get-it"]);
    let text = &read.pages[0].text;
    for expected in ["| `q` | query | integer | yes |", "- `x` (string)", "### 200", "array of string"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn the_navigation_says_which_operations_are_shown_and_where() {
    let docs = r#"{"navigation": {"tabs": [
        {"tab": "API", "groups": [
            {"group": "Pets", "openapi": {"source": "/pets.json", "directory": "pets"}, "pages": ["GET /pets/{id}", "index"]},
            {"group": "Hooks", "pages": ["pets.json WEBHOOK petBorn"]}
        ]}
    ]}}"#;
    let tree = site(&[("docs.json", docs), ("index.mdx", "# Home"), ("pets.json", PETS)]);
    let read = read_in(&tree, "pets.json");
    assert_eq!(paths(&read), ["pets/pet-care/get-a-pet", "api-reference/a-pet-is-born"]);
    assert_eq!(read.pages[0].place.groups, ["API", "Pets", "Pet care"]);
}

#[test]
fn an_operation_that_a_page_shows_is_that_pages() {
    let tree = site(&[
        ("docs.json", r#"{"openapi": "pets.json", "navigation": ["get", "none"]}"#),
        ("get.mdx", "---\nopenapi: get /pets/{id}\n---\n\nWords of the author.\n"),
        ("none.mdx", "---\nopenapi: GET /nothing\n---\n"),
        ("pets.json", PETS),
    ]);
    let page = read_in(&tree, "get.mdx");
    assert_eq!((page.problems.as_slice(), page.included.as_slice()), (&[][..], &["pets.json".to_owned()][..]));
    let [page] = page.pages.as_slice() else { panic!("one page") };
    assert_eq!((page.page.title.as_deref(), page.place.site_path.as_str()), (Some("Get a pet"), "get"));
    assert!(page.text.contains("Words of the author.") && page.text.contains("| `id` | path |"));

    let api = read_in(&tree, "pets.json");
    assert!(!paths(&api).contains(&"api-reference/pet-care/get-a-pet"), "{:?}", paths(&api));
    assert_eq!((api.pages.len(), api.included.as_slice()), (3, &["get.mdx".to_owned(), "none.mdx".to_owned()][..]));
    assert_eq!(read_in(&tree, "none.mdx").problems.len(), 1);
}

#[test]
fn other_data_makes_no_pages_and_a_broken_description_is_told() {
    for (text, problems) in [
        ("{\"a\": 1}", 0),
        ("{\"openapi\": \"3.0.0\"}", 0),
        ("{\"openapi\": \"3.0.0\", \"paths\": {", 1),
        ("openapi: 3.0.0\npaths: [}\n", 1),
    ] {
        let read = read_in(&site(&[("index.md", ""), ("a.json", text)]), "a.json");
        assert_eq!((read.pages.len(), read.problems.len()), (0, problems), "{text}");
    }
}

#[test]
fn choices_of_one_kind_are_named_once() {
    let schema = r#"{"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "string"}]}"#;
    let tree = site(&[(
        "api.json",
        &format!(
            r#"{{"openapi": "3.1.0", "paths": {{"/a": {{"get": {{"parameters": [{{"name": "of", "in": "query", "schema": {schema}}}]}}}}}}}}"#
        ),
    )]);
    let read = read_in(&tree, "api.json");
    let text: String = read.pages[0].page.sections.iter().map(|section| section.markdown.as_str()).collect();
    assert!(text.contains("| string or integer |"), "{text}");
}

#[test]
fn a_schema_that_doubles_and_doubles_stays_small() {
    let mut schemas = String::new();
    for ix in 0..30 {
        let next = ix + 1;
        let fields: Vec<String> =
            (0..30).map(|field| format!("\"f{field}\": {{\"$ref\": \"#/components/schemas/S{next}\"}}")).collect();
        schemas.push_str(&format!("\"S{ix}\": {{\"properties\": {{{}}}}},", fields.join(",")));
    }
    schemas.push_str("\"S30\": {\"allOf\": [{\"$ref\": \"#/components/schemas/S30\"}]}");
    let text = format!(
        r##"{{"openapi": "3.0.0", "paths": {{"/a": {{"get": {{"responses": {{"200": {{"content": {{"x": {{"schema": {{"$ref": "#/components/schemas/S0"}}}}}}}}}}}}}}}}, "components": {{"schemas": {{{schemas}}}}}}}"##
    );
    let read = read_in(&site(&[("index.md", ""), ("a.json", &text)]), "a.json");
    assert!(read.pages[0].text.len() < 200_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_description_is_read(cut in 0..PETS.len(), word in prop::sample::select(vec!["null", "[]", "{}", "1", "\"x\"", "{\"$ref\":\"#/paths\"}", "{\"$ref\":\"#\"}"]), from in 0..PETS.len()) {
        // Replaces one value in the middle of the description.
        let text = match PETS[from..].find(": ").map(|at| from + at + 2) {
            Some(at) => format!("{}{word}{}", &PETS[..at], &PETS[PETS[at..].find(['}', ',', '\n']).map_or(at, |end| at + end)..]),
            None => PETS[..cut].to_owned(),
        };
        read_in(&site(&[("index.md", ""), ("a.json", &text)]), "a.json");
        read_in(&site(&[("index.md", ""), ("a.json", &PETS[..cut])]), "a.json");
    }
}
