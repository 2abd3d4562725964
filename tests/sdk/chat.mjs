// A chat of the SDK without a browser: the SDK's own AbstractChat with its state in a plain object, and a fetch that
// keeps what went over the wire.

/** Makes a chat of this major's `ai` package. `onUpdate` is called whenever the reply grew. */
export function makeChat(ai, { onUpdate = () => {}, ...options }) {
  const state = {
    status: 'ready',
    error: undefined,
    messages: [],
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

/** A fetch that records every exchange in `log`, and hands the body on in pieces of `pieces` bytes, `pause` ms apart. */
export function watchedFetch(log, { pieces = 0, pause = 0 } = {}) {
  return async (url, init) => {
    const exchange = { url: String(url), body: init?.body, bytes: [] };
    log.push(exchange);
    const response = await fetch(url, init);
    exchange.status = response.status;
    exchange.headers = response.headers;
    if (!response.body) return response;
    const watch = new TransformStream({
      async transform(chunk, out) {
        exchange.bytes.push(chunk);
        for (let at = 0; at < chunk.length; at += pieces || chunk.length) {
          // What the network still has is lost to whoever hung up.
          init?.signal?.throwIfAborted();
          out.enqueue(chunk.slice(at, at + (pieces || chunk.length)));
          if (pause) await sleep(pause);
        }
      },
    });
    return new Response(response.body.pipeThrough(watch), response);
  };
}

/** The frames of a recorded exchange; throws where they are no proper stream. */
export function framesOf(exchange) {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(exchange.bytes));
  const frames = text.split('\n\n').filter(block => block.startsWith('data: ')).map(block => block.slice(6));
  if (frames.pop() !== '[DONE]') throw new Error('the stream does not end with [DONE]');
  return frames.map(frame => JSON.parse(frame));
}

export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

/** Waits until `probe` gives something; undefined when it does not within ten seconds. */
export async function eventually(probe) {
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(5)) {
    const found = probe();
    if (found) return found;
  }
  return undefined;
}
