// A page that drives the chat, checked by the types of its package.
import { DocentChat, init, type DocentOptions } from 'docent-widget';

const options: DocentOptions = { domain: 'acme', key: 'docent_assistant_x', mode: 'chat', starters: ['How?'], texts: { note: 'Be careful.' } };
const chat: DocentChat = init(options);
await chat.open({ question: 'How?', focus: false });
await window.Docent.update({ title: 'Acme' });
addEventListener('docent:error', ({ detail: { question, error, status } }) => console.error(question, error?.toUpperCase(), status?.toFixed()));
addEventListener('docent:feedback', ({ detail: { rating } }) => { const given: 'up' | 'down' = rating; console.log(given); });
document.querySelector('docent-chat')?.addEventListener('docent:search', event => event.stopPropagation());
// @ts-expect-error
init({ mode: 'ask' });
// @ts-expect-error
await chat.open({ questions: [] });
// @ts-expect-error
await window.Docent.ask();
