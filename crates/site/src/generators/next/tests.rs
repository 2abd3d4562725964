use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::layout::Generator;
use crate::link_target::{LinkRequest, LinkSyntax};
use crate::model::{Site, Target};
use crate::sample::{missing, page, site as tree};

fn fumadocs() -> BTreeMap<String, Vec<u8>> {
    tree(&[
        ("source.config.ts", "export const docs = defineDocs({ dir: 'content/docs' });"),
        ("lib/source.ts", "export const source = loader({ baseUrl: '/manual', source: docs.toFumadocsSource() });"),
        ("app/docs/[[...slug]]/page.tsx", "components={{ a: createRelativeLink(source, page) }}"),
        ("content/docs/index.mdx", ""),
        ("content/docs/(start)/first.mdx", ""),
        ("content/docs/guide/index.mdx", ""),
        ("content/docs/guide/page.mdx", "---\nslug: ignored\n---\n"),
        ("public/dot.svg", ""),
    ])
}

fn nextra() -> BTreeMap<String, Vec<u8>> {
    tree(&[
        (
            "next.config.mjs",
            "import nextra from 'nextra'\nconst withNextra = nextra({ contentDirBasePath: '/docs' })\nexport default withNextra({})\n",
        ),
        ("content/index.mdx", ""),
        ("content/first.mdx", ""),
        ("content/guide/index.mdx", ""),
        ("content/guide/page.md", ""),
        ("app/(more)/about/page.mdx", ""),
        ("public/dot.svg", ""),
    ])
}

