// The stories of a reader with the chat. Each gets a scene: it opens pages of the host and states its expectations by
// `expect(what, truth, detail)`. The model's replies are in tests/blackbox/sdk.rs.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { hostileTexts } from './hostile_texts.mjs';

const QUESTION = 'How often is a webhook delivery retried?';
const FOLLOW_UP = 'And what happens after that?';
const LONG = 'How many requests does the widget endpoint accept?';
const HELD = 'What does error E1002 mean?';
const SHOW = 'Show the retries';

const panelOf = page => page.locator('docent-chat .panel');
const opener = page => page.locator('docent-chat .open');
const turn = (page, n) => page.locator('docent-chat .turn').nth(n);
const reads = (page, n, words) => turn(page, n).locator('.answer', { hasText: words }).waitFor();
const ends = (page, n) => turn(page, n).locator('.rating, .trouble, .after > .soft').first().waitFor();
const shownIn = page => turn(page, 0).locator('.answer').evaluate(node => { node.normalize(); return node.innerHTML; });
const kept = page => page.evaluate(() => [localStorage.length, document.cookie]);
const asks = async (page, question) => {
  await panelOf(page).locator('.line textarea').fill(question);
  await page.keyboard.press('Enter');
};
const bodies = page => page.asked.filter(request => request.method() === 'POST' && request.url().includes('/message')).map(request => request.postDataJSON());

export const underAStrictPolicyTheWholeStoryIsTold = scene => wholeStory('/strict', scene);
export const onAHostThatStylesEverythingBadlyTheWholeStoryIsTold = scene => wholeStory('/hostile', scene);

async function wholeStory(host, { visit, expect, stage, hosts, assistant }) {
  const { asked = 0 } = (await stage.model(HELD)) ?? {};
  const page = await visit(`${host}/guides/retries`);
  await opener(page).waitFor();
  expect('one file is loaded before the first click', page.asked.filter(request => request.url().startsWith(assistant.server)).length === 1, page.asked.map(request => request.url()));
  expect('nothing is stored then', JSON.stringify(await kept(page)) === '[0,""]', await kept(page));
  await opener(page).click();
  await panelOf(page).waitFor();
  const focus = () => page.evaluate(() => document.querySelector('docent-chat').shadowRoot.activeElement?.tagName);
  expect('one can type at once', (await focus()) === 'TEXTAREA', await focus());
  expect('nothing is stored before the first question', (await kept(page))[0] === 0);
  await page.getByRole('button', { name: QUESTION }).click();
  await reads(page, 0, 'parked for a day');
  await ends(page, 0);
  const link = turn(page, 0).locator('.answer a');
  expect('links lead to the docs', (await link.getAttribute('href')) === `${hosts.origin}/guides/webhooks`, await link.getAttribute('href'));
  expect('sources are cards', (await turn(page, 0).locator('.cards a', { hasText: 'Webhooks' }).count()) > 0);
  expect('the page is sent along', bodies(page)[0].currentPath === `${host}/guides/retries`, JSON.stringify(bodies(page)[0]));

  await asks(page, FOLLOW_UP);
  await reads(page, 1, 'looks at it again');
  await ends(page, 1);
  expect('a follow-up is of the same thread', bodies(page)[1].threadId && bodies(page)[0].threadId === null, JSON.stringify(bodies(page)[1]));

  const rated = page.waitForResponse(response => response.url().endsWith('/feedback'));
  await turn(page, 1).getByRole('button', { name: 'Not helpful' }).click();
  expect('a rating is taken', (await rated).status() === 204, (await rated).status());
  await turn(page, 1).getByLabel('What was missing').fill('The number of days.');
  const commented = page.waitForResponse(response => response.url().endsWith('/feedback'));
  await turn(page, 1).getByRole('button', { name: 'Send comment' }).click();
  expect('and a comment', (await commented).status() === 204 && (await commented).request().postDataJSON().comment === 'The number of days.');
  expect('there is somebody to turn to', (await turn(page, 1).locator('.help').count()) === 1);

  await stage.holdsTheModel();
  await asks(page, HELD);
  await reads(page, 2, 'heavier');
  await page.reload();
  await reads(page, 2, 'heavier');
  await stage.lets();
  await reads(page, 2, 'See Errors.');
  await ends(page, 2);
  const text = await turn(page, 2).locator('.answer').innerText();
  expect('a reply goes on over a reload, and once', text.split('heavier').length === 2 && (await turn(page, 3).count()) === 0, text);
  expect('the model was asked once', (await stage.model(HELD)).asked === asked + 1);
  expect('the conversation is still there', (await turn(page, 0).locator('.answer').innerText()).includes('parked'));
  expect('there is no cookie', (await kept(page))[1] === '');

  await stage.holdsTheModel();
  const before = await stage.model(LONG);
  await asks(page, LONG);
  await reads(page, 3, 'hundred');
  await panelOf(page).getByRole('button', { name: 'Stop' }).click();
  await turn(page, 3).locator('.after', { hasText: 'Stopped' }).waitFor();
  const start = performance.now();
  let after;
  do after = await stage.model(LONG); while (after.hungUp === before.hungUp && performance.now() - start < 5_000);
  expect('a stop reaches the model', after.hungUp === before.hungUp + 1, JSON.stringify(after));
  await stage.lets();

  await panelOf(page).getByRole('button', { name: 'New conversation' }).click();
  expect('a new conversation is empty', (await turn(page, 0).count()) === 0 && (await kept(page))[0] === 0);
}

export async function aSelectionIsAskedAbout({ visit, expect }) {
  const page = await visit('/strict/guides');
  await opener(page).waitFor();
  await page.locator('#passage').click({ clickCount: 3 });
  await page.locator('docent-chat .about').click();
  await panelOf(page).locator('.chip', { hasText: 'A delivery that fails' }).waitFor();
  await asks(page, QUESTION);
  await reads(page, 0, 'parked');
  const { context } = bodies(page)[0];
  expect('it is sent as context', context?.[0].type === 'textSelection' && context[0].value.startsWith('A delivery that fails'), JSON.stringify(context));
  expect('and only once', await panelOf(page).locator('.chip').isHidden());
}

export async function searchAloneFindsPages({ visit, expect, picture }) {
  for (const path of ['/strict/?mode=search', '/plain/inline?mode=search']) {
    const page = await visit(path);
    if (!path.includes('inline')) await page.keyboard.press('Control+k');
    await panelOf(page).locator('textarea').fill('webhook');
    const first = panelOf(page).locator('.cards a').first();
    await first.waitFor();
    expect('results lead to pages', (await first.getAttribute('href')).includes('/guides/webhooks'), await first.getAttribute('href'));
    await page.keyboard.press('ArrowDown');
    expect('the keyboard reaches them', await page.evaluate(() => document.querySelector('docent-chat').shadowRoot.activeElement.matches('.cards a')));
    await picture(page, path.includes('inline') ? 'search-inline' : 'search');
    await panelOf(page).locator('textarea').fill('');
    await first.waitFor({ state: 'detached' });
    expect('no model is asked', bodies(page).length === 0);
  }
}

