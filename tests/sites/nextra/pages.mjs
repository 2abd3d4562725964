// Builds the pages of a site with Nextra's own compiler, without Next.js and without the components they import: `node
// pages.mjs OUT [FOLDER=PATH]...` in the folder of the site. The pages in FOLDER are served below PATH, those of `app`
// at their own paths. A name in a `_meta` file without a page is a warning, because it makes a build of Next.js fail.
import {existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {compileMdx} from 'nextra/compile';
import {evaluate} from 'nextra/evaluate';
import {createElement} from 'react';
import {renderToStaticMarkup} from 'react-dom/server';
import {ts} from 'ts-morph';
import {withoutComponents} from '../fumadocs/without-components.mjs';

const [out, ...content] = process.argv.slice(2);
const app = ['app', 'src/app'].find((folder) => existsSync(folder));
const filesOf = (folder) => readdirSync(folder, {recursive: true}).filter((path) => !/(^|\/)[_[]/.test(dirname(path)));
const below = (...parts) => parts.flatMap((part) => part.split('/')).filter((part) => part && part !== '.').join('/');

// The file of each address, and the content of the `_meta` file of each folder's address.
const [pages, metas] = [new Map(), []];
const sources = content.map((words) => words.split('=')).map(([folder, path]) => ({folder, path, isApp: false}));
for (const {folder, path, isApp} of [...sources, ...(app ? [{folder: app, path: '', isApp: true}] : [])]) {
  for (const file of filesOf(folder)) {
    const served = below(path, isApp ? dirname(file).replace(/(^|\/)\([^)]*\)/g, '') : dirname(file));
    const [, name, ending] = /^(.*?)\.([a-z]+)$/.exec(basename(file)) ?? [];
    if (/^mdx?$/.test(ending) && (!isApp || name === 'page')) {
      pages.set(below(served, isApp || name === 'index' ? '' : name), {file: join(folder, file), ending});
    } else if (isApp && name === 'page' && /^[jt]sx?$/.test(ending)) {
      pages.set(served, {});
    } else if (/^_meta(\.global)?$/.test(basename(file).replace(/\.[jt]sx?$/, ''))) {
      metas.push({file: join(folder, file), at: served});
    }
  }
}

// A stub for everything that a script imports.
const anything = new Proxy(() => anything, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => '' : name === Symbol.iterator ? [][Symbol.iterator] : anything),
});
const isThere = (address) => [...pages.keys()].some((page) => page === address || page.startsWith(`${address}/`));
const check = (file, at, meta) => {
  for (const [key, value] of Object.entries(meta)) {
    const isOther = ['separator', 'menu'].includes(value?.type) || value?.href || key === '*';
    if (!isOther && !(key === 'index' ? isThere(at) : isThere(below(at, key)))) {
      console.log(`warning: \`${key}\` in ${file} refers to a page that cannot be found`);
    }
    if (value?.items && value.type !== 'menu') check(file, below(at, key), value.items);
  }
};
for (const {file, at} of metas) {
  const options = {module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, jsx: ts.JsxEmit.React};
  const {outputText} = ts.transpileModule(readFileSync(file, 'utf8'), {compilerOptions: options, fileName: file});
  const module = {exports: {}};
  new Function('module', 'exports', 'require', 'React', outputText)(module, module.exports, () => anything, anything);
  check(file, at, module.exports.default ?? {});
}

const passOn = ({children}) => createElement('div', null, children);
const components = {$Tabs: passOn, $Tab: passOn, Tabs: Object.assign(passOn, {Tab: passOn}), Mermaid: () => null};
for (const [address, {file, ending}] of pages) {
  if (!file) continue;
  const mdxOptions = {format: ending, remarkPlugins: [withoutComponents]};
  const options = {filePath: file, codeHighlight: false, staticImage: false, search: false, mdxOptions};
  const {default: Content} = evaluate(await compileMdx(readFileSync(file, 'utf8'), options), components);
  const html = join(out, `${address || 'index'}.html`);
  mkdirSync(dirname(html), {recursive: true});
  writeFileSync(html, renderToStaticMarkup(createElement(Content, {components})));
}
