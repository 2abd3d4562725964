// The panel of the chat: conversation, search, and what belongs to an answer. The server sends answers as blocks (docs/API.md,
// "Blocks instead of Markdown"), so there is no Markdown parser here, and no HTML string anywhere.
import { icon, languageOf, sheet } from "../widget.js";
import { STYLE } from "./style.js";
import { edit, show, textOf } from "./blocks.js";

// Each by its name, so that bundlers find them.
const TEXTS = {
  en: () => import("./texts/en.js"), de: () => import("./texts/de.js"), fr: () => import("./texts/fr.js"), es: () => import("./texts/es.js"),
  pt: () => import("./texts/pt.js"), ja: () => import("./texts/ja.js"), zh: () => import("./texts/zh.js"), ko: () => import("./texts/ko.js"),
};
const MOST_TURNS = 20;
const KEPT_FOR = 7 * 24 * 3600_000;
// A chat counts as one that resumes for an hour after its last request.
const DECLARED_FOR = 50 * 60_000;
const ICONS = {
  send: "M5 12h14M13 6l6 6-6 6", stop: "M7 7h10v10H7Z", close: "M6 6l12 12M18 6 6 18", reset: "M4 12a8 8 0 1 0 3-6.2L4 8M4 3v5h5", page: "M7 3h7l4 4v14H7ZM14 3v4h4",
  up: "M7 11v9H4v-9ZM7 11l4-8a2 2 0 0 1 2 2v4h5a2 2 0 0 1 2 2.3l-1.2 7A2 2 0 0 1 16.8 20H7", down: "M17 13V4h3v9ZM17 13l-4 8a2 2 0 0 1-2-2v-4H6a2 2 0 0 1-2-2.3l1.2-7A2 2 0 0 1 7.2 4H17",
};

/** An element with properties, or attributes where the name has a hyphen, and children. */
function make(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && key !== "part") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child || child === ""));
  return made;
}

