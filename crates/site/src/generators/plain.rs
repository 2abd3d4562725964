//! No generator: a folder of pages, as a forge shows it.

use docent_markdown::{FrontMatter, site_path, slugged};

use super::Rules;
use super::roots::Root;
use crate::layout::{Layout, below};
use crate::tree::Tree;

#[derive(Debug)]
pub(crate) struct Plain;

impl Rules for Plain {
    fn read(&self, _tree: &dyn Tree, _home: &str, _has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        Some(Layout::plain())
    }

    fn takes_front_matter(&self) -> bool {
        false
    }

    fn address(&self, root: &Root, inside: &str, front: &FrontMatter) -> String {
        match front.slug() {
            Some(slug) => below(&root.served, &slugged(inside, slug)),
            None => below(&root.served, &site_path(inside)),
        }
    }
}
