// The stories of a reader of a page. Each story gets a scene: it opens a visit or continues the previous one, and
// states its expectations by `expect(what, truth, detail)`. The model's replies are in tests/blackbox/browser.rs.

const QUESTION = 'How often is a webhook delivery retried?';
const FOLLOW_UP = 'And what happens after that?';
const LONG = 'How many requests does the widget endpoint accept?';
const HELD = 'What does error E1002 mean?';

export async function anAnswerStreamsIn({ expect, open, picture, assistant }) {
  const visit = await open();
  expect('the page is on another origin', new URL(visit.page.url()).origin !== assistant.server);
  await visit.watches(0);
  await visit.asks(QUESTION);
  await visit.reads(0, 'exponential');
  await picture('1-streams');
  await visit.reads(0, 'parked');
  await visit.rests();
  const [status, seen, text] = [await visit.status(), await visit.seen(), await visit.textOf(0)];
  expect('it ends well', status === 'ready' && (await visit.troubles()) === 0, status);
  const grows = seen.every((step, n) => n === 0 || step.length > seen[n - 1].length);
  expect('the answer grows word by word', seen.length >= 5 && grows, JSON.stringify(seen));
  expect('to the whole of it', text === seen.at(-1) && text.startsWith('A delivery') && text.endsWith('Webhooks.'), text);
  const sources = await visit.sources(0);
  expect('its sources are shown', sources.some(({ title, url }) => title === 'Webhooks' && url.startsWith('/guides/webhooks')), JSON.stringify(sources));
  expect('none of them twice', new Set(sources.map(source => source.url.split('#')[0])).size === sources.length, JSON.stringify(sources));
  const link = await visit.reply(0).locator('.text a').getAttribute('href');
  expect('the link in the text leads to the page', link?.startsWith('/guides/webhooks'), link);
  await picture('2-answered');
}

export async function aFollowUpStaysInTheThread({ expect, goOn, picture, stage }) {
  const visit = goOn();
  await visit.asks(FOLLOW_UP);
  await visit.reads(1, 'looks at it again');
  await visit.rests();
  expect('there are two turns', (await visit.replies()) === 2 && (await visit.questions()).length === 2, await visit.questions());
  const [first, second] = visit.exchanges.filter(exchange => exchange.method === 'POST');
  expect('both in one thread', first.thread && first.thread === second.thread, `${first.thread} -> ${second.thread}`);
  expect('which the page was not told to name', !('threadId' in JSON.parse(second.body)), second.body);
  expect('the model was asked once a turn', (await stage.model(FOLLOW_UP)).asked > 0);
  await picture('3-goes-on');
}

export async function aStopReachesTheModel({ expect, open, picture, stage }) {
  const visit = await open();
  await stage.holdsTheModel();
  const before = await stage.model(LONG);
  await visit.asks(LONG);
  await visit.reads(0, 'hundred');
  const start = performance.now();
  await visit.page.getByRole('button', { name: 'Stop' }).click();
  let after;
  do {
    after = await stage.model(LONG);
  } while (after.hungUp === before.hungUp && performance.now() - start < 10_000);
  expect('a stop reaches the model', after.hungUp === before.hungUp + 1, JSON.stringify(after));
  expect('what was said stays', (await visit.textOf(0)).includes('hundred'));
  expect('a stop is no error', (await visit.troubles()) === 0);
  await picture('4-stopped');
  await stage.lets();
}

export async function aReloadIsSurvived({ expect, open, picture, stage }) {
  const visit = await open({ resumes: true });
  // The request that the page sends on load is answered: there is nothing to resume yet.
  await visit.rests();
  await stage.holdsTheModel();
  const before = await stage.model(HELD);
  await visit.asks(HELD);
  await visit.reads(0, 'heavier');
  visit.exchanges.length = 0;
  const resumed = await visit.reloads();
  expect('there is a reply to resume', resumed.status() === 200, resumed.status());
  await visit.reads(0, 'heavier');
  await picture('5-reloaded');
  await stage.lets();
  await visit.reads(0, 'See Errors.');
  await visit.rests();
  const [status, text, questions] = [await visit.status(), await visit.textOf(0), await visit.questions()];
  expect('the whole answer is there', text.startsWith('The parcel is') && text.endsWith('See Errors.'), text);
  expect('once', text.split('heavier').length === 2 && (await visit.replies()) === 1, text);
  expect('under the question', questions.length === 1 && questions[0] === HELD, questions);
  expect('it ends well', status === 'ready' && (await visit.troubles()) === 0, status);
  expect('its sources are shown', (await visit.sources(0)).some(source => source.title === 'Errors'), JSON.stringify(await visit.sources(0)));
  expect('the page asked for the reply and not again', visit.exchanges.every(exchange => exchange.method === 'GET'), JSON.stringify(visit.exchanges));
  const after = await stage.model(HELD);
  expect('the model was asked once', after.asked === before.asked + 1 && after.hungUp === before.hungUp, JSON.stringify(after));
  await picture('6-resumed');
}

export async function aForeignKeyIsAnErrorAndNoHang({ expect, open, picture, assistant, stage }) {
  const visit = await open({ key: assistant.elsewhere });
  visit.expects('blocked by CORS policy');
  visit.expects('net::ERR_FAILED');
  const before = await stage.model(QUESTION);
  await visit.asks(QUESTION);
  await visit.page.getByRole('alert').waitFor();
  await visit.rests();
  expect('the page says so', (await visit.trouble()).includes('cannot be reached'), await visit.trouble());
  expect('the chat is not stuck', (await visit.status()) === 'error' && (await visit.page.getByRole('button', { name: 'Send' }).isEnabled()));
  expect('nobody asked the model', (await stage.model(QUESTION)).asked === before.asked);
  await picture('7-foreign');
}

export async function overTheLimitItIsRefusedPolitely({ expect, open, picture, stage }) {
  const visit = await open();
  await visit.asks(QUESTION);
  await visit.reads(0, 'parked');
  await visit.rests();
  await stage.usesUpTheLimit();
  visit.expects('status of 429');
  await visit.asks(FOLLOW_UP);
  await visit.page.getByRole('alert').waitFor();
  await visit.rests();
  const [told, refused] = [await visit.trouble(), visit.exchanges.at(-1)];
  expect('the server refuses', refused.status === 429, refused.status);
  expect('the page shows its sentence', /^[A-Z].*\d.*\.$/.test(told) && !told.includes('{') && !told.includes('cannot be reached'), told);
  expect('what was said stays', (await visit.textOf(0)).includes('parked'));
  await picture('8-refused');
  await stage.raisesTheLimit();
  await visit.asks(FOLLOW_UP);
  await visit.reads(1, 'looks at it again');
  await visit.rests();
  expect('then the chat goes on', (await visit.status()) === 'ready' && (await visit.troubles()) === 0, await visit.status());
  const threads = visit.exchanges.filter(exchange => exchange.status === 200).map(exchange => exchange.thread);
  expect('in its thread', threads.length === 2 && threads[0] === threads[1], JSON.stringify(threads));
}
