// The reader's view: the conversation, and an input line.
import { useState } from 'react';

/** `messages` are `{id, role, text, sources: [{url, title}]}`. */
export function Chat({ messages, status, error, ask, stop }) {
  const [question, setQuestion] = useState('');
  const runs = status === 'submitted' || status === 'streaming';
  const waits = runs && messages.at(-1)?.role !== 'assistant';
  const send = event => {
    event.preventDefault();
    if (runs || question.trim() === '') return;
    ask(question);
    setQuestion('');
  };
  return (
    <main data-status={status}>
      <header>Ask the Acme docs</header>
      <section className="conversation" aria-live="polite">
        {messages.map(message => <Message key={message.id} {...message} />)}
        {waits && <p className="waits">Looking it up …</p>}
        {error && <p className="trouble" role="alert">{sentence(error)}</p>}
      </section>
      <form onSubmit={send}>
        <input value={question} onChange={event => setQuestion(event.target.value)} placeholder="Ask a question" aria-label="Question" />
        {runs ? <button type="button" onClick={() => stop()}>Stop</button> : <button>Send</button>}
      </form>
    </main>
  );
}

function Message({ role, text, sources }) {
  return (
    <article className={role}>
      <div className="text">{linked(text)}</div>
      {sources.length > 0 && (
        <ul className="sources" aria-label="Sources">
          {sources.map(({ url, title }) => <li key={url}><a href={url}>{title}</a></li>)}
        </ul>
      )}
    </article>
  );
}

/** A text with its Markdown links as links. */
function linked(text) {
  return text.split(/(\[[^\]]*\]\([^)]*\))/).map((piece, n) => {
    const link = /^\[([^\]]*)\]\(([^)]*)\)$/.exec(piece);
    return link ? <a key={n} href={link[2]}>{link[1]}</a> : piece;
  });
}

/** What the server said, or what the browser says when it may not read that. */
function sentence(error) {
  try {
    return JSON.parse(error.message).error ?? error.message;
  } catch {
    return `The assistant cannot be reached (${error.message}).`;
  }
}
