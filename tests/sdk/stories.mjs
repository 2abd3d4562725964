// The stories of a client. Each story takes a client and the address of the server, and states its expectations by
// `expect(what, truth, detail)`.
import { eventually, framesOf, makeChat, sleep, textOf, watchedFetch } from './chat.mjs';
import { FIELDS, HELD, QUESTION, QUESTION_BEYOND_ASCII, sentence } from './words.mjs';

function open(client, server, { fields, headers, wire, ...options } = {}) {
  const log = [];
  const seen = { log };
  const transport = new client.ai.DefaultChatTransport({
    api: server.api + client.query,
    headers: headers ?? server.headers,
    body: { ...FIELDS, ...fields },
    fetch: watchedFetch(log, wire),
  });
  seen.chat = makeChat(client.ai, {
    transport,
    onFinish: finish => { seen.finish = finish; },
    onError: error => { seen.error = error; },
    ...options,
  });
  return seen;
}

export async function aTurn(client, server, expect) {
  const { chat, log, finish, error } = await asked(open(client, server), QUESTION);
  expect('no error', !error && chat.status === 'ready', error?.message);
  const reply = chat.messages.at(-1);
  const frames = framesOf(log[0]);
  for (const frame of frames) {
    const verdict = await client.schema.validate(frame);
    expect('the client knows every frame', verdict.success, `${verdict.error?.message} ${JSON.stringify(frame)}`);
  }
  const text = frames.filter(frame => frame.type === 'text-delta').map(frame => frame.delta).join('');
  expect('the text is whole', text !== '' && textOf(reply) === text, textOf(reply));
  const sources = reply.parts.filter(part => part.type === 'source-url');
  expect('there are sources', sources.length > 0 && sources.every(source => source.url && source.sourceId), kinds(reply));
  const tools = reply.parts.filter(part => part.type === 'tool-search');
  expect('every tool call is answered', tools.every(tool => tool.state === 'output-available'), JSON.stringify(tools));
  expect('the reply has the id of its start', frames[0].type === 'start' && reply.id === frames[0].messageId, reply.id);
  expect('the thread is in the metadata', typeof reply.metadata?.threadId === 'string', JSON.stringify(reply.metadata));
  expect('the header names it too', log[0].headers.get('x-thread-id') === reply.metadata?.threadId);
  expect('onFinish has the reply', finish?.message.metadata?.threadId === reply.metadata?.threadId);
  expect('it ended well', !finish?.isAbort && !finish?.isError && !finish?.isDisconnect, JSON.stringify(finish));
}

export async function aSecondTurn(client, server, expect) {
  const seen = await asked(await asked(open(client, server), QUESTION), 'And what happens after that?');
  const { messages, status } = seen.chat;
  expect('two turns are four messages', status === 'ready' && messages.length === 4, seen.error?.message);
  expect('every message has an id of its own', new Set(messages.map(message => message.id)).size === messages.length);
  expect('the second reply has text', textOf(messages.at(-1)) !== '');
  const [first, second] = [messages[1], messages[3]].map(message => message?.metadata?.threadId);
  expect('an unmodified app stays in its thread', first && first === second, `${first} -> ${second}`);

  const named = await asked(open(client, server, { fields: { threadId: first } }), 'And then?');
  const thread = named.chat.messages.at(-1)?.metadata?.threadId;
  expect('a threadId in the body is continued', thread === first, `${first} -> ${thread} ${named.error?.message ?? ''}`);
  const fresh = await asked(open(client, server, { fields: { threadId: null } }), QUESTION);
  const other = fresh.chat.messages.at(-1)?.metadata?.threadId;
  expect('null begins a new thread', other && other !== first, `${other} ${fresh.error?.message ?? ''}`);
}

/** The code that the playground of the dashboard shows, as it is. */
export async function theSnippet(client, server, expect) {
  const code = server.snippet.replaceAll(/^import \{ (\w+) \} from '([^']+)';$/gm, "const { $1 } = packages['$2'];");
  const printed = [];
  const run = new (async () => {}).constructor('packages', 'console', code);
  await run({ ai: client.ai, '@ai-sdk/react': await client.react() }, { log: (...words) => printed.push(words.join(' ')) });
  expect('it prints an answer', printed.some(line => line.includes('retried')), printed.join('\n'));
  expect('and the pages it is from', printed.some(line => line.includes('/guides/webhooks')), printed.join('\n'));
}

