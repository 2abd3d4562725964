// What needs a script: keys, copying, live pages, and answers of the playground as they are written. All else works without it.
"use strict";

const policy = window.trustedTypes?.createPolicy("docent", { createHTML: (text) => text });
// The address of the dashboard, which a proxy may serve below a path.
const HOME = new URL(document.currentScript.src).pathname.split("/-/")[0];
// Markup of this server alone: fetched from its own pages, in which foreign text is escaped.
const parsed = (text) => {
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(text) : text;
  return template.content;
};

// A style attribute is not allowed, and a property is.
for (const chat of document.querySelectorAll("docent-chat[data-properties]")) chat.style = chat.dataset.properties;

// A button needs a script, so it is shown by one; markup that comes later brings more of them.
const COPYING = "button[data-copy], button[data-copies]";
const showCopying = () => { for (const button of document.querySelectorAll(COPYING)) button.hidden = false; };
showCopying();
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.(COPYING);
  if (!button) return;
  const said = button.textContent;
  // The text of the element that is named, or of the code beside the button.
  const from = button.dataset.copy ? document.getElementById(button.dataset.copy) : button.parentElement.querySelector("pre");
  try {
    await navigator.clipboard.writeText(from.textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it and copy by hand";
  }
  setTimeout(() => { button.textContent = said; }, 2000);
});

// ---- Keys --------------------------------------------------------------------------------------------------------------
const find = document.getElementById("find");
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Enter" && (event.ctrlKey || event.metaKey) && target.matches?.("textarea") && target.form) {
    event.preventDefault();
    target.form.requestSubmit(target.form.querySelector("button[type=submit]"));
  }
  const types = target.matches?.("input, textarea, select, [contenteditable]") || target.shadowRoot;
  const searches = (key === "k" && (event.ctrlKey || event.metaKey)) || (key === "/" && !types && !event.ctrlKey && !event.metaKey && !event.altKey);
  if (find && searches) { event.preventDefault(); find.focus(); find.select(); }
  // Through the rows of a list.
  const step = { j: 1, k: -1 }[key];
  if (step && !types && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const links = [...document.querySelectorAll("main .rows tbody tr, main section.card, main article.event")].flatMap((row) => row.checkVisibility() && row.querySelector("a") || []);
    links[Math.max(0, links.indexOf(document.activeElement) + step)]?.focus();
  }
});

// What is found while it is typed, below the field. Without a script the field leads to the page of results.
const foundPanel = document.getElementById("found-anywhere");
if (find && foundPanel?.showPopover) {
  let timer = null;
  let asked = 0;
  const hide = () => { if (foundPanel.matches(":popover-open")) foundPanel.hidePopover(); };
  find.addEventListener("input", () => {
    clearTimeout(timer);
    const text = find.value.trim();
    asked += 1;
    const mine = asked;
    if (text.length < 2) { hide(); return; }
    timer = setTimeout(async () => {
      try {
        const found = (await markupOf(await fetch(`${HOME}/-/search?q=${encodeURIComponent(text)}`)))?.querySelector("[data-found]");
        if (!found || mine !== asked) return;
        foundPanel.replaceChildren(found);
        if (!foundPanel.matches(":popover-open")) foundPanel.showPopover();
        const left = Math.min(find.getBoundingClientRect().left, innerWidth - foundPanel.offsetWidth - 8);
        foundPanel.style.setProperty("left", `${Math.max(left, 8)}px`);
      } catch { trouble("The server does not answer. Try again in a moment."); }
    }, 150);
  });
  const links = () => [...foundPanel.querySelectorAll("a")];
  document.addEventListener("keydown", (event) => {
    if (!foundPanel.matches(":popover-open")) return;
    if (event.key === "Escape") { hide(); find.focus(); }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !(event.target === find || foundPanel.contains(event.target))) return;
    event.preventDefault();
    const all = [find, ...links()];
    all[(all.indexOf(event.target) + step + all.length) % all.length].focus();
  });
  document.addEventListener("click", (event) => { if (!foundPanel.contains(event.target) && event.target !== find) hide(); });
}

