// The chat of this project on pages of another origin than the server's, in a real browser.
//
//     node widget.mjs CHROMIUM FOLDER
//
// Like browser.mjs. Screenshots go to FOLDER. With $DOCENT_STORY only stories whose names contain it.
import { mkdir } from 'node:fs/promises';
import { chromium } from 'playwright-core';
import { Hosts } from './widget-hosts.mjs';
import { Stage } from './stage.mjs';
import * as stories from './widget-stories.mjs';

const [executablePath, folder] = process.argv.slice(2);
const only = process.env.DOCENT_STORY;
if (!executablePath || !folder) {
  console.error('usage: node widget.mjs CHROMIUM FOLDER');
  process.exit(2);
}
setTimeout(() => {
  console.error('gave up: a story hangs');
  process.exit(3);
}, 300_000).unref();
// What a story waits for may be awaited after it has failed.
process.on('unhandledRejection', () => {});
await mkdir(folder, { recursive: true });

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const stage = new Stage();
const hosts = await Hosts.start();
const assistant = await stage.opensFor(hosts.origin);
hosts.serves(assistant);
const browser = await chromium.launch({ executablePath, args: FLAGS });

let met = 0;
const unmet = [];
for (const [name, story] of Object.entries(stories)) {
  if (only && !name.includes(only)) continue;
  const before = unmet.length;
  const pages = [];
  const expect = (what, truth, detail = '') => {
    if (truth) met += 1;
    else unmet.push(`${name}: ${what} ${String(detail).slice(0, 600)}`);
  };
  /** Opens a page of the host in a browser of its own; `allowed` is what its console may complain of. */
  const visit = async (path, { allowed = [], ...options } = {}) => {
    const context = await browser.newContext({ viewport: { width: 1100, height: 800 }, permissions: ['clipboard-read', 'clipboard-write'], ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.complaints = [];
    page.asked = [];
    const hears = text => allowed.some(known => text.includes(known)) || page.complaints.push(text);
    page.on('console', message => message.type() === 'error' && hears(message.text()));
    page.on('pageerror', error => hears(`thrown: ${error.stack || error}`));
    page.on('request', request => page.asked.push(request));
    await page.goto(`${hosts.origin}${path}`);
    pages.push(page);
    return page;
  };
  const picture = (page, label) => page.screenshot({ path: `${folder}/${label}.png` });
  const start = performance.now();
  try {
    await story({ visit, expect, picture, stage, hosts, assistant });
    for (const page of pages) expect('the console is quiet', page.complaints.length === 0, page.complaints.join(' | '));
  } catch (error) {
    expect('it plays to the end', false, error.stack);
    if (pages.length > 0) await picture(pages.at(-1), `failed-${name}`).catch(() => {});
  }
  for (const page of pages) await page.context().close();
  await stage.lets();
  console.log(`${unmet.length === before ? 'ok    ' : 'FAILED'} ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}
await browser.close();
hosts.close();
stage.close();
if (unmet.length > 0) console.log(`\nnot as expected:\n  ${unmet.join('\n  ')}`);
console.log(`\n${met} expectations met, ${unmet.length} not`);
process.exitCode = unmet.length > 0 ? 1 : 0;