export async function aHostThatStylesEverythingBadlyChangesNothing({ visit, expect, picture }) {
  const [good, bad] = [await visit('/plain/a'), await visit('/hostile/a')];
  const looks = [];
  for (const page of [good, bad]) {
    await opener(page).waitFor();
    await opener(page).click();
    await asks(page, QUESTION);
    await reads(page, 0, 'parked');
    await ends(page, 0);
    looks.push(await page.evaluate(() => {
      const { shadowRoot } = document.querySelector('docent-chat');
      const of = (selector, ...names) => {
        const node = shadowRoot.querySelector(selector);
        const { width, height } = node.getBoundingClientRect();
        const style = getComputedStyle(node);
        return [selector, Math.round(width), Math.round(height), ...names.map(name => style[name])];
      };
      const text = ['fontSize', 'lineHeight', 'color', 'letterSpacing', 'textTransform', 'visibility', 'opacity', 'fontFamily'];
      return JSON.stringify([of('.panel', 'zIndex', 'backgroundColor', ...text), of('.question', ...text), of('.answer', ...text), of('.cards a', ...text), of('.line', ...text)]);
    }));
  }
  await picture(bad, 'hostile-host');
  expect('it looks the same', looks[0] === looks[1].replaceAll('rtl', 'ltr'), `${looks[0]}\n${looks[1]}`);
  await good.keyboard.press('Escape');
  const hit = await good.evaluate(() => document.elementFromPoint(innerWidth / 2, innerHeight / 2).tagName);
  expect('clicks beside it reach the page', hit !== 'DOCENT-CHAT', hit);
}

/** What could do harm in a part of the chat, and how much text is in it. */
const harm = (page, selector) => page.evaluate(selector => {
  const part = document.querySelector('docent-chat').shadowRoot.querySelector(selector);
  const allowed = new Set('P H4 H5 H6 UL OL LI TABLE TR TD BLOCKQUOTE HR BR STRONG EM CODE PRE A IMG DIV SPAN BUTTON B SMALL SVG PATH'.split(' '));
  const nodes = [...part.querySelectorAll('*')];
  const links = [...part.querySelectorAll('a[href]')];
  return {
    text: part.textContent.length,
    harm: [
      ...nodes.map(node => node.tagName.toUpperCase()).filter(name => !allowed.has(name)),
      ...nodes.flatMap(node => node.getAttributeNames().filter(name => name.startsWith('on') || name === 'style')),
      ...links.map(link => link.protocol).filter(protocol => !['http:', 'https:', 'mailto:'].includes(protocol)),
      ...links.map(link => link.href).filter(href => href.includes('script:')),
      ...[...part.querySelectorAll('img')].map(image => image.src).filter(src => new URL(src).origin !== location.origin),
    ],
    images: part.querySelectorAll('img').length,
    hrefs: links.map(link => link.href),
  };
}, selector);

export async function nothingOfAHostileAnswerRunsOrIsLoaded({ visit, expect, stage, hosts, assistant, picture }) {
  const page = await visit('/strict/');
  let ran = false;
  page.on('dialog', dialog => { ran = true; dialog.dismiss(); });
  await opener(page).click();
  const texts = hostileTexts();
  expect('there are 500', texts.length === 500, texts.length);
  const each = 25;
  for (let at = 0; at < texts.length; at += each) {
    await stage.shows(texts.slice(at, at + each).join('\n\n'));
    if (at > 0) await panelOf(page).getByRole('button', { name: 'New conversation' }).click();
    await asks(page, SHOW);
    await ends(page, 0);
    const found = await harm(page, '.answer');
    if (at % 100 === 0) {
      const streamed = await shownIn(page);
      await page.reload();
      await ends(page, 0);
      expect(`${at}: it is the same when it is shown again`, (await shownIn(page)) === streamed, `${streamed}\n${await shownIn(page)}`);
    }
    expect(`${at}: words are shown`, found.text > 20, JSON.stringify(found));
    const elsewhere = found.hrefs.filter(href => href.includes('evil.test'));
    expect(`${at}: only known elements`, found.harm.length + elsewhere.length + found.images === 0, JSON.stringify(found));
  }
  await picture(page, 'hostile-answer');
  expect('nothing ran', !ran);
  const elsewhere = page.asked.map(request => new URL(request.url()).origin).filter(origin => ![hosts.origin, assistant.server].includes(origin));
  expect('nothing was loaded', elsewhere.length === 0, elsewhere);
}

const frame = event => `data: ${JSON.stringify(event)}\n\n`;

/** The chat of this page gets a reply of these blocks. */
const repliesWith = (page, blocks) => page.route('**/message?*', route => {
  if (route.request().method() !== 'POST') return route.continue();
  const body = [{ type: 'start', messageId: 'm' }, ...blocks.map((data, n) => ({ type: 'data-block', id: String(n + 1), data })), { type: 'finish' }].map(frame).join('');
  return route.fulfill({ status: 200, headers: { 'Access-Control-Allow-Origin': '*' }, body });
});

/** The function of the docs that others copy. */
const documentedEdit = () => {
  const [, text] = /```js\n(function edit[\s\S]*?)```/.exec(readFileSync(new URL('../../docs/API.md', import.meta.url), 'utf8'));
  return new Function(`${text}; return edit;`)();
};

export async function nothingOfAHostilePageRunsOrIsLoaded({ visit, expect, stage, hosts, assistant }) {
  const texts = hostileTexts();
  const pages = texts.map((text, n) => [`zeppelin${n}.md`, `---\ntitle: ${JSON.stringify(`Zeppelin${n} ${text}`)}\n---\n\nThe setting zeppelin${n} moves the parcel.\n\n${text}\n\n## Zeppelin${n} again ${text.replaceAll('\n', ' ')}\n\nIt moves ${text}\n`]);
  const { server, domain, key } = await stage.servesPages(Object.fromEntries(pages));
  const calls = (path, body) => fetch(`${server}/discovery/${path}`, { method: 'POST', headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const edit = documentedEdit();
  const [blocks, results, without] = [[], [], []];
  for (const n of texts.keys()) {
    const question = `What does zeppelin${n} move?`;
    const reply = await calls(`v2/assistant/${domain}/message?parts=blocks`, { fp: 'x', threadId: null, messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: question }] }] });
    const answer = [];
    for (const line of (await reply.text()).split('\n').filter(line => line.startsWith('data: {'))) {
      const { type, data } = JSON.parse(line.slice(6));
      if (type === 'data-block') answer.push(data);
      if (type === 'data-edit') data.forEach(one => edit(answer, one));
    }
    if (!JSON.stringify(answer).toLowerCase().includes(`zeppelin${n}`)) without.push(n);
    blocks.push(...answer);
    results.push(...(await (await calls(`v1/search/${domain}`, { query: question, pageSize: 1 })).json()));
  }
  expect('the answers quote the pages', without.length < 10, without);
  // A page may have images of its own site, which this policy does not let load.
  const page = await visit('/strict/', { allowed: [`Loading the image '${hosts.origin}/`] });
  let ran = false;
  page.on('dialog', dialog => { ran = true; dialog.dismiss(); });
  await repliesWith(page, blocks);
  await opener(page).click();
  await asks(page, QUESTION);
  await ends(page, 0);
  const answered = await harm(page, '.answer');
  expect('nothing of an answer does harm', answered.text > 20 * texts.length && answered.harm.length === 0, JSON.stringify(answered));
  await page.evaluate(() => window.Docent.update({ mode: 'search' }));
  await page.route('**/v1/search/**', route => route.request().method() === 'POST' ? route.fulfill({ status: 200, headers: { 'Access-Control-Allow-Origin': '*' }, body: JSON.stringify(results) }) : route.continue());
  await panelOf(page).locator('textarea').fill('zeppelin');
  await panelOf(page).locator('.cards a').first().waitFor();
  const found = await harm(page, '.log');
  expect('nor of the results', results.length === texts.length && found.text > 20 * texts.length && found.harm.length === 0, `${results.length} ${JSON.stringify(found)}`);
  expect('nothing ran', !ran);
  const elsewhere = page.asked.map(request => new URL(request.url()).origin).filter(origin => ![hosts.origin, assistant.server].includes(origin));
  expect('nothing was loaded', elsewhere.length === 0, elsewhere);
}

