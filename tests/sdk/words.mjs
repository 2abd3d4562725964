// The questions and request fields of all clients, and how they parse a refusal.

export const QUESTION = 'How often is a webhook delivery retried?';
export const QUESTION_BEYOND_ASCII = 'Öffnungszeiten: wann hat das Café in Zürich geöffnet?';
// The model of the held server waits in the middle of its answer to this question, after `begins`.
export const HELD = { question: 'What does error E1002 mean?', begins: 'The parcel is', middle: 'heavier', ends: 'See [Errors](/reference/errors).' };
// An app's page sends more fields than the conversation.
export const FIELDS = {
  fp: 'anonymous',
  retrievalPageSize: 5,
  context: [{ type: 'code', value: 'acme login', path: 'a.sh', elementId: 'e1' }],
  currentPath: '/guides/webhooks',
  filter: null,
};

/** The server's sentence, as an app finds it in the error the SDK gives it. */
export function sentence(error) {
  try {
    return JSON.parse(error?.message).error ?? '';
  } catch {
    return '';
  }
}