#[test]
fn fumadocs_serves_pages_by_their_path_without_groups() {
    let site = Site::read(&fumadocs());
    assert_eq!(site.generator(), Generator::Fumadocs);
    for (file, address) in [
        ("content/docs/index.mdx", "manual"),
        ("content/docs/(start)/first.mdx", "manual/first"),
        ("content/docs/guide/index.mdx", "manual/guide"),
        ("content/docs/guide/page.mdx", "manual/guide/page"),
    ] {
        assert_eq!(site.address(file), Some(address), "{file}");
    }
    let first = || page("content/docs/(start)/first.mdx");
    for (from, target, expected) in [
        ("content/docs/index.mdx", "/manual/first", first()),
        ("content/docs/index.mdx", "./(start)/first.mdx", first()),
        ("content/docs/index.mdx", "./manual/first", first()),
        ("content/docs/guide/page.mdx", "../first", first()),
        ("content/docs/guide/index.mdx", "first", first()),
        ("content/docs/guide/index.mdx", "./page.mdx", page("content/docs/guide/page.mdx")),
        ("content/docs/(start)/first.mdx", "page", missing("manual/page")),
        ("content/docs/(start)/first.mdx", "../index.mdx", Target::NotUnderstood),
        ("content/docs/index.mdx", "/blog", Target::NotUnderstood),
        ("content/docs/index.mdx", "/dot.svg", Target::Asset { file: "public/dot.svg".into() }),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

#[test]
fn nextra_reads_links_to_files_as_urls_without_their_ending() {
    let site = Site::read(&nextra());
    assert_eq!(site.generator(), Generator::Nextra);
    for (file, address) in [
        ("content/index.mdx", "docs"),
        ("content/guide/index.mdx", "docs/guide"),
        ("content/guide/page.md", "docs/guide/page"),
        ("app/(more)/about/page.mdx", "about"),
    ] {
        assert_eq!(site.address(file), Some(address), "{file}");
    }
    for (from, target, expected) in [
        ("content/index.mdx", "/docs/guide/page.mdx", page("content/guide/page.md")),
        ("content/index.mdx", "./docs/first.mdx", page("content/first.mdx")),
        ("content/guide/index.mdx", "guide/page", page("content/guide/page.md")),
        ("content/guide/index.mdx", "./page.mdx", missing("docs/page")),
        ("content/guide/page.md", "../first.mdx", page("content/first.mdx")),
        ("content/index.mdx", "/about", page("app/(more)/about/page.mdx")),
        ("content/index.mdx", "/docs/nowhere", missing("docs/nowhere")),
        ("content/index.mdx", "/pricing", Target::NotUnderstood),
        ("content/index.mdx", "/dot.svg", Target::Asset { file: "public/dot.svg".into() }),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

/// A Fumadocs site with posts in two languages beside the docs, and with redirects and rewrites in `next.config`.
fn fumadocs_in_languages() -> BTreeMap<String, Vec<u8>> {
    tree(&[
        (
            "source.config.ts",
            "export const docs = defineDocs({});\nexport const news = defineCollections({ type: 'doc', dir: './content/news' });",
        ),
        (
            "lib/site/source.ts",
            "import { i18n } from './i18n';\nexport const source = loader({ baseUrl: '/manual', source: docs.toFumadocsSource() });\nexport const posts = loader(toFumadocsSource(news, []), { baseUrl: '/news', i18n });",
        ),
        (
            "lib/site/i18n.ts",
            "export const i18n = defineI18n({ defaultLanguage: 'en', languages: ['en', 'de'], hideLocale: 'default-locale' });",
        ),
        (
            "next.config.mjs",
            "export default { async redirects() { return [{ source: '/manual/old/:path*', destination: '/manual/:path*', permanent: true }, { source: '/:path*', has: [{ type: 'host', value: 'x.example' }], destination: '/' }]; }, rewrites: async () => ({ afterFiles: [{ source: '/manual/:path*.md', destination: '/raw' }] }) };",
        ),
        ("app/[lang]/docs/[[...slug]]/page.tsx", "components={{ a: createRelativeLink(source, page) }}"),
        ("app/manual/tool/page.tsx", ""),
        ("content/docs/index.mdx", ""),
        ("content/docs/first.mdx", ""),
        ("content/news/index.mdx", ""),
        ("content/news/first.mdx", ""),
        ("content/news/first.de.mdx", ""),
        ("content/news/second.mdx", ""),
    ])
}

#[test]
fn fumadocs_serves_collections_and_languages() {
    let site = Site::read(&fumadocs_in_languages());
    for (file, address) in [
        ("content/docs/first.mdx", "manual/first"),
        ("content/news/index.mdx", "news"),
        ("content/news/first.de.mdx", "de/news/first"),
    ] {
        assert_eq!(site.address(file), Some(address), "{file}");
    }
    let (german, second) = ("content/news/first.de.mdx", || page("content/news/second.mdx"));
    for (from, target, expected) in [
        ("content/docs/index.mdx", "/news/first", page("content/news/first.mdx")),
        (german, "./second.mdx", second()),
        (german, "./first.mdx", page(german)),
        (german, "/de/news/second", second()),
        // The application may add the language of the reader to the address.
        (german, "/news/first", Target::NotUnderstood),
        (german, "/news/second", second()),
        (german, "/de/news/nowhere", missing("de/news/nowhere")),
        ("content/docs/index.mdx", "/manual/old/page", Target::Redirect { destination: "/manual/:path*".into() }),
        ("content/docs/index.mdx", "/manual/nowhere", missing("manual/nowhere")),
        ("content/docs/index.mdx", "/manual/tool", Target::NotUnderstood),
        ("content/docs/index.mdx", "/manual/first.md", Target::NotUnderstood),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

#[test]
fn pages_of_other_sources_and_addresses_that_are_computed_are_not_called_missing() {
    let not_understood = |config: &str| {
        let mut files = fumadocs();
        files.insert("lib/source.ts".to_owned(), config.as_bytes().to_vec());
        let site = Site::read(&files);
        site.resolve("content/docs/index.mdx", "/manual/nowhere") == Target::NotUnderstood
    };
    assert!(!not_understood("loader({ baseUrl: '/manual', source: docs.toFumadocsSource() })"));
    for config in [
        "loader({ docs: docs.toFumadocsSource(), api: await openapi.staticSource() }, { baseUrl: '/manual' })",
        "loader({ baseUrl: '/manual', source: docs.toFumadocsSource(), slugs: (file) => [file.name] })",
        "loader({ baseUrl: base(), source: docs.toFumadocsSource() })",
    ] {
        assert!(not_understood(config), "{config}");
    }
}

/// A site on release 4 of Nextra, with a folder per language.
fn nextra_in_languages() -> BTreeMap<String, Vec<u8>> {
    tree(&[
        (
            "next.config.mjs",
            "import nextra from 'nextra'\nexport default nextra({})({ i18n: { locales: ['ru', 'en'], defaultLocale: 'en' }, redirects: () => [{ source: '/docs/old', destination: '/docs', permanent: true }] })\n",
        ),
        ("content/en/docs/index.mdx", ""),
        ("content/en/docs/first.mdx", ""),
        ("content/ru/docs/first.mdx", ""),
    ])
}

#[test]
fn nextra_reads_what_lacks_a_language_in_that_of_the_page() {
    let site = Site::read(&nextra_in_languages());
    for (from, target, expected) in [
        ("content/ru/docs/first.mdx", "/docs/first", page("content/ru/docs/first.mdx")),
        ("content/en/docs/first.mdx", "/docs/first", page("content/en/docs/first.mdx")),
        ("content/ru/docs/first.mdx", "/en/docs", page("content/en/docs/index.mdx")),
        // The page is not translated.
        ("content/ru/docs/first.mdx", "/docs", Target::NotUnderstood),
    ] {
        assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
    }
}

#[test]
fn old_releases_of_nextra_tell_the_language_by_the_name() {
    let site = Site::read(&tree(&[
        (
            "next.config.js",
            "const withNextra = require('nextra')({})\nmodule.exports = withNextra({ i18n: { locales: ['en', 'zh-CN'], defaultLocale: 'en' } })\n",
        ),
        ("pages/docs/first.en.mdx", ""),
        ("pages/docs/first.zh-CN.mdx", ""),
    ]));
    assert_eq!(site.address("pages/docs/first.en.mdx"), Some("docs/first"));
    let chinese = "pages/docs/first.zh-CN.mdx";
    assert_eq!(site.address(chinese), Some("zh-CN/docs/first"));
    assert_eq!(site.resolve(chinese, "/docs/first"), page(chinese));
}

proptest! {
    #[test]
    fn a_link_that_was_written_leads_to_its_page(
        make in prop::sample::select(vec![
            fumadocs as fn() -> BTreeMap<String, Vec<u8>>, nextra, fumadocs_in_languages, nextra_in_languages,
        ]),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        like in prop::sample::select(vec!["", "x", "./x", "../x/", "x.mdx", "./x.mdx?q=1", "/x", "/x/#y", "#y"]),
    ) {
        let site = Site::read(&make());
        let served = site.served();
        let pages: Vec<&str> = served.values().copied().collect();
        let (from, to) = (*from.get(&pages), *to.get(&pages));
        // A link without a language may lead to a page or to its translation.
        prop_assume!(!from.ends_with(".de.mdx") || to != "content/news/first.mdx");
        let link = site.link(&LinkRequest { from, to, anchor: None, like, syntax: LinkSyntax::Markdown });
        let leads_to = match site.resolve(from, &link) {
            Target::Page { file, .. } => Some(file),
            _ => None,
        };
        prop_assert_eq!(leads_to.as_deref(), Some(to), "{} from {}", link, from);
    }
}
