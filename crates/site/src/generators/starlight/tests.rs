use crate::layout::Layout;
use crate::sample::{assert_places, messages, site};

#[test]
fn starlight_serves_by_its_rules() {
    let config = "
import { defineConfig } from 'astro/config';
import starlight from '@astrojs/starlight';
import { sidebar } from './astro.sidebar';
export default defineConfig({
  integrations: [other(), starlight({
    title: 'Docs',
    locales: { root: { label: 'English', lang: 'en' }, fr: { label: 'Français', lang: 'fr-FR' } },
    sidebar,
  })],
  redirects: { '/old': '/new', '/older': { status: 302, destination: '/new' } },
});
";
    let sidebar = "export const sidebar = [
  'start',
  { label: 'Guides', items: [{ label: 'One', slug: 'guides/one' }, { label: 'Link', link: '/guides/two/' }] },
  { label: 'Reference', autogenerate: { directory: 'reference' } },
  group('x', { items: ['grouped'] }),
] satisfies Sidebar;";
    let tree = site(&[
        ("astro.config.mjs", config),
        ("astro.sidebar.ts", sidebar),
        ("src/content/docs/index.mdx", ""),
        ("src/content/docs/start.md", ""),
        ("src/content/docs/guides/one.md", ""),
        ("src/content/docs/fr/guides/one.md", ""),
        ("src/content/docs/guides/Two.md", "---\nsidebar:\n  label: Deux\n---\n"),
        ("src/content/docs/reference/cli/Flags_And.md", ""),
        ("src/content/docs/fr/reference/a.md", ""),
        ("src/content/docs/grouped.md", ""),
        ("src/content/docs/slugged.md", "---\nslug: other/place\n---\n"),
        ("src/pages/page.md", ""),
        ("README.md", ""),
    ]);
    let layout = Layout::read(&tree);
    assert_eq!(messages(&layout).len(), 1);
    assert_places(
        &tree,
        &[
            ("src/content/docs/index.mdx", "", "", None),
            ("src/content/docs/start.md", "start", "", None),
            ("src/content/docs/guides/one.md", "guides/one", "Guides", Some("One")),
            ("src/content/docs/fr/guides/one.md", "fr/guides/one", "Guides", None),
            ("src/content/docs/guides/Two.md", "guides/two", "Guides", Some("Deux")),
            ("src/content/docs/reference/cli/Flags_And.md", "reference/cli/flags_and", "Reference", None),
            ("src/content/docs/fr/reference/a.md", "fr/reference/a", "Reference", None),
            ("src/content/docs/grouped.md", "grouped", "", None),
            ("src/content/docs/slugged.md", "other/place", "", None),
            ("src/pages/page.md", "page", "", None),
        ],
    );
    assert_eq!(layout.place("src/content/docs/fr/guides/one.md").language.as_deref(), Some("fr-FR"));
    assert_eq!(layout.place("src/content/docs/start.md").language.as_deref(), Some("en"));
    assert_eq!(layout.redirects().collect::<Vec<_>>(), [("/old", "/new"), ("/older", "/new")]);
    assert!(!layout.holds_pages("README.md"));
}
