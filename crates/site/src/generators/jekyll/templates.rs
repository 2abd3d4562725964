//! Liquid templates as link targets: `{% link page.md %}`, `{{ "/path/" | relative_url }}`, `{{ site.baseurl }}/path/`.

use std::sync::LazyLock;

use docent_markdown::{file_name, is_markdown_page, joined, regex};
use regex::Regex;

use super::address::ServedPath;
use super::from_source;
use super::links::{SourceFile, target_at};
use crate::layout::below;
use crate::link_target::{decoded, encoded, is_external, parts, suffix_of};
use crate::model::{Site, Target};
use crate::paths::path_in;

/// What the path in a template refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathKind {
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
    kind: PathKind,
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
    let (path, rest, kind) = if let Some(found) = TAG.captures(target) {
        let kind = if &found[1] == "link" { PathKind::File } else { PathKind::Post };
        (found.get(2)?, found.get(3), kind)
    } else if let Some(found) = FILTER.captures(target) {
        let path = found.get(1).or(found.get(2))?;
        let adds_base = ["relative_url", "absolute_url", "baseurl"].iter().any(|word| target.contains(word));
        (path, found.get(3), if adds_base { PathKind::Path } else { PathKind::HostPath })
    } else {
        let found = VARIABLE.captures(target)?;
        let adds_base = target.contains("baseurl") || target.contains("site.github.url");
        (found.get(1)?, found.get(2), if adds_base { PathKind::Path } else { PathKind::HostPath })
    };
    let rest = rest.map_or("", |rest| rest.as_str());
    let (before, after) = (&target[..path.start()], &target[path.end()..target.len() - rest.len()]);
    Some(Template { before, path: path.as_str(), after, rest, kind })
}

pub(super) fn resolve(site: &Site, from: &str, target: &str) -> Target {
    let Some(template) = template(target) else { return Target::NotUnderstood };
    let Some(source_file) = SourceFile::of(site, from).filter(|_| is_markdown_page(from)) else {
        return Target::NotUnderstood;
    };
    let (more, anchor) = parts(template.rest);
    let anchor = anchor.as_deref();
    match template.kind {
        PathKind::File => by_file(&source_file, template.path, anchor),
        PathKind::Post => by_post(&source_file, template.path, anchor),
        PathKind::Path | PathKind::HostPath if is_external(template.path) => Target::External,
        PathKind::Path | PathKind::HostPath => {
            // The anchor may be inside of the quotes.
            let (path, template_anchor) = parts(template.path);
            let path = decoded(&format!("{path}{more}"));
            let base = source_file.settings.base.as_str();
            let path_in_site = match template.kind {
                PathKind::HostPath if !base.is_empty() => match path_in(base, path.trim_start_matches('/')) {
                    Some(rest) => rest.to_owned(),
                    None => return Target::NotUnderstood,
                },
                _ => path,
            };
            match joined("", &path_in_site) {
                Some(site_path) => {
                    target_at(&source_file, &site_path, &path_in_site, anchor.or(template_anchor.as_deref()))
                }
                None => Target::NotUnderstood,
            }
        }
    }
}

/// Resolves `{% link path %}`. The build fails if there is no such file, unless a theme or a plug-in provides it.
fn by_file(source_file: &SourceFile<'_>, path: &str, anchor: Option<&str>) -> Target {
    let settings = source_file.settings;
    let path = path.trim_matches(['"', '\'']).trim_start_matches('/');
    let candidates = [path.to_owned(), below(&settings.collections_dir, path)];
    for path in &candidates {
        let Some(file) = from_source(source_file.site, settings, path) else { continue };
        if source_file.site.address(&file).is_some() {
            return Target::page(file, anchor);
        }
        if source_file.site.has_any(&file) && settings.serves(path) {
            return match is_markdown_page(file.trim_start_matches("../")) && file.starts_with("../") {
                true => Target::NotUnderstood,
                false => Target::Asset { file },
            };
        }
    }
    match settings.plugins.has_unknown_plugins || settings.has_theme {
        true => Target::NotUnderstood,
        false => {
            Target::Missing { path: from_source(source_file.site, settings, path), anchor: anchor.map(str::to_owned) }
        }
    }
}

fn by_post(source_file: &SourceFile<'_>, name: &str, anchor: Option<&str>) -> Target {
    let name = name.trim_matches(['"', '\'']).trim_start_matches('/');
    let (above, name) = name.rsplit_once('/').unwrap_or(("", name));
    let posts = source_file.site.files().filter_map(|file| {
        let (folder, file_name) = file.rsplit_once('/')?;
        let is_named = file_name.rsplit_once('.').is_some_and(|(stem, _)| stem == name);
        let is_post = format!("/{folder}/").contains("/_posts/") && source_file.site.address(file).is_some();
        let fits_folder = above.is_empty()
            || folder.ends_with(&format!("{above}/_posts"))
            || folder.ends_with(&format!("_posts/{above}"));
        (is_named && is_post && fits_folder).then_some(file)
    });
    let posts: Vec<&str> = posts.collect();
    match posts.as_slice() {
        [post] => Target::page(*post, anchor),
        [] if !source_file.settings.plugins.has_unknown_plugins
            && !source_file.site.all_files().any(|file| file.starts_with("../") && file.contains("_posts/")) =>
        {
            Target::Missing { path: Some(below(above, name)), anchor: anchor.map(str::to_owned) }
        }
        _ => Target::NotUnderstood,
    }
}

/// Rewrites the template in `like` for another file, which is served at `url`.
pub(super) fn rewrite_template(
    like: &str,
    anchor: Option<&str>,
    file: Option<&str>,
    url: Option<&ServedPath>,
) -> Option<String> {
    let old = template(like)?;
    let Template { before, after, rest, .. } = old;
    match old.kind {
        PathKind::File => Some(format!("{before}{}{after}{}", file?, suffix_of(rest, anchor))),
        PathKind::Post => {
            let file = file?;
            let name = file.split_once("_posts/").map(|(above, inside)| below(above, inside))?;
            let (name, _) = name.rsplit_once('.')?;
            Some(format!("{before}{name}{after}{}", suffix_of(rest, anchor)))
        }
        // A path from the root of the host would need the base path.
        PathKind::HostPath => None,
        PathKind::Path => {
            let url = url?;
            let (path, template_anchor) = parts(old.path);
            let (more, _) = parts(rest);
            let whole = format!("{path}{more}");
            let last = file_name(&whole);
            let has_slash = url.is_folder && (last.is_empty() || last.contains('.')) && !url.path.is_empty();
            let slash = if has_slash { "/" } else { "" };
            let lead = if path.starts_with('/') || path.is_empty() { "/" } else { "" };
            let anchor = anchor.or(template_anchor.as_deref());
            Some(format!("{before}{lead}{}{slash}{after}{}", encoded(&url.path), suffix_of(rest, anchor)))
        }
    }
}
