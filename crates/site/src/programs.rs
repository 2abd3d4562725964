//! Files that a generator runs, expands or obeys, whatever their ending: these are no documents.

use docent_markdown::{Code, file_name, regex};

use crate::generator::Generator;
use crate::layout::Layout;
use crate::paths::path_in;

/// Folders of templates and data that may be anywhere in a site.
const ANYWHERE: [&str; 5] = ["_includes", "_layouts", "_plugins", "_data", "_templates"];

/// Endings of files whose bytes are shown as they are, unless they lie among templates.
const PICTURES: [&str; 12] = ["png", "jpg", "jpeg", "gif", "webp", "avif", "ico", "svg", "woff", "woff2", "ttf", "otf"];

/// Names of files that coding agents obey, without ending.
const FOR_AGENTS: [&str; 9] =
    ["agents", "agent", "claude", "claude.local", "gemini", "skill", "qwen", "warp", "copilot-instructions"];

/// Whether a generator runs a file, or expands it as a template, whatever its ending; or whether coding agents obey
/// it.
pub fn is_program(layout: &Layout, file: &str) -> bool {
    is_for_agents(layout, file) || is_among_templates(layout, file)
}

fn is_among_templates(layout: &Layout, file: &str) -> bool {
    let facts = layout.facts();
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_picture = PICTURES.iter().any(|picture| ending.eq_ignore_ascii_case(picture));
    let is_below = |folder: &&str| path_in(folder, path_in(layout.home(), file).unwrap_or(file)).is_some();
    facts.template_folders.iter().any(is_below)
        || facts.template_extensions.iter().any(|extension| ending.eq_ignore_ascii_case(extension))
        || (!is_picture && facts.program_folders.iter().any(is_below))
        || (!is_picture && !facts.has_plain_underscore_folders && file.split('/').any(|part| ANYWHERE.contains(&part)))
}

/// A name in lower case is a page where a generator serves it: sites have pages on agents and skills.
fn is_for_agents(layout: &Layout, file: &str) -> bool {
    let name = file_name(file);
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let is_named = FOR_AGENTS.iter().any(|known| stem.eq_ignore_ascii_case(known)) && ending.eq_ignore_ascii_case("md");
    let is_page = name == name.to_lowercase() && layout.generator() != Generator::Plain && layout.holds_pages(file);
    is_named && !is_page
}

/// Whether a file that is no page becomes a template by its front matter: Jekyll expands every file that has some.
pub fn is_template(file: &str, bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if !bytes.starts_with(b"---") {
        return false;
    }
    // A document of YAML may begin so.
    let is_data = [".yaml", ".yml"].iter().any(|ending| file.ends_with(ending));
    let has = |mark: &[u8; 2]| bytes.windows(2).any(|pair| pair == mark);
    !is_data || has(b"{{") || has(b"{%")
}

// Lines for the preprocessor of PlantUML, which reads files, addresses and the environment.
regex!(
    PREPROCESSED,
    r"(?im)^[ \t]*!(?:[^\n]*)|%[a-z_]+[ \t]*\(|<img\b[^\n>]*>?|(?:java|vb)script:[^\n]*|^[ \t]*(?:!?include|import)\b[^\n]*"
);
regex!(THEME, r"\A[ \t]*!(?:theme[ \t]+[\w-]+|pragma[ \t]+\w+[ \t]+\w+)[ \t]*\r?\z");
// What a viewer of diagrams runs: scripts and handlers in labels, in any number of escapes, and addresses.
regex!(
    RUN_BY_VIEWER,
    r"(?i)(?:<|&lt;|&amp;lt;|\\u003c)/?(?:script|iframe|object|embed|style|link|meta|img|svg|a)\b[^\n]*|[\s/]on[a-z]{3,}[ \t]*=[^\n]*|(?:java|vb)script:[^\n]*|%%\{[^\n]*|\bclick\b[^\n]*\bcall\b[^\n]*"
);

