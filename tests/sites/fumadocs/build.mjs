// Builds the pages with the parts of Fumadocs that make addresses, anchors and links: `node build.mjs OUT`.
import {readFileSync, readdirSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {evaluate} from '@mdx-js/mdx';
import {remarkHeading} from 'fumadocs-core/mdx-plugins/remark-heading';
import {loader} from 'fumadocs-core/source';
import {renderToStaticMarkup} from 'react-dom/server';
import * as runtime from 'react/jsx-runtime';

const collections = [
  {root: 'content/docs', baseUrl: '/manual'},
  {root: 'content/news', baseUrl: '/news', i18n: {defaultLanguage: 'en', languages: ['en', 'de'], hideLocale: 'default-locale'}},
];
for (const {root, ...options} of collections) {
  const files = readdirSync(root, {recursive: true})
    .filter((path) => path.endsWith('.mdx'))
    .map((path) => ({type: 'page', path, data: {title: path, text: readFileSync(join(root, path), 'utf8')}}));
  const source = loader({...options, source: {files}});
  for (const page of source.getPages()) {
    const text = page.data.text.replace(/^---\n[^]*?\n---\n/, '');
    const {default: Content} = await evaluate(text, {...runtime, remarkPlugins: [remarkHeading]});
    const a = (props) => runtime.jsx('a', {...props, href: source.resolveHref(props.href, page)});
    const html = renderToStaticMarkup(runtime.jsx(Content, {components: {a}}));
    const out = join(process.argv[2], `${page.url}.html`);
    mkdirSync(dirname(out), {recursive: true});
    writeFileSync(out, html);
  }
}
