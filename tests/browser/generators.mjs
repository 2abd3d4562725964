// The chat on sites that were built by their generators, each at an origin of its own, in a real browser.
//
//     node generators.mjs CHROMIUM FOLDER SITES
//
// SITES is a list of `{name, root}` in JSON. Screenshots go to FOLDER.
import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { chromium } from 'playwright-core';

const QUESTION = 'How often is a webhook delivery retried?';
const KINDS = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' };

const [executablePath, folder, sites] = process.argv.slice(2);
if (!executablePath || !folder || !sites) {
  console.error('usage: node generators.mjs CHROMIUM FOLDER SITES');
  process.exit(2);
}
setTimeout(() => {
  console.error('gave up: a story hangs');
  process.exit(3);
}, 180_000).unref();
await mkdir(folder, { recursive: true });

/** Serves a built site as hosts of such sites do: `/a` is also `/a.html` and `/a/index.html`. */
async function serve(root) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://site').pathname));
    for (const file of [path, `${path}.html`, join(path, 'index.html')]) {
      const body = extname(file) === '' ? undefined : await readFile(join(root, file)).catch(() => undefined);
      if (body !== undefined) return response.writeHead(200, { 'Content-Type': KINDS[extname(file)] ?? 'application/octet-stream' }).end(body);
    }
    response.writeHead(404).end();
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => { server.close(); server.closeAllConnections(); } };
}

/** How a reader of such a site makes it dark, and finds the search of the site itself. */
const HABITS = {
  MkDocs: { dark: page => page.locator('label[title="Dark"]').first().click() },
  Sphinx: { dark: async page => { for (let n = 0; n < 3 && (await page.evaluate(() => document.body.dataset.theme)) !== 'dark'; n += 1) await page.locator('.theme-toggle:visible').first().click(); } },
  VitePress: { dark: page => page.locator('.VPSwitchAppearance:visible').first().click(), search: '.VPLocalSearchBox' },
};

const panelOf = page => page.locator('docent-chat .panel');
const turn = (page, n) => page.locator('docent-chat .turn').nth(n);

async function story({ name, root }, browser, expect) {
  const site = await serve(root);
  // The reader's own wish is the other one, so that the theme can only be the site's.
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints = [];
  page.on('console', message => message.type() === 'error' && !message.text().includes('404') && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(`thrown: ${error}`));
  try {
    await page.goto(`${site.origin}/`);
    await page.locator('docent-chat .open').waitFor();
    const { dark, search } = HABITS[name];
    await page.keyboard.press('Control+k');
    if (search) {
      await page.locator(search).waitFor();
      expect('the key is the one of the search of the site', (await panelOf(page).count()) === 0 || (await panelOf(page).isHidden()));
      await page.keyboard.press('Escape');
      await page.locator(search).waitFor({ state: 'detached' });
      await page.locator('docent-chat .open').click();
    }
    await panelOf(page).waitFor();
    const theme = () => panelOf(page).evaluate(node => node.dataset.theme);
    expect('it is light on a light site', (await theme()) === 'light', await theme());
    await panelOf(page).locator('.line textarea').fill(QUESTION);
    await page.keyboard.press('Enter');
    await turn(page, 0).locator('.answer', { hasText: 'parked for a day' }).waitFor();
    await turn(page, 0).locator('.rating').waitFor();
    await page.screenshot({ path: `${folder}/${name}-light.png` });
    await dark(page);
    await panelOf(page).and(page.locator('[data-theme=dark]')).waitFor();
    await page.screenshot({ path: `${folder}/${name}-dark.png` });
    const source = turn(page, 0).locator('.cards a').first();
    const href = await source.getAttribute('href');
    const answer = await page.goto(new URL(href, page.url()).href);
    const heading = await page.locator('h1').first().innerText();
    expect('a source is a page of the site', answer.status() === 200 && href.startsWith(site.origin) && heading.startsWith('Webhooks'), `${href}: ${answer.status()} ${heading}`);
    expect('and leads to its section', (await page.locator(decodeURIComponent(new URL(href).hash) || 'h1').count()) === 1, href);
    await turn(page, 0).locator('.answer', { hasText: 'parked for a day' }).waitFor();
    await page.reload();
    await turn(page, 0).locator('.answer', { hasText: 'parked for a day' }).waitFor();
    expect('the chat follows the site there', (await theme()) === 'dark', await theme());
    expect('the console is quiet', complaints.length === 0, complaints.join(' | '));
  } catch (error) {
    await page.screenshot({ path: `${folder}/failed-${name}.png` }).catch(() => {});
    expect('it plays to the end', false, `${error.stack} ${complaints.join(' | ')}`);
  }
  await context.close();
  site.close();
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
const unmet = [];
for (const site of JSON.parse(sites)) {
  const before = unmet.length;
  await story(site, browser, (what, truth, detail = '') => { if (!truth) unmet.push(`${site.name}: ${what} ${String(detail).slice(0, 600)}`); });
  console.log(`${unmet.length === before ? 'ok    ' : 'FAILED'} ${site.name}`);
}
await browser.close();
if (unmet.length > 0) console.log(`\nnot as expected:\n  ${unmet.join('\n  ')}`);
process.exit(unmet.length > 0 ? 1 : 0);
