// Renders answers of the assistant with several renderers, and searches the output for forbidden content. Reads
// requests from stdin as lines of JSON, {"allowed": [address…], "texts": [text…], "parts": [number…]}, where the parts
// are the numbers of texts that are beginnings of longer ones, and answers each with one line:
// [{"text": number, "reader", "fault"}…].
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import * as commonmark from 'commonmark';
import MarkdownIt from 'markdown-it';
import { Marked } from 'marked';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { parseFragment } from 'parse5';
import rehypeStringify from 'rehype-stringify';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import showdown from 'showdown';
import { unified } from 'unified';

const remark = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { allowDangerousHtml: true })
  .use(rehypeStringify, { allowDangerousHtml: true })
  .freeze();
const linkify = new MarkdownIt({ html: true, linkify: true });
const breaks = new MarkdownIt({ html: true, linkify: true, breaks: true, typographer: true });
const plainIt = new MarkdownIt();
const strictIt = new MarkdownIt('commonmark');
const marked = new Marked({ gfm: true });
const markedBreaks = new Marked({ gfm: true, breaks: true });
const parser = new commonmark.Parser();
const writer = new commonmark.HtmlRenderer({ safe: false });

const showdownPlain = new showdown.Converter({ tables: true });
const showdownGitHub = new showdown.Converter();
showdownGitHub.setFlavor('github');
// With it, showdown puts the text of a heading cell into an attribute as it is, quotation marks too.
showdownGitHub.setOption('tablesHeaderId', false);
// What is wanted with it: each @name leads to GitHub.
showdownGitHub.setOption('ghMentions', false);

const READERS = {
  'micromark+gfm': (text) =>
    micromark(text, {
      allowDangerousHtml: true,
      allowDangerousProtocol: true,
      extensions: [gfm()],
      htmlExtensions: [gfmHtml()],
    }),
  micromark: (text) => micromark(text, { allowDangerousHtml: true, allowDangerousProtocol: true }),
  'markdown-it linkify': (text) => linkify.render(text),
  'markdown-it breaks': (text) => breaks.render(text),
  'markdown-it': (text) => plainIt.render(text),
  'markdown-it commonmark': (text) => strictIt.render(text),
  marked: (text) => marked.parse(text),
  'marked breaks': (text) => markedBreaks.parse(text),
  commonmark: (text) => writer.render(parser.parse(text)),
  'remark-gfm': (text) => String(remark.processSync(text)),
  showdown: (text) => showdownPlain.makeHtml(text),
  'showdown github': (text) => showdownGitHub.makeHtml(text),
};

// These know a block of code by its end alone, and read the beginning of one as prose.
const NOT_FOR_PARTS = /^(showdown|Python|markdown2)/;

// The renderers of Python, where $DOCENT_PYTHON has them.
const python = process.env.DOCENT_PYTHON
  ? spawn(process.env.DOCENT_PYTHON, ['readers.py'], { stdio: ['pipe', 'pipe', 'inherit'] })
  : undefined;
const pythonAnswers = python ? createInterface({ input: python.stdout })[Symbol.asyncIterator]() : undefined;

async function renderedByPython(texts) {
  if (!python) return texts.map(() => ({}));
  python.stdin.write(`${JSON.stringify(texts)}\n`);
  return JSON.parse((await pythonAnswers.next()).value);
}

// The elements and attributes that renderers create from Markdown alone.
const ELEMENTS = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre code em strong del s a img br hr table thead tbody tr th td input'.split(' '),
);
const ATTRIBUTES = {
  a: ['href'],
  img: ['src', 'alt'],
  code: ['class'],
  ol: ['start', 'class'],
  th: ['align', 'style', 'id'],
  td: ['align', 'style'],
  h1: ['id'],
  h2: ['id'],
  h3: ['id'],
  h4: ['id'],
  h5: ['id'],
  h6: ['id'],
  input: ['type', 'checked', 'disabled', 'style'],
  li: ['class', 'style'],
  ul: ['class'],
};
const PLAIN = { class: /^(([\w+#.-]+ )?language-[\w+#.-]*|contains-task-list|task-list-item)$/, style: /^(text-align:\s*\w+;?|list-style-type: none;|margin: [\w. -]+; vertical-align: middle;)$/ };

function decoded(address) {
  try {
    return decodeURI(address);
  } catch {
    return address;
  }
}

function* faults(node, allowed, inert) {
  for (const child of node.childNodes ?? []) {
    if (child.nodeName === '#text') {
      const address = inert ? null : /https?:\/\/\S+|\bwww\.[\w-]+\.\w+/i.exec(child.value);
      if (address) yield `text that is an address: ${address[0]}`;
      continue;
    }
    if (!child.tagName) {
      yield `${child.nodeName} of the model`;
      continue;
    }
    if (!ELEMENTS.has(child.tagName)) yield `<${child.tagName}> of the model`;
    for (const { name, value } of child.attrs) {
      // What a formula is for a renderer that reads attributes in braces: `x_{i=1}`.
      const isFormula = child.tagName === 'em' && (name === value || name.length === 1);
      if (!isFormula && !(ATTRIBUTES[child.tagName] ?? []).includes(name)) yield `an attribute of the model: ${name}="${value}"`;
      // showdown takes the bracket behind an address for a part of it, after some code.
      const address = value.replace(/>$/, '');
      if ((name === 'href' || name === 'src') && !allowed.has(address) && !allowed.has(decoded(address))) {
        yield `${child.tagName} leads to ${value}`;
      }
      if (PLAIN[name] && !PLAIN[name].test(value)) yield `${name}="${value}"`;
    }
    yield* faults(child, allowed, inert || child.tagName === 'a' || child.tagName === 'code');
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { allowed, texts, parts } = JSON.parse(line);
  const known = new Set(allowed);
  const found = [];
  const isPart = new Set(parts);
  const byPython = await renderedByPython(texts);
  texts.forEach((text, at) => {
    const seen = new Set();
    const readers = Object.entries(READERS).map(([reader, render]) => [reader, () => render(text)]);
    for (const [reader, html] of Object.entries(byPython[at])) readers.push([reader, () => html]);
    for (const [reader, render] of readers) {
      if (isPart.has(at) && NOT_FOR_PARTS.test(reader)) continue;
      let html;
      try {
        html = render();
      } catch {
        // A renderer that throws displays nothing.
        continue;
      }
      // Most renderers give the same output.
      const key = html.trim();
      if (seen.has(key)) continue;
      seen.add(key);
      for (const fault of faults(parseFragment(html), known, false)) {
        found.push({ text: at, reader, fault, html });
        break;
      }
    }
  });
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
