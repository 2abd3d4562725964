//! Reads the configuration of Jekyll and detects its plug-ins.

use std::collections::HashSet;

use docent_markdown::{Field, FieldValue, file_name, has_word, text_of};

use crate::generators::yaml::Yaml;
use crate::glob::Globs;
use crate::settings;
use crate::tree::{Tree, from_config_folder};

const CONFIG_FILES: [&str; 3] = ["_config.yml", "_config.yaml", "_config.toml"];

/// The table of contents of a Jupyter Book (built by Sphinx), whose configuration is named `_config.yml`, too.
const JUPYTER_BOOK_CONTENTS: &str = "_toc.yml";

/// The file that lists the installed plug-ins.
const GEMFILE: &str = "Gemfile";

/// Keys that only the configurations of other tools have: Hexo and Jupyter Book.
const OTHER_TOOL_KEYS: [&str; 6] = ["source_dir", "public_dir", "new_post_name", "sphinx", "execute", "launch_buttons"];

/// Paths that Jekyll excludes unless `include` lists them.
const DEFAULT_EXCLUDES: &str = ".sass-cache .jekyll-cache gemfiles Gemfile node_modules vendor/bundle/ vendor/cache/ \
    vendor/gems/ vendor/ruby/";

/// Plug-ins that GitHub Pages allows. Only those for redirects and pagination make pages without a source file.
const GITHUB_PAGES_PLUGINS: &str = "github-pages jekyll-avatar jekyll-coffeescript jekyll-commonmark-ghpages \
    jekyll-default-layout jekyll-feed jekyll-gist jekyll-github-metadata jekyll-include-cache jekyll-mentions \
    jekyll-optional-front-matter jekyll-paginate jekyll-readme-index jekyll-redirect-from jekyll-relative-links \
    jekyll-remote-theme jekyll-sass-converter jekyll-seo-tag jekyll-sitemap jekyll-titles-from-headings jemoji \
    kramdown-parser-gfm";

/// Other plug-ins that make no pages.
const OTHER_HARMLESS_PLUGINS: &str = "jekyll-algolia jekyll-compose jekyll-last-modified-at jekyll-target-blank jekyll-toc \
    jekyll-admin jekyll-minifier";

/// Whether a file belongs to the configuration of a site; `folder` is relative to the folder of the configuration.
pub(crate) fn is_file(folder: &str, name: &str) -> bool {
    folder.is_empty() && (CONFIG_FILES.contains(&name) || name == JUPYTER_BOOK_CONTENTS || name == GEMFILE)
}

/// A parsed configuration, and the error if it could not be parsed.
pub(super) struct ParsedConfig {
    pub(super) file: String,
    pub(super) config: Yaml,
    pub(super) error: Option<String>,
}

/// Reads Jekyll's configuration, if the folder has one.
pub(super) fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<ParsedConfig> {
    let file = CONFIG_FILES.iter().map(|name| from_config_folder(tree, home, name)).find(|file| has(file))?;
    if has(&from_config_folder(tree, home, JUPYTER_BOOK_CONTENTS)) {
        return None;
    }
    let (config, error) = settings::parse_or_empty(&file, &tree.text(&file)?);
    let is_of_other_tool = OTHER_TOOL_KEYS.iter().any(|key| config.get(key).is_some());
    (!is_of_other_tool).then_some(ParsedConfig { file, config, error })
}

/// Effects of the active plug-ins on addresses and links.
#[derive(Debug, Default)]
pub(super) struct Plugins {
    /// Whether links to Markdown files become links to pages.
    pub(super) relative_links: bool,
    /// Whether `relative_links` applies to posts and collections, too.
    pub(super) relative_links_in_collections: bool,
    /// Whether Markdown files without front matter are pages.
    pub(super) optional_front_matter: bool,
    /// Whether a `README.md` is the index of a folder that has no other.
    pub(super) readme_index: bool,
    pub(super) redirect_from: bool,
    pub(super) paginate: bool,
    /// Whether there are other plug-ins, which may generate pages.
    pub(super) has_unknown_plugins: bool,
}

