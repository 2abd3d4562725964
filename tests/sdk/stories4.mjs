// The stories of a client of major 4, which reads the data stream of version 1. Structured like stories.mjs.
import { eventually, sleep, watchedFetch } from './chat.mjs';
import { FIELDS, HELD, QUESTION, QUESTION_BEYOND_ASCII, sentence } from './words.mjs';

const user = text => ({ id: 'u1', role: 'user', content: text, parts: [{ type: 'text', text }] });

/** Asks once, as the SDK's own client does. */
async function asked(client, server, text, { fields, headers, wire } = {}) {
  const seen = { log: [], data: [] };
  await client.utils.callChatApi({
    api: server.v1.api,
    headers: headers ?? server.v1.headers,
    body: { id: 'chat', messages: [user(text)], ...FIELDS, ...fields },
    streamProtocol: 'data',
    fetch: watchedFetch(seen.log, wire),
    abortController: () => new AbortController(),
    restoreMessagesOnFailure() {},
    onResponse: undefined,
    onUpdate: update => { seen.reply = update.message; seen.data = update.data ?? []; },
    onFinish: (message, finish) => { seen.reply = message; seen.finish = finish; },
    generateId: () => 'made-by-the-client',
    lastMessage: undefined,
  }).catch(error => { seen.error = error; });
  return seen;
}

/** The lines of a recorded exchange; throws where they are no proper stream. */
function linesOf(client, exchange) {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(exchange.bytes));
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  return text.split('\n').filter(Boolean).map(line => ({ letter: line[0], ...client.utils.parseDataStreamPart(line), raw: line }));
}

const threadIn = seen => seen.data.find(event => event?.type === 'finish')?.threadId;

export async function aTurn(client, server, expect) {
  const seen = await asked(client, server, QUESTION);
  const { log, reply, finish, error } = seen;
  expect('no error', !error && log[0].status === 200, error?.message);
  expect('the headers name the protocol', log[0].headers.get('x-vercel-ai-data-stream') === 'v1'
    && log[0].headers.get('content-type') === 'text/plain; charset=utf-8');
  const lines = linesOf(client, log[0]);
  const letters = lines.map(line => line.letter).join('');
  expect('the lines come in their order', /^f8(9a)*(f?(9a)*0*h*e)+2d$/.test(letters), letters);
  const text = lines.filter(line => line.letter === '0').map(line => line.value).join('');
  expect('the text is whole', text !== '' && reply?.content === text, reply?.content);
  const sources = reply?.parts.filter(part => part.type === 'source').map(part => part.source) ?? [];
  expect('there are sources', sources.length > 0 && sources.every(source => source.sourceType === 'url' && source.id && source.url));
  const tools = reply?.parts.filter(part => part.type === 'tool-invocation').map(part => part.toolInvocation) ?? [];
  const passages = tools.flatMap(tool => tool.result?.results ?? [undefined]);
  expect('every search is answered with passages', tools.length > 0 && passages.every(passage => passage?.content && passage.url), JSON.stringify(tools));
  expect('the reply has the id of its start', reply?.id === lines[0].value.messageId, reply?.id);
  const thread = threadIn(seen);
  expect('the thread is in the data', typeof thread === 'string', JSON.stringify(seen.data));
  expect('and in an annotation', reply?.annotations?.[0]?.threadId === thread, JSON.stringify(reply?.annotations));
  expect('and in the header', log[0].headers.get('x-thread-id') === thread);
  expect('and in the last line', JSON.parse(lines.at(-1).raw.slice(2)).threadId === thread, lines.at(-1).raw);
  expect('it ended well', finish?.finishReason === 'stop' && Number.isFinite(finish.usage.totalTokens), JSON.stringify(finish));

  const named = await asked(client, server, 'And then?', { fields: { threadId: thread } });
  expect('a threadId in the body is continued', threadIn(named) === thread, named.error?.message);
  const fresh = await asked(client, server, QUESTION, { fields: { threadId: null } });
  expect('null begins a new thread', threadIn(fresh) && threadIn(fresh) !== thread, fresh.error?.message);
}

export async function aStreamInSmallPieces(client, server, expect) {
  const { reply, log, error } = await asked(client, server, QUESTION_BEYOND_ASCII, { wire: { pieces: 1 } });
  const sent = linesOf(client, log[0]).filter(line => line.letter === '0').map(line => line.value).join('');
  expect('letters survive being cut in two', !error && reply?.content === sent && sent.includes('Öffnungszeiten'), error?.message ?? sent);
  expect('and none was lost', !sent.includes('\ufffd'), sent);
}

export async function aRefusal(client, server, expect) {
  const stranger = await asked(client, server, QUESTION, { headers: { Authorization: 'Bearer nobody' } });
  expect('a wrong key is an error the app can read', stranger.log[0].status === 401 && sentence(stranger.error) !== '', stranger.error?.message);
  const wrong = await asked(client, server, QUESTION, { fields: { currentPath: '/'.repeat(201) } });
  expect('a wrong field is named', wrong.log[0].status === 400 && sentence(wrong.error).includes('currentPath'));
  const lost = await asked(client, server, QUESTION, { fields: { threadId: 'no-such-thread' } });
  expect('an unknown thread is begun anew', lost.log[0].status === 200 && threadIn(lost), lost.error?.message);
}

