use proptest::prelude::*;

use super::*;

const NOTEBOOK: &str = r###"{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "\n", "See [one](a.md), [two](b\u00e4.md \"T\")\n", "and [three](c.ipynb#x).\n"]},
  {"cell_type": "code", "execution_count": 1, "metadata": {"tags": ["x"]}, "outputs": [{"text": ["secret output"]}],
   "source": ["print(\"```\")\n", "1 + 1"]},
  {"cell_type": "raw", "metadata": {}, "source": "raw words"},
  {"cell_type": "markdown", "metadata": {}, "source": "```sh\nleft open"},
  {"cell_type": "markdown", "metadata": {}, "source": "## Sch\u00f6n\n\nWords \ud83d\ude00 here."},
  {"cell_type": "code", "metadata": {"tags": ["remove-cell"]}, "outputs": [], "source": "hidden()"}
 ],
 "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
 "nbformat": 4, "nbformat_minor": 5
}"###;

fn page(text: &str) -> Page {
    let notebook = Notebook::read(text.as_bytes()).expect("a notebook");
    notebook.page("a.ipynb", text.as_bytes(), AnchorStyle::GitHub)
}

#[test]
fn cells_are_text_and_code_and_outputs_are_not_read() {
    let notebook = Notebook::read(NOTEBOOK.as_bytes()).expect("a notebook");
    let expected = "# Title\n\nSee [one](a.md), [two](bä.md \"T\")\nand [three](c.ipynb#x).\n\n````python\nprint(\"```\")\n1 + \
                    1\n````\n\n```sh\nleft open\n```\n\n## Schön\n\nWords 😀 here.\n\n";
    assert_eq!(notebook.text, expected);
    let page = page(NOTEBOOK);
    assert_eq!((page.format, page.title.as_deref()), (Format::Notebook, Some("Title")));
    let headings: Vec<_> =
        page.headings.iter().map(|heading| (heading.text.as_str(), heading.anchor.as_str())).collect();
    assert_eq!(headings, [("Title", "title"), ("Schön", "schön")]);
    assert_eq!(page.sections[0].code[0].language.as_deref(), Some("python"));
    assert!(!page.sections.iter().any(|section| section.markdown.contains("secret")));
}

#[test]
fn unescaped_cells_can_be_edited_in_place() {
    let page = page(NOTEBOOK);
    let links: Vec<_> =
        page.links.iter().map(|link| (link.target.as_str(), &NOTEBOOK[link.dest_span.clone()])).collect();
    assert_eq!(links, [("a.md", "a.md"), ("b\\u00e4.md", "b\\u00e4.md"), ("c.ipynb#x", "c.ipynb#x")]);
    assert!(NOTEBOOK[page.headings[1].span.clone()].starts_with("## Sch\\u00f6n"));
    let first = &page.prose[0];
    assert_eq!(&NOTEBOOK[first.clone()], "Title");
}

#[test]
fn older_notebooks_are_read_and_other_json_is_none() {
    let old = r#"{"nbformat": 3, "worksheets": [{"cells": [
        {"cell_type": "heading", "level": 2, "source": ["Old"]},
        {"cell_type": "code", "input": ["x = 1"], "language": "python"},
        {"cell_type": 7}, null
    ]}]}"#;
    assert_eq!(Notebook::read(old.as_bytes()).expect("a notebook").text, "## Old\n\n```\nx = 1\n```\n\n");
    for text in ["", "{}", "[]", "{\"cells\": 1}", "# Title", "{\"cells\": [", "\u{feff}null"] {
        assert!(Notebook::read(text.as_bytes()).is_none(), "{text}");
    }
    assert!(Notebook::read(b"{\"cells\": []}").is_some_and(|notebook| notebook.text.is_empty()));
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<i64>().prop_map(serde_json::Value::from),
        "\\PC{0,20}".prop_map(serde_json::Value::from),
        prop::sample::select(vec!["markdown", "code", "# A\n[b](c.md \"d\")", "```", "\u{1}\\\""])
            .prop_map(serde_json::Value::from),
    ];
    let names = prop::sample::select(vec!["cells", "cell_type", "source", "metadata", "tags", "worksheets", "x"]);
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::vec((names.clone(), inner), 0..6).prop_map(|members| {
                members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_json_and_bytes_never_panic(value in json(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for bytes in [value.to_string().into_bytes(), bytes] {
            if let Some(notebook) = Notebook::read(&bytes) {
                notebook.page("a.ipynb", &bytes, AnchorStyle::GitHub);
            }
            parse_as("a.ipynb", &bytes, Format::Notebook, AnchorStyle::GitHub);
        }
    }

    #[test]
    fn the_text_of_a_cell_is_what_was_written_and_spans_are_of_the_file(
        cells in prop::collection::vec("(\\PC|\n|\"|\\\\|[\\[\\]()#`é😀]|\\[a\\]\\(b\\.md\\)){0,60}", 1..4),
        ascii in any::<bool>(),
    ) {
        let cells: Vec<_> = cells.iter().map(|text| serde_json::json!({"cell_type": "markdown", "source": text})).collect();
        let mut file = serde_json::json!({ "cells": cells }).to_string();
        if ascii {
            let escaped = |c: char| {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>()
            };
            file = file.chars().map(|c| if c.is_ascii() { c.to_string() } else { escaped(c) }).collect();
        }
        let notebook = Notebook::read(file.as_bytes()).expect("a notebook");
        for cell in &cells {
            let text = cell["source"].as_str().expect("a text");
            prop_assert!(text.trim().is_empty() || notebook.text.contains(text), "{:?} in {:?}", text, notebook.text);
        }
        let page = notebook.page("a.ipynb", file.as_bytes(), AnchorStyle::GitHub);
        for link in &page.links {
            let written = &file[link.dest_span.clone()];
            prop_assert!(link.target.contains('\\') || written == "b.md" || !written.contains('\\'));
            let mut edited = file.clone();
            if link.target == "b.md" {
                edited.replace_range(link.dest_span.clone(), "other/c.md");
                prop_assert!(Notebook::read(edited.as_bytes()).is_some_and(|edited| edited.text.contains("other/c.md")));
            }
        }
        for span in page.prose.iter().chain(&page.code).chain(page.headings.iter().map(|heading| &heading.span)) {
            prop_assert!(file.get(span.clone()).is_some());
        }
    }
}
