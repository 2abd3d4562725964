//! Where Jekyll serves a page.

use docent_markdown::{Field, FieldValue, FrontMatter, file_name, folder};
use time::Date;

use super::JekyllSettings;
use super::config::Defaults;
use super::dates::{self, Zone, split_date};

/// How Jekyll treats a file, judged by its path in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind<'s> {
    Page,
    /// The folders above `_posts` are its categories.
    Post {
        above: &'s str,
    },
    /// An item of a collection; `relative_path` is its path in the folder of the collection.
    Item {
        collection: &'s super::Collection,
        relative_path: &'s str,
    },
    Draft,
}

pub(super) fn kind<'s>(settings: &'s JekyllSettings, path: &'s str) -> FileKind<'s> {
    let path_in_collections = settings.in_collections(path);
    if let Some(path_in_collections) = path_in_collections {
        let (first, relative_path) = path_in_collections.split_once('/').unwrap_or((path_in_collections, ""));
        let label = first.strip_prefix('_').unwrap_or_default();
        if let Some(collection) = settings.collections.iter().find(|collection| collection.label == label) {
            return FileKind::Item { collection, relative_path };
        }
        for (name, is_draft) in [("_posts", false), ("_drafts", true)] {
            let at = format!("/{path_in_collections}").find(&format!("/{name}/"));
            match at {
                Some(_) if is_draft => return FileKind::Draft,
                Some(at) => return FileKind::Post { above: path_in_collections[..at].trim_end_matches('/') },
                None => {}
            }
        }
    }
    FileKind::Page
}

/// Where a file is served, without leading and trailing slash.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ServedPath {
    pub(super) path: String,
    /// Whether the URL ends in a slash.
    pub(super) is_folder: bool,
}

impl ServedPath {
    fn of(url: &str) -> Self {
        let path = url.trim_start_matches('/');
        let folder = path.strip_suffix("index.html").filter(|rest| rest.is_empty() || rest.ends_with('/'));
        let is_folder = folder.is_some() || path.is_empty() || path.ends_with('/');
        Self { path: folder.unwrap_or(path).trim_matches('/').to_owned(), is_folder }
    }
}

/// The front matter of a page, with missing fields filled from the `defaults` of the configuration.
pub(super) fn with_defaults(settings: &JekyllSettings, path: &str, front: &FrontMatter) -> FrontMatter {
    let mut front = front.clone();
    let (path, kind) = match kind(settings, path) {
        FileKind::Page => (path, "pages"),
        FileKind::Post { .. } => (settings.in_collections(path).unwrap_or(path), "posts"),
        FileKind::Item { collection, .. } => (settings.in_collections(path).unwrap_or(path), collection.label.as_str()),
        FileKind::Draft => (path, "drafts"),
    };
    let own_count = front.fields.len();
    for field in Defaults::of(&settings.defaults, path, kind) {
        if !front.fields[..own_count].iter().any(|known| known.name == field.name) {
            front.fields.push(Field::clone(field));
        }
    }
    front
}

/// Where a file is served; `None` if its permalink pattern contains an unknown value.
pub(super) fn of(settings: &JekyllSettings, path: &str, front: &FrontMatter) -> Option<ServedPath> {
    let front = with_defaults(settings, path, front);
    let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
    let output = match ending {
        "html" | "htm" | "xhtml" => format!(".{ending}"),
        _ if settings.is_markdown(path) => ".html".to_owned(),
        _ => format!(".{ending}"),
    };
    let (above, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let name = name.trim_end_matches('.');
    let own_permalink = front.get("permalink").map(|permalink| permalink.trim().to_owned());
    let suffix = match settings.permalink.as_str() {
        "pretty" => "/",
        "date" | "ordinal" | "none" => ":output_ext",
        style if style.ends_with('/') => "/",
        style if style.ends_with(":output_ext") => ":output_ext",
        _ => "",
    };
    let item = |label: &str, relative_path: &str, template: String| {
        let values =
            Values { label, relative_path, name, above: None, front: &front, output: &output, zone: settings.zone };
        values.fill(&template)
    };
    let url = match kind(settings, path) {
        FileKind::Page | FileKind::Draft => {
            let is_readme = settings.plugins.readme_index && front.span.is_none() && is_readme(path);
            let template = own_permalink.unwrap_or_else(|| match name {
                _ if !output.ends_with("html") => "/:path/:basename:output_ext".to_owned(),
                "index" => "/:path/".to_owned(),
                _ if is_readme => "/:path/".to_owned(),
                _ => format!("/:path/:basename{suffix}"),
            });
            template.replace(":path", above).replace(":basename", name).replace(":output_ext", &output)
        }
        FileKind::Post { above } => {
            let template = own_permalink
                .or_else(|| settings.post_permalink.clone())
                .unwrap_or_else(|| post_style(&settings.permalink));
            let values = Values {
                label: "posts",
                relative_path: stem.rsplit_once("_posts/").map_or(stem, |(_, relative_path)| relative_path),
                name,
                above: Some(above),
                front: &front,
                output: &output,
                zone: settings.zone,
            };
            values.fill(&template)?
        }
        FileKind::Item { collection, relative_path } => {
            let relative_path = relative_path.rsplit_once('.').map_or(relative_path, |(stem, _)| stem);
            let template = own_permalink.or_else(|| collection.permalink.clone());
            item(&collection.label, relative_path, template.unwrap_or_else(|| format!("/:collection/:path{suffix}")))?
        }
    };
    Some(ServedPath::of(&sanitized(&url)))
}

/// Whether a file is the README of its folder.
pub(super) fn is_readme(path: &str) -> bool {
    let name = file_name(path);
    name.rsplit_once('.').is_some_and(|(stem, _)| stem.eq_ignore_ascii_case("readme"))
}

/// The folders around a path, outermost first, and then the path itself.
pub(super) fn with_folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).chain(std::iter::once(path))
}

