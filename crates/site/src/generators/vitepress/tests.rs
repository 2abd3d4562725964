use crate::layout::Layout;
use crate::sample::{assert_places, messages, site};

#[test]
fn vitepress_serves_by_its_rules() {
    let config = "
import { defineConfig, type DefaultTheme } from 'vitepress'
import { api } from './sidebar-api'
const more = [{ text: 'More', link: '/more' }]
export default withPlugin(defineConfig({
  srcDir: './src',
  rewrites: { 'pkg/:name/docs.md': 'packages/:name.md' },
  srcExclude: ['drafts/**'],
  locales: {
    root: { label: 'English', lang: 'en-US' },
    fr: { label: 'Français', lang: 'fr', themeConfig: { sidebar: [{ text: 'Le guide', items: [{ text: 'Un', link: '/fr/guide/one' }] }] } },
  },
  themeConfig: {
    nav: nav(),
    sidebar: {
      '/guide/': { base: '/guide/', items: guide() },
      '/api/': api,
      '/': [...more],
    },
  },
}))
function guide(): DefaultTheme.SidebarItem[] {
  return [{ text: 'Guide', collapsed: false, items: [{ text: 'One', link: 'one' }, { text: 'Outside', link: 'https://x.y' }] }]
}
";
    let tree = site(&[
        ("docs/.vitepress/config.mts", config),
        (
            "docs/.vitepress/sidebar-api.ts",
            "export const api = [{ text: 'API', items: [{ text: 'All', link: '/api/' }] }]",
        ),
        ("docs/src/index.md", ""),
        ("docs/src/README.md", ""),
        ("docs/src/more.md", ""),
        ("docs/src/guide/one.md", ""),
        ("docs/src/fr/guide/one.md", ""),
        ("docs/src/api/index.md", ""),
        ("docs/src/pkg/a/docs.md", ""),
        ("docs/src/drafts/x.md", ""),
        ("docs/src/[name].md", ""),
    ]);
    let layout = Layout::read(&tree);
    assert_eq!(messages(&layout), [] as [&str; 0]);
    assert_places(
        &tree,
        &[
            ("docs/src/index.md", "", "", None),
            ("docs/src/README.md", "README", "", None),
            ("docs/src/more.md", "more", "", Some("More")),
            ("docs/src/guide/one.md", "guide/one", "Guide", Some("One")),
            ("docs/src/fr/guide/one.md", "fr/guide/one", "Le guide", Some("Un")),
            ("docs/src/api/index.md", "api", "API", Some("All")),
            ("docs/src/pkg/a/docs.md", "packages/a", "", None),
        ],
    );
    assert!(!layout.holds_pages("docs/src/drafts/x.md") && !layout.holds_pages("docs/src/[name].md"));
    assert_eq!(layout.place("docs/src/fr/guide/one.md").language.as_deref(), Some("fr"));
    assert_eq!(layout.place("docs/src/more.md").language.as_deref(), Some("en-US"));
}