/** Shows a page with the hook for as long as `visit` takes. */
async function onAPage(client, server, options, visit) {
  const { default: React } = await import('react');
  const { default: renderer } = await import('react-test-renderer');
  const { useChat } = await client.react();
  const seen = { log: [] };
  const hooked = { api: server.v1.api, headers: server.v1.headers, body: FIELDS, id: `chat-${Math.random()}`, ...options,
    fetch: watchedFetch(seen.log, options.wire), onFinish: (message, finish) => { seen.finish = { message, ...finish }; } };
  function Page() {
    seen.hook = useChat(hooked);
    return null;
  }
  const page = renderer.create(React.createElement(Page));
  await eventually(() => seen.hook);
  await visit(seen);
  page.unmount();
  await sleep(0);
}

const atRest = (seen, messages) =>
  eventually(() => ['ready', 'error'].includes(seen.hook.status) && (seen.hook.error || seen.hook.messages.length === messages));

export async function aPage(client, server, expect) {
  // With and without the extra message fields: the thread is kept either way.
  for (const sendExtraMessageFields of [true, false]) {
    await onAPage(client, server, { sendExtraMessageFields }, async seen => {
      for (const messages of [2, 4]) {
        await seen.hook.append({ role: 'user', content: QUESTION });
        await atRest(seen, messages);
        const { status, error } = seen.hook;
        expect(`useChat has ${messages} messages`, status === 'ready' && seen.hook.messages.length === messages, error?.message ?? status);
      }
      const replies = seen.hook.messages.filter(message => message.role === 'assistant');
      const [first, second] = replies.map(reply => reply.annotations?.[0]?.threadId);
      expect('an unmodified app stays in its thread', first && first === second, `${first} -> ${second}`);
      expect('every reply has an id of its own', new Set(replies.map(reply => reply.id)).size === 2);
      const sent = JSON.parse(seen.log[1].body);
      expect('the fields were sent as asked', ('id' in sent.messages[0]) === sendExtraMessageFields, Object.keys(sent.messages[0]));
    });
  }
}

export async function aStop(client, server, expect) {
  await onAPage(client, server, { wire: { upTo: /^0:.*\n/m } }, async seen => {
    seen.hook.append({ role: 'user', content: QUESTION });
    expect('the reply begins', await eventually(() => seen.hook.messages.at(-1)?.role === 'assistant' && seen.hook.messages.at(-1).content));
    seen.hook.stop();
    expect('the page is ready', await eventually(() => seen.hook.status === 'ready'), seen.hook.status);
    expect('a reply that was stopped is not finished', seen.finish === undefined, seen.finish?.finishReason);
    expect('a stop is no error', !seen.hook.error, seen.hook.error?.stack);
    expect('what was said stays', seen.hook.messages.at(-1)?.content, JSON.stringify(seen.hook.messages));
  });
  const after = await asked(client, server, QUESTION);
  expect('the next question is answered', after.reply?.content, after.error?.message);
}

export async function aPageThatResumes(client, server, expect) {
  await onAPage(client, server, {}, async seen => {
    await seen.hook.append({ role: 'user', content: QUESTION });
    await atRest(seen, 2);
    const before = seen.hook.messages[1]?.content;
    seen.hook.experimental_resume();
    expect('it asks for the chat', await eventually(() => seen.log[1]?.status), seen.log.length);
    expect('the page is ready', await eventually(() => seen.hook.status === 'ready'), seen.hook.status);
    expect('there is nothing to add', seen.log[1]?.status === 200 && !seen.hook.error, seen.hook.error?.message);
    expect('and nothing is lost', seen.hook.messages.some(message => message.content === before), JSON.stringify(seen.hook.messages));
  });
}

export async function aLostReplyIsResumed(client, { held }, expect) {
  const id = `lost-${Math.random()}`;
  let question, before;
  await onAPage(client, held, { id }, async seen => {
    seen.hook.experimental_resume();
    expect('there is nothing to resume yet', (await eventually(() => seen.log[0]?.status)) === 200, seen.log[0]?.status);
    expect('the page is ready', await eventually(() => seen.hook.status === 'ready'), seen.hook.status);
    await held.stage.holdsTheModel();
    before = await held.stage.model(HELD.question);
    seen.hook.append({ role: 'user', content: HELD.question });
    expect('the reply begins', await eventually(() => seen.hook.messages.at(-1)?.content.includes(HELD.middle)));
    question = seen.hook.messages[0];
    seen.hook.stop();
  });
  await onAPage(client, held, { id }, async seen => {
    // The hook keeps its chats as long as the program runs; a reloaded page only has what it stored itself.
    seen.hook.setMessages([question]);
    await eventually(() => seen.hook.messages.length === 1);
    seen.hook.experimental_resume();
    expect('there is a reply to resume', await eventually(() => seen.hook.messages.at(-1)?.content.includes(HELD.middle) && seen.hook.messages.at(-1).role === 'assistant'), seen.log[0]?.status);
    await held.stage.lets();
    await eventually(() => seen.hook.status === 'ready');
    const [, reply, ...more] = seen.hook.messages;
    expect('the whole of it is there, once', reply?.content.startsWith(HELD.begins) && reply.content.endsWith(HELD.ends) && more.length === 0, JSON.stringify(seen.hook.messages));
    expect('with its sources and its thread', reply?.parts.some(part => part.type === 'source') && reply.annotations?.[0]?.threadId, JSON.stringify(reply));
    expect('it ended well', !seen.hook.error && seen.finish?.finishReason === 'stop', seen.hook.error?.message);
  });
  const after = await held.stage.model(HELD.question);
  expect('the model was asked once, to its end', after.asked === before.asked + 1 && after.hungUp === before.hungUp, JSON.stringify(after));
}
