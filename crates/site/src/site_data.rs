//! Data files that define a site's navigation and redirects, and the check that an edit of one changes nothing else.

use docent_markdown::{each_line, file_name, folder, has_word, line_of, regex, text_of};

use crate::generators::mkdocs::ZENSICAL;
use crate::generators::yaml::{self, Yaml};
use crate::inert::{active_parts, is_inert_address};
use crate::navigation::Navigation;
use crate::navigation_json::{self, Json, Value};
use crate::navigation_script::NavigationScript;
use crate::settings::of_toml;

/// A kind of file that holds navigation or redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteData {
    /// `docs.json`, `mint.json`: navigation and redirects among other settings.
    Mintlify,
    /// `mkdocs.yml`: `nav` and `redirect_maps` among other settings.
    MkDocs,
    /// `zensical.toml`: `nav` among other settings.
    Zensical,
    /// `book.toml`: `output.html.redirect` among other settings.
    MdBook,
    /// `_redirects`: one redirect a line.
    Redirects,
    /// Navigation only: `_meta.json`, `_category_.json`, sidebars.
    Json,
    /// Navigation only, in YAML: `_category_.yml`, `_toc.yml`, `.nav.yml`, `.pages`.
    Yaml,
    /// Navigation only, in a folder `_data` of Jekyll, whose templates read it: no key may be new.
    Data,
    /// A script that names pages in string literals: `sidebars.js`, `astro.config.mjs`, `.vitepress/config.ts`,
    /// `_meta.js`.
    Script(NavigationScript),
}

/// The keys of [`SiteData::Mintlify`] that hold navigation or redirects.
const EDITABLE_MINTLIFY_KEYS: [&str; 5] = ["navigation", "redirects", "tabs", "anchors", "versions"];

impl SiteData {
    /// The kind of a file by its path, which is relative to the docs root and may be outside of it.
    pub fn of(file: &str) -> Option<Self> {
        let file = file.trim_start_matches("../");
        let name = file_name(file);
        Some(match name {
            _ if Navigation::FILES.contains(&file) => Self::Mintlify,
            "mkdocs.yml" | "mkdocs.yaml" => Self::MkDocs,
            ZENSICAL => Self::Zensical,
            "book.toml" => Self::MdBook,
            "_redirects" => Self::Redirects,
            "_meta.json" | "meta.json" | "_category_.json" | "versions.json" | "redirects.json" | "navigation.json"
            | "nav.json" | "toc.json" => Self::Json,
            _ if name.ends_with(".json") && name.contains("sidebar") => Self::Json,
            "_category_.yml" | "_category_.yaml" | "_toc.yml" | "_toc.yaml" | "toc.yml" | ".nav.yml" | ".pages" => {
                Self::Yaml
            }
            _ if is_data_navigation(file) => Self::Data,
            _ => return NavigationScript::of(file).map(Self::Script),
        })
    }

    /// Whether the file may be deleted.
    pub fn is_deletable(self) -> bool {
        matches!(self, Self::Json | Self::Yaml)
    }

    /// Why an edit changes more than navigation and redirects; `None` if it does not. An unreadable file always counts
    /// as more. A file that did not exist counts as empty.
    pub fn more_than_navigation(self, before: Option<&[u8]>, after: &[u8]) -> Option<String> {
        let (before, after) = (before.map(text_of), text_of(after));
        let before = before.as_deref();
        let yaml_of = |text: &str| yaml::read(text).map_err(|_| "it is not YAML");
        let changed = match self {
            Self::Mintlify => mintlify(before.unwrap_or("{}"), &after),
            Self::MkDocs => mkdocs(before.unwrap_or_default(), &after),
            Self::Zensical => zensical(before.unwrap_or_default(), &after),
            Self::MdBook => book(before.unwrap_or_default(), &after),
            Self::Redirects => redirects(before.unwrap_or_default(), &after),
            Self::Json => json(&after).map(|after| (before.and_then(|text| json(text).ok()), after)),
            Self::Yaml | Self::Data => without_references(before.unwrap_or_default(), &after)
                .and_then(|()| yaml_of(&after).map(|after| (before.and_then(|text| yaml_of(text).ok()), after))),
            Self::Script(script) => {
                let more = script.more_than_navigation(before.unwrap_or_default(), &after);
                more.map_or(Ok((None, Yaml::Empty)), Err)
            }
        };
        let (old, new) = match changed {
            Err(why) => return Some(why.to_owned()),
            Ok((old, new))
                if self == Self::Data && !old.as_ref().is_some_and(|old| changes_entries_alone(old, &new)) =>
            {
                return Some(
                    "it has a new key, or a new value for one by which a template may include a file".to_owned(),
                );
            }
            Ok((old, new)) => (old.map_or_else(Vec::new, |old| active_parts(&old)), active_parts(&new)),
        };
        let added = new.into_iter().find(|part| !old.contains(part))?;
        let place = after.find(&added).map_or_else(String::new, |at| format!("line {} holds ", line_of(&after, at)));
        let shown: String = added.chars().take(80).collect();
        Some(format!("{place}`{shown}`, which themes print as HTML, follow or load"))
    }
}

