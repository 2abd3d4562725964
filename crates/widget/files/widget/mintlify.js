// For sites that embedded the hosted service's assistant: its global object `MintlifyAssistant`, on this chat. The widget id becomes
// `DOMAIN/KEY`.
import { init } from "../widget.js";

const SERVER = new URL("..", import.meta.url).href.slice(0, -1);
const isGroup = (value) => value && typeof value === "object" && !Array.isArray(value);

/** The configuration with a patch; null takes a value away. */
function patched(config, patch) {
  const next = { ...config };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete next[name];
    else next[name] = isGroup(value) ? patched(next[name] ?? {}, value) : value;
  }
  return next;
}

function options({ id = "", endpoint, labels = {}, appearance = {}, filter = {}, supportEmail, starterQuestions }) {
  const [domain, key] = id.split("/");
  return {
    domain, key, server: endpoint ?? SERVER, title: labels.title, label: labels.trigger, placeholder: labels.placeholder,
    note: labels.disclaimer === false ? "" : labels.disclaimer, theme: appearance.theme === "system" ? undefined : appearance.theme,
    help: supportEmail, starters: starterQuestions, texts: { starters: labels.suggestions }, version: filter.version, language: filter.language,
  };
}

/** The corner of the page that a side and an alignment come to, as the insets of the button and the panel. */
function corner(direction, side = "bottom", align = "end") {
  const starts = ["start", "inline-start", "top", direction === "rtl" ? "right" : "left"];
  const [block, inline] = ["top", "bottom"].includes(side) ? [side, align] : [align, side];
  const inset = (edge) => (starts.includes(edge) ? "var(--docent-offset, 20px) auto" : undefined);
  return { block: inset(block), inline: inset(inline) };
}

function paint({ style, direction }, { accent, radius, font, zIndex, side, align } = {}) {
  for (const [name, value] of Object.entries({ accent, radius, font, "z-index": zIndex, ...corner(direction, side, align) })) {
    if (value === undefined) style.removeProperty(`--docent-${name}`);
    else style.setProperty(`--docent-${name}`, value);
  }
}

let config;
let chat;
let source;
let isCall = false;
/** What a call does, so that its events are not taken for the reader's. */
async function called(from, act) {
  [isCall, source] = [true, from];
  try { await act(); } finally { [isCall, source] = [false, undefined]; }
}
const hook = (name, what) => {
  try { config?.hooks?.[name]?.(what); } catch { /* the page's own */ }
};

document.addEventListener("pointerdown", ({ target }) => { if (config?.appearance?.dismissOnInteractOutside && target !== chat) chat?.close(); });

window.MintlifyAssistant = {
  async init(given) {
    if (chat) return;
    config = patched({}, given);
    chat = init(options(config));
    paint(chat, config.appearance);
    for (const type of ["open", "close", "ask", "reset"]) {
      chat.addEventListener(`docent:${type}`, () => hook("event", { type, actor: isCall ? "api" : "user", source }));
    }
    chat.addEventListener("docent:error", ({ detail: { error, status } }) => hook("error", { code: error, retryable: !["key", "origin"].includes(error), status }));
    chat.addEventListener("click", (click) => { if (click.composedPath().some((node) => node.href)) hook("event", { type: "navigate", actor: "user" }); });
    hook("event", { type: "init", actor: "api" });
    if (config.defaultOpen) await window.MintlifyAssistant.open();
  },
  async open({ source: from, focus } = {}) {
    await called(from, () => chat?.open({ focus }));
  },
  async close() { await called(undefined, () => chat?.close()); },
  async ask(question, { source: from, focus, open = true } = {}) {
    await called(from, async () => (open ? chat?.open({ question, focus }) : (await chat?.panel())?.ask(question)));
  },
  async update(patch) {
    if (!chat) return;
    const before = config.identity;
    config = patched(config, patch);
    paint(chat, config.appearance);
    await chat.update(options(config));
    if (config.identity !== before) await called(undefined, () => chat.reset());
    hook("event", { type: "update", actor: "api" });
  },
  async reset() { await called(undefined, () => chat?.reset()); },
  async destroy() {
    chat?.destroy();
    hook("event", { type: "destroy", actor: "api" });
    chat = undefined;
  },
};