const RICH = `Docent retries a delivery **five times** with \`exponential\` backoff, see [Webhooks](/guides/webhooks).

## What you can set

| Field | Default | Meaning |
|---|--:|---|
| \`retry.max\` | 5 | How often a delivery is tried |
| \`retry.base\` | 1 s | The first delay, *doubled* each time |

1. Open the **settings** of the endpoint.
2. Set the number of attempts:
   - at least one
   - at most ten

\`\`\`ts
const endpoint = await client.endpoints.update("ep_1", {
  retry: { max: 5, base: "1s" },
});
console.log(endpoint.retry);
\`\`\`

> After the last attempt a delivery is parked for a day.`;

export async function itLooksLikeAProductAndIsAccessible({ visit, expect, picture, stage }) {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await stage.shows(RICH);
  const violations = async (page, where) => {
    await page.evaluate(`${axe}; null`);
    const found = await page.evaluate(async () => (await window.axe.run(document, { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] } })).violations
      .map(({ id, nodes }) => `${id}: ${nodes.map(node => `${node.target.flat()} ${node.failureSummary}`).join(' / ')}`));
    const own = found.filter(text => !/^(region|landmark|page-has)/.test(text) || text.includes('docent-chat'));
    expect(`${where}: axe`, own.length === 0, own.join('\n'));
  };
  for (const [label, path, options] of [
    ['light', '/plain/', {}], ['dark', '/plain/', { colorScheme: 'dark' }], ['narrow', '/plain/', { viewport: { width: 390, height: 780 } }],
    ['narrow-dark', '/plain/', { viewport: { width: 390, height: 780 }, colorScheme: 'dark' }], ['inline', '/plain/inline', {}], ['rtl', '/plain/?dir=rtl', {}],
    ['forced', '/plain/?lang=ja', { forcedColors: 'active' }], ['german', '/plain/?lang=de', { reducedMotion: 'reduce' }],
  ]) {
    const page = await visit(path, options);
    if (label !== 'inline') {
      await opener(page).waitFor();
      await picture(page, `${label}-1-button`);
      await opener(page).click();
    }
    await panelOf(page).waitFor();
    await page.waitForTimeout(300);
    await picture(page, `${label}-2-open`);
    await violations(page, `${label}, open`);
    await asks(page, SHOW);
    await ends(page, 0);
    await picture(page, `${label}-3-answered`);
    await turn(page, 0).locator('.question').evaluate(node => node.scrollIntoView());
    await picture(page, `${label}-4-beginning`);
    await violations(page, `${label}, answered`);
    if (label === 'inline') {
      const streamed = await shownIn(page);
      await page.reload();
      await ends(page, 0);
      expect('an answer that was streamed is the same when it is shown again', (await shownIn(page)) === streamed && streamed.includes('<table'), `${streamed}\n${await shownIn(page)}`);
    }
    if (label === 'german') expect('it speaks German', (await panelOf(page).locator('h2').innerText()) === 'Die Doku fragen');
    if (label === 'light') {
      const tree = await panelOf(page).ariaSnapshot();
      const names = ['heading "Ask the docs" [level=2]', 'button "New conversation"', 'button "Close"', 'region "Conversation"', `heading "You asked: ${SHOW}" [level=3]`, 'heading "What you can set" [level=4]', 'table', 'cell "retry.max"', 'button "Copy"', 'blockquote', 'button "Helpful"', 'textbox "Your question"', 'button "Send"', 'status'];
      const missing = names.filter(name => !tree.includes(name));
      expect('a screen reader has it in order', missing.length === 0 && names.every((name, n) => n === 0 || tree.indexOf(name) > tree.indexOf(names[n - 1])), `${missing}\n${tree}`);
      await turn(page, 0).locator('.thumbs button').last().click();
      await picture(page, `${label}-5-rated`);
      await violations(page, `${label}, rated`);
      await turn(page, 0).getByRole('button', { name: 'Copy' }).click();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect('code is copied', copied.startsWith('const endpoint') && copied.endsWith('(endpoint.retry);\n'), copied);
    }
  }
}

export async function theKeyboardAloneSuffices({ visit, expect, stage }) {
  const page = await visit('/plain/');
  const inside = () => page.evaluate(() => document.querySelector('docent-chat').shadowRoot.activeElement?.className);
  await opener(page).waitFor();
  await page.locator('#name').focus();
  await page.keyboard.press('Control+k');
  expect('it does not open over what somebody types', await panelOf(page).count() === 0);
  await page.keyboard.press('Tab');
  expect('Tab reaches the button', (await inside()) === 'open', await inside());
  await page.keyboard.press('Enter');
  await panelOf(page).waitFor();
  await page.evaluate(() => {
    const status = document.querySelector('docent-chat').shadowRoot.querySelector('[role=status]');
    new MutationObserver(() => (window.said = `${window.said ?? ''} ${status.textContent}`)).observe(status, { childList: true });
  });
  await page.keyboard.type(QUESTION);
  await page.keyboard.press('Enter');
  await reads(page, 0, 'parked');
  await ends(page, 0);
  await page.waitForFunction(() => window.said.includes('complete'));
  const said = await page.evaluate(() => window.said);
  expect('the answer is told once, by sentence', said.includes('coming.') && said.includes('complete') && said.split('parked for a day').length === 2, said);
  const reached = new Set();
  for (let n = 0; n < 12; n += 1) {
    await page.keyboard.press('Shift+Tab');
    reached.add(await page.evaluate(() => { const node = document.querySelector('docent-chat').shadowRoot.activeElement; return node?.ariaLabel ?? node?.className ?? node?.tagName; }));
  }
  expect('so are links and thumbs', ['Helpful', 'Not helpful', 'Close'].every(name => reached.has(name)), [...reached]);
  await turn(page, 0).getByRole('button', { name: 'Not helpful' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.type('The days.');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await turn(page, 0).locator('.rating .soft').waitFor();
  await page.keyboard.press('Escape');
  expect('Escape closes, also when what had the focus is gone', await panelOf(page).isHidden());
  expect('and gives the focus back', (await inside()) === 'open', await inside());
  await page.locator('#passage').click();
  await page.keyboard.press('Control+k');
  expect('Control and K open', await panelOf(page).isVisible());
  await page.keyboard.press('Escape');
  await page.evaluate(() => window.Docent.reset());
  await page.keyboard.press('Control+k');
  await panelOf(page).getByRole('button', { name: QUESTION }).focus();
  await page.keyboard.press('Enter');
  await ends(page, 0);
  await page.keyboard.press('Escape');
  expect('and after a question to begin with', await panelOf(page).isHidden());
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector('#passage')));
  await page.keyboard.press('Shift');
  await page.locator('docent-chat .about').waitFor();
  await page.keyboard.press('Control+k');
  await panelOf(page).locator('.chip', { hasText: 'A delivery that fails' }).waitFor();
  const taken = await visit('/plain/?taken');
  await opener(taken).waitFor();
  await taken.keyboard.press('Control+k');
  await taken.waitForTimeout(200);
  expect('unless the host has the key', await panelOf(taken).count() === 0);
  await taken.keyboard.press('Control+i');
  await panelOf(taken).waitFor();
}

