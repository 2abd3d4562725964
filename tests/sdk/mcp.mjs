// Drives released clients of the Model Context Protocol, and its conformance checks, against running servers.
//
//     DOCENT_KEY=docent_assistant_… node mcp.mjs URL PUBLIC_URL
//
// URL is `/mcp/DOMAIN` of a server that asks for the key, PUBLIC_URL that of one that does not, with the same pages.
// Prints one line per story and client, and exits 1 if an expectation was not met.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import * as v2 from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, publicUrl] = process.argv.slice(2);
const { DOCENT_KEY: key } = process.env;
if (!url || !publicUrl || !key) {
  console.error('usage: DOCENT_KEY=… node mcp.mjs URL PUBLIC_URL');
  process.exit(2);
}

const INFO = { name: 'docent-tests', version: '1' };
const CLIENTS = [
  { name: '1.32.2', client: () => new ClientV1(INFO), Transport: TransportV1 },
  ...['auto', 'legacy', { pin: '2026-07-28' }].map(mode => ({
    name: `2.4.0 ${JSON.stringify(mode)}`,
    client: () => new v2.Client(INFO, { versionNegotiation: { mode } }),
    Transport: v2.StreamableHTTPClientTransport,
  })),
];

async function connected({ client, Transport }, at, key) {
  const connection = client();
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  await connection.connect(new Transport(new URL(at), { requestInit: { headers } }));
  return connection;
}

const STORIES = {
  async theToolsAreListed(client) {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(tool => tool.name), ['search', 'get_page', 'list_pages', 'ask']);
    assert.ok(tools.every(tool => tool.annotations.readOnlyHint));
  },
  async aSearchFindsAPageThatIsRead(client) {
    const found = await client.callTool({ name: 'search', arguments: { query: 'webhook delivery retried' } });
    const [best] = found.structuredContent.results;
    assert.match(found.content[0].text, /retried five times/);
    const page = await client.callTool({ name: 'get_page', arguments: { path: best.url } });
    assert.match(page.content[0].text, /retried five times/);
    assert.equal(page.structuredContent.path, 'guides/webhooks');
  },
  async aMissNamesTheNearestPages(client) {
    const missed = await client.callTool({ name: 'get_page', arguments: { path: '/guides/webhook' } });
    assert.equal(missed.isError, true);
    assert.equal(missed.structuredContent.nearest[0].path, 'guides/webhooks');
  },
  async theAssistantAnswers(client) {
    const answer = await client.callTool({ name: 'ask', arguments: { question: 'How often is a webhook delivery retried?' } });
    assert.match(answer.structuredContent.answer, /retried five times/);
    assert.match(answer.structuredContent.sources[0].url, /guides\/webhooks/);
  },
};

// What the conformance checks ask of tools that a server has for them alone is not there: those say `Not testable`.
// Sessions, prompts, resources and their templates are features that this server does not have.
const SCENARIOS = [
  ...['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'].map(name => ({ name, version: '2025-11-25' })),
  ...['server-stateless', 'tools-list', 'dns-rebinding-protection', 'http-header-validation', 'caching', 'sep-2164-resource-not-found',
    'input-required-result-unsupported-methods', 'input-required-result-ignore-extra-params'].map(name => ({ name, version: '2026-07-28' })),
];
const ABSENT = /^Not testable|^(prompts|resources|resources\/templates)\/list returned JSON-RPC error -32601/;

function conforms({ name, version }) {
  const program = fileURLToPath(new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url));
  const args = [program, 'server', '--url', publicUrl, '--scenario', name, '--spec-version', version, '--verbose'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 });
  const checks = JSON.parse(stdout.slice(stdout.indexOf('\n[') + 1, stdout.indexOf('\n]') + 2));
  assert.ok(checks.some(check => check.status === 'SUCCESS'), `${stdout}${stderr}`);
  const failed = checks.filter(check => check.status === 'FAILURE' && !ABSENT.test(check.errorMessage));
  assert.deepEqual(failed.map(check => `${check.id}: ${check.errorMessage}`), []);
}

let faults = 0;
async function play(name, story) {
  try {
    await story();
    console.log(`ok      ${name}`);
  } catch (error) {
    faults += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}

for (const kind of CLIENTS) {
  for (const [at, shown] of [[url, key], [publicUrl, undefined]]) {
    for (const [name, story] of Object.entries(STORIES)) {
      await play(`${kind.name} ${shown ? 'with a key' : 'without a key'}: ${name}`, async () => {
        const client = await connected(kind, at, shown);
        await story(client);
        await client.close();
      });
    }
  }
  for (const refused of [undefined, `docent_assistant_${'A'.repeat(38)}`]) {
    await play(`${kind.name}: ${refused ? 'aWrongKey' : 'aMissingKey'}IsRefused`, () => assert.rejects(connected(kind, url, refused), /API key|HTTP 401/));
  }
}
for (const scenario of SCENARIOS) {
  await play(`conformance ${scenario.version}: ${scenario.name}`, () => conforms(scenario));
}
process.exit(faults ? 1 : 0);
