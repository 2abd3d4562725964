// A chat of the SDK without a browser: the SDK's own AbstractChat with its state in a plain object, and a fetch that
// records the traffic.

/** Makes a chat of this major's `ai` package. `onUpdate` is called whenever the reply grew. */
export function makeChat(ai, { onUpdate = () => {}, messages = [], ...options }) {
  const state = {
    status: 'ready',
    error: undefined,
    messages,
    pushMessage(message) {
      state.messages = [...state.messages, message];
      if (message.role === 'assistant') onUpdate(message);
    },
    popMessage() {
      state.messages = state.messages.slice(0, -1);
    },
    replaceMessage(index, message) {
      state.messages = state.messages.with(index, structuredClone(message));
      onUpdate(message);
    },
    snapshot: value => structuredClone(value),
  };
  class Chat extends ai.AbstractChat {}
  return new Chat({ ...options, state });
}

export const textOf = message =>
  (message?.parts ?? []).filter(part => part.type === 'text').map(part => part.text).join('');

/**
 * A fetch that records every exchange in `log`, and hands the body on in pieces of `pieces` bytes. Behind the first match
 * of `upTo` it stands still, as a network can, until whoever asked hangs up.
 */
export function watchedFetch(log, { pieces = 0, upTo } = {}) {
  return async (url, init) => {
    const exchange = { url: String(url), body: init?.body, bytes: [] };
    log.push(exchange);
    const response = await fetch(url, init);
    exchange.status = response.status;
    exchange.headers = response.headers;
    if (!response.body) return response;
    let handedOn = '';
    const watch = new TransformStream({
      async transform(chunk, out) {
        exchange.bytes.push(chunk);
        const match = upTo?.exec(handedOn + Buffer.from(chunk).toString('latin1'));
        const end = match ? match.index + match[0].length - handedOn.length : chunk.length;
        for (let at = 0; at < end; at += pieces || end) out.enqueue(chunk.slice(at, Math.min(at + (pieces || end), end)));
        handedOn += Buffer.from(chunk.slice(0, end)).toString('latin1');
        if (match) await hangUp(init?.signal);
      },
    });
    return new Response(response.body.pipeThrough(watch), response);
  };
}

/** Waits for somebody to hang up, and fails with their reason. */
function hangUp(signal) {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason));
  });
}

/** The frames of a recorded exchange; throws where they are no proper stream. */
export function framesOf(exchange) {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(exchange.bytes));
  const frames = text.split('\n\n').filter(block => block.startsWith('data: ')).map(block => block.slice(6));
  if (frames.pop() !== '[DONE]') throw new Error('the stream does not end with [DONE]');
  return frames.map(frame => JSON.parse(frame));
}

export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Waits until `probe` gives something; undefined when it does not within a minute. */
export async function eventually(probe) {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(5)) {
    const found = probe();
    if (found) return found;
  }
  return undefined;
}