export async function whatGoesWrongIsASentenceAndAWayOn({ visit, expect, stage, hosts, assistant, picture }) {
  const network = ['net::ERR', 'status of 4', 'status of 5', 'CORS policy'];
  const says = async (label, path, sentence, prepare = async () => {}) => {
    const page = await visit(path, { allowed: network });
    await opener(page).click();
    await panelOf(page).waitFor();
    await prepare(page);
    await asks(page, QUESTION);
    await turn(page, 0).locator('.trouble').waitFor();
    const text = await turn(page, 0).locator('.trouble p').innerText();
    expect(`${label}: a sentence`, sentence.test(text), text);
    expect(`${label}: and a way on`, (await turn(page, 0).getByRole('button', { name: 'Try again' }).count()) === 1 && (await turn(page, 0).locator('.help').count()) === 1);
    return page;
  };
  const cors = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' };
  const answers = (status, body, headers = {}) => page => page.route('**/message?*', route => route.request().method() === 'POST' ? route.fulfill({ status, headers: { ...cors, ...headers }, body }) : route.continue());
  await says('401', '/plain/?key=docent_assistant_wrong', /not set up correctly/);
  await says('403', `/plain/?key=${assistant.elsewhere}`, /does not accept questions from this page/);
  await says('429', '/plain/', /try again in 12 seconds/, answers(429, '{"error":"x"}', { 'Retry-After': '12' }));
  await says('503', '/plain/', /cannot be reached/, answers(503, '{"error":"x"}'));
  await says('no server', '/plain/', /cannot be reached/, page => page.route(`${assistant.server}/**`, route => route.abort()));
  await says('no network', '/plain/', /offline/, page => page.context().setOffline(true));
  const absent = await visit('/plain/', { allowed: [...network, 'Failed to fetch dynamically'] });
  await absent.route('**/widget/panel.js', route => route.abort());
  await opener(absent).click();
  await opener(absent).filter({ hasText: 'Not available right now' }).waitFor();
  await opener(absent).filter({ hasText: /^Ask$/ }).waitFor();

  const start = 'data: {"type":"start","messageId":"m"}\n\ndata: {"type":"data-block","id":"1","data":["p","It waits"]}\n\n';
  const page = await says('an error at the end', '/plain/', /^The model is overloaded\.$/, answers(200, `${start}data: {"type":"error","errorText":"The model is overloaded."}\n\n`));
  expect('what was said stays', (await turn(page, 0).locator('.answer').innerText()) === 'It waits');
  await picture(page, 'trouble');
  await turn(page, 0).getByRole('button', { name: 'Search the docs instead' }).click();
  await turn(page, 0).locator('.cards a').first().waitFor();
  await page.unroute('**/message?*');
  await turn(page, 0).getByRole('button', { name: 'Try again' }).focus();
  await page.keyboard.press('Enter');
  await reads(page, 0, 'parked');
  await ends(page, 0);
  await page.keyboard.press('Escape');
  expect('the keyboard stays in the chat', await panelOf(page).isHidden());

  const search = await visit('/plain/?mode=search', { allowed: network });
  await opener(search).click();
  await search.route('**/v1/search/**', route => route.request().method() === 'POST' ? route.fulfill({ status: 503, headers: cors, body: '{"error":"x"}' }) : route.continue());
  await panelOf(search).locator('textarea').fill('webhook');
  await panelOf(search).locator('.trouble', { hasText: 'cannot be reached' }).waitFor();
  await search.unroute('**/v1/search/**');
  await panelOf(search).getByRole('button', { name: 'Try again' }).click();
  await panelOf(search).locator('.cards a').first().waitFor();

  await stage.holdsTheModel();
  const cut = await visit('/plain/?proxied', { allowed: network });
  await opener(cut).click();
  await asks(cut, HELD);
  await reads(cut, 0, 'heavier');
  hosts.cuts();
  await cut.waitForTimeout(100);
  await stage.lets();
  await reads(cut, 0, 'See Errors.');
  await ends(cut, 0);
  const text = await turn(cut, 0).locator('.answer').innerText();
  expect('a lost connection is taken up', text.split('heavier').length === 2, text);
}

export async function aRunningReplyIsTakenUpFromWhereverItWasAsked({ visit, expect, stage }) {
  for (const path of ['/plain/inline', '/plain/']) {
    const page = await visit(path);
    if (path === '/plain/') {
      await opener(page).click();
      await asks(page, QUESTION);
      await ends(page, 0);
      await panelOf(page).getByRole('button', { name: 'New conversation' }).click();
    }
    await panelOf(page).locator('textarea').waitFor();
    await stage.holdsTheModel();
    const { hungUp } = await stage.model(HELD);
    await asks(page, HELD);
    await reads(page, 0, 'heavier');
    const address = page.url();
    await page.goto('about:blank');
    await page.waitForTimeout(1_200);
    await page.goto(address);
    await reads(page, 0, 'heavier');
    await stage.lets();
    await reads(page, 0, 'See Errors.');
    expect(`${path}: the model goes on`, (await stage.model(HELD)).hungUp === hungUp, (await stage.model(HELD)).hungUp);
  }
}

export async function aReplyThatWasTakenUpCanBeStopped({ visit, expect, stage }) {
  const page = await visit('/plain/');
  await opener(page).click();
  await stage.holdsTheModel();
  await asks(page, HELD);
  await reads(page, 0, 'heavier');
  await page.reload();
  await reads(page, 0, 'heavier');
  const { hungUp } = await stage.model(HELD);
  await panelOf(page).locator('.line textarea').fill('A draft');
  await panelOf(page).locator('.send').dblclick();
  await turn(page, 0).locator('.after', { hasText: 'Stopped' }).waitFor();
  const start = performance.now();
  let after;
  do after = await stage.model(HELD); while (after.hungUp === hungUp && performance.now() - start < 5_000);
  expect('the model is told', after.hungUp === hungUp + 1, JSON.stringify(after));
  expect('a double click sends no draft', (await page.locator('docent-chat .turn').count()) === 1 && (await panelOf(page).locator('.line textarea').inputValue()) === 'A draft');
  await stage.lets();
}

export async function ofALongConversationTheNewestIsKept({ visit, expect }) {
  const page = await visit('/plain/');
  await repliesWith(page, [['p', 'x']]);
  await opener(page).click();
  for (let n = 0; n < 23; n += 1) {
    // Each reply has an id of its own.
    await page.unroute('**/message?*');
    await page.route('**/message?*', route => route.request().method() === 'POST' ? route.fulfill({ status: 200, headers: { 'Access-Control-Allow-Origin': '*' }, body: [{ type: 'start', messageId: `m${n}` }, { type: 'finish' }].map(frame).join('') }) : route.continue());
    await asks(page, `Question ${n}`);
    await ends(page, n);
  }
  await page.keyboard.press('Escape');
  await page.reload();
  await opener(page).click();
  await turn(page, 0).waitFor();
  const questions = (await page.locator('docent-chat .question').allTextContents()).map(text => Number(/\d+$/.exec(text)[0]));
  expect('in order', JSON.stringify(questions) === JSON.stringify(Array.from({ length: 20 }, (_, n) => n + 3)), questions);
}

