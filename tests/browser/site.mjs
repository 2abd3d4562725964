// The site with the pages: bundled into a folder and served from there.
import { createServer } from 'node:http';
import { mkdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const KINDS = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' };

/** Bundles `pages` of a source folder and serves each as `/NAME.html`, on a port of its own. */
export async function serve(sources, pages, folder) {
  const source = fileURLToPath(sources);
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: [...pages.map(page => join(source, `${page}.jsx`)), join(source, 'page.css')],
    outdir: folder,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://site');
    const [, page] = /^\/(\w+)\.html$/.exec(pathname) ?? [];
    const send = (kind, body) => response.writeHead(200, { 'Content-Type': kind, 'Cache-Control': 'no-store' }).end(body);
    if (pages.includes(page)) return send(KINDS['.html'], html(page));
    const [, file] = /^\/(\w+\.(?:js|css))$/.exec(pathname) ?? [];
    const body = file && (await readFile(join(folder, file)).catch(() => undefined));
    if (body) return send(KINDS[extname(file)], body);
    response.writeHead(404).end();
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const html = page => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Acme docs</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<body><div id="app"></div><script type="module" src="/${page}.js"></script></body>
</html>
`;
