//! Finds the lines of the keys in a configuration file.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Each key of a file with the file's name and the line. Empty for a file that cannot be read: loading it reports the
/// reason.
pub(super) fn of_file(path: &Path) -> BTreeMap<String, String> {
    let Ok(text) = std::fs::read_to_string(path) else { return BTreeMap::new() };
    lines(&text).into_iter().map(|(key, line)| (key, format!("{}:{line}", path.display()))).collect()
}

fn lines(text: &str) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    if let Ok(table) = DeTable::parse(text) {
        walk(table.get_ref(), "", text, &mut lines);
    }
    lines
}

fn walk(table: &DeTable<'_>, above: &str, text: &str, lines: &mut BTreeMap<String, usize>) {
    for (key, value) in table {
        let name = format!("{above}{}", key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => walk(inner, &format!("{name}."), text, lines),
            // The tables of a list are numbered.
            DeValue::Array(list) if list.iter().any(|entry| entry.get_ref().is_table()) => {
                let tables = list.iter().enumerate().filter_map(|(n, entry)| Some((n, entry.get_ref().as_table()?)));
                tables.for_each(|(n, inner)| walk(inner, &format!("{name}.{n}."), text, lines));
            }
            _ => {
                lines.insert(name, line_of(key, text));
            }
        }
    }
}

fn line_of<T>(spanned: &Spanned<T>, text: &str) -> usize {
    text.as_bytes()[..spanned.span().start.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_the_line_it_stands_on() {
        let found =
            lines("listen = \"127.0.0.1:1\"\n\n[models.small]\nprovider = \"builtin\"\n[agent]\n# many\nworkers = 4\n");
        let found: Vec<(&str, usize)> = found.iter().map(|(key, line)| (key.as_str(), *line)).collect();
        assert_eq!(found, [("agent.workers", 7), ("listen", 1), ("models.small.provider", 4)]);
        let found = lines("[[hooks]]\nurl = \"a\"\n\n[[hooks]]\nurl = \"b\"\n\n[agent]\nlabels = [\"x\"]\n");
        let found: Vec<(&str, usize)> = found.iter().map(|(key, line)| (key.as_str(), *line)).collect();
        assert_eq!(found, [("agent.labels", 8), ("hooks.0.url", 2), ("hooks.1.url", 5)]);
        assert!(lines("a = = b").is_empty());
    }
}
