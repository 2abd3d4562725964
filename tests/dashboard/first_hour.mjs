// The first hour of a docs team, with the mistakes that people make: each is told where it was made, and nothing typed is lost.
//
//     node first_hour.mjs CHROMIUM FOLDER '{"server": URL, "link": PATH, "repository": FOLDER, "data": FOLDER, "name": TEXT, "password": TEXT}'
//
// The agent's model carries out “In <path> write <new> instead of <old>, please.”, and fails at what is “impossible”. `data`
// is the folder of the server's data. Prints `down` when the server is to be killed, and `up` when it is
// to be started again, and waits each time for a line on stdin.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const [executablePath, folder, given] = process.argv.slice(2);
if (!given) {
  console.error('usage: node first_hour.mjs CHROMIUM FOLDER JSON');
  process.exit(2);
}
setTimeout(() => {
  console.error('gave up: a page hangs');
  process.exit(3);
}, 800_000).unref();
const { server, link, repository, data, name, password } = JSON.parse(given);
mkdirSync(folder, { recursive: true });
const lines = createInterface(process.stdin)[Symbol.asyncIterator]();
const says = async (word) => { console.log(word); await lines.next(); };
const unmet = [];
const expect = (what, truth, detail = '') => { if (!truth) unmet.push(`${what} ${String(detail).slice(0, 600)}`); };
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
context.setDefaultTimeout(120_000);
const page = await context.newPage();
page.on('pageerror', (error) => unmet.push(`script of ${page.url()}: ${error}`));
process.on('uncaughtException', async (error) => {
  for (const line of [...unmet, error.stack, page.url()]) console.error(`not met: ${line}`);
  await page.screenshot({ path: `${folder}/stuck.png` }).catch(() => {});
  process.exit(1);
});
const picture = (name) => page.screenshot({ path: `${folder}/${name}.jpg`, type: 'jpeg', quality: 60, fullPage: true });

await page.goto(server + link);
await page.getByLabel('Name').fill(name);
await page.getByLabel('Password', { exact: true }).fill(password);
await page.getByLabel('The password again').fill(password);
await page.getByRole('button', { name: 'Sign in' }).click();
await page.waitForURL('**/dashboard');

// ---- A project: a typo, a wrong branch --------------------------------------------------------------------------------------
await page.getByRole('link', { name: 'Add a project' }).first().click();
await page.waitForURL('**/projects/new');
await page.locator('#id').fill('acme');
for (const [field, value, problem] of [['repository', `${repository}x`, 'repository'], ['branch', 'mian', 'branch']]) {
  await page.locator('#repository').fill(repository);
  await page.locator(`#${field}`).fill(value);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.locator(`#${problem}-problem`).waitFor();
  expect('what was typed is kept', (await page.locator('#id').inputValue()) === 'acme' && (await page.locator(`#${field}`).inputValue()) === value);
}
await picture('wrong-branch');
await page.locator('#branch').fill('');
await page.getByRole('button', { name: 'Check' }).click();
await page.getByText(/read as /).waitFor();
await page.getByRole('button', { name: 'Add', exact: true }).click();
await page.getByText('The project is added.').waitFor();

// ---- Another one, at a repository that the server keeps for itself ------------------------------------------------------------
await page.goto(`${server}/dashboard/-/projects/new`);
const [kept] = readdirSync(`${data}/mirrors`);
await page.locator('#id').fill('other');
await page.locator('#repository').fill(`${data}/mirrors/${kept}`);
await page.getByRole('button', { name: 'Add', exact: true }).click();
await page.locator('#repository-problem', { hasText: 'give the repository itself' }).waitFor();
expect('what was typed is kept', (await page.locator('#id').inputValue()) === 'other');