/// Whether a file is a navigation among the data of a Jekyll site: `_data/navigation.yml`, `_data/docs/sidebar.yml`.
pub(crate) fn is_data_navigation(file: &str) -> bool {
    let name = file_name(file);
    let words = name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml")).unwrap_or_default();
    let is_navigation = |word: &str| {
        ["nav", "sidebar", "toc", "menu"].iter().any(|part| word.starts_with(part) || word.ends_with(part))
    };
    folder(file).split('/').any(|part| part == "_data") && words.split(['-', '_', '.']).any(is_navigation)
}

/// Whether data differs by entries alone: it has no key that `old` does not have somewhere, and no new text but for a label
/// or an address.
fn changes_entries_alone(old: &Yaml, new: &Yaml) -> bool {
    const ENTRY: &str = "title name text label url link href path page permalink slug";
    fn texts<'y>(data: &'y Yaml, key: &'y str, found: &mut Vec<(&'y str, &'y str)>) {
        match data {
            Yaml::Map(members) => members.iter().for_each(|(name, value)| {
                found.push((name, ""));
                texts(value, name, found);
            }),
            Yaml::List(items) => items.iter().for_each(|item| texts(item, key, found)),
            Yaml::Text(text) => found.push((key, text)),
            _ => {}
        }
    }
    let (mut known, mut now) = (Vec::new(), Vec::new());
    texts(old, "", &mut known);
    texts(new, "", &mut now);
    now.iter().all(|(key, text)| known.contains(&(key, text)) || !text.is_empty() && has_word(ENTRY, key))
}

/// The editable parts before and after an edit, or why the other parts differ.
type EditableParts = Result<(Option<Yaml>, Yaml), &'static str>;

const OTHER_PARTS_DIFFER: &str = "other parts of it differ, too";

fn json(text: &str) -> Result<Yaml, &'static str> {
    navigation_json::read(text).map(|json| data_of(&json)).map_err(|_| "it is not JSON")
}

fn data_of(json: &Json) -> Yaml {
    match &json.value {
        Value::Text(text) => Yaml::Text(text.clone()),
        // A number or a literal, told from the text of the same letters.
        Value::Other(literal) => Yaml::Map(vec![(literal.clone(), Yaml::Empty)]),
        Value::List(items) => Yaml::List(items.iter().map(data_of).collect()),
        Value::Object(members) => Yaml::Map(members.iter().map(|(name, json)| (name.clone(), data_of(json))).collect()),
    }
}

fn mintlify(before: &str, after: &str) -> EditableParts {
    let parts = |text: &str| match json(text)? {
        Yaml::Map(members) => {
            let is_editable = |member: &(String, Yaml)| EDITABLE_MINTLIFY_KEYS.contains(&member.0.as_str());
            Ok(members.into_iter().partition::<Vec<_>, _>(is_editable))
        }
        _ => Err("it is no object"),
    };
    let ((old, old_others), (new, new_others)) = (parts(before)?, parts(after)?);
    if old_others == new_others { Ok((Some(Yaml::Map(old)), Yaml::Map(new))) } else { Err(OTHER_PARTS_DIFFER) }
}

/// The file is not parsed as a whole, because only the generator understands its tags and references. The editable
/// blocks are cut out by their indentation, the rest must be identical, and each block must be valid YAML by itself, so
/// that none extends beyond its last line.
fn mkdocs(before: &str, after: &str) -> EditableParts {
    let ((old_blocks, old_rest), (blocks, rest)) = (blocks(before), blocks(after));
    if old_rest.trim_end() != rest.trim_end() {
        return Err(OTHER_PARTS_DIFFER);
    }
    let mut data = Vec::new();
    for block in &blocks {
        without_references(&old_blocks.concat(), block)?;
        let yaml = yaml::read(block).map_err(|_| "its navigation is not YAML")?;
        (yaml.members().len() == 1).then_some(()).ok_or("its navigation is not one value")?;
        data.push(yaml);
    }
    let old = old_blocks.iter().filter_map(|block| yaml::read(block).ok()).collect();
    Ok((Some(Yaml::List(old)), Yaml::List(data)))
}

