use proptest::prelude::*;

use super::*;
use crate::sample::{Files, missing, site};

const CONFIG: &str = "
import starlight from '@astrojs/starlight';
export default defineConfig({
  base: '/odd',
  redirects: { '/old': '/odd/en/guides/first/' },
  integrations: [starlight({ defaultLocale: 'en', locales: { en: { label: 'English' }, fr: { label: 'Fran\u{e7}ais' } } })],
});
";

const PAGES: [&str; 6] = [
    "en/index.mdx",
    "en/guides/first.md",
    "en/guides/Second Page.md",
    "en/guides/v1.2.md",
    "en/guides/index.md",
    "fr/index.md",
];

fn odd(more: &str) -> Files {
    let config = CONFIG.replace("base:", &format!("{more} base:"));
    let mut files = site(&[
        ("astro.config.mjs", config.as_str()),
        ("src/content/docs/en/slugged.md", "---\nslug: en/chosen\n---\n"),
        ("src/content/docs/en/draft.md", "---\ndraft: true\n---\n"),
        ("src/content/docs/en/_part.md", ""),
        ("src/content/docs/en/_inside/odd.md", ""),
        ("src/content/docs/fr/guides/v1.2.md", ""),
        ("src/pages/plain.astro", ""),
        ("src/pages/news/[id].astro", ""),
        ("src/assets/a.svg", ""),
        ("public/list.json", ""),
    ]);
    files.extend(PAGES.iter().map(|page| (in_content(page), Vec::new())));
    files
}

fn in_content(page: &str) -> String {
    format!("src/content/docs/{page}")
}

fn page(file: &str) -> Target {
    Target::Page { file: in_content(file), anchor: None }
}

#[test]
fn ids_of_other_collections_leave_the_addresses_of_the_docs() {
    for (loader, is_known) in [("docsLoader()", true), ("docsLoader({ generateId: of })", false)] {
        let mut files = odd("");
        let other = "other: defineCollection({ loader: glob({ generateId: (options) => options.entry }) })";
        let script =
            format!("export const collections = {{ docs: defineCollection({{ loader: {loader} }}), {other} }};");
        files.insert("src/content.config.ts".to_owned(), script.into_bytes());
        let found = Site::read(&files).resolve(&in_content("en/index.mdx"), "/odd/en/guides/first/");
        let expected = if is_known { page("en/guides/first.md") } else { Target::NotUnderstood };
        assert_eq!(found, expected, "{loader}");
    }
}

#[test]
fn plugins_add_pages_where_they_say() {
    let with = |plugins: &str, more: &str| {
        let call = format!("starlight({{ plugins: {plugins}, defaultLocale:");
        let mut files = odd("");
        let config = CONFIG.replace("starlight({ defaultLocale:", &call);
        files.insert("astro.config.mjs".to_owned(), format!("{more}\n{config}").into_bytes());
        Site::read(&files)
    };
    let check = "const checks = process.env.CHECK\n  ? [starlightLinksValidator()]\n  : []\n";
    for (plugins, more, path, is_known) in [
        ("[starlightBlog()]", "", "blog/first", false),
        ("[starlightBlog()]", "", "fr/blog/first", false),
        ("[starlightBlog()]", "", "en/guides/frist", true),
        ("[starlightBlog({ prefix: 'news' })]", "", "blog/first", true),
        ("[starlightBlog({ prefix: name() })]", "", "en/guides/frist", false),
        ("[starlightOpenAPI([{ base: 'api', schema: './a.yaml' }])]", "", "api/operations/x", false),
        ("[starlightOpenAPI([{ base: 'api', schema: './a.yaml' }])]", "", "en/guides/frist", true),
        ("[process.env.CHECK && starlightLinksValidator()]", "", "en/guides/frist", true),
        ("[...checks]", check, "en/guides/frist", true),
        ("[isUnknown && unheardOf()]", "", "en/guides/frist", false),
    ] {
        let expected = if is_known { missing(path) } else { Target::NotUnderstood };
        let found = with(plugins, more).resolve(&in_content("en/index.mdx"), &format!("/odd/{path}/"));
        assert_eq!(found, expected, "{plugins}: {path}");
    }
}

