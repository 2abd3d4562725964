// Sites that put the chat on their pages, and a proxy before the assistant whose connections can be cut.
import { readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { connect, createServer as createProxy } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const TEXT = `<main><h1>Retries</h1><p id="passage">A delivery that fails is retried five times with exponential backoff.</p><p>After the last one it is parked.</p>
  <p><label>Name <input id="name"></label></p></main>`;
const SITE = `<style>body { font: 16px/1.6 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1.5rem } @media (prefers-color-scheme: dark) { body { background: #101116; color: #ddd } }</style>`;
const HOSTILE = `<style>* { all: unset !important; display: none !important; color: red !important; font: 3px cursive !important; position: static !important }
  :root { font-size: 3px !important; line-height: 9 !important; letter-spacing: 9px !important; direction: rtl !important } body { zoom: 1; text-transform: uppercase !important; visibility: hidden !important }
  docent-chat { display: none !important; opacity: .1 !important; transform: scale(.1) !important; width: 1px !important; visibility: hidden !important; pointer-events: auto !important; background: red !important }
  html, body, head { display: block !important }</style>`;

// Pages as they were written for others: only the address of the script and the id are ours.
const MOVED = {
  '/from-mintlify': (server, id) => `<script type="module" src="${server}/widget/mintlify.js"></script><script type="module">
    window.heard = [];
    await window.MintlifyAssistant.init({ id: "${id}", appearance: { variant: "panel", theme: "dark", accent: "#0f766e", radius: "4px", side: "bottom", align: "start" }, labels: { title: "Docs copilot", trigger: "Ask docs", disclaimer: false, suggestions: "Try one" },
      supportEmail: "support@acme.test", starterQuestions: ["How often is a webhook delivery retried?"], filter: { language: null }, hooks: { event(event) { window.heard.push(event.type); throw new Error("ours"); }, error(error) { window.failed = error; } } });
    window.ready = true;</script>`,
  '/from-kapa': (server, id) => `<script>(function(){let k=window.Kapa;if(!k){let i=function(){i.c(arguments)};i.q=[];i.c=function(a){i.q.push(a)};window.Kapa=i;}})(); window.Kapa("render", { onRender() { window.rendered = true; } });</script>
    <button class="ask">Ask AI</button><script async src="${server}/widget/kapa.js" data-website-id="${id}" data-project-name="Acme" data-project-color="#0f766e" data-project-logo="/logo.png" data-modal-disclaimer="This is a custom LLM."
    data-modal-example-questions="How often is a webhook delivery retried?,What does error E1002 mean?" data-button-hide="true" data-modal-override-open-selector=".ask"></script>`,
  '/from-kapa-late': (server, id) => `<script async src="${server}/widget/kapa.js" data-website-id="${id}" data-project-name="Acme" data-modal-disclaimer="See the [terms](https://acme.test/terms)." data-render-on-load="false"></script>`,
};

const DOCSEARCH = fileURLToPath(new URL('node_modules/@docsearch/js/dist/umd/index.js', import.meta.url));
const withDocSearch = (server, { domain, key }) => `<div id="search"></div><script src="/docsearch-box.js"></script>
  <script type="module" src="${server}/widget.js" data-domain="${domain}" data-key="${key}"></script>
  <script type="module">import { docent } from "${server}/widget/docsearch.js";
    docsearch({ container: "#search", appId: "docs", apiKey: "none", indices: ["docs"], transformSearchClient: docent({ domain: "${domain}", key: "${key}" }) });
    window.ready = true;</script>`;

const withReact = (server, { domain, key }) => `<div id="search"></div><script type="module" src="${server}/widget.js" data-domain="${domain}" data-key="${key}"></script>
  <script type="module" src="/docsearch-react.js"></script>`;

/** The page with DocSearch's box of React, in one file. */
async function bundled() {
  const entryPoints = [fileURLToPath(new URL('pages/docsearch.jsx', import.meta.url))];
  const define = { 'process.env.NODE_ENV': '"production"' };
  const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: 'esm', target: 'es2022', jsx: 'automatic', define, logLevel: 'error' });
  return outputFiles[0].text;
}

/** The files of a page that has the chat from its package, by their paths. */
async function packaged() {
  const entryPoints = [fileURLToPath(new URL('pages/packaged.js', import.meta.url))];
  const alias = { 'docent-widget': fileURLToPath(new URL('../../crates/widget/files/widget.js', import.meta.url)) };
  const { outputFiles } = await build({ entryPoints, alias, bundle: true, splitting: true, write: false, format: 'esm', target: 'es2022', outdir: '/packaged', logLevel: 'error' });
  return new Map(outputFiles.map(({ path, text }) => [path, text]));
}

export class Hosts {
  #sockets = new Set();
  #assistant;

