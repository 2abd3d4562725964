// The button of the chat. Once it is used, it loads widget/panel.js and one file of widget/texts. See docs/WIDGET.md.
const HERE = import.meta.url;
const LABELS = {
  en: ["Ask", "Not available right now"], de: ["Fragen", "Nicht verfügbar"], fr: ["Demander", "Indisponible"], es: ["Preguntar", "No disponible ahora"],
  pt: ["Perguntar", "Indisponível"], ja: ["質問する", "利用できません"], zh: ["提问", "暂不可用"], ko: ["질문하기", "사용할 수 없습니다"],
};
const STYLE = `
:host { all: initial !important; position: fixed !important; z-index: var(--docent-z-index, 2147483000) !important; pointer-events: none !important }
:host(:not([floating])) { position: relative !important; z-index: auto !important; display: block !important; height: var(--docent-height, 32rem) !important; pointer-events: auto !important }
.open, .about { all: unset; position: fixed; pointer-events: auto; cursor: pointer; display: flex; align-items: center; gap: .5em; white-space: nowrap;
  font: 600 15px/1.2 var(--docent-font, system-ui, sans-serif); color: var(--docent-accent-text, #fff); background: var(--docent-accent, #4f46e5);
  border: 1px solid transparent; border-radius: 99px; padding: .8em 1.2em; box-shadow: 0 4px 16px #0003 }
.open, .floats { inset-block: var(--docent-block, auto var(--docent-offset, 20px)); inset-inline: var(--docent-inline, auto var(--docent-offset, 20px)) }
@media print { button { display: none !important } }
:focus-visible { outline: 2px solid; outline-offset: 2px }
svg { width: 1.2em; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round }
[hidden] { display: none !important }`;
const CHAT = "M21 12a8 8 0 0 1-8 8H3l2-4a8 8 0 1 1 16-4Z";

const isField = (node) => node?.isContentEditable || node?.matches?.("input,textarea,select");

export const icon = (path) => {
  const make = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
  const [svg, line] = [make("svg"), make("path")];
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.ariaHidden = "true";
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
};

// A Content-Security-Policy without `style-src` lets this through.
export const sheet = (text) => {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
};

/** The first language that there are texts in. */
export const languageOf = ({ lang }) =>
  [lang, document.documentElement.lang, ...navigator.languages].map((tag) => tag?.toLowerCase().split("-")[0]).find((tag) => LABELS[tag]) ?? "en";

/** Floating behind a button, or inline, where somebody wrote the element into a page. */
export class DocentChat extends (globalThis.HTMLElement ?? Object) {
  options = {};
  #panel;
  #ended = new AbortController();

  connectedCallback() {
    if (this.shadowRoot) return;
    this.options = { server: new URL(".", HERE).href.slice(0, -1), ...this.dataset, ...this.options };
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [sheet(STYLE)];
    this.floats = this.hasAttribute("floating");
    this.floats ? this.#float(root) : this.panel();
  }

  get store() {
    return `docent:${this.options.server}:${this.options.domain}${this.id}`;
  }

