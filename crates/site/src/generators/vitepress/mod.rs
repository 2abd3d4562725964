//! VitePress sites, configured in `.vitepress/config.*`.
//!
//! A link is a URL, resolved against the URL of its page, with or without `.md` or `.html`. With rewrites, links are
//! therefore resolved from the rewritten path of the page, not from the folder of its file.

mod links;

use docent_markdown::{ActiveTokens, AnchorStyle, Depth, FrontMatter, regex, stem};

use super::modules::{Modules, SCRIPT_EXTENSIONS, is_script};
use super::script_value::ScriptValue;
use super::{Facts, Root, Rules, excluded};
use crate::glob::Globs;
use crate::groups::{self, Groups};
use crate::layout::{Generator, Layout, PageEntries, PageEntry, below};
use crate::link_target::is_external;
use crate::paths::index_path;
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder, joined_in};

/// Maximum nesting depth of a sidebar.
const MAX_DEPTH: usize = 32;

/// Settings that addresses and links depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct VitePressOptions {
    /// Base path of the site, without leading and trailing slash; `None` if it is computed.
    base: Option<String>,
    /// Whether rewrites are computed, so that only the build knows the addresses.
    addresses_computed: bool,
    /// Whether URLs of pages end in `.html`; false if that is computed.
    has_html_urls: bool,
    /// Whether the build accepts dead links, at least some (`ignoreDeadLinks`).
    accepts_dead_links: bool,
    /// Whether the anchors of links in Markdown are made as those of headings.
    slugs_anchors: bool,
}

pub(super) struct VitePress;

impl Rules for VitePress {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|folder, name| folder == ".vitepress" && is_script(name, "config")),
            has_plain_underscore_folders: true,
            inert_fields: "\
                titleTemplate layout=doc|home|page|false navbar sidebar aside outline outline[] outline.level \
                outline.label lastUpdated editLink footer pageClass isHome prev prev.text prev.link next next.text \
                next.link hero.name hero.text hero.tagline hero.image hero.image.src hero.image.alt hero.image.light \
                hero.image.dark hero.image.width hero.image.height hero.actions[].theme hero.actions[].text \
                hero.actions[].link hero.actions[].target hero.actions[].rel features[].icon features[].icon.src \
                features[].icon.alt features[].icon.width features[].icon.height features[].icon.light \
                features[].icon.dark features[].icon.wrap features[].title features[].details features[].link \
                features[].linkText features[].rel features[].target",
            components: "Badge",
            active_tokens: ActiveTokens { attribute_lists: true, vue: true, ..ActiveTokens::default() },
            shows_front_links: true,
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let file = SCRIPT_EXTENSIONS
            .iter()
            .flat_map(|ending| [format!(".vitepress/config.{ending}"), format!(".vitepress/config/index.{ending}")])
            .map(|name| from_config_folder(tree, home, &name))
            .find(|file| has(file))?;
        let mut modules = Modules::new(tree, has);
        let config = modules.default_export(&file).map_or(ScriptValue::Computed, unwrapped);
        let theme_option =
            |config: &ScriptValue, name: &str| config.get("themeConfig").and_then(|theme| theme.get(name)).cloned();

        let source = config
            .text_of("srcDir")
            .and_then(|folder| joined_in(tree.root(), home, folder))
            .unwrap_or_else(|| home.to_owned());
        let excluded = config.list_of("srcExclude");
        let rewrites = config.get("rewrites").map(rewrites).unwrap_or(Some(Vec::new()));
        let mut root = Root {
            folder: source.clone(),
            generator: Generator::VitePress,
            excluded: Globs::of(&file, excluded.iter().filter_map(ScriptValue::text)),
            rewrites: rewrites.clone().unwrap_or_default(),
            language: config.text_of("lang").map(str::to_owned),
            ..Root::default()
        };

        let mut sidebars = vec![theme_option(&config, "sidebar")];
        for (name, locale) in config.members_of("locales") {
            let language = locale.text_of("lang");
            sidebars.push(theme_option(locale, "sidebar"));
            if name == "root" {
                root.language = language.map(str::to_owned).or(root.language);
            } else if !is_external(name) {
                let name = name.trim_matches('/');
                root.languages.push((name.to_owned(), language.unwrap_or(name).to_owned()));
            }
        }

        let mut layout = Layout::of(Generator::VitePress, home, vec![root]);
        layout.anchors = AnchorStyle::VitePress;
        let has_markdown_option = |option: &str, names: &[&str]| {
            let option = config.get("markdown").and_then(|markdown| markdown.get(option));
            option.is_some_and(|option| names.iter().any(|name| option.get(name).is_some()))
        };
        layout.anchors_computed = has_markdown_option("anchor", &["slugify", "getTokensText"])
            || has_markdown_option("attrs", &["leftDelimiter", "rightDelimiter", "disable", "allowedAttributes"]);
        layout.options.vitepress = VitePressOptions {
            base: match config.get("base") {
                // An object that is spread into the configuration may set `base`.
                None if config.get("...").is_some() => None,
                None => Some(String::new()),
                Some(base) => base.text().map(|base| base.trim_matches('/').to_owned()),
            },
            addresses_computed: rewrites.is_none(),
            has_html_urls: match config.get("cleanUrls") {
                None => config.get("...").is_none() && !matches!(config, ScriptValue::Computed),
                Some(clean) => clean.is("false"),
            },
            slugs_anchors: slugs_anchors(tree, home),
            accepts_dead_links: config.get("ignoreDeadLinks").is_some_and(|option| !option.is("false")),
        };
        layout.snippets = vec![source];
        let mut reader =
            SidebarReader { entries: PageEntries::default(), is_computed: matches!(config, ScriptValue::Computed) };
        for sidebar in sidebars.iter().flatten() {
            reader.sidebar(sidebar);
        }
        layout.entries = reader.entries.by_key;
        if reader.is_computed {
            layout.problem(
                &file,
                "the sidebar is computed in part; pages that it does not name in so many words go without their group",
            );
        }
        if rewrites.is_none() {
            layout.problem(&file, "the rewrites are computed; pages are taken to be served where their files are");
        }
        Some(layout)
    }

    fn address(&self, root: &Root, relative_path: &str, _front: &FrontMatter) -> String {
        let rewritten = root.rewritten(relative_path);
        index_path(stem(&rewritten).unwrap_or(&rewritten), &["index"])
    }

    fn has_html_urls(&self, layout: &Layout) -> bool {
        layout.options.vitepress.has_html_urls
    }

    fn skips_path(&self, _root: &Root, relative_path: &str) -> Option<SkipReason> {
        // A dynamic route: its pages are made at build time, one per value of its parameter.
        let is_route = relative_path.split('[').skip(1).any(|rest| {
            rest.split_once(']').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        });
        let is_built = relative_path.split('/').rev().skip(1).any(|folder| folder == "dist");
        (is_route || is_built || !relative_path.ends_with(".md")).then(|| excluded(relative_path))
    }
}