// A form that was sent shows that, and is not sent twice.
document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "true";
  if (submitter) submitter.ariaBusy = "true";
});
// A page that comes back with the browser's "Back" has its forms as they were.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("[aria-busy]")) button.ariaBusy = null;
  }
});

// ---- Live pages -------------------------------------------------------------------------------------------------------
// The visible tabs of a browser share one event stream: the tab that holds the lock reads it and passes events on. Events say
// that something is new; each tab then fetches what it lacks, so that nothing is missing or doubled after a lost connection.
const live = document.querySelector("[data-live]");
// What happened to a live page, until it goes on.
const trouble = (text, link) => {
  let box = document.getElementById("live-trouble");
  if (!text) { box?.remove(); return; }
  if (!box) {
    box = document.createElement("div");
    box.id = "live-trouble";
    box.className = "notice note";
    box.role = "status";
    document.getElementById("main").prepend(box);
  }
  if (box.dataset.text === text) return;
  box.dataset.text = text;
  box.textContent = text;
  if (link) {
    const a = document.createElement("a");
    [a.href, a.textContent] = [link, "Sign in again"];
    box.append(" ", a);
  }
};
// The markup of a response. Anything else is told, and `null`: the session is over, or the server is away.
const markupOf = async (response) => {
  if (response.status === 401 || response.redirected) {
    trouble("You are signed out, so this page shows nothing new.", `${HOME}/-/sign-in?to=${encodeURIComponent(`/dashboard${location.pathname.slice(HOME.length)}${location.search}`)}`);
    return null;
  }
  if (response.status >= 500) throw response;
  if (!response.ok) { trouble("This page is not here any more; reload it to see what became of it."); return null; }
  trouble("");
  return parsed(await response.text());
};
let leaving = false;
addEventListener("pagehide", () => { leaving = true; });
// Parts that are fetched after the page: what a job changed.
const load = async (part) => {
  const from = part.dataset.load;
  delete part.dataset.load;
  try {
    const content = await markupOf(await fetch(from));
    if (!content) return;
    await new Promise(requestAnimationFrame);
    part.replaceChildren(...content.firstElementChild.childNodes);
    part.dataset.loaded = from;
    showCopying();
  } catch { if (!leaving) trouble("The server does not answer, so parts of this page are missing. Reload it in a moment."); }
};
for (const part of document.querySelectorAll("[data-load]")) load(part);
// Changes what is below an element; a link below it that has the focus keeps it.
const keepingFocus = (element, change) => {
  const focus = element.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const changed = change();
  if (focus) changed.querySelector(`[href="${CSS.escape(focus)}"]`)?.focus();
};
// Whether what is to come is what is there, once it is unfolded as that is.
const isSame = (part, next) => {
  const [folds, nexts] = [part, next].map((of) => [...of.querySelectorAll("details")]);
  if (folds.length === nexts.length) nexts.forEach((fold, at) => { fold.open = folds[at].open; });
  return part.isEqualNode(next);
};
// Puts a part of a page in the place of what is there. One that was loaded stays until there is another to load, one that is the
// same stays, so that no click is lost, and what somebody unfolded stays unfolded.
const replacePart = (next) => {
  const part = document.getElementById(next.id);
  if (!part || (next.dataset.load && part.dataset.loaded === next.dataset.load) || isSame(part, next)) return;
  keepingFocus(part, () => { part.replaceWith(next); return next; });
  if (next.dataset.load) load(next);
};
// What goes on has its time counted on.
setInterval(() => {
  for (const span of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - span.dataset.since) / 1000));
    span.textContent = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }
}, 1000);
// Of a journal on one page.
const MOST_ROWS = 5000;
if (live && navigator.locks && window.BroadcastChannel) {
  const topic = live.dataset.live;
  const channel = new BroadcastChannel("docent-live");
  const wanted = new Map();
  let leads = null;

  // One fetch at a time; what is said meanwhile is fetched after it.
  let fetching = false;
  let again = false;
  const refresh = async () => {
    if (fetching) { again = true; return; }
    fetching = true;
    try {
      do {
        again = false;
        if (live.dataset.events) {
          const content = await markupOf(await fetch(`${live.dataset.events}?after=${live.dataset.last}`));
          if (!content) break;
          await new Promise(requestAnimationFrame);
          content.querySelectorAll("[data-part]").forEach(replacePart);
          const rows = content.querySelector("[data-rows]");
          if (rows) {
            live.dataset.last = rows.dataset.last;
            live.prepend(...rows.children);
            while (live.children.length > MOST_ROWS) {
              live.lastElementChild.remove();
              document.querySelector("a[rel=next]").hidden = false;
            }
            document.getElementById("saying").textContent = "";
            showCopying();
            if (rows.dataset.more) again = true;
          }
        } else {
          const whole = await markupOf(await fetch(location.href));
          if (!whole) break;
          const next = whole.querySelector("[data-live]");
          // What was waited for is there, and the page is another one; but for the form of a question, which works at once.
          if (!next) {
            if (document.getElementById("ask")) live.remove();
            else location.reload();
            return;
          }
          replacePart(whole.getElementById("now"));
          await new Promise(requestAnimationFrame);
          if (!isSame(live, next)) keepingFocus(live, () => { live.replaceChildren(...next.childNodes); return live; });
        }
      } while (again);
    } catch {
      // The server is away or busy. The stream may go on without another event, so that this would be the last fetch.
      trouble("The server does not answer. This page tries again and goes on where it was.");
      setTimeout(refresh, 2000);
    }
    fetching = false;
  };

  const hear = (event) => {
    if (event.topic !== topic && event.topic !== "*") return;
    if (event.words === undefined) refresh();
    else document.getElementById("saying").replaceChildren(parsed(event.words));
  };

  const lead = () => {
    let source = null;
    let topics = "";
    const open = () => {
      const now = Date.now();
      for (const [tab, want] of wanted) if (now - want.at > 6000) wanted.delete(tab);
      const next = [...new Set([topic, ...[...wanted.values()].map((want) => want.topic)])].sort().join("&topic=");
      if (source && next === topics && source.readyState !== EventSource.CLOSED) return;
      source?.close();
      topics = next;
      source = new EventSource(`${HOME}/-/live?topic=${topics}`);
      const tell = (event) => { channel.postMessage(event); hear(event); };
      // An end and a beginning are told, too: a tab then fetches, and learns what happened.
      source.onopen = () => tell({ topic: "*" });
      source.onerror = source.onopen;
      source.onmessage = (message) => tell(JSON.parse(message.data));
    };
    open();
    const timer = setInterval(open, 2000);
    return () => { clearInterval(timer); source.close(); };
  };

  const tab = crypto.randomUUID?.() ?? String(Math.random());
  channel.onmessage = ({ data }) => {
    if (data.want) wanted.set(data.tab, { topic: data.want, at: Date.now() });
    else hear(data);
  };
  let beat = null;
  const show = () => {
    if (document.hidden) {
      clearInterval(beat);
      beat = null;
      leads?.();
      return;
    }
    if (beat) return;
    const want = () => channel.postMessage({ tab, want: topic });
    want();
    beat = setInterval(want, 2000);
    refresh();
    const ended = new AbortController();
    navigator.locks.request("docent-live", { signal: ended.signal }, () => new Promise((release) => {
      const stop = lead();
      leads = () => { stop(); leads = null; release(); };
    })).catch(() => {});
    const waiting = () => ended.abort();
    leads = waiting;
  };
  document.addEventListener("visibilitychange", show);
  addEventListener("pagehide", () => leads?.());
  show();
}

