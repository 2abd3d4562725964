// Builds the pages with the parts of Fumadocs that create addresses, anchors and links, without Next.js and without the
// components that pages import: `node pages.mjs OUT [FOLDER=PATH[=LANGUAGE,…]]...` in the folder of the site. The pages
// in FOLDER are served below PATH, the first language without its name. A name in a `meta.json` without a page is a
// warning.
import {existsSync, readFileSync, readdirSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {evaluate} from '@mdx-js/mdx';
import {remarkHeading} from 'fumadocs-core/mdx-plugins/remark-heading';
import {loader} from 'fumadocs-core/source';
import {renderToStaticMarkup} from 'react-dom/server';
import * as runtime from 'react/jsx-runtime';
import {withoutComponents} from './without-components.mjs';

const [out, ...content] = process.argv.slice(2);
const filesOf = (folder) => (existsSync(folder) ? readdirSync(folder, {recursive: true}) : []);
const isRelative = ['app', 'src/app'].some((folder) =>
  filesOf(folder).some((file) => /\.[jt]sx$/.test(file) && readFileSync(join(folder, file), 'utf8').includes('createRelativeLink')),
);
for (const [root, baseUrl, languages] of content.map((words) => words.split('='))) {
  const [defaultLanguage] = languages?.split(',') ?? [];
  const i18n = languages && {defaultLanguage, languages: languages.split(','), hideLocale: 'default-locale'};
  const paths = filesOf(root);
  const files = paths
    .filter((path) => /\.mdx?$/.test(path))
    .map((path) => ({type: 'page', path, data: {title: path, text: readFileSync(join(root, path), 'utf8')}}));
  for (const path of paths.filter((path) => /(^|\/)meta(\.\w+)?\.json$/.test(path))) {
    for (const name of JSON.parse(readFileSync(join(root, path), 'utf8')).pages ?? []) {
      const named = join(dirname(path), name.replace(/^(\.\.\.|!)/, ''));
      const isOther = /^(---|\[|external:|z?\.\.\.a?$)/.test(name);
      if (!isOther && !paths.some((path) => path === named || path.startsWith(`${named}.`))) {
        console.log(`warning: \`${name}\` in ${join(root, path)} is no page`);
      }
    }
  }
  const source = loader({baseUrl, source: {files}, ...(i18n && {i18n})});
  for (const page of source.getPages()) {
    const text = page.data.text.replace(/^---\n[^]*?\n---\n/, '');
    const format = page.path.endsWith('.md') ? 'md' : 'mdx';
    const {default: Content} = await evaluate(text, {...runtime, format, remarkPlugins: [withoutComponents, remarkHeading]});
    const a = (props) => runtime.jsx('a', {...props, href: isRelative ? source.resolveHref(props.href, page) : props.href});
    const html = join(out, `${page.url}.html`);
    mkdirSync(dirname(html), {recursive: true});
    writeFileSync(html, renderToStaticMarkup(runtime.jsx(Content, {components: {a}})));
  }
}
