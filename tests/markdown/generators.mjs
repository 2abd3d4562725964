// Builds pages as site generators do, and searches what comes out for what runs. Reads requests from stdin as lines of JSON,
// {"generator": name, "texts": [text…]}, and answers each with one line: [{"text": number, "fault", "html"}…]. A call of `f`
// is what must never run.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { evaluate } from '@mdx-js/mdx';
import { compile } from '@vue/compiler-dom';
import { convert } from 'asciidoctor';
import MarkdownIt from 'markdown-it';
import attributes from 'markdown-it-attrs';
import { parseFragment } from 'parse5';
import remarkGfm from 'remark-gfm';

let calls = 0;
globalThis.f = () => {
  calls += 1;
  return '';
};

const RUNS = new Set(
  'script style iframe object embed applet base meta link frame form input button textarea select svg math template'.split(' '),
);

function* faultsOf(tag, attributes) {
  // A box of a task.
  if (tag === 'input' && attributes.some(([name, value]) => name === 'type' && value === 'checkbox')) return;
  if (RUNS.has(tag.toLowerCase())) yield `<${tag}>`;
  for (const [name, value] of attributes) {
    if (name === 'children') continue;
    const address = String(value).replace(/[\s\u0000-\u001f]/g, '').toLowerCase();
    if (/^on|^srcdoc$|^dangerously/i.test(name) && typeof value !== 'number') yield `<${tag} ${name}="${value}">`;
    if (/^(javascript|vbscript):|^data:(?!image\/(?!svg))/.test(address)) yield `<${tag} ${name}="${value}">`;
  }
}

function* inHtml(node) {
  for (const child of node.childNodes ?? []) {
    if (child.tagName) yield* faultsOf(child.tagName, child.attrs.map(({ name, value }) => [name, value]));
    yield* inHtml(child);
    if (child.content) yield* inHtml(child.content);
  }
}

async function mdx(text) {
  const found = [];
  const jsx = (type, props) => {
    if (typeof type === 'function') return type(props);
    if (typeof type === 'string') found.push(...faultsOf(type, Object.entries(props ?? {})));
    return '';
  };
  const components = new Proxy({}, { get: () => () => '' });
  calls = 0;
  try {
    const page = await evaluate(text, { Fragment: 'p', jsx, jsxs: jsx, remarkPlugins: [remarkGfm] });
    page.default({ components });
  } catch (error) {
    if (/import/.test(error.message) && !/acorn|parse/.test(error.message)) found.push(`an import: ${error.message}`);
  }
  if (calls > 0) found.push('a call');
  return { html: '', found };
}

const vueMarkdown = new MarkdownIt({ html: true, linkify: true }).use(attributes);
const { code_inline: codeInline, fence } = vueMarkdown.renderer.rules;
// As VitePress does, which shows these and no other code as it is.
vueMarkdown.renderer.rules.code_inline = (...given) => codeInline(...given).replace('<code', '<code v-pre');
vueMarkdown.renderer.rules.fence = (...given) => fence(...given).replace('<pre', '<pre v-pre').replace('<code', '<code v-pre');

function vue(text) {
  const html = vueMarkdown.render(text);
  const found = [];
  try {
    const { ast } = compile(html, { prefixIdentifiers: false, nodeTransforms: [], onError: () => {}, parseMode: 'html' });
    const isActive = (expression) => /\bf\b/.test(expression?.loc?.source ?? '');
    const walk = (node) => {
      if (node.type === 5 && isActive(node.content)) found.push(`{{ ${node.content.loc.source} }}`);
      for (const prop of node.props ?? []) {
        if (prop.type === 7 && isActive(prop.exp)) found.push(prop.loc.source);
        if (prop.type === 6) found.push(...faultsOf(node.tag, [[prop.name, prop.value?.content ?? '']]));
      }
      if (node.tag && RUNS.has(node.tag)) found.push(`<${node.tag}>`);
      for (const child of node.children ?? []) if (typeof child === 'object') walk(child);
    };
    walk(ast);
  } catch {
    // What does not compile does not run.
  }
  return { html, found };
}

async function asciidoc(text) {
  let html = '';
  try {
    html = await convert(text, { safe: 'server', backend: 'html5', standalone: false, attributes: { stem: '' } });
  } catch {
    // What is not converted does not run.
  }
  return { html, found: [...inHtml(parseFragment(String(html)))] };
}

const python = spawn(process.env.DOCENT_PYTHON ?? 'python3', ['readers.py'], { stdio: ['pipe', 'pipe', 'inherit'] });
const pythonAnswers = createInterface({ input: python.stdout })[Symbol.asyncIterator]();

async function mkdocs(texts) {
  python.stdin.write(`${JSON.stringify(texts)}\n`);
  const rendered = JSON.parse((await pythonAnswers.next()).value);
  return rendered.map((of) => {
    const html = of['Python-Markdown extra'] ?? '';
    return { html, found: [...inHtml(parseFragment(html))] };
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { generator, texts } = JSON.parse(line);
  const built = { mdx, vue, asciidoc }[generator];
  const pages = [];
  if (built) for (const text of texts) pages.push(await built(text));
  const results = built ? pages : await mkdocs(texts);
  const faults = results.flatMap(({ html, found }, text) => (found.length ? [{ text, fault: found[0], html }] : []));
  process.stdout.write(`${JSON.stringify(faults)}\n`);
}
