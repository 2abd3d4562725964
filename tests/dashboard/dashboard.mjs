// The dashboard in a real browser: one story from an empty data folder by keyboard alone, then every page under axe-core, in
// light and dark, wide and narrow, with texts that would like to be markup.
//
//     node dashboard.mjs CHROMIUM FOLDER '{"server": URL, "link": PATH, "repository": FOLDER, "long": JOB}'
//
// Screenshots go to FOLDER. Prints what was not met, and exits 1 when there is any.
import { execFileSync } from 'node:child_process';
import { readFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';

const [executablePath, folder, given] = process.argv.slice(2);
if (!given) {
  console.error('usage: node dashboard.mjs CHROMIUM FOLDER JSON');
  process.exit(2);
}
setTimeout(() => {
  console.error('gave up: a page hangs');
  process.exit(3);
}, 300_000).unref();
const { server, link, repository, long } = JSON.parse(given);
mkdirSync(folder, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script> ‮evil javascript:alert(1)';

const unmet = [];
const expect = (what, truth, detail = '') => { if (!truth) unmet.push(`${what} ${String(detail).slice(0, 600)}`); };
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
const watch = (page) => {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') unmet.push(`console of ${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => unmet.push(`script of ${page.url()}: ${error}`));
};
watch(page);
const picture = (name) => page.screenshot({ path: `${folder}/${name}.jpg`, type: 'jpeg', quality: 60 });

// ---- One story, by keyboard alone ----------------------------------------------------------------------------------------
/** Moves the focus with the Tab key to the control of a role whose name begins so. */
const tabTo = async (role, name) => {
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press('Tab');
    const there = await page.evaluate(() => {
      const active = document.activeElement;
      const text = active.labels?.[0]?.textContent ?? active.getAttribute('aria-label') ?? active.textContent ?? '';
      return { tag: active.tagName.toLowerCase(), type: active.type ?? '', text: text.trim() };
    });
    const fits = { link: there.tag === 'a', button: there.tag === 'button', field: ['input', 'textarea', 'select'].includes(there.tag) }[role];
    if (fits && there.text.startsWith(name)) return;
  }
  throw new Error(`no ${role} “${name}” is reached by Tab on ${page.url()}`);
};
const type = async (name, text) => { await tabTo('field', name); await page.keyboard.type(text); };
const press = async (role, name) => { await tabTo(role, name); await page.keyboard.press('Enter'); };
const top = () => page.evaluate(() => document.activeElement?.blur?.());

await page.goto(server + link);
await type('Name', 'ada@example.com');
await type('Password', 'correct horse battery staple');
await type('The password again', 'correct horse battery staple');
await page.keyboard.press('Enter');
await page.waitForURL('**/dashboard');
await press('link', 'Add a project');
await page.waitForURL('**/projects/new');
await type('Project id', 'acme');
await type('Repository', repository);
await press('button', 'Add');
await page.waitForURL('**/dashboard/acme?done=reindex');
for (const kind of ['assistant', 'admin']) {
  await top();
  await press('link', 'API keys');
  await page.waitForURL('**/acme/keys');
  // The page that showed the key before has the same address.
  await page.getByText('only time the key is shown').waitFor({ state: 'hidden' });
  await page.waitForLoadState();
  await tabTo('field', 'Kind');
  await page.keyboard.type(kind);
  await press('button', 'Make the key');
  await page.getByText(`docent_${kind}_`).waitFor();
}
await picture('keys');
await top();
await press('link', 'Overview');
await page.waitForURL('**/dashboard/acme');
await press('link', 'New job');
await page.waitForURL('**/jobs/new');
await type('What should be done?', 'Replace "widget" with "gadget"');
await press('button', 'Start');
await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
await page.locator('#job-head .state.completed').waitFor({ timeout: 60_000 });
await page.locator('article.event').first().waitFor();
const job = new URL(page.url()).pathname;
const events = await page.locator('article.event').evaluateAll((events) => events.map((event) => Number(event.id.slice(1))));
expect('events are there once, newest first', events.every((seq, at) => at === 0 || seq < events[at - 1]), events);
await picture('job');
await press('link', 'Open');
await page.waitForURL(/\/pulls\/[0-9a-f-]{36}$/);
const pull = new URL(page.url()).pathname;
await picture('pull-request');
await press('button', 'Merge');
await page.getByText('Merged.').waitFor();
await top();
await press('link', 'Playground');
await page.waitForURL('**/playground');
await type('Question', 'How is a webhook delivered?');
await press('button', 'Ask');
await page.getByText('end:').waitFor({ timeout: 60_000 });
expect('there is an answer', (await page.locator('#answer').textContent()).length > 20);
await picture('playground');
await page.goto(`${server}/dashboard/acme/playground`);
await page.locator('#q').fill(HOSTILE);
await page.getByRole('button', { name: 'Ask' }).click();
await page.getByText('end:').waitFor({ timeout: 60_000 });
// A question is written down a moment after its answer has ended.
for (let looks = 0; looks < 50; looks += 1) {
  await page.goto(`${server}/dashboard/acme/analytics`);
  if ((await page.locator('.tiles b').first().textContent()) === '2') break;
}
expect('both questions are counted', (await page.locator('.tiles b').first().textContent()) === '2');
await page.goto(`${server}/dashboard/acme/playground`);
await page.locator('#q').fill('webhook');
await page.getByRole('button', { name: 'Search only' }).click();
await page.getByRole('heading', { name: 'Found in' }).waitFor();
expect('no token is in an address', !page.url().includes('token='), page.url());

// ---- Jobs by state, text and time -----------------------------------------------------------------------------------------
const listed = () => page.locator('main tbody a[href*="/jobs/"]').evaluateAll((links) => links.map((link) => link.pathname));
const follow = async (name) => {
  const before = page.url();
  await page.getByRole('link', { name, exact: true }).click();
  await page.waitForURL((url) => url.href !== before);
};
await page.goto(`${server}/dashboard/acme/jobs`);
await page.getByLabel('Instruction contains').fill('links of chapter');
await page.getByRole('button', { name: 'Show' }).click();
await page.waitForURL('**text=links**');
await page.getByRole('link', { name: 'failed 60' }).click();
await page.waitForURL('**status=failed**');
const firstPage = await listed();
expect('a page has fifty jobs', firstPage.length === 50, firstPage.length);
await follow('Older');
const secondPage = await listed();
expect('the next page has the rest of the same', secondPage.length === 10 && !secondPage.some((job) => firstPage.includes(job)), secondPage);
expect('it keeps the filter', /status=failed/.test(page.url()) && /text=links/.test(page.url()), page.url());
await follow('Newer');
expect('the page before it is the same as before', JSON.stringify(await listed()) === JSON.stringify(firstPage));
await page.goto(`${server}/dashboard/-/jobs?to=2020-01-01`);
expect('nothing was made before there was anything', (await listed()).length === 0);

// ---- A journal of 40,000 entries --------------------------------------------------------------------------------------------
const longJob = `/dashboard/acme/jobs/${long}`;
const rowCount = () => page.locator('article.event').count();
// What a turn took is summed up once, over as many looks as it needs.
for (let looks = 0; looks < 100; looks += 1) {
  const start = performance.now();
  await page.goto(server + longJob);
  if (looks === 0) console.log(`a job of 40,000 events opened in ${Math.round(performance.now() - start)} ms`);
  if (!(await page.getByText('look again for the rest').isVisible())) break;
}
expect('all of the turn is counted', (await page.locator('#job-head').textContent()).includes('19,998,000'));
expect('a page of a journal has 300 rows', (await rowCount()) === 300, await rowCount());
let most = 0;
for (let clicks = 0; clicks < 20; clicks += 1) {
  const before = await page.evaluate(() => `${location} ${document.querySelector('article.event:last-of-type').id}`);
  await page.getByRole('link', { name: 'Older' }).click();
  await page.waitForFunction((before) => `${location} ${document.querySelector('article.event:last-of-type')?.id}` !== before, before);
  const ids = await page.locator('article.event').evaluateAll((events) => events.map((event) => Number(event.id.slice(1))));
  most = Math.max(most, ids.length);
  expect('older rows are below the others, each once', ids.every((seq, at) => at === 0 || seq < ids[at - 1]));
}
console.log(`at most ${most} rows of it were in the page`);
expect('older rows come into the page, up to 5,000', most > 1_000 && most <= 5_000, most);
const searching = performance.now();
await page.goto(`${server}${longJob}?text=THE+needle`);
console.log(`one of 40,000 events was found in ${Math.round(performance.now() - searching)} ms`);
expect('a text is found anywhere in a journal', (await rowCount()) === 1, await rowCount());
await page.locator('article.event header a').click();
await page.waitForURL('**at=**');
expect('an address of an event leads to it', await page.locator('article.event:target').getByText('the needle').count() === 1);
await page.goto(`${server}${longJob}?only=failed&tool=edit`);
expect('what failed of one tool', (await page.getByText('Failed: edit').count()) === 300, await page.getByText('Failed: edit').count());
await page.goto(server + longJob);

// ---- Pull requests: a comment, a conflict, closed and open again, one commit --------------------------------------------------
const does = async (prompt) => {
  await page.goto(`${server}/dashboard/acme/jobs/new`);
  await page.locator('#prompt').fill(prompt);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.locator('#job-head .state.completed').waitFor({ timeout: 60_000 });
  await page.getByRole('link', { name: 'Open', exact: true }).click();
  await page.waitForURL(/\/pulls\/[0-9a-f-]{36}$/);
  return new URL(page.url()).pathname;
};
const clone = mkdtempSync(`${tmpdir()}/docent-`);
const git = (...args) => execFileSync('git', ['-C', clone, '-c', 'user.name=Eve', '-c', 'user.email=eve@example.com', ...args]).toString().trim();
git('clone', '--quiet', repository, '.');
const conflicting = await does('Replace "gadget" with "gizmo"');
await page.getByLabel('Comment').fill(HOSTILE);
await page.getByRole('button', { name: 'Add the comment' }).click();
await page.getByText('The comment is added.').waitFor();
expect('a comment is text', await page.locator('article.event', { hasText: '<img src=x' }).count() === 1);
await page.locator('summary', { hasText: 'Close without merging' }).click();
await page.getByRole('button', { name: 'Close without merging' }).click();
await page.getByText('Closed.').waitFor();
await page.getByRole('button', { name: 'Reopen' }).click();
await page.getByText('Open again.').waitFor();
git('pull', '--quiet');
const quickstart = readFileSync(`${clone}/quickstart.mdx`, 'utf8');
writeFileSync(`${clone}/quickstart.mdx`, quickstart.replace('gadget', 'sprocket'));
git('commit', '--quiet', '--all', '--message=Sprockets');
git('push', '--quiet');
await page.getByRole('button', { name: 'Squash and merge' }).click();
await page.waitForURL('**/conflicts');
const explained = await page.locator('main').textContent();
for (const part of ['quickstart.mdx', 'Both changed the same lines', 'sprocket endpoint', 'gizmo endpoint']) {
  expect('a conflict is explained', explained.includes(part), part);
}
await picture('conflicts');
await does('Replace "sign in" with "log in"');
await page.getByRole('button', { name: 'Squash and merge' }).click();
await page.getByText('Merged as one commit.').waitFor();
git('pull', '--quiet');
const squashed = git('log', '-1', '--format=%an|%P|%b');
expect('one commit of the operator', /^ada@example\.com\|[0-9a-f]{40}\|/.test(squashed) && squashed.includes('Co-authored-by: Docent'), squashed);

// ---- Texts that would like to be markup -----------------------------------------------------------------------------------
await page.goto(`${server}/dashboard/acme/jobs/new`);
await page.locator('#prompt').fill(`${HOSTILE} ${'x'.repeat(50_000)}`);
await page.getByRole('button', { name: 'Start' }).click();
await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
await page.locator('#job-head .state.failed').waitFor({ timeout: 60_000 });
const hostileJob = new URL(page.url()).pathname;

// ---- Every page: accessible, whole, quick and small ------------------------------------------------------------------------
const conversation = await (async () => {
  await page.goto(`${server}/dashboard/acme/conversations`);
  return page.locator('td a').first().getAttribute('href');
})();
const pages = ['/dashboard', '/dashboard/-/jobs', '/dashboard/-/pulls', '/dashboard/-/projects', '/dashboard/-/projects/new',
  '/dashboard/-/operators', '/dashboard/-/audit', '/dashboard/-/settings', '/dashboard/-/account', '/dashboard/acme',
  '/dashboard/acme/jobs', '/dashboard/acme/jobs?status=failed', '/dashboard/acme/jobs/new', job, hostileJob,
  `${longJob}?only=failed&tool=edit&before=5000`, '/dashboard/acme/pulls', conflicting, `${conflicting}/conflicts`, pull, `${pull}?layout=split`,
  '/dashboard/acme/playground', '/dashboard/acme/playground?q=webhook', '/dashboard/acme/conversations', conversation,
  '/dashboard/acme/analytics', '/dashboard/acme/gaps', '/dashboard/acme/keys', '/dashboard/acme/settings',
  '/dashboard/nowhere'];
for (const colorScheme of ['light', 'dark']) {
  for (const width of [1280, 320]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    for (const path of pages) {
      const where = `${path} ${colorScheme} ${width}`;
      const expected = path.endsWith('nowhere') ? 404 : 200;
      const response = await page.goto(server + path).catch((error) => { throw new Error(`${where}: ${error}`); });
      expect(`${where}: status`, response.status() === expected, response.status());
      await page.evaluate(`${axe}; null`);
      const violations = await page.evaluate(async (values) => {
        const found = await window.axe.run(document, { runOnly: { type: 'tag', values } });
        return found.violations.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).slice(0, 3).join(' | ')}`);
      }, RULES);
      expect(`${where}: axe`, violations.length === 0, violations.join('\n'));
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(`${where}: no sideways scrolling of the page`, overflow <= 0, overflow);
      expect(`${where}: nothing ran`, !(await page.title()).includes('owned'));
      expect(`${where}: no foreign element`, (await page.locator('main img, main script, main iframe').count()) === 0);
    }
    const name = width === 320 ? 'narrow' : 'wide';
    await page.goto(`${server}/dashboard/acme`);
    await picture(`project-${name}-${colorScheme}`);
  }
}
await page.setViewportSize({ width: 1280, height: 900 });

// What a first visit loads.
const fresh = await browser.newContext({ storageState: await context.storageState() });
const visitor = await fresh.newPage();
const sizes = [];
let script = 0;
const loaded = [];
visitor.on('response', (response) => {
  // The event stream of a live page has no end.
  if (!response.url().includes('/live')) loaded.push(response);
});
await visitor.goto(`${server}/dashboard`);
for (const response of [...loaded]) {
  const body = await response.body();
  sizes.push(body.length);
  if (response.url().endsWith('.js')) script = gzipSync(body).length;
}
const total = sizes.reduce((sum, size) => sum + size, 0);
expect('a first load is at most 60 KiB', total > 0 && total <= 60 * 1024, total);
expect('of it at most 12 KiB script', script > 0 && script <= 12 * 1024, script);
await fresh.close();

// ---- Eight tabs with live pages, and a ninth ------------------------------------------------------------------------------
const tabs = [];
for (let tab = 0; tab < 8; tab += 1) {
  const one = await context.newPage();
  watch(one);
  await one.goto(`${server}${tab % 2 ? job : '/dashboard'}`);
  tabs.push(one);
}
const began = performance.now();
const ninth = await context.newPage();
await ninth.goto(`${server}/dashboard/-/jobs`);
const took = performance.now() - began;
expect('a ninth tab opens within a second', took < 1_000, took);

await browser.close();
// The page that is not there is told of by the browser, too.
const told = unmet.filter((line) => !/nowhere.*404/.test(line));
for (const line of told) console.error(`not met: ${line}`);
console.log(told.length === 0 ? 'the dashboard holds' : `${told.length} expectations were not met`);
process.exit(told.length === 0 ? 0 : 1);
