//! VitePress sites, configured in `.vitepress/config.*`.
//!
//! A link is a URL, resolved against the URL of its page, with or without `.md` or `.html`. With rewrites, links are
//! therefore resolved from the rewritten path of the page, not from the folder of its file.

mod links;

use docent_markdown::{AnchorStyle, FrontMatter, stem};

use super::modules::{ENDINGS, Modules};
use super::patterns::globs;
use super::script::Script;
use super::{Root, Rules};
use crate::follow::{LinkSyntax, is_external};
use crate::layout::{Entries, Entry, Generator, Layout, below};
use crate::paths::index_path;
use crate::tree::{Tree, from_config_folder, joined_in};

/// Maximum nesting depth of a sidebar.
const DEEPEST: usize = 32;

/// Settings that addresses and links depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct VitePressOptions {
    /// Base path of the site, without leading and trailing slash; `None` if it is computed.
    base: Option<String>,
    /// Whether rewrites are computed, so that only the build knows the addresses.
    addresses_computed: bool,
    /// Whether the build accepts dead links, at least some (`ignoreDeadLinks`).
    accepts_dead_links: bool,
}

pub(super) const RULES: Rules = Rules { hides, anchor, ..Rules::of(read, address, links::follow, links::write) };

fn address(root: &Root, inside: &str, _front: &FrontMatter) -> String {
    let rewritten = root.rewritten(inside);
    index_path(stem(&rewritten).unwrap_or(&rewritten), &["index"])
}

fn hides(_root: &Root, inside: &str) -> bool {
    // A dynamic route: its pages are made at build time, one per value of its parameter.
    let is_route = inside.split('[').skip(1).any(|rest| {
        rest.split_once(']')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
    });
    is_route || !inside.ends_with(".md") || inside.split('/').rev().skip(1).any(|folder| folder == "dist")
}

fn anchor(written: String, syntax: LinkSyntax) -> String {
    // VitePress slugifies the anchor of a link like that of a heading: without accents, in lower case.
    if syntax == LinkSyntax::Markdown { AnchorStyle::VitePress.slug(&written) } else { written }
}