// Older rows of a journal are put below those that are there, as long as a page has room.
const journal = document.querySelector("[data-rows]");
document.addEventListener("click", async (event) => {
  const older = event.target.closest?.("a[rel=next]");
  if (!journal?.lastElementChild || !older || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = new URL(older.href);
  // The last row may be another than when the page was sent.
  link.searchParams.set("before", journal.lastElementChild.id.slice(1));
  older.href = link.href;
  if (journal.children.length + 300 > MOST_ROWS) return;
  event.preventDefault();
  if (older.ariaBusy === "true") return;
  older.ariaBusy = "true";
  try {
    const response = await fetch(link);
    if (!response.ok) throw new Error(response.statusText);
    const page = parsed(await response.text());
    await new Promise(requestAnimationFrame);
    journal.append(...page.querySelector("[data-rows]").children);
    const next = page.querySelector("a[rel=next]");
    older.href = new URL(next.getAttribute("href"), link).href;
    older.hidden = next.hidden;
    older.ariaBusy = "false";
  } catch { location.href = link.href; }
});

// ---- Playground -------------------------------------------------------------------------------------------------------
const ask = document.getElementById("ask");
ask?.addEventListener("submit", async (event) => {
  if (event.submitter?.name !== "token") return;
  event.preventDefault();
  const answer = document.getElementById("answer");
  const times = document.getElementById("times");
  const sources = document.getElementById("sources");
  const found = document.getElementById("found");
  const asked = new URLSearchParams(new FormData(ask));
  // Long addresses are refused.
  if (`${asked}`.length < 8000) history.replaceState(null, "", `?${asked}`);
  answer.replaceChildren();
  answer.className = "";
  sources.replaceChildren();
  found.replaceChildren();
  times.textContent = "Asking …";
  event.submitter.ariaBusy = "true";
  // Read to who cannot see it when it is whole, and not with each word.
  answer.ariaBusy = "true";
  const began = performance.now();
  const since = () => `${((performance.now() - began) / 1000).toFixed(2)} s`;
  const told = [];
  const note = (what) => { told.push(`${what} ${since()}`); times.textContent = told.join(" · "); };
  try {
    const response = await fetch(ask.dataset.stream, { method: "POST", body: new URLSearchParams(new FormData(ask, event.submitter)) });
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || !type.includes("ndjson")) {
      times.textContent = type.includes("json") ? (await response.json()).error
        : response.redirected || response.status === 401 || response.status === 403 ? "You are signed out, or this page is of an earlier session. Reload it: the question stays."
        : `The server answered ${response.status}. Ask again in a moment.`;
      return;
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let whole = false;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines.filter((line) => line !== "")) {
        const part = JSON.parse(line);
        if (part.snippets) {
          document.getElementById("snippets").replaceWith(parsed(part.snippets));
          showCopying();
        }
        if (part.passages !== undefined) {
          note(`searched, ${part.passages} ${part.passages === 1 ? "passage" : "passages"}:`);
          found.append(parsed(part.found));
        }
        if (part.source) {
          sources.append(sources.childNodes.length ? " · " : "From: ", parsed(part.source));
        }
        if (part.rendered !== undefined) {
          const rendered = parsed(part.rendered);
          if (answer.className === "" && rendered.textContent !== "") {
            note("first word:");
            answer.className = "card";
          }
          answer.replaceChildren(rendered);
          showCopying();
        }
        if (part.error) note(part.error);
        if (part.end) whole = true;
      }
    }
    note(whole ? "end:" : "The answer was cut off: you are signed out, or the server is stopping. Cut off after");
  } catch (error) {
    times.textContent = `The server could not be reached: ${error.message}. Ask again in a moment.`;
  } finally {
    event.submitter.ariaBusy = answer.ariaBusy = null;
  }
});