/// Whether the site is built by a release that makes the anchor of a link as that of a heading, without accents and in
/// lower case: VitePress 2 does, and VitePress 1, which is what an installation brings, leaves it as it is written.
fn slugs_anchors(tree: &dyn Tree, home: &str) -> bool {
    regex!(NEEDED, r#""vitepress"\s*:\s*"([^"]*)""#);
    let texts = [home, ""].map(|folder| tree.text(&from_config_folder(tree, folder, "package.json")));
    let found = texts.into_iter().flatten().find_map(|text| Some(NEEDED.captures(&text)?[1].to_owned()));
    found.is_some_and(|release| !release.trim_start_matches(['^', '~', '=', 'v', ' ']).starts_with(['0', '1']))
}

/// Rewrites as pairs of source and destination; `None` if one of them is computed or uses a custom pattern.
fn rewrites(option: &ScriptValue) -> Option<Vec<(String, String)>> {
    let ScriptValue::Object(members) = option else { return None };
    let is_plain = |text: &str| {
        let text = text.replace("(.*)", "*");
        !text.contains(['(', ')', '{', '}', '?', '+', '^', '\\'])
    };
    members
        .iter()
        .map(|(from, to)| {
            Some((from.clone(), to.text()?.to_owned())).filter(|(from, to)| is_plain(from) && is_plain(to))
        })
        .collect()
}

/// The object that is passed through calls: `defineConfig({…})`, `withPlugin({…})`.
pub(crate) fn unwrapped(script: ScriptValue) -> ScriptValue {
    match script {
        ScriptValue::Call(_, arguments) => {
            let object =
                arguments.into_iter().map(unwrapped).find(|argument| matches!(argument, ScriptValue::Object(_)));
            object.unwrap_or(ScriptValue::Computed)
        }
        other => other,
    }
}

struct SidebarReader {
    entries: PageEntries,
    is_computed: bool,
}

impl SidebarReader {
    /// Reads a sidebar: one list for all pages, or one list per path.
    fn sidebar(&mut self, sidebar: &ScriptValue) {
        match sidebar {
            ScriptValue::List(items) => self.items(items, "", &Groups::default(), Depth::of(MAX_DEPTH)),
            ScriptValue::Object(members) => {
                for (_, part) in members {
                    match part {
                        ScriptValue::List(items) => self.items(items, "", &Groups::default(), Depth::of(MAX_DEPTH)),
                        ScriptValue::Object(_) => {
                            let base = part.text_of("base").unwrap_or_default().to_owned();
                            self.items(part.list_of("items"), &base, &Groups::default(), Depth::of(MAX_DEPTH));
                        }
                        _ => self.is_computed = true,
                    }
                }
            }
            ScriptValue::Word(_) => {}
            _ => self.is_computed = true,
        }
    }

    fn items(&mut self, items: &[ScriptValue], base: &str, groups: &Groups, depth: Depth) {
        let Some(depth) = depth.inside() else { return };
        for item in items {
            if !matches!(item, ScriptValue::Object(_)) {
                self.is_computed = true;
                continue;
            }
            let text = item.text_of("text").map(str::to_owned);
            let base = item.text_of("base").unwrap_or(base);
            if let Some(link) = item.text_of("link").filter(|link| !is_external(link)) {
                let link = link.split(['#', '?']).next().unwrap_or(link);
                let entry = PageEntry::named(text.clone(), groups);
                self.entries.add(site_path_of(&below(base, link)), entry);
            }
            match item.get("items") {
                Some(ScriptValue::List(inner)) => {
                    let inner_groups = groups::inside(groups, text.as_deref());
                    self.items(inner, base, &inner_groups, depth);
                }
                Some(_) => self.is_computed = true,
                None => {}
            }
        }
    }
}

/// Converts a link in a navigation into a site path.
pub(crate) fn site_path_of(link: &str) -> String {
    let link = link.trim_matches('/');
    let stem = [".md", ".html"].iter().find_map(|ending| link.strip_suffix(ending)).unwrap_or(link);
    match stem.rsplit_once('/') {
        Some((folder, "index")) => folder.to_owned(),
        None if stem == "index" => String::new(),
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests;