export async function aSlowServerMixesNothingUp({ visit, expect }) {
  const page = await visit('/plain/inline', { allowed: ['net::ERR'] });
  await panelOf(page).locator('textarea').waitFor();
  const isStream = route => route.request().method() === 'GET';
  await page.route('**/stream?*', async route => {
    if (isStream(route)) await new Promise(resolve => setTimeout(resolve, 1_500));
    await route.continue();
  });
  await asks(page, 'What is private?');
  await panelOf(page).getByRole('button', { name: 'New conversation' }).click();
  await asks(page, QUESTION);
  await reads(page, 0, 'parked');
  expect('what was stopped is not sent', bodies(page).length === 1, JSON.stringify(bodies(page)));
  await page.unroute('**/stream?*');
  await page.route('**/stream?*', route => isStream(route) ? undefined : route.continue());
  await panelOf(page).getByRole('button', { name: 'New conversation' }).click();
  await asks(page, QUESTION);
  await reads(page, 0, 'parked');
  await ends(page, 0);
  expect('nor is what hangs waited for', bodies(page).length === 2, JSON.stringify(bodies(page)));

  // A reply to another question, where that to the second was lost.
  const { messageId } = await page.evaluate(() => JSON.parse(Object.values(localStorage)[0]).turns[0]);
  await page.unroute('**/stream?*');
  await page.route('**/stream?*', route => isStream(route) ? route.fulfill({ status: 200, headers: { 'Access-Control-Allow-Origin': '*' }, body: [{ type: 'start', messageId }, { type: 'data-block', id: '1', data: ['p', 'Of the first.'] }, { type: 'finish' }].map(frame).join('') }) : route.continue());
  await page.route('**/message?*', route => route.request().method() === 'POST' ? route.abort() : route.continue());
  await asks(page, FOLLOW_UP);
  await turn(page, 1).locator('.trouble').waitFor();
  expect('the answer to one question is not that to another', !(await turn(page, 1).innerText()).includes('Of the first.'));
}

export async function whatIsNoLongerAskedCanBeAskedAgain({ visit, expect }) {
  const page = await visit('/plain/');
  await opener(page).click();
  await asks(page, QUESTION);
  await ends(page, 0);
  await asks(page, FOLLOW_UP);
  await ends(page, 1);
  await page.evaluate(() => {
    const [name] = Object.keys(localStorage);
    const kept = JSON.parse(localStorage.getItem(name));
    kept.turns[0].state = 'running';
    localStorage.setItem(name, JSON.stringify(kept));
  });
  await page.reload();
  await turn(page, 0).getByRole('button', { name: 'Try again' }).waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await reads(other, 1, 'looks at it again');
  await panelOf(page).getByRole('button', { name: 'New conversation' }).click();
  await panelOf(other).getByRole('button', { name: 'Close' }).click();
  expect('a conversation that was ended stays so on all pages', (await kept(other))[0] === 0, await kept(other));
}

export async function aSecondClickOrKeyIsNoStop({ visit, expect, stage }) {
  const page = await visit('/plain/');
  await opener(page).click();
  await panelOf(page).locator('.line textarea').fill(QUESTION);
  await panelOf(page).locator('.send').dblclick();
  await reads(page, 0, 'See Webhooks');
  await stage.holdsTheModel();
  await asks(page, HELD);
  await reads(page, 1, 'heavier');
  await page.keyboard.press('Enter');
  expect('Enter in an empty field does nothing', (await turn(page, 1).locator('.after', { hasText: 'Stopped' }).count()) === 0);
  await asks(page, FOLLOW_UP);
  await reads(page, 2, 'looks at it again');
  expect('the next question stops the reply', (await turn(page, 1).locator('.after', { hasText: 'Stopped' }).count()) === 1);
  await stage.lets();
  for (const [key, options] of [['Escape', { isComposing: true }], ['Enter', { keyCode: 229 }]]) {
    await panelOf(page).locator('.line textarea').fill('さくら');
    await panelOf(page).locator('.line textarea').dispatchEvent('keydown', { key, ...options, bubbles: true, composed: true });
    expect(`${key} of an input method is its own`, (await panelOf(page).isVisible()) && (await page.locator('docent-chat .turn').count()) === 3);
  }
}

export async function twoPagesOfOneConversationKeepWhatBothAsked({ visit, expect }) {
  const page = await visit('/plain/a');
  await opener(page).click();
  await asks(page, QUESTION);
  await ends(page, 0);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await reads(other, 0, 'parked');
  await asks(other, FOLLOW_UP);
  await ends(other, 1);
  await asks(page, LONG.replace('How many', 'So how many'));
  await ends(page, 1);
  await page.reload();
  await ends(page, 2);
  const questions = await page.locator('docent-chat .question').allTextContents();
  expect('all three are there', questions.length === 3 && questions[1].includes('after that') && questions[2].includes('So how many'), questions);
  await other.goto(page.url().replace('/plain/a', '/plain/inline?mode=search'));
  await panelOf(other).locator('textarea').waitFor();
  expect('a search box has none of them', (await other.locator('docent-chat .turn').count()) === 0);
}

export async function aPageMayRemoveItAndEndIt({ visit, expect, stage }) {
  const page = await visit('/plain/');
  await opener(page).waitFor();
  await page.evaluate(() => { addEventListener('keydown', event => { window.prevented = event.defaultPrevented; }); window.chat = document.querySelector('docent-chat'); window.chat.remove(); });
  await page.keyboard.press('Control+i');
  expect('the key is free where it was removed', (await page.evaluate(() => window.prevented)) !== true);
  await page.evaluate(() => { const { options } = window.chat; document.documentElement.replaceChild(document.createElement('body'), document.body); return window.Docent.init(options).open(); });
  await panelOf(page).waitFor();
  await stage.holdsTheModel();
  await asks(page, HELD);
  await reads(page, 0, 'heavier');
  await page.evaluate(() => { const { options } = document.querySelector('docent-chat'); window.Docent.destroy(); window.Docent.init(options); });
  await reads(page, 0, 'heavier');
  const { hungUp } = await stage.model(HELD);
  await page.evaluate(() => { document.body.append(Object.assign(document.createElement('input'), { id: 'name' })); document.querySelector('#name').focus(); return window.Docent.reset(); });
  const start = performance.now();
  let after;
  do after = await stage.model(HELD); while (after.hungUp === hungUp && performance.now() - start < 5_000);
  expect('a conversation that is ended costs nothing more', after.hungUp === hungUp + 1, JSON.stringify(after));
  expect('and the page keeps the focus', await page.evaluate(() => document.activeElement.id === 'name'));
  await page.evaluate(() => window.Docent.close());
  expect('also when it is closed', await page.evaluate(() => document.activeElement.id === 'name'));
  await stage.lets();
}

export async function aCommentThatIsNotSentStays({ visit, expect }) {
  const page = await visit('/plain/', { allowed: ['net::ERR'] });
  await opener(page).click();
  await asks(page, QUESTION);
  await ends(page, 0);
  await turn(page, 0).getByRole('button', { name: 'Helpful', exact: true }).click();
  await page.route('**/feedback', route => route.abort());
  const field = turn(page, 0).locator('.comment textarea');
  await field.fill('The number of days.');
  await page.evaluate(() => document.querySelector('docent-chat').shadowRoot.querySelector('.comment textarea').addEventListener('invalid', event => { window.said = event.target.validationMessage; }));
  await turn(page, 0).getByRole('button', { name: 'Send comment' }).click();
  await page.waitForFunction(() => window.said);
  expect('it says so', (await page.evaluate(() => window.said)).includes('cannot be reached'));
  expect('and keeps it', (await field.inputValue()) === 'The number of days.');
  await page.unroute('**/feedback');
  await turn(page, 0).getByRole('button', { name: 'Send comment' }).click();
  await turn(page, 0).locator('.soft', { hasText: 'Thank you.' }).waitFor();
}