  #float(root) {
    const button = (name) => {
      const made = document.createElement("button");
      made.className = made.part = name;
      made.append(icon(CHAT), "");
      root.append(made);
      return made;
    };
    this.opener = button("open");
    const offer = (this.offer = button("about"));
    offer.hidden = true;
    this.#label();
    Object.assign(this.opener, { ariaExpanded: "false", ariaHasPopup: "dialog", dir: this.direction, hidden: this.options.button === "off" });
    const { signal } = this.#ended;
    this.opener.addEventListener("click", () => this.toggle());
    const key = (event) => {
      const is = event.ctrlKey ? /^[ki]$/i.test(event.key) : event.metaKey && event.key === "k";
      if (!is || !this.isConnected || event.shiftKey || event.altKey || event.defaultPrevented || isField(event.composedPath()[0])) return;
      event.preventDefault();
      this.toggle();
    };
    if (this.options.hotkey !== "off") {
      // Put behind all other listeners, so that a host that has the key already is heard first.
      const last = () => { removeEventListener("keydown", key); addEventListener("keydown", key, { signal }); };
      addEventListener("keydown", last, { capture: true, signal });
    }
    if (this.options.selection !== "off" && this.options.mode !== "search") {
      const look = () => {
        const selection = getSelection();
        this.selected = `${selection}`.trim();
        offer.hidden = this.selected.length < 3 || isField(document.activeElement) || this.shadowRoot.activeElement?.closest(".panel");
        if (offer.hidden) return;
        const { left, bottom } = selection.getRangeAt(0).getBoundingClientRect();
        offer.style = `left:${Math.max(8, Math.min(left, innerWidth - 180))}px;top:${Math.min(bottom + 8, innerHeight - 48)}px`;
      };
      let changed;
      document.addEventListener("selectionchange", () => { clearTimeout(changed); changed = setTimeout(look, 200); }, { signal });
      addEventListener("scroll", () => { offer.hidden = true; }, { capture: true, signal });
      // The click would end the selection before it is read.
      offer.addEventListener("mousedown", (event) => event.preventDefault());
      offer.addEventListener("click", () => this.toggle());
    }
    try {
      if (JSON.parse(localStorage.getItem(this.store))?.open) this.open({ focus: false });
    } catch {
      // No storage, or not ours.
    }
  }

  /** Writes on the buttons what they do, or that it is not possible. */
  #label(which = 0) {
    const texts = LABELS[languageOf(this.options)];
    for (const { lastChild } of [this.opener, this.offer]) lastChild.data = (!which && this.options.label) || texts[which];
  }

  get direction() {
    return getComputedStyle(this.parentElement ?? document.documentElement).direction;
  }

  panel() {
    this.#panel ??= import("./widget/panel.js").then((module) => module.mount(this)).catch((error) => {
      this.#panel = undefined;
      if (this.opener) {
        this.#label(1);
        setTimeout(() => this.#label(), 4000);
      }
      throw error;
    });
    return this.#panel;
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(`docent:${name}`, { detail, bubbles: true, composed: true }));
  }

  async toggle() {
    const { offer, selected } = this;
    const isAsked = !offer.hidden;
    const panel = await this.panel();
    if (isAsked) panel.open({ selection: selected });
    else panel.isOpen ? panel.close() : panel.open({});
    offer.hidden = true;
  }

  async open(what = {}) { (await this.panel()).open(what); }
  async close() { (await this.#panel)?.close(); }
  async ask(question) { this.open({ question }); }
  async reset() { (await this.panel()).reset(); }

  async update(options) {
    Object.assign(this.options, options);
    if (this.opener) {
      this.opener.hidden = this.options.button === "off";
      this.#label();
    }
    (await this.#panel)?.update();
  }

  destroy() {
    this.#ended.abort();
    this.#panel?.then((panel) => panel.destroy(), () => {});
    this.remove();
  }
}
// The button that is there gets other options.
export function init(options = {}) {
  let chat = document.querySelector("docent-chat[floating]");
  if (chat) return chat.update(options), chat;
  chat = document.createElement("docent-chat");
  chat.options = options;
  chat.setAttribute("floating", "");
  const add = () => document.body.append(chat);
  document.body ? add() : addEventListener("DOMContentLoaded", add);
  return chat;
}

export const Docent = { init };
for (const name of ["open", "close", "ask", "update", "reset", "destroy"]) {
  Docent[name] = (what) => (document.querySelector("docent-chat[floating]") ?? document.querySelector("docent-chat"))?.[name](what);
}

// Where the site is rendered ahead, there is no page.
if (globalThis.document) {
  window.Docent ??= Docent;
  if (!customElements.get("docent-chat")) customElements.define("docent-chat", DocentChat);
  const script = [...document.scripts].find((one) => one.src === HERE && one.dataset.domain);
  if (script) init({ ...script.dataset });
}
