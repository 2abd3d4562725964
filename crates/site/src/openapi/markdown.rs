//! Renders an API operation as a Markdown page.

use docent_markdown::on_one_line;
use std::collections::HashSet;

use serde_json::Value;

use super::schema::{Fields, cut, description_and_values, written};
use crate::api_description::{Description, Operation, is_true, text};

/// Maximum size of an example, in bytes; a larger one adds nothing to its schema and is omitted.
const MAX_EXAMPLE_BYTES: usize = 4_000;

/// Maximum number of parameters that are shown per operation.
const MAX_PARAMETERS: usize = 400;

/// Maximum size of the description of an operation, a body or a response, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 64 << 10;

/// Page size in bytes above which no more paragraphs are added.
const MAX_PAGE_BYTES: usize = 256 << 10;

/// A rendered page.
#[derive(Debug)]
pub(super) struct RenderedPage {
    pub(super) title: String,
    /// The first paragraph of the operation's description, shortened.
    pub(super) summary: Option<String>,
    /// The page without its title.
    pub(super) markdown: String,
    /// Number of schemas that were visited to render the page.
    pub(super) schemas_visited: usize,
}

/// Renders the page of an operation: its description, parameters, body and responses.
pub(super) fn page(description: &Description, operation: &Operation<'_>) -> RenderedPage {
    let own = |name: &str| text(operation.value, name).map(str::trim).filter(|text| !text.is_empty());
    let title = own("summary").or_else(|| own("operationId")).map_or_else(|| operation.key.clone(), on_one_line);
    let about = own("description").or_else(|| text(operation.around, "description"));
    let mut page = Page { description, fields: Fields::of(description), out: String::new() };
    page.paragraph(&match operation.key.strip_prefix("WEBHOOK ") {
        Some(name) => format!("Webhook `{name}` ({})", operation.method.to_uppercase()),
        None => format!("`{} {}`", operation.method.to_uppercase(), operation.path),
    });
    if is_true(operation.value.get("deprecated")) {
        page.paragraph("**Deprecated.**");
    }
    if let Some(about) = about {
        page.paragraph(&nested(cut(about, MAX_DESCRIPTION_BYTES)));
    }
    page.parameters(operation);
    page.body(operation);
    page.responses(operation);
    RenderedPage {
        title,
        summary: about.map(first_words),
        schemas_visited: page.fields.schemas_visited(),
        markdown: page.out,
    }
}

/// Moves the headings of a text two levels down, below the page's own sections.
fn nested(text: &str) -> String {
    text.lines()
        .map(|line| if line.starts_with('#') && line.len() < 200 { format!("##{line}") } else { line.to_owned() })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The first paragraph on one line, cut to a length that fits into search results.
fn first_words(text: &str) -> String {
    let paragraph = on_one_line(cut(text.trim(), 4_000).split("\n\n").next().unwrap_or_default());
    match paragraph.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", paragraph[..at].trim_end()),
        None => paragraph,
    }
}

struct Page<'d> {
    description: &'d Description,
    fields: Fields<'d>,
    out: String,
}

impl<'d> Page<'d> {
    fn paragraph(&mut self, text: &str) {
        if !text.trim().is_empty() && self.out.len() < MAX_PAGE_BYTES {
            self.out.push_str(text.trim_end());
            self.out.push_str("\n\n");
        }
    }

