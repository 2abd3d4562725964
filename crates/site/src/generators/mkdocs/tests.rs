use docent_markdown::AnchorStyle;

use crate::layout::Layout;
use crate::sample::{assert_places, messages, site};

#[test]
fn mkdocs_serves_by_its_rules() {
    let config = "
site_name: X
docs_dir: content
nav:
  - index.md
  - Guides:
    - The first: guides/first.md
    - Deeper:
      - guides/deep/README.md
  - Elsewhere: https://x.y
exclude_docs: |
  drafts/
markdown_extensions:
  - toc:
      slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}
extra: !ENV [A, b]
plugins:
  - search
  - redirects:
      redirect_maps:
        old.md: guides/first.md#x
        gone.md: https://x.y/
";
    let tree = site(&[
        ("mkdocs.yml", config),
        ("content/index.md", ""),
        ("content/guides/first.md", ""),
        ("content/guides/deep/README.md", ""),
        ("content/other.md", ""),
        ("content/drafts/a.md", ""),
        ("README.md", ""),
    ]);
    let layout = Layout::read(&tree);
    assert_eq!(messages(&layout), [] as [&str; 0]);
    assert_places(
        &tree,
        &[
            ("content/index.md", "", "", None),
            ("content/guides/first.md", "guides/first", "Guides", Some("The first")),
            ("content/guides/deep/README.md", "guides/deep", "Guides/Deeper", None),
            ("content/other.md", "other", "", None),
        ],
    );
    assert!(!layout.holds_pages("content/drafts/a.md") && !layout.holds_pages("README.md"));
    assert_eq!(layout.redirects().collect::<Vec<_>>(), [("/old", "/guides/first#x"), ("/gone", "https://x.y/")]);
    assert_eq!(layout.anchors, AnchorStyle::Pymdown);
}

#[test]
fn mkdocs_tells_languages_by_the_ends_of_names() {
    let config = "plugins:\n  - i18n:\n      languages:\n        - {locale: fr, name: F}\n        - {locale: en, default: true, name: E}\n";
    let tree = site(&[("mkdocs.yml", config), ("docs/a.md", ""), ("docs/a.fr.md", ""), ("docs/b.en.md", "")]);
    let layout = Layout::read(&tree);
    let place = |file: &str| (layout.place(file).site_path, layout.place(file).language);
    assert_eq!(place("docs/a.md"), ("a".to_owned(), Some("en".to_owned())));
    assert_eq!(place("docs/a.fr.md"), ("fr/a".to_owned(), Some("fr".to_owned())));
    assert_eq!(place("docs/b.en.md"), ("b".to_owned(), Some("en".to_owned())));
}
