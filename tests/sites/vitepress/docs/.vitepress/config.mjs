export default {
  title: 'Odd rules',
  base: '/odd/',
  srcDir: './src',
  srcExclude: ['**/README.md', 'fr/drafts/**'],
  rewrites: {
    'packages/:name/docs/:page': 'packages/:name/:page',
    'en-only.md': 'guide/english.md',
  },
  // Some links lead nowhere on purpose.
  ignoreDeadLinks: true,
  locales: {
    root: { label: 'English', lang: 'en' },
    fr: { label: 'Français', lang: 'fr' },
  },
}