/// Reads the layout, if the folder has a configuration of VitePress.
fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
    let file = ENDINGS
        .iter()
        .flat_map(|ending| [format!(".vitepress/config.{ending}"), format!(".vitepress/config/index.{ending}")])
        .map(|name| from_config_folder(tree, home, &name))
        .find(|file| has(file))?;
    let mut modules = Modules::new(tree, has);
    let config = modules.default_export(&file).map_or(Script::Computed, unwrapped);
    let themed = |config: &Script, name: &str| config.get("themeConfig").and_then(|theme| theme.get(name)).cloned();

    let source = config
        .text_of("srcDir")
        .and_then(|folder| joined_in(tree.root(), home, folder))
        .unwrap_or_else(|| home.to_owned());
    let excluded = config.get("srcExclude").map(Script::list).unwrap_or_default();
    let rewrites = config.get("rewrites").map(rewrites).unwrap_or(Some(Vec::new()));
    let mut root = Root {
        folder: source.clone(),
        generator: Generator::VitePress,
        excluded: globs(excluded.iter().filter_map(Script::text)),
        rewrites: rewrites.clone().unwrap_or_default(),
        language: config.text_of("lang").map(str::to_owned),
        ..Root::default()
    };

    let mut sidebars = vec![themed(&config, "sidebar")];
    for (name, locale) in config.get("locales").map(Script::members).unwrap_or_default() {
        let language = locale.text_of("lang");
        sidebars.push(themed(locale, "sidebar"));
        if name == "root" {
            root.language = language.map(str::to_owned).or(root.language);
        } else if !is_external(name) {
            let name = name.trim_matches('/');
            root.languages.push((name.to_owned(), language.unwrap_or(name).to_owned()));
        }
    }

    let mut layout = Layout::of(Generator::VitePress, home, vec![root]);
    layout.anchors = AnchorStyle::VitePress;
    let of_markdown = |option: &str, names: &[&str]| {
        let option = config.get("markdown").and_then(|markdown| markdown.get(option));
        option.is_some_and(|option| names.iter().any(|name| option.get(name).is_some()))
    };
    layout.anchors_computed = of_markdown("anchor", &["slugify", "getTokensText"])
        || of_markdown("attrs", &["leftDelimiter", "rightDelimiter", "disable", "allowedAttributes"]);
    layout.options.vitepress = VitePressOptions {
        base: match config.get("base") {
            // An object that is spread into the configuration may set `base`.
            None if config.get("...").is_some() => None,
            None => Some(String::new()),
            Some(base) => base.text().map(|base| base.trim_matches('/').to_owned()),
        },
        addresses_computed: rewrites.is_none(),
        accepts_dead_links: config.get("ignoreDeadLinks").is_some_and(|option| !option.is("false")),
    };
    layout.snippets = vec![source];
    let mut walk = Walk { entries: Entries::default(), computed: matches!(config, Script::Computed) };
    for sidebar in sidebars.iter().flatten() {
        walk.sidebar(sidebar);
    }
    layout.entries = walk.entries.by_key;
    if walk.computed {
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

/// Rewrites as pairs of source and destination; `None` if one of them is computed or uses a custom pattern.
fn rewrites(option: &Script) -> Option<Vec<(String, String)>> {
    let Script::Object(members) = option else { return None };
    let plain = |text: &str| {
        let text = text.replace("(.*)", "*");
        !text.contains(['(', ')', '{', '}', '?', '+', '^', '\\'])
    };
    members
        .iter()
        .map(|(from, to)| Some((from.clone(), to.text()?.to_owned())).filter(|(from, to)| plain(from) && plain(to)))
        .collect()
}

/// The object that is passed through calls: `defineConfig({…})`, `withPlugin({…})`.
pub(crate) fn unwrapped(script: Script) -> Script {
    match script {
        Script::Call(_, arguments) => {
            let object = arguments.into_iter().map(unwrapped).find(|argument| matches!(argument, Script::Object(_)));
            object.unwrap_or(Script::Computed)
        }
        other => other,
    }
}

struct Walk {
    entries: Entries,
    computed: bool,
}

impl Walk {
    /// Reads a sidebar: one list for all pages, or one list per path.
    fn sidebar(&mut self, sidebar: &Script) {
        match sidebar {
            Script::List(items) => self.items(items, "", &[], 0),
            Script::Object(members) => {
                for (_, part) in members {
                    match part {
                        Script::List(items) => self.items(items, "", &[], 0),
                        Script::Object(_) => {
                            let base = part.text_of("base").unwrap_or_default().to_owned();
                            self.items(part.get("items").map(Script::list).unwrap_or_default(), &base, &[], 0);
                        }
                        _ => self.computed = true,
                    }
                }
            }
            Script::Word(_) => {}
            _ => self.computed = true,
        }
    }

    fn items(&mut self, items: &[Script], base: &str, groups: &[String], depth: usize) {
        if depth > DEEPEST {
            return;
        }
        for item in items {
            if !matches!(item, Script::Object(_)) {
                self.computed = true;
                continue;
            }
            let text = item.text_of("text").map(str::to_owned);
            let base = item.text_of("base").unwrap_or(base);
            if let Some(link) = item.text_of("link").filter(|link| !is_external(link)) {
                let link = link.split(['#', '?']).next().unwrap_or(link);
                let entry = Entry { title: text.clone(), groups: groups.into(), ..Entry::default() };
                self.entries.add(site_path_of(&below(base, link)), entry);
            }
            match item.get("items") {
                Some(Script::List(inner)) => {
                    let mut inside = groups.to_vec();
                    inside.extend(text);
                    self.items(inner, base, &inside, depth + 1);
                }
                Some(_) => self.computed = true,
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