export async function aJob(client, server, expect) {
  const { chat, log, finish, error } = await asked(open(client, server.agent), 'Replace "parcel" with "package"');
  expect('no error', !error && chat.status === 'ready', error?.message);
  const frames = framesOf(log[0]);
  for (const frame of frames) {
    const verdict = await client.schema.validate(frame);
    expect('the client knows every frame', verdict.success, `${verdict.error?.message} ${JSON.stringify(frame)}`);
  }
  const reply = chat.messages.at(-1);
  expect('the message is the session', reply.id === log[0].headers.get('x-session-id'), reply.id);
  expect('there is text', textOf(reply) !== '', kinds(reply));
  const tools = reply.parts.filter(part => part.type.startsWith('tool-'));
  const answered = tool => ['output-available', 'output-error'].includes(tool.state);
  expect('every tool call is answered', tools.length > 0 && tools.every(answered), JSON.stringify(tools));
  const statuses = reply.parts.filter(part => part.type === 'data-status');
  expect('the newest status is the only one', statuses.length === 1 && statuses[0].data.status === 'completed', JSON.stringify(statuses));
  const pulls = reply.parts.filter(part => part.type === 'data-pull-request');
  expect('there is a pull request', pulls.length === 1 && pulls[0].data.url.startsWith('http'), JSON.stringify(pulls));
  expect('it ended well', finish && !finish.isAbort && !finish.isError && !finish.isDisconnect, JSON.stringify(finish));
}

export async function aJobThatFails(client, server, expect) {
  const { chat, error } = await asked(open(client, server.agent), 'Make everything better, please');
  const reply = chat.messages.at(-1);
  expect('a failed job is no failed stream', !error && chat.status === 'ready', error?.message);
  expect('its status says so', reply.parts.find(part => part.type === 'data-status')?.data.status === 'failed', kinds(reply));
  expect('and its text says why', textOf(reply) !== '', kinds(reply));
  expect('and so does the finish', reply.metadata?.finishReason === 'error', JSON.stringify(reply.metadata));
}

export async function aRegeneratedReply(client, server, expect) {
  const seen = await asked(open(client, server), QUESTION);
  const before = seen.chat.messages.at(-1)?.id;
  await seen.chat.regenerate();
  const { messages, status } = seen.chat;
  expect('it replaces the reply', status === 'ready' && messages.length === 2, seen.error?.message);
  expect('under a new id', messages[1]?.id !== before && textOf(messages[1]) !== '', messages[1]?.id);
}

export async function aRefusal(client, server, expect) {
  const stranger = await asked(open(client, server, { headers: { Authorization: 'Bearer nobody' } }), QUESTION);
  expect('a wrong key is an error the app sees', stranger.chat.status === 'error' && stranger.log[0].status === 401);
  expect('the app can read it', sentence(stranger.error) !== '', stranger.error?.message);
  const wrong = await asked(open(client, server, { fields: { currentPath: '/'.repeat(201) } }), QUESTION);
  expect('a wrong field is named', wrong.log[0].status === 400 && sentence(wrong.error).includes('currentPath'));
  const lost = await asked(open(client, server, { fields: { threadId: 'no-such-thread' } }), QUESTION);
  expect('an unknown thread is begun anew', lost.log[0].status === 200 && lost.chat.messages.at(-1)?.metadata?.threadId, lost.error?.message);
}

export async function aStreamReadByHand(client, server, expect) {
  const transport = new client.ai.DefaultChatTransport({ api: server.api, headers: server.headers, body: FIELDS });
  const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: QUESTION }] }];
  const stream = await transport.sendMessages({ trigger: 'submit-message', chatId: 'c', messageId: undefined, messages });
  let last;
  for await (const message of client.ai.readUIMessageStream({ stream, terminateOnError: true })) last = message;
  expect('readUIMessageStream reads it', textOf(last) !== '' && last.metadata?.threadId, kinds(last));
  const resumed = await transport.reconnectToStream({ chatId: 'no-such-chat' });
  expect('there is nothing to resume', resumed === null);
}

export async function aStreamInSmallPieces(client, server, expect) {
  const { chat, log, error } = await asked(open(client, server, { wire: { pieces: 1 } }), QUESTION_BEYOND_ASCII);
  const text = textOf(chat.messages.at(-1));
  const sent = framesOf(log[0]).filter(frame => frame.type === 'text-delta').map(frame => frame.delta).join('');
  expect('letters survive being cut in two', !error && text === sent && text.includes('Öffnungszeiten'), error?.message ?? text);
  expect('and none was lost', !text.includes('\ufffd'), text);
}

export async function aStop(client, server, expect) {
  const seen = open(client, server, { wire: { upTo: /"text-delta".*\n\n/ } });
  const asking = seen.chat.sendMessage({ text: QUESTION });
  expect('the reply begins', await eventually(() => textOf(seen.chat.messages.at(-1)) && seen.chat.messages.length === 2));
  await seen.chat.stop();
  await asking;
  expect('a stop is no error', seen.chat.status === 'ready' && seen.finish?.isAbort === true, seen.error?.message);
  expect('what was said stays', textOf(seen.chat.messages.at(-1)) !== '', kinds(seen.chat.messages.at(-1)));
  const after = await asked(open(client, server), QUESTION);
  expect('the next question is answered', textOf(after.chat.messages.at(-1)) !== '', after.error?.message);
}

