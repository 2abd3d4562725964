// Drives the real SDK clients against a running server.
//
//     DOCENT_KEY=docent_assistant_… DOCENT_ADMIN_KEY=docent_admin_… DOCENT_HELD_KEY=docent_assistant_… DOCENT_SNIPPET=… \
//         node clients.mjs http://127.0.0.1:8080 DOMAIN http://127.0.0.1:8081
//
// DOMAIN is the name of the project in both kinds of paths, and on both servers. The second server has a model that can
// be held in the middle of a reply; the program that started this one holds it on request (see stage.mjs).
// DOCENT_SNIPPET is the code of the playground, with a key.
//
// Prints one line per story and client, and exits 1 if an expectation was not met.
import { Stage } from './stage.mjs';
import * as stories from './stories.mjs';
import * as stories4 from './stories4.mjs';

const [base, domain, heldBase] = process.argv.slice(2);
const { DOCENT_KEY: key, DOCENT_ADMIN_KEY: adminKey, DOCENT_HELD_KEY: heldKey, DOCENT_SNIPPET: snippet } = process.env;
if (!base || !domain || !heldBase || !key || !adminKey || !heldKey || !snippet) {
  console.error('usage: DOCENT_KEY=… DOCENT_ADMIN_KEY=… DOCENT_HELD_KEY=… DOCENT_SNIPPET=… node clients.mjs BASE_URL DOMAIN HELD_BASE_URL');
  process.exit(2);
}
if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error(`the newest SDK needs node 22 or later; this is ${process.version}`);
  process.exit(2);
}
const at = (url, key) => ({ api: url, headers: { Authorization: `Bearer ${key}` } });
const assistant = (base, key) => ({
  ...at(`${base}/discovery/v2/assistant/${domain}/message`, key),
  v1: at(`${base}/discovery/v1/assistant/${domain}/message`, key),
});
const stage = new Stage();
const server = {
  ...assistant(base, key),
  agent: at(`${base}/v1/agent/${domain}/job`, adminKey),
  held: { ...assistant(heldBase, heldKey), stage },
  snippet,
};

const EVERY = ['aTurn', 'aSecondTurn', 'aJob', 'aJobThatFails'];
const CURRENT = [...EVERY, 'theSnippet', 'aRegeneratedReply', 'aRefusal', 'aStreamReadByHand', 'aStreamInSmallPieces', 'aStop', 'aPage',
  'aLostReplyIsResumed', 'aReplyForTwoReaders'];
const OLD = ['aTurn', 'aStreamInSmallPieces', 'aRefusal', 'aPage', 'aStop', 'aPageThatResumes',
  'aLostReplyIsResumed'];
const CLIENTS = [
  { name: '4.3.19', utils: 'ui-utils-4', react: () => import('react-4'), told: stories4, plays: OLD },
  { name: '5.0.277', packageName: 'ai-5', react: () => import('react-5'), plays: CURRENT },
  { name: '6.0.323', packageName: 'ai-6', react: () => import('react-6'), plays: CURRENT },
  { name: '7.0.173', packageName: 'ai-7', react: () => import('react-7'), plays: CURRENT },
  // Releases that refuse unknown keys: recognised by their requests, or by the query that an app may add.
  ...['', '?sdk=strict'].flatMap(query => [
    { name: `5.0.91${query}`, packageName: 'ai-5-strict-early', query, plays: EVERY },
    { name: `5.0.216${query}`, packageName: 'ai-5-strict', query, plays: EVERY },
    { name: `6.0.230${query}`, packageName: 'ai-6-strict', query, plays: EVERY },
    { name: `7.0.31${query}`, packageName: 'ai-7-strict', query, plays: EVERY },
  ]),
];

// The hook's test renderer prints on every use that it is deprecated.
const complain = console.error;
console.error = (...words) => String(words[0]).includes('react-test-renderer is deprecated') || complain(...words);

let met = 0;
const unmet = [];
for (const { name, packageName, utils, react, query = '', told = stories, plays } of CLIENTS) {
  const client = { react, query };
  if (utils) client.utils = await import(utils);
  if (packageName) client.ai = await import(packageName);
  const schema = client.ai?.uiMessageChunkSchema;
  client.schema = typeof schema === 'function' ? schema() : schema;
  for (const play of plays) {
    const before = unmet.length;
    const expect = (what, truth, detail = '') => {
      if (truth) met += 1;
      else unmet.push(`${name} ${play}: ${what} ${String(detail).slice(0, 300)}`);
    };
    await told[play](client, server, expect).catch(error => expect('it plays to the end', false, error.stack));
    console.log(`${unmet.length === before ? 'ok    ' : 'FAILED'} SDK ${name} ${play}`);
  }
}
if (unmet.length > 0) console.log(`\nnot as expected:\n  ${unmet.join('\n  ')}`);
console.log(`\n${met} expectations met, ${unmet.length} not`);
process.exit(unmet.length > 0 ? 1 : 0);