  static async start() {
    const hosts = new Hosts();
    hosts.react = await bundled();
    hosts.packaged = await packaged();
    hosts.server = createServer((request, response) => hosts.#answer(request, response));
    hosts.proxy = createProxy(socket => hosts.#passes(socket));
    for (const one of [hosts.server, hosts.proxy]) await new Promise(resolve => one.listen(0, '127.0.0.1', resolve));
    hosts.origin = `http://127.0.0.1:${hosts.server.address().port}`;
    hosts.proxied = `http://127.0.0.1:${hosts.proxy.address().port}`;
    return hosts;
  }

  serves(assistant) {
    this.#assistant = assistant;
  }

  #passes(socket) {
    const server = connect(new URL(this.#assistant.server).port, '127.0.0.1');
    for (const [from, to] of [[socket, server], [server, socket]]) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => { this.#sockets.delete(from); to.destroy(); });
    }
  }

  /** The network is lost for a moment. */
  cuts() {
    for (const socket of this.#sockets) socket.destroy();
  }

  #answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, 'http://site');
    if (pathname === '/host.js') {
      response.writeHead(200, { 'Content-Type': 'text/javascript' }).end('addEventListener("keydown", event => { if (event.key === "k" && event.ctrlKey) event.preventDefault(); });');
      return;
    }
    if (pathname === '/docsearch-box.js') {
      response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(readFileSync(DOCSEARCH));
      return;
    }
    if (pathname === '/docsearch-react.js') {
      response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(this.react);
      return;
    }
    if (this.packaged.has(pathname)) {
      response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(this.packaged.get(pathname));
      return;
    }
    const { server, domain, key } = this.#assistant;
    if (pathname === '/from-a-package') {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(`<!doctype html><html lang="de"><meta charset="utf-8"><title>Docs</title><link rel="icon" href="data:,"><body data-server="${server}/" data-domain="${domain}" data-key="${key}"><script type="module" src="/packaged/packaged.js"></script></body></html>`);
      return;
    }
    if (pathname.startsWith('/docent/')) {
      // The assistant below a path of the site, as a proxy passes it on.
      const { method, headers } = request;
      const passed = send(server + request.url.slice('/docent'.length), { method, headers }, answer => answer.pipe(response.writeHead(answer.statusCode, answer.headers)));
      request.pipe(passed);
      return;
    }
    if (pathname === '/below-a-path') {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Docs</title><link rel="icon" href="data:,"><body><script type="module" src="/docent/widget.js" data-domain="${domain}" data-key="${key}"></script></body></html>`);
      return;
    }
    if (pathname === '/early') {
      // A page whose body comes late.
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.write(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Docs</title><link rel="icon" href="data:,"><script>import("${server}/widget.js").then(({ init }) => { window.hadBody = Boolean(document.body); init({ domain: "${domain}", key: "${key}" }); });</script>`);
      setTimeout(() => response.end('</head><body><p>Text</p></body></html>'), 1_500);
      return;
    }
    if (pathname === '/docsearch' || pathname === '/docsearch-react') {
      const box = pathname === '/docsearch' ? withDocSearch : withReact;
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Docs</title><link rel="icon" href="data:,"><body data-server="${server}" data-domain="${domain}" data-key="${key}">${box(server, this.#assistant)}</body></html>`);
      return;
    }
    if (pathname in MOVED) {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Retries</title><link rel="icon" href="data:,"><body>${TEXT}${MOVED[pathname](server, `${domain}/${key}`)}</body></html>`);
      return;
    }
    const from = searchParams.has('proxied') ? this.proxied : server;
    const data = { domain, key, starters: 'How often is a webhook delivery retried? | What does error E1002 mean?', help: 'help@acme.test', ...Object.fromEntries(searchParams) };
    const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${value}"`).join('');
    const strict = pathname.startsWith('/strict');
    const policy = `default-src 'none'; script-src ${from}${searchParams.has('taken') ? " 'self'" : ''}; connect-src ${from}; img-src ${from}; require-trusted-types-for 'script'`;
    const inline = pathname.includes('inline') ? `<docent-chat${attributes}></docent-chat>` : '';
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store', ...(strict && { 'Content-Security-Policy': policy }) });
    response.end(`<!doctype html><html lang="${data.lang ?? 'en'}" dir="${data.dir ?? 'ltr'}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Retries</title>${strict ? "" : `<link rel="icon" href="data:,">`}
      ${strict ? '' : pathname.startsWith('/hostile') ? HOSTILE : SITE}<body>${TEXT}${inline}
      <script type="module" src="${from}/widget.js"${inline ? '' : attributes}></script>${searchParams.has('taken') ? '<script src="/host.js"></script>' : ''}</body></html>`);
  }

  close() {
    this.server.close();
    this.proxy.close();
    this.server.closeAllConnections();
    this.cuts();
  }
}