// ---- A question before the docs were read ----------------------------------------------------------------------------------
await page.goto(`${server}/dashboard/acme/playground`);
const early = await page.locator('main').textContent();
expect('the page says that the docs are being read', early.includes('still being read'), early);
await page.locator('#q').fill('How often is a webhook delivery retried?');
await page.getByRole('button', { name: 'Ask' }).click();
await page.locator('#times', { hasText: /still being read|end:/ }).waitFor();
// The page stays, and what it waited for comes.
await page.locator('main [data-live]').waitFor({ state: 'detached' });
expect('the question is still there', (await page.locator('#q').inputValue()).startsWith('How often'));
await page.locator('#q').fill('How often is a webhook delivery retried?');
await page.locator('#q').press('Control+Enter');
await page.locator('#times', { hasText: 'end:' }).waitFor();
expect('the answer is rendered', (await page.locator('#answer .words').count()) === 1);

// ---- A key with an origin that is none ---------------------------------------------------------------------------------------
await page.goto(`${server}/dashboard/acme/keys`);
await page.locator('#name').fill('the site');
await page.locator('#origins').fill('docs.example.com/guides');
await page.getByRole('button', { name: 'Make the key' }).click();
await page.locator('#origins-problem').waitFor();
expect('the form keeps its fields', (await page.locator('#name').inputValue()) === 'the site' && (await page.locator('#origins').inputValue()) === 'docs.example.com/guides');
await page.locator('#origins').fill('');
await page.getByRole('button', { name: 'Make the key' }).click();
const shown = page.locator('#key');
await shown.waitFor();
const key = (await shown.textContent()).trim();
await page.reload();
expect('a key is shown once, and a reload makes no other', (await shown.count()) === 0 && (await page.locator('main tbody tr').count()) === 1);

// ---- A job that fails, and one that is reviewed -----------------------------------------------------------------------------
const starts = async (prompt) => {
  await page.goto(`${server}/dashboard/acme/jobs/new`);
  await page.locator('#prompt').fill(prompt);
  await page.locator('#prompt').press('Control+Enter');
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
};
await starts('Do the **impossible**');
await page.locator('#job-head .badge.failed').waitFor();
expect('a failure is told', (await page.locator('#job-head .notice.bad').count()) === 1);
expect('an instruction is rendered', (await page.locator('.asked strong', { hasText: 'impossible' }).count()) >= 1);
await picture('failed-job');
await starts('In <quickstart.mdx> write <gadget> instead of <widget>, please.');
await page.locator('#job-head .badge.done').waitFor();
await page.locator('#job-changes details.diff', { hasText: 'quickstart.mdx' }).waitFor();
await page.locator('#journal > summary').click();
await page.locator('article.event', { hasText: 'Edited quickstart.mdx' }).first().waitFor();
await picture('job');
await page.locator('#job-foot a').first().click();
await page.waitForURL(/\/pulls\/[0-9a-f-]{36}$/);
const pull = page.url();
await page.locator('.diff tr.add td.n a').first().click();
await page.getByText(/On .*quickstart\.mdx:\d/).waitFor();
await page.locator('#comment').fill('Why **gadget**?');
await page.locator('#comment').press('Control+Enter');
await page.getByText('The comment is added.').waitFor();
expect('a comment is rendered', (await page.locator('.comment strong', { hasText: 'gadget' }).count()) === 1);
expect('and stands at its line, rendered', (await page.locator('.diff td .words strong', { hasText: 'gadget' }).count()) === 1);
await page.reload();
expect('its message goes away', (await page.getByText('The comment is added.').count()) === 0);

