// For sites that had Kapa's widget: the attributes of its script tag that mean something here, and `window.Kapa`. The website id
// becomes `DOMAIN/KEY`. A classic script, as that one is.
(() => {
  const script = document.currentScript;
  const data = script.dataset;
  const [domain, key] = (data.websiteId ?? "").split("/");
  const options = {
    domain, key, title: data.modalTitle ?? data.projectName, label: data.buttonText, placeholder: data.modalAskAiInputPlaceholder, note: data.modalDisclaimer?.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1"),
    starters: data.modalExampleQuestions?.split(","), lang: data.language, button: data.buttonHide === "true" ? "off" : undefined, mode: data.modalOpenByDefaultMode === "search" ? "search" : "chat",
  };
  const hasBody = document.body ? undefined : new Promise((resolve) => addEventListener("DOMContentLoaded", resolve));
  const loaded = Promise.all([import(new URL("../widget.js", script.src)), hasBody]).then(([module]) => module);
  let chat;
  async function render() {
    const { init } = await loaded;
    if (chat) return chat;
    chat = init(options);
    const accent = data.buttonBgColor ?? data.projectColor;
    if (accent) chat.style.setProperty("--docent-accent", accent);
    if (data.buttonTextColor) chat.style.setProperty("--docent-accent-text", data.buttonTextColor);
    if (data.modalOpenByDefault === "true") chat.open();
    return chat;
  }
  if (data.renderOnLoad !== "false") render();

  const calls = {
    async open({ mode = options.mode, query, submit = false } = {}) {
      const there = await render();
      await there.update({ mode: mode === "search" ? "search" : "chat" });
      await there.open(submit ? { question: query } : { text: query });
    },
    async close() { await chat?.close(); },
    async render({ onRender } = {}) { await render(); onRender?.(); },
    async unmount() {
      await loaded;
      chat?.destroy();
      chat = undefined;
    },
  };
  const waiting = window.Kapa?.q ?? [];
  const call = (name, given) => calls[name]?.(given);
  window.Kapa = Object.assign((name, given) => call(name, given), calls);
  for (const [name, given] of waiting) call(name, given);

  const selector = data.modalOverrideOpenSelector ?? (data.modalOverrideOpenClass && `.${data.modalOverrideOpenClass}`) ?? (data.modalOverrideOpenId && `#${data.modalOverrideOpenId}`);
  if (selector) {
    document.addEventListener("click", (event) => {
      if (!event.target.closest?.(selector)) return;
      event.preventDefault();
      event.stopPropagation();
      calls.open();
    }, true);
  }
})();