/// The `nav:` and `redirect_maps:` blocks of a configuration, and its other lines.
fn blocks(text: &str) -> (Vec<String>, String) {
    let (mut blocks, mut rest) = (Vec::<String>::new(), String::new());
    let mut open: Option<usize> = None;
    for line in each_line(text) {
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        let is_empty = words.trim().is_empty() || words.starts_with('#');
        // List items may be at the same indentation as their key.
        let is_item = words.starts_with("- ") || words.trim_end() == "-";
        let goes_on = |column: usize| is_empty || indent > column || (column == 0 && indent == 0 && is_item);
        match (open.filter(|column| goes_on(*column)), blocks.last_mut()) {
            (Some(_), Some(block)) => block.push_str(line),
            _ => {
                let begins = (indent == 0 && words.starts_with("nav:"))
                    || (indent > 0 && words.split('#').next().is_some_and(|key| key.trim_end() == "redirect_maps:"));
                open = begins.then_some(indent);
                match begins {
                    true => blocks.push(line.to_owned()),
                    false => rest.push_str(line),
                }
                // The position of a `redirect_maps` block among the plug-in options must stay: under another plug-in it
                // has another meaning.
                if begins && indent > 0 {
                    rest.push_str(&format!("{}\0\n", &line[..indent]));
                }
            }
        }
    }
    (blocks, rest)
}

/// Rejects new lines with YAML tags, anchors, aliases or merge keys, whose meaning depends on other parts of the file
/// or on the generator.
fn without_references(before: &str, after: &str) -> Result<(), &'static str> {
    regex!(REFERENCE, r"(?:^|[\s\[{,:-])[&*!][^\s]|<<[ \t]*:");
    let is_new = |line: &&str| !each_line(before).any(|old| old.trim() == line.trim());
    match each_line(after).filter(|line| REFERENCE.is_match(line)).any(|line| is_new(&line)) {
        true => Err("its navigation holds a tag or a reference"),
        false => Ok(()),
    }
}

/// Everything except the navigation must be identical.
fn zensical(before: &str, after: &str) -> EditableParts {
    let read = |text: &str| -> Result<(toml::Table, Yaml), &'static str> {
        let mut table = text.parse::<toml::Table>().map_err(|_| "it is not TOML")?;
        let own = table.remove("nav");
        let nav = table.get_mut("project").and_then(|project| project.as_table_mut()?.remove("nav"));
        Ok((table, nav.or(own).map_or(Yaml::Empty, of_toml)))
    };
    let ((old_others, old), (others, new)) = (read(before)?, read(after)?);
    if old_others == others { Ok((Some(old), new)) } else { Err(OTHER_PARTS_DIFFER) }
}

/// Everything except the redirect table must be identical.
fn book(before: &str, after: &str) -> EditableParts {
    let read = |text: &str| -> Result<(toml::Table, Yaml), &'static str> {
        let mut table = text.parse::<toml::Table>().map_err(|_| "it is not TOML")?;
        let mut html = table.get_mut("output").and_then(|output| output.get_mut("html")?.as_table_mut());
        let redirects = html.as_mut().and_then(|html| html.get_mut("redirect")?.as_table_mut()).map(std::mem::take);
        let texts = redirects.unwrap_or_default().into_iter();
        let texts = texts.map(|(from, to)| Some((from, Yaml::Text(to.as_str()?.to_owned()))));
        Ok((table, Yaml::Map(texts.collect::<Option<_>>().ok_or("a redirect leads to no address")?)))
    };
    let ((others, old), (others_now, new)) = (read(before)?, read(after)?);
    if others == others_now { Ok((Some(old), new)) } else { Err(OTHER_PARTS_DIFFER) }
}