export async function withoutStorageAndOnAnotherPathItAnswers({ visit, expect }) {
  const page = await visit('/plain/first');
  await page.addInitScript(() => Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } }));
  await page.reload();
  await page.evaluate(() => {
    history.pushState({}, '', '/plain/second');
    document.head.append(Object.assign(document.createElement('meta'), { name: 'docsearch:version', content: '2.0' }));
  });
  await opener(page).click();
  await asks(page, QUESTION);
  await ends(page, 0);
  const [{ currentPath, filter }] = bodies(page);
  expect('from where the reader is', currentPath === '/plain/second' && filter.version === '2.0', JSON.stringify(bodies(page)[0]));
}

export async function aBundlerFindsAllOfThePackage({ visit, expect }) {
  const page = await visit('/from-a-package');
  await opener(page).filter({ hasText: 'Fragen' }).click();
  await panelOf(page).getByText('Die Doku fragen').waitFor();
  await asks(page, QUESTION);
  await reads(page, 0, 'parked');
}

export async function aQuestionThatWasLostOnItsWayIsAskedAgain({ visit, expect, stage }) {
  const page = await visit('/plain/', { allowed: ['net::ERR'] });
  await opener(page).click();
  await panelOf(page).locator('textarea').waitFor();
  await page.route('**/message?*', route => route.request().method() === 'POST' ? route.abort() : route.continue());
  await asks(page, QUESTION);
  await turn(page, 0).locator('.trouble').waitFor();
  const text = await turn(page, 0).locator('.trouble p').innerText();
  expect('the site is not to blame', /cannot be reached right now/.test(text), text);
  await page.unroute('**/message?*');
  await turn(page, 0).getByRole('button', { name: 'Try again' }).click();
  await reads(page, 0, 'parked');
  // The server has it, and its answer is lost.
  const { asked } = await stage.model(FOLLOW_UP);
  await page.route('**/message?*', async route => {
    if (route.request().method() !== 'POST') return route.continue();
    await Promise.race([route.fetch(), new Promise(resolve => setTimeout(resolve, 400))]).catch(() => {});
    await route.abort();
  });
  await asks(page, FOLLOW_UP);
  await turn(page, 1).locator('.rating, .trouble').first().waitFor();
  expect('the model is asked once', (await stage.model(FOLLOW_UP)).asked <= asked + 1);
}

export async function atTheLimitOfAnHourItSaysWhenToAskAgain({ visit, expect, stage }) {
  const page = await visit('/plain/', { allowed: ['status of 429'] });
  await opener(page).click();
  await panelOf(page).waitFor();
  await stage.usesUpTheLimit();
  await asks(page, QUESTION);
  await turn(page, 0).locator('.trouble').waitFor();
  const text = await turn(page, 0).locator('.trouble p').innerText();
  expect('with the seconds of the server', /There are too many questions right now\. Please try again in [1-9]\d* seconds\./.test(text), text);
  await stage.raisesTheLimit();
  await turn(page, 0).getByRole('button', { name: 'Try again' }).click();
  await reads(page, 0, 'parked');
}

export async function itSpeaksTheReadersLanguage({ visit, expect }) {
  for (const language of ['en', 'de', 'fr', 'es', 'pt', 'ja', 'zh', 'ko']) {
    const { default: texts } = await import(`../../crates/widget/files/widget/texts/${language}.js`);
    const page = await visit(`/plain/?lang=${language}`);
    const button = await opener(page).textContent();
    await opener(page).click();
    await panelOf(page).getByRole('heading', { name: texts.title, exact: true }).waitFor();
    const shown = [await panelOf(page).locator('.welcome p').innerText(), await panelOf(page).locator('textarea').getAttribute('placeholder'), await panelOf(page).locator('.note').innerText()];
    expect(`${language}: its own texts`, JSON.stringify(shown) === JSON.stringify([texts.welcome, texts.placeholder, texts.note]), shown);
    expect(`${language}: and those of the button`, (button === 'Ask') === (language === 'en') && button !== '', button);
    await repliesWith(page, [['p', 'x']]);
    await asks(page, QUESTION);
    await turn(page, 0).getByRole('button', { name: texts.down, exact: true }).waitFor();
  }
}

export async function aPieceThatIsANumberIsText({ visit, expect }) {
  const frames = [
    ['data-block', ['p', 'Retried']], ['data-edit', [[1, 0, ' 5']]], ['data-edit', [[1, 0, ' times'], [1, 0, '-1']]],
    ['data-block', ['table', ['tr', ['td', '1']]]], ['data-edit', [[2, 1, ['td', '2']]]], ['data-edit', [[2, 0, ['tr', ['td', '3']]], [2, 2, '4']]],
    ['data-edit', [[1, 0, -2], [1, 0, ['code', '6']], [1, 1, '7'], [1, 0, 1]]],
  ];
  const edit = documentedEdit();
  const blocks = [];
  for (const [type, data] of frames) type === 'data-block' ? blocks.push(structuredClone(data)) : structuredClone(data).forEach(one => edit(blocks, one));
  expect('the function of the docs gives the blocks', JSON.stringify(blocks) === '[["p","Retried 5 times"],["table",["tr",["td","1"],["td","2"]],["tr",["td","34"]]]]', JSON.stringify(blocks));
  const body = frames.map(([type, data]) => `data: ${JSON.stringify({ type, id: '1', data })}\n\n`).join('');
  const page = await visit('/plain/');
  await page.route('**/message?*', route => route.request().method() === 'POST' ? route.fulfill({ status: 200, headers: { 'Access-Control-Allow-Origin': '*' }, body: `data: {"type":"start","messageId":"m"}\n\n${body}data: {"type":"finish"}\n\n` }) : route.continue());
  await opener(page).click();
  await asks(page, QUESTION);
  await ends(page, 0);
  const shown = [await turn(page, 0).locator('.answer > p').textContent(), await turn(page, 0).locator('td').allTextContents()];
  expect('and the chat shows them', JSON.stringify(shown) === '["Retried 5 times",["1","2","34"]]', JSON.stringify(shown));
}

export async function aTranscriptOfAnySignsIsSent({ visit, expect }) {
  const page = await visit('/plain/?help=https%3A%2F%2Facme.test%2Fask%3Ft%3D%7Btranscript%7D');
  const answer = `${'😀'.repeat(1_900)}a`;
  await page.route('**/message?*', route => route.request().method() === 'POST' ? route.fulfill({ status: 200, headers: { 'Access-Control-Allow-Origin': '*' }, body: `data: {"type":"start","messageId":"m"}\n\ndata: {"type":"data-block","id":"1","data":["p","${answer}"]}\n\ndata: {"type":"finish"}\n\n` }) : route.continue());
  await opener(page).click();
  await asks(page, QUESTION);
  await ends(page, 0);
  await page.evaluate(() => addEventListener('docent:help', event => { window.transcript = event.detail.transcript; }));
  const link = turn(page, 0).locator('.help');
  await link.evaluate(node => { node.target = ''; node.addEventListener('click', event => event.preventDefault()); node.click(); });
  const sent = new URL(await link.evaluate(node => node.href)).searchParams.get('t');
  expect('it is the end of the conversation', [...sent].length === 1_800 && sent.endsWith('😀a'), sent.slice(-20));
  expect('and the page is told', (await page.evaluate(() => window.transcript)) === sent);
}

