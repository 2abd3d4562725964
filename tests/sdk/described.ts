// A client whose types openapi-typescript generated from /openapi.json runs a job and asks a question.
//
//     DOCENT_KEY=docent_assistant_… DOCENT_ADMIN_KEY=docent_admin_… node described.js BASE_URL DOMAIN
//
// `described.mjs` generates the types, checks this file by them and runs it.
import createClient from 'openapi-fetch';

import type { components, paths } from './api.js';

declare const process: { argv: string[]; env: Record<string, string | undefined> };

const [baseUrl = '', domain = ''] = process.argv.slice(2);
const clientWith = (key: string | undefined) => createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });

function expect(holds: boolean, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

async function aJob() {
  const admin = clientWith(process.env['DOCENT_ADMIN_KEY']);
  const body = { prompt: 'Replace "gadget" with "widget"', asDraft: true };
  const created = await admin.POST('/v2/agent/{projectId}/job', { params: { path: { projectId: domain } }, body });
  expect(created.data !== undefined, created.error);
  let job: components['schemas']['AgentJob'] = created.data;
  while (job.status === 'active') {
    const path = { projectId: domain, id: job.id };
    const asked = await admin.GET('/v2/agent/{projectId}/job/{id}', { params: { path, query: { wait: 30 } } });
    expect(asked.data !== undefined, asked.error);
    job = asked.data;
  }
  expect(job.status === 'completed', job);
  const missing = await admin.GET('/v2/agent/{projectId}/job/{id}', { params: { path: { projectId: domain, id: 'none' } } });
  expect(missing.error !== undefined && missing.error.error.includes('none'), missing);
}

async function aQuestion() {
  const reader = clientWith(process.env['DOCENT_KEY']);
  const params = { path: { domain } };
  const answer = await reader.POST('/discovery/v2/assistant/{domain}/message', {
    params,
    body: { fp: 'anonymous', messages: [{ role: 'user', parts: [{ type: 'text', text: 'How often is a webhook delivery retried?' }] }] },
    parseAs: 'text',
  });
  expect(answer.data !== undefined && String(answer.data).includes('[DONE]'), answer.error);
  const completion = await reader.POST('/discovery/v2/openai/{domain}/chat/completions', {
    params,
    body: { messages: [{ role: 'user', content: 'How is a delivery signed?' }] },
  });
  expect(completion.data !== undefined, completion.error);
  // A stream was not asked for.
  const answered = completion.data as components['schemas']['Completion'];
  const text: string | undefined = answered.choices[0]?.message.content;
  expect(text !== undefined && text.includes('Acme-Signature'), text);
}

for (const story of [aJob, aQuestion]) {
  await story();
  console.log(`ok     ${story.name}`);
}
