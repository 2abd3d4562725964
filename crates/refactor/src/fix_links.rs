//! Broken links are pointed at what was clearly meant; the rest is listed.

use std::collections::{BTreeMap, HashMap};

use docent_markdown::{Page, is_page, line_of, text_of};
use docent_site::{Site, Target, Tree, Wanted, may_have_anchor, respelled};

use super::edit::{Change, TextEdit, in_order};
use super::nearest::{self, Nearest};
use super::selection::Selection;
use super::{RefactorError, Refactored, counted};

/// How many links that could not be fixed are listed one by one.
const LISTED: usize = 50;

/// Fixes broken links and anchors on the selected pages.
pub fn fix_links(tree: &dyn Tree, within: &[String]) -> Result<Refactored, RefactorError> {
    let site = Site::read(tree);
    let selection = Selection::of(&site, within)?;
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    for file in site.files().filter(|file| is_page(file)) {
        if let Some(bytes) = tree.read(file) {
            pages.insert(file.to_owned(), site.parse(file, &bytes));
        }
    }
    let served = site.served();
    let paths: Vec<&str> = served.keys().copied().collect();
    let assets: Vec<&str> = site.files().filter(|file| !is_page(file)).collect();
    let mut mending =
        Mending { tree, site: &site, pages: &pages, served: &served, paths, assets, known: HashMap::new() };

    let mut fixed = Refactored::default();
    let mut left = 0;
    for (file, page) in pages.iter().filter(|(file, _)| selection.has(file)) {
        let mut edits: Vec<TextEdit> = Vec::new();
        let mut wrong = Vec::new();
        for link in &page.links {
            match mending.repair(file, &link.target) {
                Repair::Sound => {}
                Repair::Instead(target) => {
                    if !edits.iter().any(|edit| edit.range == link.dest_span) {
                        wrong.push((link.span.start, format!("`{}` is now `{target}`", link.target), true));
                        edits.push(TextEdit::new(link.dest_span.clone(), target));
                    }
                }
                Repair::Unclear(why) => wrong.push((link.span.start, format!("`{}`: {why}", link.target), false)),
            }
        }
        if wrong.is_empty() {
            continue;
        }
        let bytes = tree.read(file).unwrap_or_default();
        let text = text_of(&bytes);
        for (at, what, is_fixed) in wrong {
            let line = format!("{file}:{} {what}", line_of(&text, at));
            if is_fixed {
                fixed.details.push(line);
            } else {
                left += 1;
                if left <= LISTED {
                    fixed.left.push(line);
                }
            }
        }
        let edits = in_order(edits);
        if !edits.is_empty() {
            fixed.changes.push(Change::Edit { path: file.clone(), edits });
        }
    }
    if left > LISTED {
        fixed.left.push(format!("… and {} more", left - LISTED));
    }
    let count = fixed.details.len();
    fixed.summary = match (count, left) {
        (0, 0) => "No link is broken".to_owned(),
        (0, left) => format!("Fixed none of {}", counted(left, "broken link", "broken links")),
        (count, 0) => {
            format!(
                "Fixed {} on {}",
                counted(count, "broken link", "broken links"),
                counted(fixed.changes.len(), "page", "pages")
            )
        }
        (count, left) => format!(
            "Fixed {} on {}; {left} left",
            counted(count, "broken link", "broken links"),
            counted(fixed.changes.len(), "page", "pages")
        ),
    };
    Ok(fixed)
}

enum Repair {
    /// Not broken, or not for us to say.
    Sound,
    Instead(String),
    Unclear(String),
}

struct Mending<'a> {
    tree: &'a dyn Tree,
    site: &'a Site,
    pages: &'a BTreeMap<String, Page>,
    served: &'a BTreeMap<&'a str, &'a str>,
    paths: Vec<&'a str>,
    assets: Vec<&'a str>,
    /// What wrong paths come to: the same mistake is often made on many pages.
    known: HashMap<String, Nearest<'a>>,
}

impl<'a> Mending<'a> {
    fn repair(&mut self, from: &str, target: &str) -> Repair {
        match self.site.resolve(from, target) {
            Target::External | Target::NotUnderstood | Target::Asset { .. } | Target::Redirect { .. } => Repair::Sound,
            Target::Page { anchor: None, .. } => Repair::Sound,
            Target::Page { file, anchor: Some(anchor) } => match self.anchor(&file, &anchor) {
                Anchor::There => Repair::Sound,
                Anchor::Instead(anchor) => Repair::Instead(with_anchor(target, &anchor)),
                Anchor::Unclear(why) => Repair::Unclear(why),
            },
            Target::Missing { path, anchor } => {
                let Some(path) = path else {
                    return Repair::Unclear("it leads out of the site".to_owned());
                };
                match self.nearest(&path) {
                    Nearest::One(found) => {
                        let file = self.served.get(found).copied().unwrap_or(found).to_owned();
                        let anchor = anchor.and_then(|anchor| match self.anchor(&file, &anchor) {
                            Anchor::Instead(anchor) => Some(anchor),
                            Anchor::There | Anchor::Unclear(_) => None,
                        });
                        Repair::Instead(self.site.link(&Wanted {
                            from,
                            to: &file,
                            anchor: anchor.as_deref(),
                            like: target,
                        }))
                    }
                    Nearest::Several(names) => {
                        let names: Vec<String> = names.iter().map(|name| format!("`/{name}`")).collect();
                        Repair::Unclear(format!("it could be {}", names.join(" or ")))
                    }
                    Nearest::Nothing => Repair::Unclear("no page is near it".to_owned()),
                }
            }
        }
    }