export async function aPage(client, server, expect) {
  const { default: React } = await import('react');
  const { default: renderer } = await import('react-test-renderer');
  const { useChat } = await client.react();
  const transport = new client.ai.DefaultChatTransport({ api: server.api, headers: server.headers, body: FIELDS });
  let hook;
  function Page() {
    hook = useChat({ transport });
    return null;
  }
  const page = renderer.create(React.createElement(Page));
  await eventually(() => hook);
  for (const messages of [2, 4]) {
    await hook.sendMessage({ text: QUESTION });
    await eventually(() => ['ready', 'error'].includes(hook.status) && hook.messages.length === messages);
    expect(`useChat has ${messages} messages`, hook.status === 'ready' && hook.messages.length === messages,
      hook.error?.message ?? `${hook.status}, ${hook.messages.length}`);
  }
  const [first, second] = [hook.messages[1], hook.messages[3]].map(message => message?.metadata?.threadId);
  expect('useChat stays in its thread', first && first === second, `${first} -> ${second}`);
  page.unmount();
  await sleep(0);
}

/** The chat of a page that resumes: the first thing it does is to ask for a reply that runs. */
async function openResuming(client, server, id, messages = []) {
  const seen = open(client, server, { id, messages });
  seen.resuming = seen.chat.resumeStream();
  return seen;
}

/** A reply that runs and has been read to its middle. */
async function inTheMiddle(client, { held }, id, expect) {
  const seen = await openResuming(client, held, id);
  await seen.resuming;
  expect('there is nothing to resume yet', seen.log[0].status === 204 && seen.chat.status === 'ready', seen.error?.message);
  await held.stage.holdsTheModel();
  const before = await held.stage.model(HELD.question);
  seen.asking = asked(seen, HELD.question);
  expect('the reply begins', await eventually(() => textOf(seen.chat.messages.at(-1)).includes(HELD.middle)));
  return { seen, before };
}

function isWhole(seen, expect, who) {
  const { messages, status } = seen.chat;
  const text = textOf(messages.at(-1));
  expect(`${who} has the whole reply`, text.startsWith(HELD.begins) && text.endsWith(HELD.ends), text);
  expect(`${who} has it once`, messages.length === 2 && text.split(HELD.middle).length === 2, JSON.stringify(messages));
  expect(`${who} has its sources and its thread`, messages[1]?.parts.some(part => part.type === 'source-url') && messages[1].metadata?.threadId, kinds(messages[1]));
  expect(`${who} saw it end well`, !seen.error && status === 'ready', seen.error?.message ?? status);
}

export async function aLostReplyIsResumed(client, server, expect) {
  const id = `lost-${Math.random()}`;
  const { seen, before } = await inTheMiddle(client, server, id, expect);
  await seen.chat.stop();
  await seen.asking;
  // The text received so far is kept, as by a page that stores its messages; the reply is sent again from the
  // beginning.
  const again = await openResuming(client, server.held, id, seen.chat.messages);
  expect('there is a reply to resume', (await eventually(() => again.log[0]?.status)) === 200, again.log[0]?.status);
  await server.held.stage.lets();
  await again.resuming;
  isWhole(again, expect, 'who came back');
  const after = await server.held.stage.model(HELD.question);
  expect('the model was asked once, to its end', after.asked === before.asked + 1 && after.hungUp === before.hungUp, JSON.stringify(after));
}

export async function aReplyForTwoReaders(client, server, expect) {
  const id = `shared-${Math.random()}`;
  const { seen, before } = await inTheMiddle(client, server, id, expect);
  const other = await openResuming(client, server.held, id, seen.chat.messages.slice(0, 1));
  expect('another may read', (await eventually(() => other.log[0]?.status)) === 200, other.log[0]?.status);
  await eventually(() => textOf(other.chat.messages.at(-1)).includes(HELD.middle));
  await server.held.stage.lets();
  await Promise.all([seen.asking, other.resuming]);
  isWhole(seen, expect, 'who asked');
  isWhole(other, expect, 'who joined');
  expect('it is one reply', seen.chat.messages[1]?.id === other.chat.messages[1]?.id, other.chat.messages[1]?.id);
  const after = await server.held.stage.model(HELD.question);
  expect('the model was asked once', after.asked === before.asked + 1, JSON.stringify(after));
}

async function asked(seen, text) {
  await seen.chat.sendMessage({ text });
  return seen;
}

const kinds = message => JSON.stringify((message?.parts ?? []).map(part => part.type));