export async function itWaitsForTheBodyOfThePage({ visit, expect }) {
  const page = await visit('/early');
  await opener(page).waitFor();
  expect('the script ran before the body was there', (await page.evaluate(() => window.hadBody)) === false);
}

export async function aLongAnswerCostsLittle({ visit, expect }) {
  const page = await visit('/plain/');
  await opener(page).click();
  await panelOf(page).waitFor();
  const frames = Array.from({ length: 2_000 }, (_, n) => {
    const block = Math.floor(n / 20) + 1;
    const text = n % 10 === 0 ? 'It is tried again. A delivery that ' : 'a delivery that fails, retried so ';
    return n % 20 === 0 ? `data: {"type":"data-block","id":"${block}","data":["p","${text}"]}\n\n` : `data: {"type":"data-edit","data":[[${block},0,"${text}"${n % 4 === 0 ? ',["code","again"]' : ''}]]}\n\n`;
  });
  // As fast as a quick model writes.
  const writer = createServer(async (request, response) => {
    response.writeHead(200, { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*', 'Content-Type': 'text/event-stream' });
    if (request.method !== 'POST') return response.end();
    response.write('data: {"type":"start","messageId":"m"}\n\n');
    for (const frame of frames) {
      response.write(frame);
      await new Promise(resolve => setTimeout(resolve, 8));
    }
    response.end('data: {"type":"finish"}\n\n');
  });
  await new Promise(resolve => writer.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${writer.address().port}/`;
  await page.route('**/message?*', route => route.continue(route.request().method() === 'POST' ? { url } : {}));
  await page.evaluate(() => {
    window.touched = 0;
    const count = records => { for (const { addedNodes, removedNodes } of records) window.touched += addedNodes.length + removedNodes.length; };
    new MutationObserver(count).observe(document.querySelector('docent-chat').shadowRoot, { childList: true, subtree: true });
  });
  await page.evaluate(() => {
    window.told = [];
    const status = document.querySelector('docent-chat').shadowRoot.querySelector('.status');
    new MutationObserver(() => window.told.push(performance.now())).observe(status, { childList: true, characterData: true, subtree: true });
  });
  const browser = await page.context().newCDPSession(page);
  await browser.send('Performance.enable');
  const spent = async () => (await browser.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'ScriptDuration').value;
  const before = await spent();
  await asks(page, QUESTION);
  await turn(page, 0).locator('.rating').waitFor({ timeout: 60_000 });
  console.log(`the script of an answer of 64 KiB in 2,000 pieces took ${Math.round((await spent() - before) * 1_000)} ms`);
  writer.close();
  const { length, nodes } = await turn(page, 0).locator('.answer').evaluate(node => ({ length: node.textContent.length, nodes: node.querySelectorAll('*').length }));
  expect('all of it is shown', length > 64 * 1024, length);
  const told = await page.evaluate(() => window.told);
  const gaps = told.slice(1).map((time, n) => time - told[n]);
  // The first tells that an answer comes.
  expect('it is told by sentence, every two seconds', told.length > 4 && gaps.every(gap => gap > 1_900), gaps.map(Math.round));
  const touched = await page.evaluate(() => window.touched);
  expect('a piece of an answer makes only what it adds', touched < 4 * nodes, `${touched} nodes touched for ${nodes} elements`);
}

export async function thePageCanDriveIt({ visit, expect }) {
  const { init } = await import('../../crates/widget/files/widget.js');
  expect('it may be imported where there is no page', typeof init === 'function');
  const page = await visit('/plain/', { allowed: ['status of 413'] });
  await opener(page).waitFor();
  await page.evaluate(() => {
    window.told = [];
    for (const name of ['open', 'close', 'ask', 'answer', 'error', 'feedback', 'search', 'reset']) addEventListener(`docent:${name}`, event => window.told.push([name, event.detail]));
  });
  await page.evaluate(question => window.Docent.open({ question }), QUESTION);
  await reads(page, 0, 'parked');
  await ends(page, 0);
  await page.evaluate(() => window.Docent.update({ title: 'Acme answers', texts: { note: 'Be careful.' } }));
  await panelOf(page).getByText('Acme answers').waitFor();
  expect('what was said stays', (await turn(page, 0).locator('.answer').innerText()).includes('parked'));
  await panelOf(page).locator('.line textarea').fill('Half a ques');
  await page.evaluate(() => window.Docent.update({ label: 'Help me' }));
  await page.keyboard.type('tion');
  const typed = await panelOf(page).locator('.line textarea').inputValue();
  expect('and what is half typed', typed === 'Half a question', typed);
  expect('the button has its new words', (await opener(page).textContent()) === 'Help me', await opener(page).textContent());
  expect('the owner has texts of their own', (await panelOf(page).locator('.note').innerText()) === 'Be careful.');
  await page.evaluate(() => window.Docent.close());
  await page.evaluate(() => window.Docent.ask('And what happens after that?'));
  await reads(page, 1, 'looks at it again');
  await ends(page, 1);
  await turn(page, 1).getByRole('button', { name: 'Not helpful', exact: true }).click();
  await page.route('**/message?*', route => route.request().method() === 'POST' ? route.fulfill({ status: 413, headers: { 'Access-Control-Allow-Origin': '*' }, body: '{"error":"x"}' }) : route.continue());
  await page.evaluate(() => window.Docent.ask('What is too long?'));
  await ends(page, 2);
  await turn(page, 2).getByRole('button', { name: 'Search the docs instead' }).click();
  await page.waitForFunction(() => window.told.some(([name]) => name === 'search'));
  await page.evaluate(() => window.Docent.reset());
  const told = await page.evaluate(() => window.told);
  const detail = wanted => JSON.stringify(told.filter(([name]) => name === wanted).map(([, detail]) => detail));
  expect('it tells the page', ['open', 'ask', 'answer', 'close', 'reset'].every(name => detail(name) !== '[]'), JSON.stringify(told));
  expect('of a rating', /^\[\{"rating":"down","messageId":"[^"]+"\}\]$/.test(detail('feedback')), detail('feedback'));
  expect('of an error', detail('error') === '[{"question":"What is too long?","answer":"","error":"long","status":413}]', detail('error'));
  expect('and of a search', /^\[\{"query":"What is too long\?","results":\d+\}\]$/.test(detail('search')), detail('search'));
  await page.evaluate(() => window.Docent.destroy());
  expect('it goes without a trace', (await page.locator('docent-chat').count()) === 0);
}

export async function aPageOfTheHostedServiceMovesWithItsAddressAndId({ visit, expect, picture }) {
  const page = await visit('/from-mintlify', { allowed: ['status of 429'] });
  await page.waitForFunction(() => window.ready);
  await opener(page).filter({ hasText: 'Ask docs' }).waitFor();
  await page.evaluate(() => window.MintlifyAssistant.open({ source: 'nav' }));
  await panelOf(page).getByText('Docs copilot').waitFor();
  const looks = await panelOf(page).evaluate(node => [node.dataset.theme, getComputedStyle(node).borderRadius, getComputedStyle(node.querySelector('.send')).backgroundColor]);
  expect('it has its looks', JSON.stringify(looks) === '["dark","4px","rgb(15, 118, 110)"]', looks);
  expect('and its starters', (await panelOf(page).getByRole('button', { name: QUESTION }).count()) === 1);
  expect('under their heading', (await panelOf(page).getByRole('heading', { name: 'Try one' }).count()) === 1);
  const box = await panelOf(page).boundingBox();
  expect('at the side it was on', box.x < 30 && box.y > 30, JSON.stringify(box));
  await page.evaluate(question => window.MintlifyAssistant.ask(question, { source: 'guide' }), QUESTION);
  await reads(page, 0, 'parked');
  await ends(page, 0);
  expect('and somebody to turn to', (await turn(page, 0).locator('.help').count()) === 1);
  await picture(page, 'from-mintlify');
  await page.evaluate(() => window.MintlifyAssistant.update({ labels: { title: null }, appearance: { theme: 'light' } }));
  await panelOf(page).getByText('Ask the docs').waitFor();
  expect('what was said stays', (await turn(page, 0).locator('.answer').innerText()).includes('parked'));
  await turn(page, 0).locator('.answer a').click({ modifiers: ['Control'] });
  await page.evaluate(() => window.MintlifyAssistant.reset());
  await page.evaluate(() => window.MintlifyAssistant.close());
  expect('it closes', await panelOf(page).isHidden());
  await page.evaluate(question => window.MintlifyAssistant.ask(question, { open: false }), QUESTION);
  await page.waitForFunction(() => document.querySelector('docent-chat').shadowRoot.querySelector('.answer')?.textContent.includes('parked'));
  expect('a question may be asked while it is closed', await panelOf(page).isHidden());
  await page.route('**/message?*', route => route.request().method() === 'POST' ? route.fulfill({ status: 429, headers: { 'Access-Control-Allow-Origin': '*' }, body: '{"error":"x"}' }) : route.continue());
  await page.evaluate(question => window.MintlifyAssistant.ask(question, { open: false }), QUESTION);
  await page.waitForFunction(() => window.failed);
  const failed = JSON.stringify(await page.evaluate(() => window.failed));
  expect('its hooks hear what went wrong', failed === '{"code":"busy","retryable":true,"status":429}', failed);
  await page.evaluate(() => window.MintlifyAssistant.destroy());
  const heard = await page.evaluate(() => window.heard);
  expect('its hooks hear', ['init', 'open', 'ask', 'update', 'navigate', 'reset', 'close', 'destroy'].every(type => heard.includes(type)), heard);
  expect('it goes', (await page.locator('docent-chat').count()) === 0);
}

export async function aPageWithKapasTagMovesWithItsAddressAndId({ visit, expect }) {
  const page = await visit('/from-kapa');
  await page.waitForFunction(() => window.rendered);
  expect('its button is hidden, as it was', await opener(page).isHidden());
  await page.locator('.ask').click();
  await panelOf(page).getByText('This is a custom LLM.').waitFor();
  expect('it has the name', (await panelOf(page).locator('h2').innerText()) === 'Acme');
  expect('and the questions', (await panelOf(page).locator('.questions button').count()) === 2);
  await page.evaluate(() => window.Kapa.open({ query: 'How often?' }));
  const text = () => panelOf(page).locator('.line textarea').inputValue();
  expect('a query is filled in', (await text()) === 'How often?', await text());
  await page.evaluate(question => window.Kapa.open({ mode: 'ai', query: question, submit: true }), QUESTION);
  await reads(page, 0, 'parked');
  await ends(page, 0);
  await page.evaluate(() => window.Kapa.open({ mode: 'search', query: 'webhook' }));
  await panelOf(page).locator('.cards a').first().waitFor();
  await page.evaluate(() => window.Kapa('close'));
  await panelOf(page).waitFor({ state: 'hidden' });
  await page.evaluate(() => window.Kapa.open());
  expect('it opens in its usual mode', (await turn(page, 0).count()) === 1);
  await page.evaluate(() => window.Kapa.unmount());
  await page.locator('docent-chat').waitFor({ state: 'detached' });
  await page.evaluate(() => new Promise(onRender => window.Kapa.render({ onRender })));
  await page.evaluate(() => window.Kapa.open());
  await reads(page, 0, 'parked');
  const late = await visit('/from-kapa-late');
  await late.waitForFunction(() => window.Kapa);
  await late.evaluate(() => new Promise(resolve => setTimeout(resolve, 300)));
  expect('it may wait', (await late.locator('docent-chat').count()) === 0);
  await late.evaluate(() => window.Kapa.open());
  await panelOf(late).getByText('See the terms.').waitFor();
}

export const docSearchsOwnBoxSearchesTheDocsAndAsksTheChat = scene => docSearch('/docsearch', scene);
export const docSearchsBoxOfReactDoesToo = scene => docSearch('/docsearch-react', scene);

async function docSearch(path, { visit, expect, picture }) {
  const page = await visit(path);
  await page.waitForFunction(() => window.ready);
  await page.locator('.DocSearch-Button').click();
  await page.locator('.DocSearch-Input').fill('delivery retried');
  const hits = page.locator('.DocSearch-Hit a');
  await hits.first().waitFor();
  await picture(page, 'docsearch');
  expect('results lead to pages', (await hits.first().getAttribute('href')).startsWith('/guides/'), await hits.first().getAttribute('href'));
  expect('and show why', (await page.locator('.DocSearch-Hit mark').count()) > 0);
  await page.locator('.DocSearch-Input').fill('x <img src=x onerror=alert(1)>');
  await hits.filter({ hasText: 'Ask: x <img src=x onerror=alert(1)>' }).waitFor();
  expect('markup is text', (await page.locator('.DocSearch-Hit img').count()) === 0);
  await page.locator('.DocSearch-Input').fill(QUESTION);
  await hits.filter({ hasText: `Ask: ${QUESTION}` }).click();
  await reads(page, 0, 'parked');
  expect('the address stays', new URL(page.url()).hash === '', page.url());
}

export async function theLimitOfADayIsToldInTheReadersLanguage({ visit, expect }) {
  const sentence = 'The assistant of this site has used up what it may spend today.';
  const notice = { name: 'limit', until: '2027-01-01T00:00:00.000Z', sentence };
  const frames = [{ type: 'start', messageId: 'm' }, { type: 'data-notice', data: notice }, { type: 'data-block', id: '1', data: ['p', sentence] }, { type: 'data-block', id: '2', data: ['p', 'A quote.'] }, { type: 'finish' }];
  const body = frames.map(frame => `data: ${JSON.stringify(frame)}\n\n`).join('');
  const page = await visit('/plain/?lang=de', { timezoneId: 'Europe/Berlin' });
  await page.route('**/message?*', route => route.request().method() === 'POST' ? route.fulfill({ status: 200, headers: { 'Access-Control-Allow-Origin': '*' }, body }) : route.continue());
  await opener(page).click();
  await asks(page, QUESTION);
  await ends(page, 0);
  const shown = () => turn(page, 0).locator('.answer').innerText();
  expect('with the time of day where the reader is', /^Bis 0?1:00 zitiert der Assistent die Doku[^]*A quote\.$/.test(await shown()), await shown());
  await page.reload();
  await ends(page, 0);
  expect('and still after a reload', (await shown()).startsWith('Bis '), await shown());
}

export async function belowAPathOfTheSiteNothingIsAskedElsewhere({ visit, expect, hosts }) {
  const page = await visit('/below-a-path');
  await opener(page).click();
  await panelOf(page).waitFor();
  await asks(page, QUESTION);
  await reads(page, 0, 'parked for a day');
  await ends(page, 0);
  const asked = page.asked.map(request => new URL(request.url())).filter(url => url.protocol !== 'data:');
  expect('the site is asked alone', asked.every(url => url.origin === hosts.origin), asked);
  expect('below the path', bodies(page).length === 1 && asked.filter(url => url.pathname.startsWith('/docent/')).length >= 4, asked);
}