/// New lines redirect from one path of the site to another. All else is a rule of the host: parameters, conditions,
/// rewrites that serve another page or another host at the path.
fn redirects(before: &str, after: &str) -> EditableParts {
    let is_other = |line: &&str| !line.is_empty() && !line.starts_with('#') && !is_redirect(line);
    let others = |text: &str| each_line(text).map(str::trim).filter(is_other).map(str::to_owned).collect::<Vec<_>>();
    match others(before) == others(after) {
        true => Ok((None, Yaml::Empty)),
        false => Err("a line of it is no redirect: two paths of the site, and 301, 302, 308 or nothing"),
    }
}

/// Whether a line of `_redirects` is two paths and at most a status.
fn is_redirect(line: &str) -> bool {
    let is_path =
        |word: &str| word.starts_with('/') && !word.starts_with("//") && !word.contains('\\') && is_inert_address(word);
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        [from, to] => is_path(from) && is_path(to),
        [from, to, status] => is_path(from) && is_path(to) && ["301", "302", "308"].contains(&status),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refusal(file: &str, before: &str, after: &str) -> Option<String> {
        SiteData::of(file).expect("a file of data").more_than_navigation(Some(before.as_bytes()), after.as_bytes())
    }

    #[test]
    fn only_the_navigation_and_redirects_of_docs_json_may_differ() {
        let before = r##"{"name": "A", "colors": {"primary": "#fff"}, "navigation": ["index"]}"##;
        for (after, is_more) in [
            (
                r##"{ "name": "A", "colors": { "primary": "#fff" }, "navigation": ["index", "b"], "redirects": [{"source": "/a", "destination": "/b"}] }"##,
                false,
            ),
            (r##"{"name": "A", "colors": {"primary": "#fff"}}"##, false),
            (r##"{"name": "A", "colors": {"primary": "#000"}, "navigation": ["index"]}"##, true),
            (r##"{"name": "A", "colors": {"primary": "#fff"}, "navigation": ["index"], "api": {}}"##, true),
            (r##"{"name": "A", "colors": {"primary": "#fff"}, "name": "B", "navigation": ["index"]}"##, true),
            (r##"{"name": "A", "colors": {"primary": "#fff"}, "navigation": {"href": "javascript:f()"}}"##, true),
            ("{", true),
        ] {
            assert_eq!(refusal("docs.json", before, after).is_some(), is_more, "{after}");
        }
        let new = |after: &str| SiteData::Mintlify.more_than_navigation(None, after.as_bytes());
        assert_eq!(
            (new(r#"{"navigation": []}"#), new(r#"{"name": "A"}"#)),
            (None, Some(OTHER_PARTS_DIFFER.to_owned()))
        );
    }

    #[test]
    fn only_the_navigation_and_redirects_of_mkdocs_yml_may_differ() {
        let before = "site_name: T\nnav:\n  - Home: index.md\n\nplugins:\n  - redirects:\n      redirect_maps:\n        a.md: b.md\n  - macros\nhooks: !ENV [H]\n";
        for (old, new, is_more) in [
            ("index.md\n", "index.md\n  - Next & last: b.md\n", false),
            ("nav:\n  - Home: index.md\n", "nav:\n- Home: index.md\n- B: b.md\n", false),
            ("a.md: b.md\n", "a.md: b.md\n        'c.md': d.md\n", false),
            ("index.md\n", "javascript:f()\n", true),
            ("index.md\n", "index.md\nhooks:\n  - h.py\n", true),
            ("Home: index.md\n", "Home: \"index.md\n", true),
            ("Home: index.md\n", "Home: *a\n", true),
            ("Home: index.md\n", "Home: !ENV A\n", true),
            ("Home: index.md\n", "Home: [a, b\n", true),
            ("- macros", "- macros\n  - exec", true),
            ("a.md: b.md\n", "a.md: b.md\n      other: x\n", true),
            ("site_name: T", "site_name: U", true),
            ("!ENV [H]", "[h.py]", true),
            ("index.md\n", "index.md\n---\nhooks: [h.py]\n", true),
        ] {
            let after = before.replacen(old, new, 1);
            assert_ne!(after, before, "{old}");
            assert_eq!(refusal("mkdocs.yml", before, &after).is_some(), is_more, "{after}");
        }
        assert_eq!(refusal("mkdocs.yml", "site_name: T\n", "site_name: T\nnav:\n  - index.md\n"), None);
    }

    #[test]
    fn only_the_navigation_of_zensical_toml_may_differ() {
        let before =
            "[project]\nsite_name = \"T\"\nnav = [\"index.md\", { A = \"a.md\" }]\n[project.theme]\nname = \"x\"\n";
        for (old, new, is_more) in [
            ("\"index.md\",", "\"index.md\", \"b.md\",", false),
            ("{ A =", "{ \"B & C\" =", false),
            ("\"a.md\"", "\"javascript:f()\"", true),
            ("\"T\"", "\"U\"", true),
            ("name = \"x\"", "custom_dir = \"x\"", true),
            ("[project]", "[project", true),
        ] {
            let after = before.replacen(old, new, 1);
            assert_ne!(after, before, "{old}");
            assert_eq!(refusal("../zensical.toml", before, &after).is_some(), is_more, "{after}");
        }
    }

    #[test]
    fn only_the_redirects_of_book_toml_may_differ() {
        let before = "[book]\ntitle = \"T\"\n[output.html.redirect]\n\"/a.html\" = \"b.html\"\n";
        for (old, new, is_more) in [
            ("b.html\"\n", "c.html\"\n\"/d.html\" = \"c.html\"\n", false),
            ("[book]", "# note\n[book]", false),
            ("\"b.html\"", "\"javascript:f()\"", true),
            ("\"b.html\"", "1", true),
            ("\"b.html\"\n", "\"b.html\"\n[preprocessor.x]\ncommand = \"y\"\n", true),
            ("\"T\"", "\"U\"", true),
            ("[output.html.redirect]", "[output.html]\ncurly-quotes = true\n[output.html.redirect]", true),
            ("[book]", "[book", true),
        ] {
            let after = before.replacen(old, new, 1);
            assert_ne!(after, before, "{old}");
            assert_eq!(refusal("../book.toml", before, &after).is_some(), is_more, "{after}");
        }
    }

    #[test]
    fn other_data_is_navigation_as_a_whole() {
        assert_eq!(refusal("guides/_meta.json", "{}", r#"{"index": "Home"}"#), None);
        assert!(refusal("guides/_meta.json", "{}", r#"{"a": {"href": "javascript:f()"}}"#).is_some());
        assert!(refusal("sidebars.json", "{}", "module.exports = {}").is_some());
        assert_eq!(refusal("_toc.yml", "", "format: jb-book\nroot: index\n"), None);
        assert!(refusal("_toc.yml", "", "root: !!python/name:os.system index\n").is_some());
        let before = "/a /b 301\n/api/* https://api.test/:splat 200\n";
        assert_eq!(refusal("_redirects", before, &format!("{before}/c /d\n")), None);
        assert!(refusal("_redirects", before, &format!("{before}/c https://x.y 200\n")).is_some());
        let data = "- title: A\n  url: /a/\n  icon: a.svg\n";
        assert_eq!(refusal("_data/navigation.yml", data, "- title: B\n  url: /b/\n- title: C\n"), None);
        for after in [
            "- title: A\n  include: x.html\n",
            "- title: A\n  icon: b.svg\n",
            "- title: '{{ site.x }}'\n",
            "- title: !x A\n",
        ] {
            assert!(refusal("_data/navigation.yml", data, after).is_some(), "{after}");
        }
        for file in ["docs/_data/en/docs-sidebar.yaml", "_data/topnav.yml", "_data/navigation.yml"] {
            assert_eq!(SiteData::of(file), Some(SiteData::Data), "{file}");
        }
        for file in [
            "_data/stock.yml", "_data/people.yml", "my_data/nav.yml", "data/nav.yml", "_data/navigation.rb",
            "package.json", "mkdocs.yaml.bak", "a/docs.json", ".meta.json", "docusaurus.config.js", "config.ts",
            "_meta.json.js",
        ] {
            assert_eq!(SiteData::of(file), None, "{file}");
        }
    }

    proptest! {
        #[test]
        fn whatever_follows_the_navigation_cannot_be_changed_from_inside(entry in "([a-z:'\"\\[\\]{}|>#&*!,-]|- | |\n|\n  ){0,24}") {
            let before = "nav:\n  - index.md\nhooks: [h.py]\n";
            let after = format!("nav:\n  - index.md\n  - {entry}\nhooks: [h.py]\n");
            if refusal("mkdocs.yml", before, &after).is_none() && let Ok(read) = yaml::read(&after) {
                let names: Vec<&str> = read.members().iter().map(|(name, _)| name.as_str()).collect();
                prop_assert_eq!(names, ["nav", "hooks"]);
                let hooks = yaml::read("[h.py]").ok();
                prop_assert_eq!(read.get("hooks"), hooks.as_ref());
            }
        }
    }
}
