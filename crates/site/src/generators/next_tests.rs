use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::follow::Wanted;
use crate::layout::Generator;
use crate::model::{Site, Target};

fn tree(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

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

fn page(file: &str) -> Target {
    Target::Page { file: file.to_owned(), anchor: None }
}

fn missing(path: &str) -> Target {
    Target::Missing { path: Some(path.to_owned()), anchor: None }
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

proptest! {
    #[test]
    fn a_link_that_was_written_leads_to_its_page(
        is_nextra in any::<bool>(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        like in prop::sample::select(vec!["", "x", "./x", "../x/", "x.mdx", "./x.mdx?q=1", "/x", "/x/#y", "#y"]),
    ) {
        let site = Site::read(&if is_nextra { nextra() } else { fumadocs() });
        let served = site.served();
        let pages: Vec<&str> = served.values().copied().collect();
        let (from, to) = (*from.get(&pages), *to.get(&pages));
        let link = site.link(&Wanted { from, to, anchor: None, like });
        let leads_to = match site.resolve(from, &link) {
            Target::Page { file, .. } => Some(file),
            _ => None,
        };
        prop_assert_eq!(leads_to.as_deref(), Some(to), "{} from {}", link, from);
    }
}