/// What in the source of a diagram its renderer would run.
pub fn active_in_diagram(file: &str, bytes: &[u8]) -> Vec<Code> {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, inert): (&regex::Regex, Option<&regex::Regex>) = match file.rsplit_once('.').map(|(_, ending)| ending)
    {
        Some("puml" | "plantuml") => (&PREPROCESSED, Some(&THEME)),
        Some("mmd" | "drawio" | "excalidraw") => (&RUN_BY_VIEWER, None),
        _ => return Vec::new(),
    };
    let lines = docent_markdown::Lines::of(&text);
    let found = pattern.find_iter(&text).filter(|found| inert.is_none_or(|inert| !inert.is_match(found.as_str())));
    found
        .map(|found| {
            Code::new(lines.number(found.start()), found.as_str(), format!("diagram {}", found.as_str().trim()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(generator: Generator) -> Layout {
        Layout::of(generator, "", vec![crate::generators::Root::default()])
    }

    #[test]
    fn templates_are_programs_whatever_their_ending() {
        for (generator, file) in [
            (Generator::Hugo, "layouts/_default/single.md"),
            (Generator::Hugo, "layouts/_default/x.png"),
            (Generator::Hugo, "archetypes/post.md"),
            (Generator::Hugo, "themes/t/layouts/a.csv"),
            (Generator::Hugo, "content/a.rst"),
            (Generator::Jekyll, "_includes/a.md"),
            (Generator::Jekyll, "docs/_data/prices.csv"),
            (Generator::Plain, "_layouts/a.md"),
            (Generator::Sphinx, "_templates/class.rst"),
            (Generator::MkDocs, "overrides/a.md"),
            (Generator::MkDocs, "AGENTS.md"),
            (Generator::VitePress, "skills/a/SKILL.md"),
            (Generator::Plain, "a/claude.md"),
        ] {
            assert!(is_program(&of(generator), file), "{file}");
        }
        for (generator, file) in [
            (Generator::Hugo, "content/layouts/grid.md"),
            (Generator::Hugo, "static/robots.txt"),
            (Generator::MdBook, "theme/favicon.svg"),
            (Generator::Docusaurus, "docs/_includes/part.mdx"),
            (Generator::Mintlify, "concepts/agents.md"),
            (Generator::Plain, "agents-overview.md"),
        ] {
            assert!(!is_program(&of(generator), file), "{file}");
        }
    }

    #[test]
    fn front_matter_makes_a_template_of_a_file() {
        for (file, text, is) in [
            ("robots.txt", "---\n---\nUser-agent: *\n", true),
            ("a.csv", "\u{feff}---\nlayout: x\n---\n", true),
            ("openapi.yaml", "---\nopenapi: 3.1.0\n", false),
            ("openapi.yaml", "---\nopenapi: '{{ site }}'\n", true),
            ("a.csv", "a,b\n", false),
        ] {
            assert_eq!(is_template(file, text.as_bytes()), is, "{text}");
        }
    }

    #[test]
    fn diagrams_draw_and_do_no_more() {
        for (file, text, count) in [
            ("a.puml", "@startuml\n!theme plain\nA -> B : hello!\n@enduml\n", 0),
            ("a.puml", "@startuml\n!include /etc/passwd\n!$x = %getenv(\"A\")\n@enduml\n", 2),
            ("a.puml", "A -> B : %getenv(\"A\")\n", 1),
            ("a.mmd", "graph TD\n  A[Start] --> B\n  A <|-- C\n", 0),
            ("a.mmd", "graph TD\n  click A \"javascript:f()\"\n", 1),
            ("a.drawio", "<mxCell value=\"a &lt;b&gt;\"/>", 0),
            ("a.drawio", "<mxCell value=\"&lt;img src=x onerror=f()&gt;\"/>", 1),
            ("a.csv", "!include x", 0),
        ] {
            assert_eq!(active_in_diagram(file, text.as_bytes()).len(), count, "{text}");
        }
    }
}
