// A page with the hook of the newest major, which reads the UI message stream of version 2.
import { useEffect } from 'react';
import { useChat } from 'react-7';
import { DefaultChatTransport } from 'ai';
import { Chat } from './chat.jsx';
import { api, headers, kept, keep, resumes, show } from './app.js';

const transport = new DefaultChatTransport({ api: api('v2'), headers, body: { fp: 'anonymous', retrievalPageSize: 5 } });

function Page() {
  const { messages, status, error, stop, sendMessage } = useChat({ ...kept, transport, resume: resumes });
  useEffect(() => keep({ id: kept.id, messages }), [messages]);
  const shown = messages.map(({ id, role, parts }) => ({
    id,
    role,
    text: parts.filter(part => part.type === 'text').map(part => part.text).join(''),
    sources: parts.filter(part => part.type === 'source-url'),
  }));
  return <Chat messages={shown} status={status} error={error} stop={stop} ask={text => sendMessage({ text })} />;
}

show(<Page />);
