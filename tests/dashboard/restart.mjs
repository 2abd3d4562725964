// Live pages while the server is killed and restarted: no row of a list or a journal is missing or duplicated.
//
//     node restart.mjs CHROMIUM '{"server": URL, "name": TEXT, "password": TEXT, "project": DOMAIN, "job": ID}'
//
// The job is active. Prints `watching` once the pages show it; then the server is restarted at the same address, the
// job ends and others are created, and a line on stdin gives the totals: {"entries": COUNT, "jobs": COUNT}.
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const [executablePath, given] = process.argv.slice(2);
if (!given) {
  console.error('usage: node restart.mjs CHROMIUM JSON');
  process.exit(2);
}
setTimeout(() => {
  console.error('gave up: a page hangs');
  process.exit(3);
}, 240_000).unref();
const { server, name, password, project, job } = JSON.parse(given);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'] });
const context = await browser.newContext();
const list = await context.newPage();
await list.goto(`${server}/dashboard/${project}/jobs`);
await list.getByLabel('Name').fill(name);
await list.getByLabel('Password').fill(password);
await list.getByRole('button', { name: 'Sign in', exact: true }).click();
await list.waitForURL(`**/${project}/jobs`);
const journal = await context.newPage();
await journal.goto(`${server}/dashboard/${project}/jobs/${job}`);
await journal.locator('#saying', { hasText: 'and look' }).waitFor({ timeout: 60_000 });
// Rendered while it comes.
await journal.locator('#saying strong', { hasText: 'look' }).first().waitFor({ timeout: 60_000 });
// A page that was reloaded would lose this variable.
for (const page of [list, journal]) await page.evaluate(() => { window.before = true; });
console.log('watching');

const { entries, jobs } = JSON.parse(await new Promise((line) => createInterface(process.stdin).once('line', line)));
// Its rows are folded.
await journal.locator(`#e${entries}`).waitFor({ state: 'attached', timeout: 60_000 });
await journal.locator('#job-head .badge.done').waitFor({ timeout: 60_000 });
const rows = await journal.locator('article.event').evaluateAll((rows) => rows.map((row) => Number(row.id.slice(1))));
// Playwright reports every page as visible; the list is brought to the front anyway.
await list.bringToFront();
await list.waitForFunction((count) => document.querySelectorAll('main tbody tr').length >= count, jobs, { timeout: 60_000 });
await list.waitForFunction(() => !document.querySelector('main tbody .badge.running'), undefined, { timeout: 60_000 });
const listed = await list.locator('main tbody a[href*="/jobs/"]').evaluateAll((links) => links.map((link) => link.pathname));

const unmet = [];
if (rows.some((seq, at) => at > 0 && seq >= rows[at - 1])) unmet.push(`entries are out of order or doubled: ${rows}`);
if (rows[0] !== entries) unmet.push(`the newest entry is ${rows[0]}, not ${entries}`);
await journal.reload();
const whole = await journal.locator('article.event').evaluateAll((rows) => rows.map((row) => Number(row.id.slice(1))));
if (`${rows}` !== `${whole}`) unmet.push(`the page showed ${rows}, and fetched anew it shows ${whole}`);
if (listed.length !== jobs || new Set(listed).size !== jobs) unmet.push(`the list has ${listed}, and there are ${jobs} jobs`);
if (!(await list.evaluate(() => window.before))) unmet.push('the list was loaded anew');
if ((await journal.locator('#saying').textContent()) !== '') unmet.push('what the agent said is left on the page');
for (const line of unmet) console.error(`not met: ${line}`);
process.exit(unmet.length > 0 ? 1 : 0);
