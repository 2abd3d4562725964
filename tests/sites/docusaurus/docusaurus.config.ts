import type {Config} from '@docusaurus/types';

const config: Config = {
  title: 'Odd rules',
  url: 'https://example.com',
  baseUrl: '/odd/',
  onBrokenLinks: 'warn',
  onBrokenAnchors: 'warn',
  onDuplicateRoutes: 'warn',
  markdown: {hooks: {onBrokenMarkdownLinks: 'warn'}},
  i18n: {defaultLocale: 'en', locales: ['en', 'fr']},
  presets: [
    [
      'classic',
      {
        docs: {
          routeBasePath: 'guide',
          sidebarPath: './sidebars.ts',
          lastVersion: 'current',
          versions: {current: {label: '2.0'}},
        },
        blog: {routeBasePath: 'news', onUntruncatedBlogPosts: 'ignore'},
      },
    ],
  ],
  plugins: [
    [
      '@docusaurus/plugin-content-docs',
      {id: 'api', path: 'api', routeBasePath: 'reference', sidebarPath: false, numberPrefixParser: false},
    ],
  ],
};

export default config;