impl Plugins {
    pub(super) fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool, config: &Yaml) -> Self {
        let gemfile = [from_config_folder(tree, home, GEMFILE), crate::tree::from_root(tree.root(), GEMFILE)]
            .into_iter()
            .find(|file| has(file))
            .and_then(|file| tree.read(&file));
        let gems = gemfile.as_deref().map(|bytes| gems(&text_of(bytes)));
        let mut names: Vec<String> = ["plugins", "gems"]
            .iter()
            .filter_map(|key| config.get(key))
            .flat_map(Yaml::list)
            .filter_map(Yaml::text)
            .map(str::to_owned)
            .collect();
        let plugins_folder =
            format!("{}/", from_config_folder(tree, home, config.text_of("plugins_dir").unwrap_or("_plugins")));
        let has_own_plugins =
            tree.all_paths().iter().any(|path| path.starts_with(plugins_folder.as_str()) && path.ends_with(".rb"));
        names.extend(gems.iter().flatten().filter(|gem| gem.is_plugin).map(|gem| gem.name.clone()));
        let is_allowed = |name: &String| has_word(GITHUB_PAGES_PLUGINS, name);
        let is_github = names.iter().any(|name| name == "github-pages")
            || gems.iter().flatten().any(|gem| gem.name == "github-pages")
            // A site without a Gemfile that uses only the plug-ins of GitHub Pages is built by GitHub Pages.
            || gems.is_none() && !has_own_plugins && names.iter().all(is_allowed);
        let is_listed = |name: &str| names.iter().any(|known| known == name);
        let option = |plugin: &str, name: &str| config.get(plugin)?.get(name)?.text();
        let is_enabled =
            |plugin: &str, key: &str| (is_github || is_listed(plugin)) && option(key, "enabled") != Some("false");
        Self {
            relative_links: is_enabled("jekyll-relative-links", "relative_links"),
            relative_links_in_collections: option("relative_links", "collections") == Some("true"),
            optional_front_matter: is_enabled("jekyll-optional-front-matter", "optional_front_matter"),
            readme_index: is_enabled("jekyll-readme-index", "readme_index"),
            redirect_from: is_listed("jekyll-redirect-from"),
            paginate: config.get("paginate").is_some(),
            has_unknown_plugins: has_own_plugins
                || !names.iter().all(|name| is_allowed(name) || has_word(OTHER_HARMLESS_PLUGINS, name)),
        }
    }
}

struct Gem {
    name: String,
    /// Whether Jekyll loads the gem automatically (group `:jekyll_plugins`).
    is_plugin: bool,
}

/// The gems in a `Gemfile`. The file is a Ruby program; only plain `gem` and `group` lines are read.
fn gems(text: &str) -> Vec<Gem> {
    let mut is_inside = false;
    let mut gems = Vec::new();
    for line in text.lines().map(str::trim) {
        let is_of_group = line.contains(":jekyll_plugins");
        if line.starts_with("group") {
            is_inside = is_of_group;
        } else if line == "end" {
            is_inside = false;
        } else if let Some(rest) = line.strip_prefix("gem ").or_else(|| line.strip_prefix("gem(")) {
            let name = rest.trim_start().split(['"', '\'']).nth(1).unwrap_or_default();
            gems.push(Gem { name: name.to_owned(), is_plugin: is_inside || is_of_group });
        }
    }
    gems
}

/// Front matter defaults for the files in a scope.
#[derive(Debug)]
pub(super) struct Defaults {
    path: String,
    kind: Option<String>,
    values: Vec<Field>,
}

impl Defaults {
    pub(super) fn all(config: &Yaml) -> Vec<Self> {
        let sets = config.list_of("defaults");
        let read = |set: &Yaml| {
            let text = |name: &str| set.get("scope")?.get(name)?.text();
            let kind = text("type").map(|kind| match kind {
                "page" | "post" | "draft" => format!("{kind}s"),
                kind => kind.to_owned(),
            });
            let values = set.members_of("values").iter();
            let path = text("path").unwrap_or_default().trim_start_matches('/').to_owned();
            Self { path, kind, values: values.filter_map(|(name, value)| field(name, value)).collect() }
        };
        sets.iter().map(read).collect()
    }

