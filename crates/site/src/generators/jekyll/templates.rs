//! Liquid templates as link targets: `{% link page.md %}`, `{{ "/path/" | relative_url }}`, `{{ site.baseurl }}/path/`.

use std::sync::LazyLock;

use docent_markdown::{is_markdown_page, joined, regex};
use regex::Regex;

use super::address::Served;
use super::from_source;
use super::links::{SourceFile, at};
use crate::follow::{decoded, encoded, is_external, parts, suffix_of};
use crate::layout::below;
use crate::model::{Site, Target};
use crate::paths::path_in;

/// What the path in a template refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// A file by its path in the source.
    File,
    /// A post by its date and name.
    Post,
    /// A path relative to the base path.
    Path,
    /// A path from the root of the host.
    HostPath,
}

/// A link target with a template, split around the path in the template.
#[derive(Debug)]
struct Template<'t> {
    before: &'t str,
    path: &'t str,
    /// The text between `path` and `rest`.
    after: &'t str,
    /// What follows the template: more of the path, the query and the anchor.
    rest: &'t str,
    named: Named,
}

fn template(target: &str) -> Option<Template<'_>> {
    const SITE: &str = r"(?:\{\{-?\s*site\.(?:url|baseurl|github\.url)\s*-?\}\})";
    regex!(TAG, &format!(r"^{SITE}*\{{%-?\s*(link|post_url)\s+([^%{{}}]*?)\s*-?%\}}([#?][^{{}}]*)?$"));
    static FILTER: LazyLock<Regex> = LazyLock::new(|| {
        let filter = r"\s*\|\s*(?:relative_url|absolute_url|prepend:\s*site\.baseurl|prepend:\s*site\.url)";
        Regex::new(&format!(r#"^{SITE}*\{{\{{-?\s*(?:"([^"{{}}]*)"|'([^'{{}}]*)')(?:{filter})+\s*-?\}}\}}([^{{}}]*)$"#))
            .expect("the pattern is written out above")
    });
    regex!(VARIABLE, &format!(r"^{SITE}+((?:/[^{{}}#?]*)?)([#?][^{{}}]*)?$"));
    let (path, rest, named) = if let Some(found) = TAG.captures(target) {
        let named = if &found[1] == "link" { Named::File } else { Named::Post };
        (found.get(2)?, found.get(3), named)
    } else if let Some(found) = FILTER.captures(target) {
        let path = found.get(1).or(found.get(2))?;
        let adds_base = ["relative_url", "absolute_url", "baseurl"].iter().any(|word| target.contains(word));
        (path, found.get(3), if adds_base { Named::Path } else { Named::HostPath })
    } else {
        let found = VARIABLE.captures(target)?;
        let adds_base = target.contains("baseurl") || target.contains("site.github.url");
        (found.get(1)?, found.get(2), if adds_base { Named::Path } else { Named::HostPath })
    };
    let rest = rest.map_or("", |rest| rest.as_str());
    let (before, after) = (&target[..path.start()], &target[path.end()..target.len() - rest.len()]);
    Some(Template { before, path: path.as_str(), after, rest, named })
}

pub(super) fn follow(site: &Site, from: &str, target: &str) -> Target {
    let Some(template) = template(target) else { return Target::NotUnderstood };
    let Some(place) = SourceFile::of(site, from).filter(|_| is_markdown_page(from)) else {
        return Target::NotUnderstood;
    };
    let (more, anchor) = parts(template.rest);
    let anchor = anchor.as_deref();
    match template.named {
        Named::File => by_file(&place, template.path, anchor),
        Named::Post => by_post(&place, template.path, anchor),
        Named::Path | Named::HostPath if is_external(template.path) => Target::External,
        Named::Path | Named::HostPath => {
            // The anchor may be inside of the quotes.
            let (path, own) = parts(template.path);
            let path = decoded(&format!("{path}{more}"));
            let base = place.settings.base.as_str();
            let inside = match template.named {
                Named::HostPath if !base.is_empty() => match path_in(base, path.trim_start_matches('/')) {
                    Some(rest) => rest.to_owned(),
                    None => return Target::NotUnderstood,
                },
                _ => path,
            };
            match joined("", &inside) {
                Some(served) => at(&place, &served, &inside, anchor.or(own.as_deref())),
                None => Target::NotUnderstood,
            }
        }
    }
}

/// Resolves `{% link path %}`. The build fails if there is no such file, unless a theme or a plug-in provides it.
fn by_file(place: &SourceFile<'_>, path: &str, anchor: Option<&str>) -> Target {
    let settings = place.settings;
    let path = path.trim_matches(['"', '\'']).trim_start_matches('/');
    let tried = [path.to_owned(), below(&settings.collections_dir, path)];
    for path in &tried {
        let Some(file) = from_source(place.site, settings, path) else { continue };
        if place.site.address(&file).is_some() {
            return Target::page(file, anchor);
        }
        if place.site.has_any(&file) && settings.serves(path) {
            return match is_markdown_page(file.trim_start_matches("../")) && file.starts_with("../") {
                true => Target::NotUnderstood,
                false => Target::Asset { file },
            };
        }
    }
    match settings.plugins.has_more || settings.has_theme {
        true => Target::NotUnderstood,
        false => Target::Missing { path: from_source(place.site, settings, path), anchor: anchor.map(str::to_owned) },
    }
}

fn by_post(place: &SourceFile<'_>, name: &str, anchor: Option<&str>) -> Target {
    let name = name.trim_matches(['"', '\'']).trim_start_matches('/');
    let (above, name) = name.rsplit_once('/').unwrap_or(("", name));
    let posts = place.site.files().filter_map(|file| {
        let (folder, own) = file.rsplit_once('/')?;
        let is_named = own.rsplit_once('.').is_some_and(|(stem, _)| stem == name);
        let is_post = format!("/{folder}/").contains("/_posts/") && place.site.address(file).is_some();
        let fits = above.is_empty()
            || folder.ends_with(&format!("{above}/_posts"))
            || folder.ends_with(&format!("_posts/{above}"));
        (is_named && is_post && fits).then_some(file)
    });
    let posts: Vec<&str> = posts.collect();
    match posts.as_slice() {
        [post] => Target::page(*post, anchor),
        [] if !place.settings.plugins.has_more
            && !place.site.all_files().any(|file| file.starts_with("../") && file.contains("_posts/")) =>
        {
            Target::Missing { path: Some(below(above, name)), anchor: anchor.map(str::to_owned) }
        }
        _ => Target::NotUnderstood,
    }
}

/// Rewrites the template in `like` for another file, which is served at `url`.
pub(super) fn written(like: &str, anchor: Option<&str>, file: Option<&str>, url: Option<&Served>) -> Option<String> {
    let old = template(like)?;
    let Template { before, after, rest, .. } = old;
    match old.named {
        Named::File => Some(format!("{before}{}{after}{}", file?, suffix_of(rest, anchor))),
        Named::Post => {
            let file = file?;
            let name = file.split_once("_posts/").map(|(above, inside)| below(above, inside))?;
            let (name, _) = name.rsplit_once('.')?;
            Some(format!("{before}{name}{after}{}", suffix_of(rest, anchor)))
        }
        // A path from the root of the host would need the base path.
        Named::HostPath => None,
        Named::Path => {
            let url = url?;
            let (path, own) = parts(old.path);
            let (more, _) = parts(rest);
            let whole = format!("{path}{more}");
            let last = whole.rsplit('/').next().unwrap_or_default();
            let has_slash = url.is_folder && (last.is_empty() || last.contains('.')) && !url.path.is_empty();
            let slash = if has_slash { "/" } else { "" };
            let lead = if path.starts_with('/') || path.is_empty() { "/" } else { "" };
            let anchor = anchor.or(own.as_deref());
            Some(format!("{before}{lead}{}{slash}{after}{}", encoded(&url.path), suffix_of(rest, anchor)))
        }
    }
}
