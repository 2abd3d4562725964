//! Posts of the blog plug-in of Material for MkDocs: their addresses are made of their date and title.

use docent_markdown::{AnchorStyle, Anchors, FrontMatter, Link, LinkKind, file_name, folder, regex, text_of};

use crate::generators::yaml::Yaml;
use crate::paths::{below, index_path, path_in};

/// A blog of a site.
#[derive(Debug, Clone)]
pub(crate) struct Blog {
    /// The folder of its posts, relative to the folder of pages.
    posts: String,
    /// Base path of its posts.
    base_path: String,
    /// Patterns of the addresses and of the dates in them; `None` if a function of the site makes slugs.
    patterns: Option<(String, String)>,
    /// Maximum number of categories in an address.
    categories: usize,
}

/// The blogs that a configuration names.
pub(super) fn blogs(config: &Yaml) -> Vec<Blog> {
    let plugins = config.get("plugins");
    let is_blog = |name: &str| ["blog", "material/blog"].contains(&name);
    let listed = plugins.map(Yaml::list).unwrap_or_default().iter();
    let without_options = listed.clone().filter(|item| item.text().is_some_and(is_blog)).map(|_| &Yaml::Empty);
    let members = listed.flat_map(Yaml::members).chain(plugins.map(Yaml::members).unwrap_or_default());
    let with_options = members.filter(|(name, _)| is_blog(name)).map(|(_, options)| options);
    without_options
        .chain(with_options)
        .filter(|options| text_of_option(options, "enabled", "true") != "false")
        .map(blog)
        .collect()
}

fn text_of_option<'y>(options: &'y Yaml, name: &str, default: &'y str) -> &'y str {
    options.text_of(name).unwrap_or(default)
}

fn blog(options: &Yaml) -> Blog {
    let text = |name: &str, default| text_of_option(options, name, default);
    let dir = plain_path(text("blog_dir", "blog"));
    let posts = text("post_dir", "{blog}/posts").replace("{blog}", &dir);
    let is_computed = ["post_slugify", "post_slugify_separator", "categories_slugify", "categories_slugify_separator"]
        .iter()
        .any(|name| options.get(name).is_some());
    let (address, date) = (text("post_url_format", "{date}/{slug}"), text("post_url_date_format", "yyyy/MM/dd"));
    Blog {
        posts: plain_path(&posts),
        base_path: dir,
        patterns: (!is_computed).then(|| (address.to_owned(), date.to_owned())),
        categories: text("post_url_max_categories", "1").parse().unwrap_or(1),
    }
}

/// Normalises a path: no `.` segments, and no leading, trailing or repeated slashes.
fn plain_path(path: &str) -> String {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/")
}

impl Blog {
    /// Whether a file in the folder of pages is a post.
    pub(super) fn holds(&self, relative_path: &str) -> bool {
        path_in(&self.posts, relative_path).is_some()
    }

    /// Whether the plug-in may generate a page at an address: an archive, a category, an author.
    pub(super) fn may_generate(&self, address: &str) -> bool {
        path_in(&self.base_path, address).is_some()
    }

    /// Where a post is served; `None` where that is not known.
    pub(super) fn address(&self, relative_path: &str, front: &FrontMatter) -> Option<String> {
        let (pattern, date_pattern) = self.patterns.as_ref()?;
        let name = file_name(relative_path);
        let name = docent_markdown::stem(name).unwrap_or(name);
        let mut path = pattern.replace("{file}", name);
        if path.contains("{date}") {
            let created = front.get("date.created").or_else(|| front.get("date"))?;
            path = path.replace("{date}", &format_date(date_pattern, created)?);
        }
        if path.contains("{categories}") {
            let categories = front.list("categories");
            let slugs: Vec<String> = categories.iter().take(self.categories).map(|name| slug(name)).collect();
            path = path.replace("{categories}", &slugs.join("/"));
        }
        if path.contains("{slug}") {
            let slug_field = front.get("slug").map(str::to_owned);
            path = path.replace("{slug}", &slug_field.or_else(|| front.title().map(slug))?);
        }
        let path = plain_path(&path);
        (!path.contains(['{', '}']) && !path.split('/').any(|part| part == ".."))
            .then(|| below(&self.base_path, &index_path(&path, &["index", "README"])))
    }
}

fn slug(words: &str) -> String {
    Anchors::of(AnchorStyle::Pymdown).for_heading(words)
}

/// Formats a date by a pattern of `yyyy`, `MM` and `dd`; `None` if the pattern contains other letters.
fn format_date(pattern: &str, date: &str) -> Option<String> {
    let (year, month, day) = (date.get(..4)?, date.get(5..7)?, date.get(8..10)?);
    let digits = [year, month, day].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let is_date = digits && date.get(4..5) == Some("-") && date.get(7..8) == Some("-");
    let known = pattern.replace("yyyy", "").replace("MM", "").replace("dd", "");
    (is_date && !known.contains(|c: char| c.is_alphabetic()))
        .then(|| pattern.replace("yyyy", year).replace("MM", month).replace("dd", day))
}

/// The title of a post that sets none in its front matter: the heading it begins with, verbatim, or else its file name.
pub(super) fn title(file: &str, bytes: &[u8]) -> String {
    let text = text_of(bytes);
    let body = &text[docent_markdown::front_matter_end(&text)..];
    let first = body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match first.strip_prefix("# ") {
        Some(words) => words.trim_start_matches(['#', ' ']).to_owned(),
        None => {
            let name = file.strip_prefix(folder(file)).unwrap_or(file).trim_start_matches('/');
            docent_markdown::stem(name).unwrap_or(name).replace(['-', '_'], " ")
        }
    }
}