/// The permalink pattern of a built-in style for posts; any other name is a pattern itself.
fn post_style(name: &str) -> String {
    let pattern = match name {
        "none" => "/:categories/:title:output_ext",
        "date" => "/:categories/:year/:month/:day/:title:output_ext",
        "ordinal" => "/:categories/:year/:y_day/:title:output_ext",
        "pretty" => "/:categories/:year/:month/:day/:title/",
        "weekdate" => "/:categories/:year/W:week/:short_day/:title:output_ext",
        pattern => pattern,
    };
    pattern.to_owned()
}

/// Values of the placeholders in the permalink pattern of a post or a collection item.
struct Values<'v> {
    label: &'v str,
    relative_path: &'v str,
    name: &'v str,
    above: Option<&'v str>,
    front: &'v FrontMatter,
    output: &'v str,
    zone: Zone,
}

impl Values<'_> {
    fn fill(&self, pattern: &str) -> Option<String> {
        let mut out = String::with_capacity(pattern.len());
        let mut rest = pattern;
        while let Some((before, after)) = rest.split_once(':') {
            let end = after.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(after.len());
            out.push_str(before);
            rest = &after[end..];
            match &after[..end] {
                "" => out.push(':'),
                name => match self.value(name) {
                    Some(value) => out.push_str(&value),
                    // `:title_` may be `:title` and a literal underscore.
                    None => out.push_str(&(self.value(name.strip_suffix('_')?)? + "_")),
                },
            }
        }
        out.push_str(rest);
        Some(out)
    }

    fn value(&self, name: &str) -> Option<String> {
        Some(match name {
            "collection" => self.label.to_owned(),
            "path" => self.relative_path.trim_end_matches('.').to_owned(),
            "name" => slugified(self.name, "").to_lowercase(),
            "title" => slugified(self.slug(), "._~!$&'()+,;=@"),
            "slug" => slugified(self.slug(), "").to_lowercase(),
            "output_ext" => self.output.to_owned(),
            "categories" => self.categories().join("/"),
            "slugified_categories" => {
                self.categories().iter().map(|one| slugified(one, "")).collect::<Vec<_>>().join("/")
            }
            _ => return dates::part(name, self.date()?),
        })
    }

    /// The slug of the page: the one in its front matter, or its file name without the date.
    fn slug(&self) -> &str {
        let undated_name = split_date(self.name).map_or(self.name, |(_, rest)| rest);
        self.front.slug().unwrap_or(undated_name)
    }

    fn date(&self) -> Option<Date> {
        match self.front.get("date") {
            Some(date) => dates::day(date, self.zone),
            None => split_date(self.name).map(|(date, _)| date),
        }
    }

    fn categories(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .above
            .unwrap_or_default()
            .split('/')
            .filter(|category| !category.is_empty())
            .map(str::to_owned)
            .collect();
        match self.front.value("categories") {
            Some(FieldValue::Text(text)) => all.extend(text.split_whitespace().map(str::to_owned)),
            Some(FieldValue::List(items)) => all.extend(items.iter().cloned()),
            _ => match self.front.value("category") {
                Some(FieldValue::Text(text)) => all.push(text.trim().to_owned()),
                Some(FieldValue::List(items)) => all.extend(items.iter().cloned()),
                _ => {}
            },
        }
        let mut unique = Vec::new();
        for category in all.iter().map(|category| category.to_lowercase()) {
            if !unique.contains(&category) {
                unique.push(category);
            }
        }
        unique
    }
}

/// Replaces each run of characters that are neither alphanumeric nor in `allowed` by one hyphen; no hyphens at either
/// end.
fn slugified(text: &str, allowed: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c) || allowed.contains(c) {
            out.push(c);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_matches('-').to_owned()
}

/// Removes `..`, `./` and repeated slashes from a URL.
fn sanitized(url: &str) -> String {
    let url = format!("/{url}").replace("..", "/").replace("./", "");
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        if c != '/' || !out.ends_with('/') {
            out.push(c);
        }
    }
    out
}

/// The folder that relative links of a page start from.
pub(super) fn relative_link_base(served_path: &ServedPath) -> &str {
    if served_path.is_folder { &served_path.path } else { folder(&served_path.path) }
}