    fn parameters(&mut self, operation: &Operation<'d>) {
        let listed = |holder: &'d Value| holder.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let own: Vec<&Value> = listed(operation.value).map(|parameter| self.description.resolved(parameter)).collect();
        fn identity(parameter: &Value) -> (Option<&str>, Option<&str>) {
            (text(parameter, "name"), text(parameter, "in"))
        }
        let known: HashSet<_> = own.iter().map(|parameter| identity(parameter)).collect();
        let shared = listed(operation.around)
            .map(|parameter| self.description.resolved(parameter))
            .filter(|other| !known.contains(&identity(other)));
        let all: Vec<&Value> = shared
            .chain(own.iter().copied())
            .filter(|parameter| text(parameter, "in") != Some("body"))
            .take(MAX_PARAMETERS)
            .collect();
        if all.is_empty() {
            return;
        }
        let mut table =
            "## Parameters\n\n| Name | In | Type | Required | Description |\n|---|---|---|---|---|\n".to_owned();
        for parameter in all {
            let own_text = |name: &str| text(parameter, name).unwrap_or_default();
            let schema = parameter.get("schema").or_else(|| {
                parameter
                    .get("content")
                    .and_then(Value::as_object)
                    .and_then(|content| content.values().next()?.get("schema"))
            });
            // In Swagger 2, a parameter is its own schema.
            let kind = self.fields.kind(schema.unwrap_or(parameter));
            let of_schema =
                schema.map(|schema| self.description.resolved(schema)).map(description_and_values).unwrap_or_default();
            let own = description_and_values(parameter);
            let about = if own == of_schema { own } else { format!("{own} {of_schema}") };
            let required = if is_true(parameter.get("required")) { "yes" } else { "no" };
            let cells =
                [format!("`{}`", own_text("name")), own_text("in").to_owned(), kind, required.to_owned(), about];
            let cells: Vec<String> = cells.iter().map(|cell| on_one_line(cell).replace('|', "\\|")).collect();
            table.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        self.paragraph(&table);
    }

    fn body(&mut self, operation: &Operation<'d>) {
        let in_parameters = || {
            let parameters = operation.value.get("parameters").filter(|_| self.description.is_swagger())?.as_array()?;
            let mut parameters = parameters.iter().map(|parameter| self.description.resolved(parameter));
            parameters.find(|parameter| text(parameter, "in") == Some("body"))
        };
        let body = operation.value.get("requestBody").map(|body| self.description.resolved(body));
        if let Some(body) = body.or_else(in_parameters) {
            self.paragraph("## Request body");
            self.paragraph(cut(text(body, "description").unwrap_or_default(), MAX_DESCRIPTION_BYTES));
            self.content(body);
        }
    }

    fn responses(&mut self, operation: &Operation<'d>) {
        let responses = operation.value.get("responses").and_then(Value::as_object);
        let Some(responses) = responses.filter(|responses| !responses.is_empty()) else { return };
        self.paragraph("## Responses");
        for (code, response) in responses {
            if self.out.len() >= MAX_PAGE_BYTES {
                return;
            }
            let response = self.description.resolved(response);
            let about = text(response, "description").unwrap_or_default();
            self.paragraph(&format!("### {code}"));
            self.paragraph(&nested(cut(about, MAX_DESCRIPTION_BYTES)));
            self.content(response);
        }
    }

    /// Renders the schema of a body or a response (Swagger 2), or the first media type.
    fn content(&mut self, holder: &'d Value) {
        if let Some(schema) = holder.get("schema") {
            return self.schema(schema);
        }
        let Some((kind, media)) =
            holder.get("content").and_then(Value::as_object).and_then(|content| content.iter().next())
        else {
            return;
        };
        self.paragraph(&format!("`{kind}`"));
        if let Some(schema) = media.get("schema") {
            self.schema(schema);
        }
        let examples = media.get("examples").and_then(Value::as_object);
        let named = examples.and_then(|examples| self.description.resolved(examples.values().next()?).get("value"));
        if let Some(example) = media.get("example").or(named) {
            let text = match example.as_str() {
                Some(text) => cut(text, MAX_EXAMPLE_BYTES + 1).to_owned(),
                None => written(example, MAX_EXAMPLE_BYTES, |out, value| serde_json::to_writer_pretty(out, value)),
            };
            if text.len() <= MAX_EXAMPLE_BYTES && !text.contains("```") {
                self.paragraph(&format!("```json\n{text}\n```"));
            }
        }
    }

    fn schema(&mut self, schema: &'d Value) {
        let kind = self.fields.kind(schema);
        if kind != "object" && kind != "any" {
            let about = description_and_values(self.description.resolved(schema));
            self.paragraph(&if about.is_empty() { kind } else { format!("{kind}: {about}") });
        }
        let list = self.fields.list(schema);
        self.paragraph(&list);
    }
}

/// Escapes Markdown for MDX, so that no character of it begins an expression or a tag.
pub(super) fn escaped(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut in_fence = false;
    for line in markdown.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        if in_fence || is_fence {
            in_fence ^= is_fence;
            out.push_str(line);
            continue;
        }
        for (ix, piece) in line.split('`').enumerate() {
            if ix > 0 {
                out.push('`');
            }
            if ix % 2 == 0 { out.push_str(&piece.replace('{', "\\{").replace('<', "\\<")) } else { out.push_str(piece) }
        }
    }
    out
}