const textButton = (text, onclick) => make("button", { type: "button", className: "plain", onclick }, text);
const iconButton = (name, title, onclick, more) => make("button", { className: "icon", type: "button", title, "aria-label": title, onclick, ...more }, icon(ICONS[name]));
const randomId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const decoded = (path) => {
  try { return decodeURI(path); } catch { return path; }
};
// Safari ends the composition before the key.
const composes = ({ isComposing, keyCode }) => isComposing || keyCode === 229;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Waits for what may hang: for three seconds, or until it is stopped. */
const patiently = (promise, signal) => Promise.race([promise, wait(3000), new Promise((resolve) => signal.addEventListener("abort", resolve))]);
const meta = (name) => document.querySelector(`meta[name="docent:${name}"], meta[name="docsearch:${name}"]`)?.content;
const plain = (markdown) => markdown.replace(/^(#.*\n)+/, "").replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[*_`#>|]+/g, " ").replace(/\s+/g, " ").trim();

/** The frames of a reply. While it is being written, what has come is taken some twenty times a second. */
async function* frames(body) {
  const [reader, decoder] = [body.getReader(), new TextDecoder()];
  for (let rest = ""; ;) {
    const asked = performance.now();
    const { value, done } = await reader.read();
    if (done) return;
    const waited = performance.now() - asked > 2;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: {")) yield JSON.parse(line.slice(6));
    if (waited) await wait(40);
  }
}

/** What went wrong, as the name of a text or a sentence of the server. */
class Trouble extends Error {
  constructor(name, more) {
    super(name);
    Object.assign(this, { name, ...more });
  }
}

export async function mount(host) {
  const panel = new Panel(host);
  await panel.update();
  return panel;
}

/** The theme that a page names on an element; some write it there, and some only when it is the dark one. */
function themeOf({ dataset, className }) {
  return [dataset.theme, dataset.colorMode, dataset.mdColorScheme === "slate" ? "dark" : undefined].find((name) => name === "dark" || name === "light") ?? /(?:^|\s)(?:theme-)?(dark|light)(?:-theme|-mode)?(?:\s|$)/.exec(className)?.[1];
}

/** Whether an element is painted dark; undefined when nothing is painted. */
function isDark(node) {
  const [red, green, blue, alpha = 1] = getComputedStyle(node).backgroundColor.match(/^rgba?\((.*)\)$/)?.[1].split(/[ ,/]+/).map(Number) ?? [0, 0, 0, 0];
  return alpha > 0.5 ? red * 0.3 + green * 0.6 + blue * 0.1 < 110 : undefined;
}

class Panel {
  isOpen = false;
  chat = { id: randomId(), turns: [] };
  #declared = 0;
  // When somebody last asked or stopped.
  #clickedAt = 0;
  #running;

  constructor(host) {
    this.host = host;
    host.shadowRoot.adoptedStyleSheets.push(sheet(STYLE));
    this.watcher = new MutationObserver(() => this.#theme());
    for (const node of [document.documentElement, document.body]) this.watcher.observe(node, { attributes: true });
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.dark.addEventListener("change", () => this.#theme());
    this.chat = this.#kept ?? this.chat;
    for (const turn of this.chat.turns.slice(0, -1)) if (turn.state === "running") Object.assign(turn, { state: "failed", trouble: { name: "broken" } });
  }

  get #focus() { return this.host.shadowRoot.activeElement; }
  get options() { return this.host.options; }
  get isSearch() { return this.options.mode === "search"; }
  get filter() { return { version: this.options.version ?? meta("version"), language: this.options.language ?? meta("language") }; }
  get api() { return `${this.options.server.replace(/\/$/, "")}/discovery`; }
  get base() { return new URL(this.options.base ?? "/", document.baseURI); }

  /** The texts in the reader's language, with the owner's own. */
  async #texts() {
    this.language = languageOf(this.options);
    const module = await TEXTS[this.language]();
    const own = typeof this.options.texts === "string" ? JSON.parse(this.options.texts) : this.options.texts;
    return { ...module.default, ...own };
  }

  async update() {
    this.texts = await this.#texts();
    const open = this.isOpen || !this.host.floats;
    const { field } = this;
    const hasFocus = field && this.#focus === field;
    this.root?.remove();
    this.#build();
    if (!this.isSearch) for (const turn of this.chat.turns) this.#add(turn);
    this.root.hidden = !open;
    this.isOpen = open;
    this.field.value = field?.value ?? "";
    if (hasFocus) this.field.focus();
    this.#chip();
    const last = this.chat.turns.at(-1);
    if (last?.state === "running" && !this.#running && !this.isSearch) this.#resume(last);
  }

  destroy() {
    this.#running?.abort();
    // A reply that runs is taken up by the next chat.
    this.chat = { turns: [] };
    this.watcher.disconnect();
  }

  #theme() {
    if (!this.root) return;
    const said = themeOf({ dataset: this.options, className: "" }) ?? themeOf(document.documentElement) ?? themeOf(document.body);
    this.root.dataset.theme = said ?? (isDark(document.body) ?? isDark(document.documentElement) ?? this.dark.matches ? "dark" : "light");
    this.root.dir = this.host.direction;
  }

  #build() {
    const { texts, options, host } = this;
    const { isSearch } = this;
    const title = options.title ?? (isSearch ? texts.search : texts.title);
    this.log = make("div", { className: "log", part: "log", tabIndex: 0, role: "region", "aria-label": isSearch ? title : texts.conversation });
    this.follows = true;
    this.log.addEventListener("scroll", () => { this.follows = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 60; }, { passive: true });
    this.status = make("div", { className: "status", role: "status" });
    this.field = make("textarea", { rows: 1, placeholder: isSearch ? texts.searchPlaceholder : options.placeholder ?? texts.placeholder, "aria-label": isSearch ? texts.search : texts.question, maxLength: 8000,
      oninput: () => this.#typed(), onkeydown: (event) => this.#pressed(event) });
    this.send = make("button", { className: "icon send", part: "send", type: "submit" });
    this.form = make("form", { className: "form", part: "form", onsubmit: (event) => {
      event.preventDefault();
      // The second click of two means nothing.
      if (Date.now() - this.#clickedAt > 500) this.#running ? this.stop() : this.#submitted();
    } });
    this.chip = make("div", { className: "chip", hidden: true });
    this.form.append(this.chip, make("div", { className: "line" }, this.field, isSearch ? null : this.send));
    this.root = make("div", {
      className: `panel ${host.floats ? "floats" : ""} ${isSearch ? "searches" : ""}`, part: "panel", role: host.floats ? "dialog" : "region", "aria-label": title, lang: this.language,
      onkeydown: (event) => {
        if (event.repeat && event.key === "Enter") event.preventDefault();
        if (event.key === "Escape" && host.floats && !composes(event)) { event.stopPropagation(); this.close(); }
      },
    },
    make("div", { className: "header", part: "header" }, make("h2", {}, title),
      isSearch ? null : iconButton("reset", texts.reset, () => this.reset()),
      host.floats ? iconButton("close", texts.close, () => this.close()) : null),
    isSearch ? this.form : this.log, isSearch ? this.log : this.form,
    isSearch ? null : make("p", { className: "note", part: "note" }, options.note ?? texts.note), this.status);
    host.shadowRoot.append(this.root);
    this.#theme();
    this.#button();
    if (!isSearch && this.chat.turns.length === 0) this.#welcome();
  }

  #welcome() {
    const given = this.options.starters ?? [];
    const starters = (typeof given === "string" ? given.split("|") : given).map((text) => text.trim()).filter(Boolean);
    this.log.replaceChildren(make("div", { className: "welcome", part: "welcome" }, make("p", {}, this.options.welcome ?? this.texts.welcome), starters.length > 0 && this.texts.starters && make("h4", {}, this.texts.starters), this.#questions(starters)));
  }

  #questions(questions) {
    return make("div", { className: "questions" }, ...questions.map((question) => make("button", { type: "button", part: "starter", onclick: () => this.ask(question) }, question)));
  }

  #button() {
    const label = this.#running ? this.texts.stop : this.texts.send;
    this.send.replaceChildren(icon(ICONS[this.#running ? "stop" : "send"]));
    this.send.ariaLabel = this.send.title = label;
  }

  // ---- Opening and closing ----

  open({ question, text, selection, focus = true }) {
    const { host } = this;
    if (!this.isOpen) {
      this.before = document.activeElement;
      this.root.hidden = false;
      this.isOpen = true;
      this.#opener(true);
      host.tell("open");
    }
    this.selection = selection ?? this.selection;
    this.#chip();
    this.#save();
    if (!this.isSearch && !this.#running) this.#declare();
    if (focus) this.field.focus({ preventScroll: true });
    this.log.scrollTop = this.log.scrollHeight;
    if (text) {
      this.field.value = text;
      this.#typed();
    }
    if (question && this.isSearch) { this.field.value = question; this.#typed(); }
    else if (question) this.ask(question);
  }

  #opener(open) {
    const { opener } = this.host;
    if (!opener) return;
    opener.ariaExpanded = String(open);
    opener.hidden = open || this.options.button === "off";
  }

  close() {
    if (!this.isOpen || !this.host.floats) return;
    const hadFocus = this.#focus;
    this.root.hidden = true;
    this.isOpen = false;
    this.#opener(false);
    const back = this.before?.isConnected && this.before !== document.body && this.before !== this.host ? this.before : this.host.opener;
    if (hadFocus) back.focus({ preventScroll: true });
    this.#save();
    this.host.tell("close");
  }

  reset() {
    if (this.#running) this.stop();
    this.chat = { id: randomId(), turns: [] };
    this.#declared = 0;
    try { localStorage.removeItem(this.host.store); } catch {
      // No storage.
    }
    this.field.value = "";
    const hadFocus = this.#focus;
    this.isSearch ? this.log.replaceChildren() : this.#welcome();
    if (hadFocus) this.field.focus();
    this.host.tell("reset");
  }

  // ---- What is kept ----

  get #kept() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.host.store));
      if (kept && Date.now() - kept.at < KEPT_FOR && Array.isArray(kept.turns)) return kept;
    } catch {
      // No storage, or not ours.
    }
  }

  /** Keeps the conversation, unless it was ended or replaced on another page. What was asked there stays. */
  #save(asks) {
    const { chat } = this;
    const kept = this.#kept;
    if (chat.turns.length === 0 || (!asks && kept?.id !== chat.id)) return;
    const all = {};
    for (const turn of [...(kept?.id === chat.id ? kept.turns : []), ...chat.turns]) all[turn.id] = { ...all[turn.id], ...turn };
    const turns = Object.values(all).sort((one, other) => one.at - other.at).slice(-MOST_TURNS);
    try {
      localStorage.setItem(this.host.store, JSON.stringify({ ...chat, turns, open: this.isOpen && this.host.floats, at: Date.now() }, (key, value) => (key === "shown" ? undefined : value)));
    } catch {
      // Full, or none.
    }
  }

  // ---- Asking ----

  #pressed(event) {
    if (event.key === "ArrowDown" && this.isSearch) { event.preventDefault(); this.log.querySelector("a")?.focus(); }
    if (event.key !== "Enter" || event.shiftKey || composes(event)) return;
    event.preventDefault();
    if (this.isSearch) this.found === this.field.value.trim() && this.log.querySelector("a")?.click();
    else this.#submitted();
  }

  #typed() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, 140)}px`;
    if (!this.isSearch) return;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.#search(this.field.value.trim(), this.log), 180);
  }

  #submitted() {
    const question = this.field.value.trim();
    if (question) this.ask(question);
  }

  #chip() {
    this.chip.hidden = !this.selection;
    if (!this.selection) return;
    const remove = iconButton("close", this.texts.remove, () => { this.selection = undefined; this.#chip(); this.field.focus(); });
    this.chip.replaceChildren(make("span", {}, `${this.texts.selection}: “${this.selection.slice(0, 80)}”`), remove);
  }

  ask(question) {
    if (this.#running) this.stop();
    const isFirst = this.chat.turns.length === 0;
    const turn = { id: randomId(), at: Date.now(), question, selection: this.selection?.slice(0, 4000), blocks: [], sources: [], next: [], state: "running" };
    this.selection = undefined;
    this.#chip();
    this.field.value = "";
    this.field.style.height = "auto";
    this.chat.turns.push(turn);
    this.#clickedAt = Date.now();
    this.follows = true;
    this.#keepDown(() => {
      if (isFirst) this.log.replaceChildren();
      this.#add(turn);
    });
    this.host.tell("ask", { question });
    this.#run(turn, (signal) => this.#post(turn, signal));
  }

  stop() {
    this.#clickedAt = Date.now();
    this.#running?.abort();
    // The reply would go on for a while, as that of a chat which comes back.
    this.stopping = this.#call("DELETE", `v2/assistant/${this.options.domain}/message/${this.chat.id}/stream`).catch(() => {});
  }

  #call(method, path, body, signal) {
    const headers = { Authorization: `Bearer ${this.options.key}`, ...(body && { "Content-Type": "application/json" }) };
    return fetch(`${this.api}/${path}`, { method, headers, body: body && JSON.stringify(body), signal, credentials: "omit", referrerPolicy: "no-referrer" });
  }

  #stream(signal) {
    return this.#call("GET", `v2/assistant/${this.options.domain}/message/${this.chat.id}/stream?parts=blocks`, undefined, signal);
  }

  /** Tells the server that this chat comes back after a reload. */
  async #declare() {
    if (Date.now() - this.#declared < DECLARED_FOR) return;
    this.#declared = Date.now();
    await this.#stream().then((response) => response.body?.cancel(), () => { this.#declared = 0; });
  }

  async #post(turn, signal) {
    const { options, chat } = this;
    await patiently(this.stopping, signal);
    await patiently(this.#declare(), signal);
    signal.throwIfAborted();
    let path = decoded(location.pathname);
    const root = this.base.pathname.replace(/\/$/, "");
    if (root && path.startsWith(`${root}/`)) path = path.slice(root.length);
    const body = {
      id: chat.id, fp: options.user ?? "anonymous", threadId: chat.threadId ?? null, threadKey: chat.threadKey, filter: this.filter,
      messages: [{ id: turn.id, role: "user", parts: [{ type: "text", text: turn.question }] }],
      ...(turn.selection && { context: [{ type: "textSelection", value: turn.selection, path }] }),
      currentPath: [...path].slice(0, 200).join(""),
    };
    const response = await this.#call("POST", `v2/assistant/${options.domain}/message?parts=blocks`, body, signal);
    if (response.status === 404 && chat.threadId) {
      Object.assign(chat, { threadId: undefined, threadKey: undefined });
      return this.#post(turn, signal);
    }
    chat.threadKey = response.headers.get("X-Thread-Key") ?? chat.threadKey;
    return response;
  }

  #resume(turn) {
    return this.#run(turn, async (signal) => {
      const response = await this.#stream(signal);
      if (response.status === 204) throw new Trouble("broken");
      return response;
    });
  }

  /** Runs a reply to its end, over lost connections. */
  async #run(turn, request) {
    const running = (this.#running = new AbortController());
    turn.state = "running";
    delete turn.trouble;
    this.#button();
    this.#refresh(turn);
    const teller = this.#announces(turn);
    this.#save(true);
    try {
      await this.#read(turn, await request(running.signal));
      turn.state = "done";
    } catch (error) {
      turn.state = "failed";
      if (running.signal.aborted) turn.state = "stopped";
      else if (!(error instanceof Trouble) && (await this.#again(turn, running))) turn.state = "done";
      else turn.trouble = error instanceof Trouble ? { ...error } : { name: await this.#whyUnreachable(turn, running.signal) };
      if (running.signal.aborted) Object.assign(turn, { state: "stopped", trouble: undefined });
    }
    teller();
    if (this.#running === running) this.#running = undefined;
    this.#button();
    this.#refresh(turn);
    this.#save();
    this.host.tell(turn.state === "failed" ? "error" : "answer", { question: turn.question, answer: this.#answer(turn), messageId: turn.messageId, error: turn.trouble?.name, status: turn.trouble?.status });
  }

  /** Takes up the reply whose connection was lost. */
  async #again(turn, { signal }) {
    for (const ms of turn.messageId ? [300, 1000, 3000] : [300]) {
      await wait(ms);
      if (signal.aborted) return false;
      try {
        const response = await this.#stream(signal);
        turn.isReached = true;
        if (response.status !== 200) return false;
        await this.#read(turn, response);
        return true;
      } catch (error) {
        if (error instanceof Trouble) return false;
      }
    }
    return false;
  }

  /** The browser does not say why it could not read an answer: no network, no server, or a key for other sites. */
  async #whyUnreachable({ messageId, isReached }, signal) {
    if (navigator.onLine === false) return "offline";
    if (messageId) return "broken";
    const answered = !isReached && (await patiently(fetch(`${this.options.server}/widget.js`, { method: "HEAD", cache: "no-store" }).catch(() => {}), signal));
    return answered ? "origin" : "unreachable";
  }

  async #read(turn, response) {
    if (!response.ok) throw await refusal(response);
    let ended = false;
    let notice;
    for await (const frame of frames(response.body)) {
      const { type, data } = frame;
      if (type === "start") {
        const { messageId = frame.messageId } = turn;
        // The reply to another question of this chat.
        if (messageId !== frame.messageId || this.chat.turns.some((one) => one !== turn && one.messageId === messageId)) throw new Trouble("broken");
        Object.assign(turn, { messageId, blocks: [], sources: [], next: [] });
        turn.shown.answer.replaceChildren();
        this.chat.threadId = frame.messageMetadata?.threadId ?? this.chat.threadId;
        this.#save();
      } else if (type === "data-block" || type === "data-edit") this.#keepDown(() => {
        turn.shown.wait.hidden = true;
        if (type === "data-edit") return data.forEach((one) => edit(turn.blocks, one, this));
        const block = notice && notice.sentence === data[1] ? ["p", this.#said(notice)] : data;
        turn.blocks.push(block);
        turn.shown.answer.append(show(block, this));
      });
      else if (type === "source-url") turn.sources.push({ url: frame.url, title: frame.title });
      else if (type === "data-suggestions") turn.next = data;
      else if (type === "data-notice") notice = data;
      else if (type === "error") throw new Trouble("reply", { sentence: frame.errorText });
      else if (type === "finish") ended = true;
    }
    if (!ended) throw new Error("the connection was lost");
  }

  /** What the server says before an answer, in the reader's words if there are any. */
  #said({ name, until, sentence }) {
    const time = new Date(until).toLocaleTimeString(this.language, { hour: "numeric", minute: "2-digit" });
    return this.texts[name]?.replace("{time}", time) ?? sentence;
  }

  /** Follows the end of the conversation, unless its reader has scrolled up. The focus stays in it where its element goes. */
  #keepDown(change) {
    const had = this.#focus;
    change();
    if (had && !this.#focus) this.log.focus({ preventScroll: true });
    if (!this.follows || this.scrolling) return;
    this.scrolling = requestAnimationFrame(() => {
      this.scrolling = undefined;
      this.log.scrollTop = this.log.scrollHeight;
    });
  }

  /** Reads the answer to people who do not see it, by whole sentences. */
  #announces(turn) {
    this.status.textContent = this.texts.answering;
    let said = 0;
    let at = Date.now();
    const next = () => {
      const text = this.#answer(turn);
      const last = [...text.slice(said).matchAll(/[.!?](?=\s|$)|[。！？]/g)].at(-1);
      if (!last) return;
      at = Date.now();
      this.status.textContent = text.slice(said, (said += last.index + 1));
    };
    const timer = setInterval(next, 2000);
    return () => {
      clearInterval(timer);
      const rest = this.#answer(turn).slice(said);
      const end = turn.state === "failed" ? this.#sentence(turn.trouble) : turn.state === "stopped" ? this.texts.stopped : this.texts.answered;
      setTimeout(() => { if (turn === this.chat.turns.at(-1)) this.status.textContent = `${rest} ${end}`; }, at + 2000 - Date.now());
    };
  }

  // ---- Showing ----

  /** Adds a turn to the conversation. */
  #add(turn) {
    const answer = make("div", { className: "answer", part: "answer" }, ...turn.blocks.map((block) => show(block, this)));
    const waits = make("div", { className: "wait", hidden: true }, make("span"), make("span"), make("span"));
    const after = make("div", { className: "after" });
    const question = make("h3", { className: "question", part: "question" }, make("span", { className: "status" }, `${this.texts.you}: `), turn.question);
    const quoted = turn.selection && make("p", { className: "quoted" }, turn.selection);
    this.log.append(make("div", { className: "turn", part: "turn" }, quoted, question, waits, answer, after));
    turn.shown = { answer, wait: waits, after };
    this.#refresh(turn);
  }

  /** What stands behind an answer. */
  #refresh(turn) {
    const { texts } = this;
    const { after, wait: waits } = turn.shown;
    waits.hidden = turn.state !== "running" || turn.blocks.length > 0;
    this.#keepDown(() => {
      after.replaceChildren();
      if (turn.state === "running") return;
      if (turn.state === "stopped") after.append(make("p", { className: "soft" }, texts.stopped));
      if (turn.state === "failed") after.append(this.#failure(turn));
      if (turn.sources.length > 0) {
        const cards = turn.sources.map(({ url, title }) => this.#card(url, title));
        after.append(make("h4", {}, texts.sources), make("ul", { className: "cards", part: "sources" }, ...cards));
      }
      if (turn.messageId && turn.state === "done") after.append(this.#rating(turn));
      if (turn.next.length > 0 && turn === this.chat.turns.at(-1)) after.append(make("h4", {}, texts.more), this.#questions(turn.next));
    });
  }

  #card(url, title, text) {
    const link = this.link(url) ?? {};
    const path = decoded(url).replace(/[#?].*/, "").replace(/^\//, "").replaceAll("/", " › ");
    return make("li", {}, make("a", { part: "source", ...link }, icon(ICONS.page), make("span", {}, make("b", {}, title || path || "/"), make("small", {}, text ?? path))));
  }

  #rating(turn) {
    const { texts, options } = this;
    const box = make("div", { className: "rating", part: "rating" });
    const rate = async (rating, comment) => {
      turn.rating = rating;
      this.#save();
      const response = await this.#call("POST", `v1/assistant/${options.domain}/feedback`, { threadId: this.chat.threadId, messageId: turn.messageId, rating, comment }).catch(() => undefined);
      this.host.tell("feedback", { rating, comment, messageId: turn.messageId });
      if (response?.ok) this.status.textContent = texts.thanks;
      return response?.ok;
    };
    const thumb = (rating) => iconButton(rating, texts[rating], () => { rate(rating); draw(true); }, { "aria-pressed": String(turn.rating === rating) });
    const draw = (asks) => this.#keepDown(() => {
      const focus = box.contains(this.#focus) && turn.rating;
      box.replaceChildren(make("div", { className: "thumbs" }, thumb("up"), thumb("down"), this.#help()));
      if (asks) box.append(comment());
      if (focus) box.querySelector("[aria-pressed=true]").focus();
    });
    const comment = () => {
      const field = make("textarea", { rows: 2, maxLength: 4000, placeholder: texts.comment, "aria-label": texts.comment });
      return make("form", { className: "comment", onsubmit: async (event) => {
        event.preventDefault();
        const { target } = event;
        if (!field.value.trim() || (await rate(turn.rating, field.value.trim()))) return this.#keepDown(() => target.replaceWith(make("p", { className: "soft" }, texts.thanks)));
        field.setCustomValidity(texts.unreachable);
        field.reportValidity();
        field.setCustomValidity("");
      } }, field, make("button", { type: "submit", className: "plain" }, texts.sendComment));
    };
    draw(false);
    return box;
  }

  /** The owner's way on, with the conversation. */
  #help() {
    const { help } = this.options;
    if (!help) return undefined;
    const transcript = () => [...this.chat.turns.map((turn) => `> ${turn.question}\n\n${this.#answer(turn)}`).join("\n\n")].slice(-1800).join("");
    const link = make("a", { className: "help", part: "help", rel: "noopener", href: "#", onclick: (event) => {
      const text = encodeURIComponent(transcript());
      const address = help.includes("@") && !help.includes("/") ? `mailto:${help.replace(/^mailto:/, "")}${help.includes("?") ? "&" : "?"}body=${text}` : help.replace("{transcript}", text);
      const safe = this.link(address);
      if (!safe) { event.preventDefault(); return; }
      event.currentTarget.href = safe.href;
      this.host.tell("help", { transcript: transcript() });
    } }, this.texts.help);
    if (!help.includes("@")) link.target = "_blank";
    return link;
  }

  #answer(turn) {
    return turn.blocks.map(textOf).join("\n\n").trim();
  }

  #sentence({ name, sentence, seconds }) {
    return sentence ?? this.texts[name]?.replace("{n}", seconds) ?? this.texts.unreachable;
  }

  #failure(turn) {
    const { texts } = this;
    const box = make("div", { className: "trouble", part: "error" }, make("p", {}, this.#sentence(turn.trouble)));
    const found = make("div");
    const retry = () => {
      if (this.#running) this.stop();
      delete turn.messageId;
      delete turn.isReached;
      this.#run(turn, (signal) => this.#post(turn, signal));
    };
    const actions = make("div", { className: "actions" },
      textButton(texts.retry, retry), textButton(texts.instead, () => this.#search(turn.question, found)), this.#help());
    box.append(actions, found);
    return box;
  }

  // ---- Searching ----

  async #search(query, into) {
    this.searching?.abort();
    if (!query) { into.replaceChildren(); return; }
    this.searching = new AbortController();
    const { options, texts } = this;
    try {
      const response = await this.#call("POST", `v1/search/${options.domain}`, { query: query.slice(0, 2000), pageSize: 8, filter: this.filter }, this.searching.signal);
      if (!response.ok) throw await refusal(response);
      const found = await response.json();
      const cards = found.map(({ content, metadata: { title, href, headings } }) => this.#card(href, [title, ...headings].join(" › "), plain(content).slice(0, 140)));
      this.found = query;
      into.replaceChildren(found.length > 0 ? make("ul", { className: "cards", part: "results" }, ...cards) : make("p", { className: "soft" }, texts.none));
      this.status.textContent = found.length > 0 ? texts.results.replace("{n}", found.length) : texts.none;
      this.host.tell("search", { query, results: found.length });
    } catch (error) {
      if (error.name === "AbortError") return;
      const trouble = error instanceof Trouble ? error : { name: await this.#whyUnreachable({}, this.searching.signal) };
      into.replaceChildren(make("div", { className: "trouble" }, make("p", {}, this.#sentence(trouble)), textButton(texts.retry, () => this.#search(query, into))));
      this.status.textContent = this.#sentence(trouble);
    }
  }

  /** An address of the docs, as the properties of a link; nothing for one that no link may have. */
  link(href) {
    let url;
    try {
      url = href.startsWith("/") ? new URL(this.base.href.replace(/\/$/, "") + href) : new URL(href, this.base);
    } catch { return undefined; }
    if (!["http:", "https:", "mailto:"].includes(url.protocol)) return undefined;
    return url.origin === location.origin || url.protocol === "mailto:" ? { href: url.href } : { href: url.href, target: "_blank", rel: "noopener noreferrer" };
  }
}

async function refusal(response) {
  const { status } = response;
  const { error } = await response.json().catch(() => ({}));
  const name = { 401: "key", 403: "key", 413: "long", 429: "busy" }[status] ?? "unreachable";
  return new Trouble(name, { status, seconds: response.headers.get("Retry-After") ?? 60, sentence: status === 400 ? error : undefined });
}
