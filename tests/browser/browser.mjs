// Pages with the real chat hooks, in a real browser, on an origin other than the assistant's.
//
// The test that starts this program runs the assistant's model and answers requests over stdin and stdout (see
// stage.mjs).
//
//     node browser.mjs CHROMIUM FOLDER
//
// Screenshots and bundles go to FOLDER. Prints one line per story and page, and exits 1 if an expectation was not met.
import { chromium } from 'playwright-core';
import { serve } from './site.mjs';
import { Stage } from './stage.mjs';
import { Visit } from './visit.mjs';
import * as stories from './stories.mjs';

const [executablePath, folder] = process.argv.slice(2);
if (!executablePath || !folder) {
  console.error('usage: node browser.mjs CHROMIUM FOLDER');
  process.exit(2);
}
// Far above the normal duration: a program that reaches this timeout hangs.
setTimeout(() => {
  console.error('gave up: a story hangs');
  process.exit(3);
}, 300_000).unref();

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
const PAGES = [
  { name: 'SDK 4', file: 'sdk4' },
  { name: 'SDK 7', file: 'sdk7' },
];
const PLAYS = ['anAnswerStreamsIn', 'aFollowUpStaysInTheThread', 'aStopReachesTheModel', 'aReloadIsSurvived',
  'aForeignKeyIsAnErrorAndNoHang', 'overTheLimitItIsRefusedPolitely'];

const site = await serve(new URL('pages/', import.meta.url), PAGES.map(page => page.file), folder);
const stage = new Stage();
const assistant = await stage.opensFor(site.origin);
const browser = await chromium.launch({ executablePath, args: FLAGS });

let met = 0;
const unmet = [];
for (const page of PAGES) {
  // The first two stories are one conversation.
  let visit;
  for (const play of PLAYS) {
    const before = unmet.length;
    const expect = (what, truth, detail = '') => {
      if (truth) met += 1;
      else unmet.push(`${page.name} ${play}: ${what} ${String(detail).slice(0, 300)}`);
    };
    const open = async (options = {}) => {
      await visit?.close();
      visit = await Visit.open(browser, `${site.origin}/${page.file}.html`, { ...assistant, ...options });
      return visit;
    };
    const picture = name => visit.page.screenshot({ path: `${folder}/${page.file}-${name}.png` });
    const scene = { page, stage, assistant, expect, open, picture, goOn: () => visit };
    const start = performance.now();
    try {
      await stories[play](scene);
      expect('the console is quiet', visit.complaints.length === 0, visit.complaints.join(' | '));
    } catch (error) {
      expect('it plays to the end', false, error.stack);
      await picture(`${play}-failed`).catch(() => {});
    }
    const took = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${unmet.length === before ? 'ok    ' : 'FAILED'} ${page.name} ${play} (${took} s)`);
  }
  await visit?.close();
}
await browser.close();
site.close();
stage.close();
if (unmet.length > 0) console.log(`\nnot as expected:\n  ${unmet.join('\n  ')}`);
console.log(`\n${met} expectations met, ${unmet.length} not`);
process.exitCode = unmet.length > 0 ? 1 : 0;