/// The entries in the field `links` of a post: a navigation of its own, with paths relative to the docs folder.
pub(super) fn links(text: &str, front: &FrontMatter) -> Vec<Link> {
    regex!(FIELD, r"(?m)^links:[ \t]*\r?\n((?:[ \t-][^\n]*\n|\r?\n)*)");
    regex!(ENTRY, r#"(?m)^[ \t]*-[ \t]+(?:[^\n]*?:[ \t]+)?(["']?)([^\s"']*[^\s"':])(["']?)[ \t]*\r?$"#);
    let Some(body) = front.body.clone() else { return Vec::new() };
    let Some(entries) = text.get(body.clone()).and_then(|fields| FIELD.captures(fields)?.get(1)) else {
        return Vec::new();
    };
    let start = body.start + entries.start();
    let found = ENTRY.captures_iter(entries.as_str()).filter_map(|found| {
        let path = found.get(2).filter(|_| found[1] == found[3])?;
        let span = start + path.start()..start + path.end();
        let (target, text) = (path.as_str().to_owned(), String::new());
        Some(Link { target, dest_span: span.clone(), span, text, kind: LinkKind::Field })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use crate::link_target::{LinkRequest, LinkSyntax};
    use crate::model::{Site, Target};
    use crate::sample::site;

    #[test]
    fn posts_are_served_by_their_date_and_title() {
        let read = |plugins: &str| {
            let configuration = format!("site_name: x\nplugins:\n{plugins}");
            Site::read(&site(&[
                ("mkdocs.yml", configuration.as_str()),
                ("docs/index.md", ""),
                ("docs/blog/posts/a.md", "---\ndate: 2023-11-30\n---\n\n# We're *there*: 日本\n"),
                (
                    "docs/blog/posts/b.md",
                    "---\ntitle: Other\ndate:\n  created: 2024-01-02\ncategories: [Big News]\n---\n",
                ),
                ("docs/blog/posts/c.md", "---\nslug: chosen\ndate: 2024-01-02 10:00:00\n---\nText.\n"),
                ("docs/blog/posts/d-e.md", "---\ndate: 2024-01-02\n---\nText.\n"),
                ("docs/blog/posts/draft.md", "---\ndate: 2024-01-02\ndraft: true\n---\n# Draft\n"),
            ]))
        };
        let of = |site: &Site, name: &str| site.address(&format!("docs/blog/posts/{name}.md")).map(str::to_owned);
        let default = read("  - blog\n");
        for (name, address) in [
            ("a", "blog/2023/11/30/were-there-日本"),
            ("b", "blog/2024/01/02/other"),
            ("c", "blog/2024/01/02/chosen"),
            ("d-e", "blog/2024/01/02/d-e"),
        ] {
            assert_eq!(of(&default, name).as_deref(), Some(address), "{name}");
        }
        let post = |name: &str| format!("blog/posts/{name}.md");
        let page = Target::Page { file: "docs/blog/posts/a.md".to_owned(), anchor: None };
        assert_eq!(default.resolve("docs/index.md", &post("a")), page);
        assert_eq!(default.resolve("docs/index.md", &post("draft")), Target::NotUnderstood);

        let own = read(
            "  - material/blog:\n      post_url_format: \"{categories}/{date}-{file}\"\n      post_url_date_format: yyyy-MM\n",
        );
        assert_eq!(of(&own, "b").as_deref(), Some("blog/big-news/2024-01-b"));

        let computed = read("  - blog:\n      post_slugify: !!python/name:own.slug\n");
        assert_eq!(of(&computed, "a"), None);
        assert_eq!(computed.resolve("docs/index.md", &post("a")), Target::NotUnderstood);
        assert_eq!(of(&read("  - search\n"), "a").as_deref(), Some("blog/posts/a"));
    }
    #[test]
    fn a_post_may_name_pages_in_its_front_matter() {
        let post = "---\ndate: 2024-01-02\nlinks:\n  - a.md\n  - Title: guide/b.md#x\n  - Nested:\n    - \"Two: words\": 'a.md'\n    - https://x.y/\n  - gone.md\ntags: [c]\n---\n# T\n\n[a](../../a.md)\n";
        let site = Site::read(&site(&[
            ("mkdocs.yml", "site_name: x\nplugins: [blog]\n"),
            ("docs/a.md", "---\nlinks:\n  - gone.md\n---\n"),
            ("docs/guide/b.md", ""),
            ("docs/blog/posts/p.md", post),
        ]));
        let file = "docs/blog/posts/p.md";
        let page = site.parse(file, post.as_bytes());
        let targets: Vec<_> = page.links.iter().map(|link| &post[link.dest_span.clone()]).collect();
        assert_eq!(targets, ["a.md", "guide/b.md#x", "a.md", "https://x.y/", "gone.md", "../../a.md"]);
        let at = |file: &str, anchor: Option<&str>| Target::Page {
            file: file.to_owned(),
            anchor: anchor.map(str::to_owned),
        };
        let found: Vec<_> = page.links.iter().map(|link| site.resolve_link(file, link)).collect();
        let gone = Target::Missing { path: Some("docs/gone.md".to_owned()), anchor: None };
        let a = at("docs/a.md", None);
        let b = at("docs/guide/b.md", Some("x"));
        assert_eq!(found, [a.clone(), b, a.clone(), Target::External, gone, a]);
        let wanted =
            LinkRequest { from: file, to: "docs/guide/b.md", anchor: None, like: "a.md#x", syntax: LinkSyntax::Field };
        assert_eq!(site.link(&wanted), "guide/b.md#x");
        assert_eq!(site.parse("docs/a.md", b"---\nlinks:\n  - gone.md\n---\n").links, []);
    }
}
