//! Where plug-ins of MkDocs write pages that have no file.

use docent_markdown::regex;

use super::{Yaml, has_plugin, plugin};
use crate::generators::generated_pages::{GeneratedPages, written_folder};
use crate::tree::{Tree, joined_in};

/// Plug-ins that bring pages of other folders and repositories.
const OF_OTHERS: [&str; 3] = ["monorepo", "multirepo", "simple"];

pub(super) fn generated_pages(tree: &dyn Tree, home: &str, config: &Yaml) -> GeneratedPages {
    let mut pages = GeneratedPages::default();
    if OF_OTHERS.iter().any(|plugin| has_plugin(config, plugin)) {
        pages.add(None);
    }
    if has_plugin(config, "api-autonav") {
        let folder = plugin(config, "api-autonav").and_then(|options| options.text_of("api_root_uri"));
        pages.add(Some(vec![folder.unwrap_or("reference").trim_matches('/').to_owned()]));
    }
    if has_plugin(config, "mkdoxy") {
        let projects = plugin(config, "mkdoxy").and_then(|options| options.get("projects"));
        let folder = |(name, project): &(String, Yaml)| project.text_of("api-path").unwrap_or(name).to_owned();
        pages.add(projects.map(|projects| projects.members().iter().map(folder).collect()));
    }
    if has_plugin(config, "gen-files") {
        let scripts = plugin(config, "gen-files").and_then(|options| options.get("scripts"));
        let read = |script: &str| tree.text(&joined_in(tree.root(), home, script)?);
        let folders = scripts
            .and_then(|scripts| scripts.texts().map(|script| written_by(&read(script)?)).collect::<Option<Vec<_>>>());
        pages.add(folders.map(|folders| folders.concat()));
    }
    pages
}

/// The folders that a script of `gen-files` writes to; `None` if its source does not say so in so many words.
fn written_by(script: &str) -> Option<Vec<String>> {
    regex!(OPENED, r#"mkdocs_gen_files\.open\(\s*([^\n]+)"#);
    regex!(
        OTHER,
        r#"write_text|write_bytes|shutil|FilesEditor|from mkdocs_gen_files|\.open\([^\n]*["'][wax]|\bopen\([^\n]*["'][wax]"#
    );
    regex!(LITERAL, r#"^(?:Path\(\s*)?f?(?:"([^"%\n]*)"|'([^'%\n]*)')\s*(?:[,)/]|$)"#);
    regex!(NAME, r"^(\w+)\s*[,)]");
    let literal = |text: &str| {
        let found = LITERAL.captures(text)?;
        written_folder(found.get(1).or(found.get(2))?.as_str())
    };
    if !script.contains("mkdocs_gen_files.open(") || OTHER.is_match(&script.replace("mkdocs_gen_files.open(", "")) {
        return None;
    }
    let mut folders = Vec::new();
    for opened in OPENED.captures_iter(script) {
        let Some(name) = NAME.captures(&opened[1]) else {
            folders.push(literal(&opened[1])?);
            continue;
        };
        let mut values = script.lines().filter_map(|line| {
            let value = line.trim_start().strip_prefix(&name[1])?.trim_start().strip_prefix('=')?.trim_start();
            // What it was, with another name or ending.
            (!value.starts_with(&format!("{}.", &name[1]))).then_some(value)
        });
        let first = values.next()?;
        folders.push(literal(first)?);
        for other in values {
            folders.push(literal(other)?);
        }
    }
    Some(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_scripts_are_read_where_they_are_written_out() {
        let recipe = "for path in sorted(src.rglob('*.py')):\n    doc_path = path.relative_to(src).with_suffix('.md')\n    \
                      full_doc_path = Path(\"reference\", doc_path)\n    full_doc_path = full_doc_path.with_name('index.md')\n    \
                      with mkdocs_gen_files.open(full_doc_path, \"w\") as fd:\n        pass\n\
                      with mkdocs_gen_files.open('reference/SUMMARY.md', 'w') as nav:\n    pass\n";
        let folders = |folders: &[&str]| Some(folders.iter().map(|folder| (*folder).to_owned()).collect::<Vec<_>>());
        assert_eq!(written_by(recipe), folders(&["reference", "reference"]));
        assert_eq!(written_by("mkdocs_gen_files.open(f\"api/{name}.md\", \"w\")"), folders(&["api"]));
        for unknown in [
            "with mkdocs_gen_files.open(doc_path, 'w') as fd:\n",
            "doc_path = path.with_suffix('.md')\nmkdocs_gen_files.open(doc_path, 'w')\n",
            "mkdocs_gen_files.open(f\"{name}.md\", \"w\")\n",
            "mkdocs_gen_files.open(\"api/%s.md\" % name, \"w\")\n",
            "mkdocs_gen_files.open(\"ref-\" + name + \".md\", \"w\")\n",
            "doc = Path('api-' + name)\nmkdocs_gen_files.open(doc, 'w')\n",
            "mkdocs_gen_files.open('a/b.md', 'w')\nopen('docs/c.md', 'w')\n",
            "from mkdocs_gen_files import open\nopen('a.md')\n",
        ] {
            assert_eq!(written_by(unknown), None, "{unknown}");
        }
    }
}