    /// The default fields for a file of a kind; where several sets define a field, the most specific set wins.
    pub(super) fn of<'d>(sets: &'d [Self], path: &str, kind: &str) -> Vec<&'d Field> {
        let mut fields: Vec<(&Field, &Self)> = Vec::new();
        let applicable =
            sets.iter().filter(|set| set.kind.as_deref().is_none_or(|of| of == kind) && set.applies_to(path));
        for set in applicable {
            for field in &set.values {
                match fields.iter_mut().find(|(known, _)| known.name == field.name) {
                    Some(known) if set.is_more_specific_than(known.1) => *known = (field, set),
                    Some(_) => {}
                    None => fields.push((field, set)),
                }
            }
        }
        fields.into_iter().map(|(field, _)| field).collect()
    }

    fn is_more_specific_than(&self, other: &Self) -> bool {
        match self.path.len() == other.path.len() {
            true => self.kind.is_some() || other.kind.is_none(),
            false => self.path.len() > other.path.len(),
        }
    }

    fn applies_to(&self, path: &str) -> bool {
        if !self.path.contains('*') {
            return path.starts_with(self.path.as_str());
        }
        let globs = Globs::known(&[self.path.trim_end_matches('/')]);
        super::address::with_folders(path).any(|part| globs.is_match(part))
    }
}

fn field(name: &str, value: &Yaml) -> Option<Field> {
    let value = match value {
        Yaml::Text(text) => FieldValue::Text(text.clone()),
        Yaml::List(items) => FieldValue::List(items.iter().filter_map(Yaml::text).map(str::to_owned).collect()),
        _ => return None,
    };
    Some(Field { name: name.to_owned(), value })
}

/// The `exclude` and `include` patterns of the configuration.
#[derive(Debug, Default)]
pub(super) struct Filter {
    exclude: Vec<String>,
    include: Vec<String>,
}

impl Filter {
    pub(super) fn read(config: &Yaml) -> Self {
        let list = |name: &str| config.list_of(name).iter().filter_map(Yaml::text);
        let bare = |pattern: &str| pattern.trim_start_matches("./").trim_start_matches('/').to_owned();
        let include: Vec<String> = list("include").map(bare).collect();
        let exclude = list("exclude").map(bare).chain(DEFAULT_EXCLUDES.split(' ').map(str::to_owned));
        let included: HashSet<&String> = include.iter().collect();
        let exclude = exclude.filter(|pattern| !included.contains(pattern)).collect();
        Self { exclude, include }
    }

    /// Whether a file is excluded; `path` is relative to the source. `is_special` says for the path or one of its
    /// folders whether a leading `_`, `.`, `#` or `~` excludes it.
    pub(super) fn excludes(&self, path: &str, is_special: impl Fn(&str) -> bool) -> bool {
        super::address::with_folders(path).any(|part| {
            let is_folder = part.len() < path.len();
            let name = file_name(part);
            if self.include.iter().any(|pattern| matches_pattern(pattern, name, is_folder)) {
                return false;
            }
            let is_hidden = name.starts_with(['_', '.', '#', '~']) && is_special(part);
            is_hidden
                || name.ends_with('~')
                || self.exclude.iter().any(|pattern| matches_pattern(pattern, part, is_folder))
        })
    }
}

/// Whether a pattern matches a path, as a prefix or as a glob.
fn matches_pattern(pattern: &str, path: &str, is_folder: bool) -> bool {
    let pattern = if is_folder { pattern.trim_end_matches('/') } else { pattern };
    path.starts_with(pattern) || pattern.contains(['*', '?']) && glob_matches(pattern.as_bytes(), path.as_bytes())
}

/// Whether a glob of `*` and `?` matches a path; a star matches slashes, too.
fn glob_matches(pattern: &[u8], path: &[u8]) -> bool {
    let (mut p, mut at) = (0, 0);
    let mut star = None;
    while at < path.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, at));
                p += 1;
            }
            Some(byte) if *byte == b'?' || *byte == path[at] => {
                p += 1;
                at += 1;
            }
            _ => match star {
                Some((from, star_end)) => {
                    star = Some((from, star_end + 1));
                    p = from + 1;
                    at = star_end + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}
