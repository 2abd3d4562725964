/** What an owner may set: as `data-` attributes of the script or the element, or as properties here. See docs/WIDGET.md. */
export interface DocentOptions {
  /** The server, such as `https://docent.example.com`. Default: where the script comes from. */
  server?: string;
  /** The domain of the docs on the server. */
  domain?: string;
  /** An assistant key, which is public. */
  key?: string;
  mode?: "chat" | "search";
  /** Where the docs begin, such as `/docs`. Links of answers lead there. Default: `/`. */
  base?: string;
  /** A code of two letters. Default: the page's, or the reader's. */
  lang?: string;
  theme?: "light" | "dark";
  /** The words on the button. */
  label?: string;
  title?: string;
  welcome?: string;
  placeholder?: string;
  note?: string;
  /** Questions to begin with; in an attribute separated by `|`. */
  starters?: string[] | string;
  /** Where a reader may turn to: a mail address, or a URL in which `{transcript}` is replaced. */
  help?: string;
  /** An id of the reader. Default: `anonymous`. */
  user?: string;
  /** Narrow answers and results to this version and language of the docs. */
  version?: string;
  language?: string;
  /** `off`: no button; the page opens the chat itself. */
  button?: "off";
  hotkey?: "off";
  selection?: "off";
  /** Texts in place of those of the language; in an attribute as JSON. */
  texts?: Record<string, string> | string;
}

export interface OpenOptions {
  /** Asked at once. */
  question?: string;
  /** Put into the field, and not asked. */
  text?: string;
  /** A text that the next question is about. */
  selection?: string;
  focus?: boolean;
}

export class DocentChat extends HTMLElement {
  options: DocentOptions;
  open(what?: OpenOptions): Promise<void>;
  close(): Promise<void>;
  ask(question: string): Promise<void>;
  /** Ends the conversation and forgets it. */
  reset(): Promise<void>;
  update(options: DocentOptions): Promise<void>;
  destroy(): void;
}

/** Puts the button on the page, or gives the one that is there other options. */
export function init(options?: DocentOptions): DocentChat;

/** The chat of the page: the one behind the button, else the first inline one. */
export const Docent: {
  init: typeof init;
  open(what?: OpenOptions): Promise<void> | undefined;
  close(): Promise<void> | undefined;
  ask(question: string): Promise<void> | undefined;
  reset(): Promise<void> | undefined;
  update(options: DocentOptions): Promise<void> | undefined;
  destroy(): void;
};

export interface DocentEvents {
  "docent:open": CustomEvent<undefined>;
  "docent:close": CustomEvent<undefined>;
  "docent:ask": CustomEvent<{ question: string }>;
  "docent:answer": CustomEvent<{ question: string; answer: string; messageId?: string }>;
  "docent:error": CustomEvent<{ question: string; answer: string; messageId?: string; error?: string; status?: number }>;
  "docent:feedback": CustomEvent<{ rating: "up" | "down"; comment?: string; messageId: string }>;
  "docent:search": CustomEvent<{ query: string; results: number }>;
  "docent:help": CustomEvent<{ transcript: string }>;
  "docent:reset": CustomEvent<undefined>;
}

declare global {
  interface Window {
    Docent: typeof Docent;
  }
  interface HTMLElementTagNameMap {
    "docent-chat": DocentChat;
  }
  interface WindowEventMap extends DocentEvents {}
}