// ---- A conflict, which the agent solves --------------------------------------------------------------------------------------
const clone = mkdtempSync(`${tmpdir()}/docent-`);
const git = (...args) => execFileSync('git', ['-C', clone, '-c', 'user.name=Eve', '-c', 'user.email=eve@example.com', ...args]);
git('clone', '--quiet', '--depth', '1', `file://${repository}`, '.');
writeFileSync(`${clone}/quickstart.mdx`, readFileSync(`${clone}/quickstart.mdx`, 'utf8').replace('widget', 'sprocket'));
git('commit', '--quiet', '--all', '--message=Sprockets');
git('push', '--quiet');
await page.getByRole('button', { name: 'Merge', exact: true }).click();
await page.waitForURL('**/conflicts');
await picture('conflicts');
await page.locator('summary', { hasText: 'What the agent is told' }).click();
const proposed = await page.locator('#message').inputValue();
const has = (part) => proposed.includes(part);
expect('the instruction has both sides', ['#1', '`quickstart.mdx`', 'sprocket', 'gadget'].every(has), proposed);
await page.locator('#message').fill(`In <quickstart.mdx> write <gadget> instead of <sprocket>, please.\n\n${proposed}`);
await page.getByRole('button', { name: 'Ask the agent to solve it' }).click();
await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
await page.locator('#job-head .badge.done').waitFor();
await page.getByText('is merged into the branch').waitFor();
await picture('solved');
await page.locator('#job-foot a').first().click();
await page.waitForURL(/\/pulls\/[0-9a-f-]{36}$/);
expect('it is solved in the same pull request', page.url() === pull, page.url());
await page.goto(`${server}/dashboard/acme/pulls`);
await page.locator('main tbody .count', { hasText: '+1' }).first().waitFor();
await picture('pulls');
await page.goto(pull);
await page.getByRole('button', { name: 'Merge', exact: true }).click();
await page.getByText('Merged.', { exact: true }).waitFor();
expect('merged is not open', (await page.locator('.facts .badge.merged').count()) === 1 && (await page.getByRole('button', { name: 'Merge', exact: true }).count()) === 0);
git('pull', '--quiet');
const merged = readFileSync(`${clone}/quickstart.mdx`, 'utf8');
expect('what was merged has no mark of a conflict', merged.includes('gadget') && !/[<>=]{7}/.test(merged), merged);

// ---- A gap becomes a job -------------------------------------------------------------------------------------------------------
const asked = await fetch(`${server}/discovery/v2/assistant/acme/message`, {
  method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ fp: 'reader', messages: [{ role: 'user', parts: [{ type: 'text', text: 'How do I frobnicate the zzyzx?' }] }] }),
});
await asked.text();
const conversations = `${server}/dashboard/acme/conversations`;
for (let looks = 0; looks < 40; looks += 1) {
  await page.goto(conversations);
  if ((await page.locator('main tbody tr').count()) > 0) break;
  await page.waitForTimeout(500);
}
expect('only what readers ask is counted', (await page.locator('main tbody tr').count()) === 1, await page.locator('main').textContent());
await page.goto(`${server}/dashboard/acme/gaps`);
await page.getByRole('link', { name: 'Make a job of it' }).first().click();
await page.getByText('was written by readers').waitFor();
await page.getByRole('button', { name: 'Start' }).click();
await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);

// ---- The session ends in another tab ------------------------------------------------------------------------------------------
await page.goto(`${server}/dashboard/acme/jobs`);
const other = await context.newPage();
await other.goto(`${server}/dashboard`);
await other.getByRole('button', { name: `Account of ${name}` }).click();
await other.getByRole('button', { name: 'Sign out' }).click();
await other.waitForURL('**/sign-in**');
await page.locator('#live-trouble', { hasText: 'signed out' }).waitFor();
await picture('signed-out');
await page.getByRole('link', { name: 'Sign in again' }).click();
await page.getByLabel('Name').fill(name);
await page.getByLabel('Password', { exact: true }).fill(password);
await page.getByRole('button', { name: 'Sign in', exact: true }).click();
await page.waitForURL('**/dashboard/acme/jobs');

// ---- The server is started again ------------------------------------------------------------------------------------------------
await page.locator('[data-live] tbody tr').first().waitFor();
await says('down');
await page.locator('#live-trouble', { hasText: 'does not answer' }).waitFor();
await picture('server-gone');
await says('up');
await page.locator('#live-trouble').waitFor({ state: 'detached' });

await browser.close();
for (const line of unmet) console.error(`not met: ${line}`);
console.log(unmet.length === 0 ? 'the first hour holds' : `${unmet.length} expectations were not met`);
process.exit(unmet.length === 0 ? 0 : 1);
