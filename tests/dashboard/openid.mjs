// Sign-in at an identity provider, in a real browser: the provider is down, then up, the user declines, a user is in no
// group, groups change, and a response is sent a second time.
//
//     node openid.mjs CHROMIUM '{"server": URL, "issuer": URL, "client": ID, "secret": TEXT, "name": TEXT, "password": TEXT}'
//
// This program runs the provider, at the issuer's port. Prints the expectations that were not met, and exits 1 if there
// are any.
import { Provider } from 'oidc-provider';
import { chromium } from 'playwright-core';

const [executablePath, given] = process.argv.slice(2);
if (!given) {
  console.error('usage: node openid.mjs CHROMIUM JSON');
  process.exit(2);
}
setTimeout(() => {
  console.error('gave up: a page hangs');
  process.exit(3);
}, 240_000).unref();
const { server, issuer, client, secret, name, password } = JSON.parse(given);

const unmet = [];
const expect = (what, truth, detail = '') => { if (!truth) unmet.push(`${what} ${String(detail).slice(0, 600)}`); };
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'] });
/** A browser of somebody new. */
const visitor = async () => {
  const context = await browser.newContext();
  // The provider's page for tests refers to third-party pictures and fonts.
  await context.route((url) => url.hostname !== '127.0.0.1', (route) => route.abort());
  const page = await context.newPage();
  page.on('console', (message) => {
    const isExpected = /status of (4\d\d|503)/.test(message.text());
    if (message.type() === 'error' && page.url().startsWith(server) && !isExpected) unmet.push(`console of ${page.url()}: ${message.text()}`);
  });
  return page;
};
const signInAt = async (page, login, to = '/dashboard') => {
  await page.goto(server + to);
  await page.getByRole('link', { name: 'Sign in with Example' }).click();
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByText('Continue', { exact: true }).click();
  await page.waitForURL(`${server}/**`);
};
const says = async (page, words) => (await page.locator('main').innerText()).includes(words);
const session = async (page) => (await page.context().cookies(server)).find((cookie) => cookie.name === 'docent-session')?.value;

// The provider is down: the page says so, and the password still works.
const olive = await visitor();
await olive.goto(`${server}/dashboard/-/operators`);
await olive.getByRole('link', { name: 'Sign in with Example' }).click();
expect('a provider that is down is said', await says(olive, 'the identity provider cannot be reached'));
await olive.getByLabel('Name').fill(name);
await olive.getByLabel('Password').fill(password);
await olive.getByRole('button', { name: 'Sign in', exact: true }).click();
await olive.waitForURL('**/dashboard/-/operators');

const groups = { ada: ['admins', 'staff'], ed: ['docs'], eve: ['guests'] };
const provider = new Provider(issuer, {
  clients: [{ client_id: client, client_secret: secret, redirect_uris: [`${server}/dashboard/-/sign-in/openid/return`] }],
  claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
  cookies: { keys: ['only a test'] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, preferred_username: `${id}@example.com`, groups: groups[id] }) }),
});
const listening = provider.listen(Number(new URL(issuer).port), '127.0.0.1');

// The provider is up now, and an attacker planted a session cookie.
const ada = await visitor();
const planted = 'f'.repeat(64);
await ada.context().addCookies([{ name: 'docent-session', value: planted, url: server }]);
let returned = '';
ada.on('request', (request) => { if (request.url().includes('/openid/return')) returned = request.url(); });
await signInAt(ada, 'ada', '/dashboard/-/operators');
expect('the page that was asked for', ada.url() === `${server}/dashboard/-/operators`, ada.url());
expect('an owner by her groups', await says(ada, 'ada@example.com'));
const first = await session(ada);
expect('a session of her own', first && first !== planted, first);
await ada.goto(`${server}/dashboard/-/account`);
expect('there is no password to change', (await ada.getByLabel('Password now').count()) === 0 && await says(ada, issuer));

// The same response once more: in her browser and in another one.
for (const page of [ada, await visitor()]) {
  const response = await page.goto(returned);
  expect('what came back counts once', response.status() === 400 && await says(page, 'this sign-in was ended already'), response.status());
}
expect('and leaves her signed in', (await ada.goto(`${server}/dashboard/-/operators`)).status() === 200);

// A user without a group cannot sign in, nor one who declines.
const eve = await visitor();
await signInAt(eve, 'eve');
expect('nobody without a group', await says(eve, 'none of your groups may sign in here') && !(await session(eve)));
const none = await visitor();
await none.goto(`${server}/dashboard`);
await none.getByRole('link', { name: 'Sign in with Example' }).click();
await none.getByText('Cancel').click();
await none.waitForURL(`${server}/**`);
expect('who declines is told so', await says(none, 'access_denied') && !(await session(none)));
const forged = await none.goto(`${server}/dashboard/-/sign-in/openid/return?code=x&state=y`);
expect('a return that nobody began', forged.status() === 400 && !(await session(none)), forged.status());

// Roles follow the groups, and the person stays the same operator.
const ed = await visitor();
await signInAt(ed, 'ed');
expect('an editor sees no keys', (await ed.goto(`${server}/dashboard/-/operators`)).status() === 403);
groups.ed = ['admins'];
const again = await visitor();
await signInAt(again, 'ed', '/dashboard/-/operators');
expect('one operator', (await again.getByRole('cell', { name: 'ed@example.com' }).count()) === 1);
expect('and the role counts in each browser', (await ed.goto(`${server}/dashboard/-/operators`)).status() === 200);
groups.ed = [];
const refused = await visitor();
await signInAt(refused, 'ed');
expect('out of the groups', await says(refused, 'none of your groups'));
await ed.goto(`${server}/dashboard/-/operators`);
expect('and signed out everywhere', ed.url().includes('/-/sign-in'), ed.url());
await ada.goto(`${server}/dashboard/-/audit`);
for (const entry of ['Joined', 'Set a role', 'Was refused at the sign-in', `at ${issuer}`]) {
  expect(`the audit list has ${entry}`, await says(ada, entry));
}

await browser.close();
listening.close();
for (const line of unmet) console.error(`not met: ${line}`);
console.log(unmet.length === 0 ? 'the sign-in holds' : `${unmet.length} expectations were not met`);
process.exit(unmet.length === 0 ? 0 : 1);
