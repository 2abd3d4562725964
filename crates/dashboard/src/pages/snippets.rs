//! Code samples that ask a question of the playground from other programs.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::parts::copy_button;

/// Placeholder for the key, which the server does not know: it stores only digests of keys.
pub(super) const KEY: &str = "docent_assistant_YOUR_KEY";

/// A question to the assistant of a site, for which code samples are made.
#[derive(Debug)]
pub(crate) struct SampleCall {
    /// Where the server is reached, without a slash at the end.
    pub(crate) base: String,
    pub(crate) domain: String,
    pub(crate) question: String,
    /// The fields of the body other than the question.
    pub(crate) options: Map<String, Value>,
}

impl SampleCall {
    fn url(&self) -> String {
        format!("{}/discovery/v2/assistant/{}/message", self.base, self.domain)
    }

    /// A `curl` command for a shell.
    fn curl(&self) -> String {
        let mut body = self.options.clone();
        let text = json!({ "type": "text", "text": self.question });
        body.insert("messages".to_owned(), json!([{ "role": "user", "parts": [text] }]));
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        let [url, body] = [self.url(), Value::from(body).to_string()].map(|text| quoted(&text));
        format!(
            "curl -N {url} \\\n  -H 'Authorization: Bearer {KEY}' \\\n  -H 'Content-Type: application/json' \\\n  -d {body}"
        )
    }

    /// A TypeScript sample for a chat SDK, which works with its releases 5, 6 and 7.
    fn typescript(&self) -> String {
        let [url, body, question] =
            [self.url().into(), Value::from(self.options.clone()), self.question.as_str().into()]
                .map(|value: Value| in_script(&value));
        format!(
            "// ai 5, 6 and 7, which go with @ai-sdk/react 2, 3 and 4: npm install ai @ai-sdk/react
import {{ Chat }} from '@ai-sdk/react';
import {{ DefaultChatTransport }} from 'ai';

const chat = new Chat({{
  transport: new DefaultChatTransport({{
    api: {url},
    headers: {{ Authorization: 'Bearer {KEY}' }},
    body: {body},
  }}),
}});
await chat.sendMessage({{ text: {question} }});
for (const part of chat.messages.at(-1)?.parts ?? []) {{
  if (part.type === 'text') console.log(part.text);
  if (part.type === 'source-url') console.log(part.title, part.url);
}}"
        )
    }

    pub(crate) fn html(&self, keys: Option<&str>) -> Markup {
        html! {
            h2 { "From a program" }
            p.soft { "The key is an assistant key, which an owner makes" @if let Some(keys) = keys { " under " a href=(keys) { "API keys" } } ". It is public, so it should have the origins of your site." }
            (snippet("curl", "curl", &self.curl()))
            (snippet("typescript", "TypeScript, with the AI SDK 5, 6 or 7", &self.typescript()))
        }
    }
}

pub(super) fn snippet(id: &str, title: &str, text: &str) -> Markup {
    html! {
        details { summary { (title) } pre id=(id) { (text) } (copy_button(id, "Copy")) }
    }
}

/// A JSON value for a script. It can neither end the script element nor begin an HTML comment.
pub(super) fn in_script(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(question: &str) -> SampleCall {
        let mut options = Map::new();
        options.insert("fp".to_owned(), "anonymous".into());
        SampleCall {
            base: "https://docent.example.com".to_owned(),
            domain: "acme".to_owned(),
            question: question.to_owned(),
            options,
        }
    }

    #[test]
    fn no_question_leaves_its_quotes() {
        let hostile = sample("it's \"</script><script>alert(1)</script><!--");
        let curl = hostile.curl();
        assert!(curl.contains(r#"it'\''s \"</script>"#), "{curl}");
        let script = hostile.typescript();
        assert!(script.contains(r#"text: "it's \"\u003c/script>"#) && !script.contains('<'), "{script}");
    }

    #[test]
    fn each_snippet_has_the_chosen_options() {
        let mut call = sample("How?");
        call.options.insert("filter".to_owned(), json!({ "version": "v2" }));
        for text in [call.curl(), call.typescript()] {
            assert!(text.contains(r#""filter":{"version":"v2"}"#), "{text}");
            assert!(text.contains("https://docent.example.com/discovery/v2/assistant/acme/message"), "{text}");
        }
    }
}
