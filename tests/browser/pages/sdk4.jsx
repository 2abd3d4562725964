// A page with the hook of the SDK's major 4, which reads the data stream of version 1.
import { useEffect, useRef } from 'react';
import { useChat } from 'react-4';
import { Chat } from './chat.jsx';
import { api, headers, kept, keep, resumes, show } from './app.js';

function Page() {
  const { id, messages: initialMessages } = kept;
  const finished = useRef(initialMessages.at(-1)?.id);
  const chat = useChat({
    id,
    initialMessages,
    api: api('v1'),
    headers,
    body: { fp: 'anonymous', retrievalPageSize: 5 },
    streamProtocol: 'data',
    sendExtraMessageFields: true,
    onFinish: message => { finished.current = message.id; },
  });
  const { messages, status, error, stop } = chat;
  useEffect(() => {
    if (resumes) chat.experimental_resume();
  }, []);
  useEffect(() => {
    // A resumed reply is sent from its beginning, and this hook would merge it with the part that it has already.
    const last = messages.at(-1);
    const isWhole = last?.role !== 'assistant' || last.id === finished.current;
    keep({ id, messages: isWhole ? messages : messages.slice(0, -1) });
  }, [messages, status]);
  const shown = messages.map(({ id, role, content, parts }) => ({
    id,
    role,
    text: content,
    sources: (parts ?? []).filter(part => part.type === 'source').map(part => part.source),
  }));
  return <Chat messages={shown} status={status} error={error} stop={stop} ask={content => chat.append({ role: 'user', content })} />;
}

show(<Page />);
