// A chat server as people write them in Node, with a made-up model.
//
//     node peer.mjs sdk          the chat SDK's own server code, from the model's stream to the response
//     node peer.mjs sdk URL      the same, with the SDK's client for the model server at this URL
//     node peer.mjs plain        server-sent events without a library, with as little code as possible
//     node peer.mjs relay URL    the same, relaying the stream of the model server at this URL
//
// Prints `listening on http://ADDR` and answers POST /?deltas=200&every=50: 200 deltas, one every 50 milliseconds (0:
// as fast as possible).
import http from 'node:http';

const [kind, model] = process.argv.slice(2);
const answerers = { sdk: await bySdk(), plain: byHand, relay: model && relayed };
const answer = answerers[kind];
if (!answer) {
  console.error('usage: node peer.mjs sdk|sdk URL|plain|relay URL');
  process.exit(2);
}

const server = http.createServer(async (request, response) => {
  let text = '';
  request.setEncoding('utf8');
  for await (const piece of request) text += piece;
  const { searchParams } = new URL(request.url, 'http://peer');
  const pace = { deltas: Number(searchParams.get('deltas') ?? 200), every: Number(searchParams.get('every') ?? 0) };
  await answer(JSON.parse(text).messages, pace, response);
});
server.keepAliveTimeout = 120_000;
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
// A reader that disconnects in the middle must not stop the server.
process.on('unhandledRejection', () => {});

function word(n) {
  return `t${String(n % 100_000).padStart(5, '0')} `;
}

async function byHand(_messages, { deltas, every }, response) {
  const send = begun(response);
  for (let n = 0; n < deltas && !response.destroyed; n++) {
    send({ type: 'text-delta', id: '0', delta: word(n) });
    if (every) await new Promise((awake) => setTimeout(awake, every));
  }
  ended(response, send);
}

const agent = new http.Agent({ keepAlive: true });

function relayed(messages, _pace, response) {
  const asks = http.request(`${model}/chat/completions`, {
    agent,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  response.on('close', () => response.writableFinished || asks.destroy());
  asks.on('error', () => response.destroy());
  asks.on('response', (says) => {
    const send = begun(response);
    let rest = '';
    says.setEncoding('utf8');
    says.on('error', () => response.destroy());
    says.on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
        const delta = JSON.parse(line.slice(6)).choices[0]?.delta.content;
        if (delta) send({ type: 'text-delta', id: '0', delta });
      }
    });
    says.on('end', () => ended(response, send));
  });
  asks.end(JSON.stringify({ model: 'paced-1', stream: true, messages: messages.map(plainly) }));
}

function plainly({ role, parts }) {
  return { role, content: parts.map(({ text }) => text).join('') };
}

function begun(response) {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-vercel-ai-ui-message-stream': 'v1',
  });
  const send = (event) => response.write(`data: ${JSON.stringify(event)}\n\n`);
  send({ type: 'start' });
  send({ type: 'text-start', id: '0' });
  return send;
}

function ended(response, send) {
  send({ type: 'text-end', id: '0' });
  send({ type: 'finish', finishReason: 'stop' });
  response.end('data: [DONE]\n\n');
}

async function bySdk() {
  if (kind !== 'sdk') return undefined;
  const sdk = await import('ai');
  const modelOf = model ? await served() : await madeUp(sdk);
  return async (messages, pace, response) => {
    const left = new AbortController();
    response.on('close', () => response.writableFinished || left.abort());
    const result = sdk.streamText({
      model: modelOf(pace),
      messages: await sdk.convertToModelMessages(messages),
      abortSignal: left.signal,
      onError() {},
    });
    sdk.pipeUIMessageStreamToResponse({ response, stream: sdk.toUIMessageStream({ stream: result.stream }) });
  };
}

async function served() {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const paced = createOpenAICompatible({ name: 'paced', baseURL: model }).chatModel('paced-1');
  return () => paced;
}

async function madeUp(sdk) {
  const { MockLanguageModelV4 } = await import('ai/test');
  const usage = { inputTokens: { total: 10 }, outputTokens: { total: 200 } };
  const chunks = (deltas) => [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '0' },
    ...Array.from({ length: deltas }, (_, n) => ({ type: 'text-delta', id: '0', delta: word(n) })),
    { type: 'text-end', id: '0' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
  ];
  const known = new Map();
  return ({ deltas, every }) => {
    if (!known.has(deltas)) known.set(deltas, chunks(deltas));
    return new MockLanguageModelV4({
      doStream: async () => ({
        stream: sdk.simulateReadableStream({
          chunks: known.get(deltas),
          initialDelayInMs: null,
          chunkDelayInMs: every || null,
        }),
      }),
    });
  };
}
