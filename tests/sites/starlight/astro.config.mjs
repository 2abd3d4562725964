import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';

export default defineConfig({
  site: 'https://example.com',
  base: '/odd',
  redirects: { '/old': '/odd/guides/first/' },
  integrations: [
    starlight({
      title: 'Odd rules',
      pagefind: false,
      defaultLocale: 'en',
      locales: { en: { label: 'English' }, fr: { label: 'Français' } },
    }),
  ],
});