#[test]
fn links_lead_where_the_built_pages_lead() {
    let site = Site::read(&odd(""));
    for (from, target, expected) in [
        ("en/index.mdx", "/odd/en/guides/first/", page("en/guides/first.md")),
        ("en/index.mdx", "/odd/en/guides/first", page("en/guides/first.md")),
        // The base path is not added to absolute links.
        ("en/index.mdx", "/en/guides/first/", Target::NotUnderstood),
        ("en/index.mdx", "./guides/first/", page("en/guides/first.md")),
        ("en/index.mdx", "/odd/en/chosen/", page("en/slugged.md")),
        ("en/index.mdx", "/odd/en/slugged/", missing("en/slugged")),
        ("en/index.mdx", "/odd/en/draft/", missing("en/draft")),
        ("en/index.mdx", "/odd/en/_part/", missing("en/_part")),
        ("en/index.mdx", "/odd/en/_inside/odd/", page("en/_inside/odd.md")),
        ("en/index.mdx", "./guides/first.md", missing("en/guides/first.md")),
        ("en/index.mdx", "/odd/plain/", Target::Asset { file: "src/pages/plain.astro".into() }),
        ("en/index.mdx", "/odd/news/1/", Target::NotUnderstood),
        ("en/index.mdx", "/odd/old", Target::Redirect { destination: "/odd/en/guides/first/".into() }),
        ("en/index.mdx", "/odd/list.json", Target::Asset { file: "public/list.json".into() }),
        ("en/index.mdx", "/odd/rss.xml", Target::NotUnderstood),
        ("en/guides/first.md", "/odd/en/guides/v1.2/", missing("en/guides/v1.2")),
        ("en/index.mdx", "~/assets/a.svg", Target::NotUnderstood),
        ("en/guides/first.md", "../second-page/", page("en/guides/Second Page.md")),
        ("en/guides/first.md", "second-page/", missing("en/guides/first/second-page")),
        ("en/guides/first.md", "../v12/", page("en/guides/v1.2.md")),
        ("en/guides/first.md", "../../", page("en/index.mdx")),
        ("en/guides/first.md", "../../../../assets/a.svg", Target::Asset { file: "src/assets/a.svg".into() }),
        ("en/guides/index.md", "./first/", page("en/guides/first.md")),
        // Untranslated pages are shown in the default language.
        ("fr/index.md", "/odd/fr/guides/first/", page("en/guides/first.md")),
        ("fr/index.md", "/odd/fr/guides/v12/", page("fr/guides/v1.2.md")),
        ("en/_part.md", "./first/", Target::NotUnderstood),
    ] {
        assert_eq!(site.resolve(&in_content(from), target), expected, "{target} in {from}");
    }
}

#[test]
fn an_id_in_braces_is_words() {
    let site = Site::read(&odd(""));
    let read = site.parse(&in_content("en/guides/first.md"), b"## Explicit words {#explicit}\n");
    assert_eq!(read.headings[0].anchor, "explicit-words-explicit");
}

#[test]
fn urls_without_slashes_start_from_the_folder() {
    let site = Site::read(&odd("trailingSlash: 'never',"));
    assert_eq!(site.resolve(&in_content("en/guides/first.md"), "second-page"), page("en/guides/Second Page.md"));
    let (from, to) = (in_content("en/guides/first.md"), in_content("en/guides/index.md"));
    assert_eq!(
        site.link(&LinkRequest { from: &from, to: &to, anchor: None, like: "x/", syntax: LinkSyntax::Markdown }),
        "../guides"
    );
}

#[test]
fn where_a_plugin_may_change_links_they_go_by_files() {
    let tree = odd("markdown: { remarkPlugins: [links] }, ");
    let site = Site::read(&tree);
    assert_eq!(site.resolve(&in_content("en/index.mdx"), "./guides/first.md"), page("en/guides/first.md"));
    assert_eq!(site.resolve(&in_content("en/index.mdx"), "./guides/nowhere.md"), Target::NotUnderstood);
}

#[test]
fn links_are_written_in_the_style_of_others() {
    let site = Site::read(&odd(""));
    for (from, to, like, expected) in [
        ("en/index.mdx", "en/guides/first.md", "", "/odd/en/guides/first/"),
        ("en/index.mdx", "en/guides/first.md", "/odd/x", "/odd/en/guides/first"),
        ("en/guides/first.md", "en/guides/Second Page.md", "../x/#y", "../second-page/#y"),
        ("en/guides/first.md", "en/guides/first.md", "../x/", "./"),
        ("en/guides/first.md", "en/index.mdx", "./x", "../../../en"),
        ("fr/index.md", "en/guides/first.md", "/odd/fr/guides/old/", "/odd/fr/guides/first/"),
        ("fr/index.md", "en/guides/v1.2.md", "/odd/fr/guides/old/", "/odd/en/guides/v12/"),
    ] {
        let (from, to) = (in_content(from), in_content(to));
        assert_eq!(
            site.link(&LinkRequest { from: &from, to: &to, anchor: None, like, syntax: LinkSyntax::Markdown }),
            expected,
            "{to} from {from}, like {like}"
        );
    }
}

proptest! {
    #[test]
    fn a_written_link_leads_back(
        from in prop::sample::select(PAGES.to_vec()),
        to in prop::sample::select([PAGES.as_slice(), &["en/slugged.md", "en/_inside/odd.md", "../../assets/a.svg", "../../../public/list.json"]].concat()),
        like in prop::sample::select(vec![
            "", "/x", "x", "./x", "../x", "x/", "/x/", "x.md", "./x.md", "/x.md", "/odd/x", "/odd/x/", "/odd/fr/x/", "/odd",
            "./", "/", "x?a=b#c", "#c", "x.png",
        ]),
        anchor in prop::sample::select(vec![None, Some("a b")]),
        more in prop::sample::select(vec![
            "", "trailingSlash: 'never',", "trailingSlash: 'always',", "build: { format: 'file' },",
            "markdown: { remarkPlugins: [links] },",
        ]),
    ) {
        let site = Site::read(&odd(more));
        let (from, to) = (in_content(from), joined("", &in_content(to)).expect("a path of the repository"));
        let written = site.link(&LinkRequest { from: &from, to: &to, anchor, like, syntax: LinkSyntax::Markdown });
        match site.resolve(&from, &written) {
            Target::Page { file, anchor: found } => {
                prop_assert_eq!(&file, &to, "{}", written);
                prop_assert!(anchor.is_none() || found.as_deref() == anchor, "{}", written);
            }
            Target::Asset { file } => prop_assert_eq!(&file, &to, "{}", written),
            other => prop_assert!(false, "{} is {:?}", written, other),
        }
    }
}
