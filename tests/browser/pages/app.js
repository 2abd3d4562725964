// Shared by both pages: the address of the assistant, and the chat that survives a reload.
import { createRoot } from 'react-dom/client';

const query = new URLSearchParams(location.search);

export const api = version => `${query.get('server')}/discovery/${version}/assistant/${query.get('domain')}/message`;
export const headers = { Authorization: `Bearer ${query.get('key')}` };
export const resumes = query.has('resume');

/** The chat as it was before a reload, or a new one. */
export const kept = JSON.parse(sessionStorage.getItem('chat')) ?? { id: `chat-${crypto.randomUUID()}`, messages: [] };
export const keep = chat => sessionStorage.setItem('chat', JSON.stringify(chat));

export const show = page => createRoot(document.getElementById('app')).render(page);