    fn nearest(&mut self, path: &str) -> Nearest<'a> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let is_asset = path.rsplit('/').next().is_some_and(|name| {
            name.rsplit_once('.').is_some_and(|(_, ending)| {
                let ending = ending.to_lowercase();
                ending.len() <= 5
                    && !["html", "htm", "md", "mdx"].contains(&ending.as_str())
                    && ending.chars().any(char::is_alphabetic)
            })
        });
        let nearest = nearest::path(path, if is_asset { &self.assets } else { &self.paths });
        self.known.insert(path.to_owned(), nearest.clone());
        nearest
    }

    fn anchor(&self, file: &str, anchor: &str) -> Anchor {
        let Some(page) = self.pages.get(file) else { return Anchor::There };
        let hidden = || self.tree.read(file).is_some_and(|bytes| may_have_anchor(page, &bytes, anchor));
        if page.has_anchor(anchor) || hidden() {
            return Anchor::There;
        }
        let anchors: Vec<&str> = page.anchors().collect();
        match nearest::anchor(anchor, &anchors) {
            Nearest::One(found) => Anchor::Instead(found.to_owned()),
            Nearest::Several(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`#{name}`")).collect();
                Anchor::Unclear(format!("it could be {}", names.join(" or ")))
            }
            Nearest::Nothing => Anchor::Unclear(format!("no heading of `{file}` is near it")),
        }
    }
}

enum Anchor {
    There,
    Instead(String),
    Unclear(String),
}

fn with_anchor(target: &str, anchor: &str) -> String {
    let path = target.split('#').next().unwrap_or("");
    let encoded = respelled("#", "", "", Some(anchor));
    format!("{path}#{}", encoded.rsplit('#').next().unwrap_or(anchor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{after, site, text, touched};

    #[test]
    fn what_is_clearly_meant_is_fixed_and_the_rest_is_listed() {
        let tree = site(&[
            (
                "index.mdx",
                "[a](/guides/retry) [b](guides/webhoks.mdx#Set-up) [c](/nowhere)\n\n[d](/guides/webhooks#sett-up) [e](/api/list)\n",
            ),
            ("guides/retries.mdx", "[up](../index) [gone](webhook) [me](#nothing) ![i](../images/loga.png)\n"),
            ("guides/webhooks.mdx", "## Set up\n"),
            ("api/v1/list.mdx", ""),
            ("api/v2/list.mdx", ""),
            ("images/logo.png", ""),
        ]);
        let fixed = fix_links(&tree, &[]).expect("fixed");
        assert_eq!(fixed.summary, "Fixed 5 broken links on 2 pages; 3 left");
        assert_eq!(
            fixed.left,
            [
                "guides/retries.mdx:1 `#nothing`: no heading of `guides/retries.mdx` is near it",
                "index.mdx:1 `/nowhere`: no page is near it",
                "index.mdx:3 `/api/list`: it could be `/api/v1/list` or `/api/v2/list`",
            ]
        );
        let tree = after(&tree, &fixed);
        assert_eq!(
            text(&tree, "index.mdx"),
            "[a](/guides/retries) [b](guides/webhooks.mdx#Set-up) [c](/nowhere)\n\n[d](/guides/webhooks#set-up) [e](/api/list)\n"
        );
        assert_eq!(
            text(&tree, "guides/retries.mdx"),
            "[up](../index) [gone](webhooks) [me](#nothing) ![i](../images/logo.png)\n"
        );
    }

    #[test]
    fn a_place_narrows_and_sound_links_stay() {
        let tree =
            site(&[("a.md", "[x](/bb)\n"), ("b.md", "[x](/aa) [y](https://x.y/z)\n"), ("aaa.md", ""), ("bbb.md", "")]);
        let fixed = fix_links(&tree, &["b.md".to_owned()]).expect("fixed");
        assert!(touched(&fixed).iter().all(|path| *path == "b.md"));
        let sound = site(&[("a.md", "[x](b.md) [y](mailto:a@b.c) [z](#)\n"), ("b.md", "")]);
        let fixed = fix_links(&sound, &[]).expect("nothing to fix");
        assert_eq!((fixed.summary.as_str(), fixed.changes.len()), ("No link is broken", 0));
    }
}
