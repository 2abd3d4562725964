// Drives OpenAI's SDK against a running server.
//
//     DOCENT_KEY=docent_assistant_… node openai.mjs BASE_URL DOMAIN
//
// Prints one line per story, and exits 1 if an expectation was not met.
import assert from 'node:assert/strict';

import OpenAI from 'openai';

const [base, domain] = process.argv.slice(2);
const { DOCENT_KEY: apiKey } = process.env;
if (!base || !domain || !apiKey) {
  console.error('usage: DOCENT_KEY=… node openai.mjs BASE_URL DOMAIN');
  process.exit(2);
}
const baseURL = `${base}/discovery/v2/openai/${domain}`;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = domain;
const messages = [
  { role: 'system', content: 'Answer in the words of a pirate.' },
  { role: 'user', content: 'How often is a webhook delivery retried?' },
];

const STORIES = {
  async theModelIsListed() {
    const models = [];
    for await (const one of client.models.list()) models.push(one.id);
    assert.deepEqual(models, [domain]);
    assert.equal((await client.models.retrieve(domain)).id, domain);
  },
  async aCompletion() {
    const { choices: [{ message, finish_reason: reason }], usage } = await client.chat.completions.create({ model, messages });
    assert.match(message.content, /retried five times/);
    assert.match(message.content, /\n\nSources:\n- \[Webhooks\]/);
    const [{ type, url_citation: cited }] = message.annotations;
    assert.equal(type, 'url_citation');
    assert.match([...message.content].slice(cited.start_index, cited.end_index).join(''), /^\[Webhooks\]\(/);
    assert.equal(reason, 'stop');
    assert.equal(typeof usage.total_tokens, 'number');
  },
  async aStream() {
    const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
    let deltas = '';
    stream.on('content', delta => { deltas += delta; });
    const completion = await stream.finalChatCompletion();
    assert.match(deltas, /retried five times/);
    assert.equal(completion.choices[0].message.content, deltas);
    assert.equal(typeof (await stream.totalUsage()).total_tokens, 'number');
  },
  async aSecondTurn() {
    const first = await client.chat.completions.create({ model, messages });
    const next = [...messages, first.choices[0].message, { role: 'user', content: 'And how is a delivery signed?' }];
    const second = await client.chat.completions.create({ model, messages: next });
    assert.match(second.choices[0].message.content, /Acme-Signature/);
  },
  async aRefusal() {
    const stranger = new OpenAI({ baseURL, apiKey: `docent_assistant_${'A'.repeat(38)}`, maxRetries: 0 });
    await assert.rejects(stranger.chat.completions.create({ model, messages }), error => {
      assert.ok(error instanceof OpenAI.AuthenticationError);
      assert.match(error.message, /API key/);
      return true;
    });
    await assert.rejects(client.chat.completions.create({ model, messages: [] }), OpenAI.BadRequestError);
  },
};

let faults = 0;
for (const [name, story] of Object.entries(STORIES)) {
  try {
    await story();
    console.log(`ok      ${name}`);
  } catch (error) {
    faults += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
process.exit(faults ? 1 : 0);
