// Renders answers of the assistant with several renderers, and searches the output for forbidden content. Reads
// requests from stdin as lines of JSON, {"allowed": [address…], "texts": [text…]}, and answers each with one line:
// [{"text": number, "reader", "fault"}…].
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
};

// The elements and attributes that renderers create from Markdown alone.
const ELEMENTS = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del s a img br hr table thead tbody tr th td input'.split(' '),
);
const ATTRIBUTES = {
  a: ['href'],
  img: ['src', 'alt'],
  code: ['class'],
  ol: ['start', 'class'],
  th: ['align', 'style'],
  td: ['align', 'style'],
  input: ['type', 'checked', 'disabled'],
  li: ['class'],
  ul: ['class'],
};
const PLAIN = { class: /^(language-[\w+#.-]*|contains-task-list|task-list-item)$/, style: /^text-align:\s*\w+;?$/ };

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
      if (!(ATTRIBUTES[child.tagName] ?? []).includes(name)) yield `an attribute of the model: ${name}="${value}"`;
      if ((name === 'href' || name === 'src') && !allowed.has(value) && !allowed.has(decoded(value))) {
        yield `${child.tagName} leads to ${value}`;
      }
      if (PLAIN[name] && !PLAIN[name].test(value)) yield `${name}="${value}"`;
    }
    yield* faults(child, allowed, inert || child.tagName === 'a' || child.tagName === 'code');
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { allowed, texts } = JSON.parse(line);
  const known = new Set(allowed);
  const found = [];
  texts.forEach((text, at) => {
    const seen = new Set();
    for (const [reader, render] of Object.entries(READERS)) {
      let html;
      try {
        html = render(text);
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
