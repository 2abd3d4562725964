// Blocks of an answer as elements. A block is `[name, attributes?, ...children]`; see docs/API.md.

const ELEMENTS = { p: "p", h1: "h4", h2: "h4", h3: "h5", h4: "h6", h5: "h6", h6: "h6", ul: "ul", ol: "ol", li: "li", table: "table", tr: "tr", td: "td",
  blockquote: "blockquote", hr: "hr", br: "br", strong: "strong", em: "em", code: "code", pre: "pre", a: "a", img: "img" };

const hasAttributes = (node) => typeof node[1] === "object" && !Array.isArray(node[1]);
const childrenOf = (node) => node.slice(hasAttributes(node) ? 2 : 1);

/** The text of a block. */
export function textOf(node) {
  if (typeof node === "string") return node;
  if (node[0] === "br") return "\n";
  if (node[0] === "img") return node[1].alt;
  const between = { ul: "\n", ol: "\n", table: "\n", tr: " | ", blockquote: "\n" }[node[0]] ?? "";
  return (node[0] === "li" ? "- " : "") + childrenOf(node).map(textOf).join(between);
}

/** Makes the element of a node. `node.shown` is where its children are shown. */
export function show(node, panel) {
  if (typeof node === "string") return document.createTextNode(node);
  const [name, attributes] = [node[0], hasAttributes(node) ? node[1] : {}];
  if (name === "img") return image(attributes, panel);
  const made = document.createElement(Object.hasOwn(ELEMENTS, name) ? ELEMENTS[name] : "span");
  node.shown = made;
  if (name === "a") Object.assign(made, panel.link(attributes.href) ?? {});
  if (name === "ol" && attributes.start) made.start = attributes.start;
  const outer = name === "pre" ? code(node, made, attributes, panel) : name === "table" ? table(made) : made;
  node.shown.append(...childrenOf(node).map((child) => show(child, panel)));
  if (name === "table") align(node, attributes);
  return outer;
}

/** An image, if it is one of the docs' own site; else its words. */
function image({ src, alt }, panel) {
  const link = panel.link(src);
  if (!link || new URL(link.href).origin !== panel.base.origin) return document.createTextNode(alt);
  return Object.assign(document.createElement("img"), { src: link.href, alt, loading: "lazy" });
}

function code(node, pre, { language }, panel) {
  const { copy, copied } = panel.texts;
  node.shown = document.createElement("code");
  pre.append(node.shown);
  pre.tabIndex = 0;
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: copy });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(node.shown.textContent);
      button.textContent = copied;
    } catch {
      // A page without TLS has no clipboard.
      getSelection().selectAllChildren(node.shown);
    }
    setTimeout(() => { button.textContent = copy; }, 2000);
  });
  const head = document.createElement("div");
  head.append(Object.assign(document.createElement("span"), { textContent: language ?? panel.texts.code }), button);
  const box = Object.assign(document.createElement("div"), { className: "code" });
  box.part = "code";
  box.append(head, pre);
  return box;
}

function table(made) {
  const box = Object.assign(document.createElement("div"), { className: "table", tabIndex: 0 });
  box.append(made);
  return box;
}

/** The first row is the head, and columns are aligned. */
function align(node, { align: words = "" }) {
  words = words.split(" ");
  for (const row of node.shown.rows) {
    [...row.cells].forEach((cell, at) => {
      if (words[at] && words[at] !== "start") cell.style.textAlign = words[at];
    });
  }
  const head = node.shown.rows[0];
  for (const cell of head ? [...head.cells] : []) if (cell.tagName === "TD") cell.role = "columnheader";
}

/** Carries out an edit in the blocks, and in what is shown of them. */
export function edit(blocks, [number, depth, ...parts], panel) {
  const block = blocks[number - 1];
  if (Array.isArray(depth)) {
    const old = block.shown.closest(".code, .table") ?? block.shown;
    blocks[number - 1] = depth;
    old.replaceWith(show(depth, panel));
    return;
  }
  let node = block;
  while (depth-- > 0) node = node.at(-1);
  for (const part of parts) {
    const last = node.length > 1 && typeof node.at(-1) === "string" ? node.at(-1) : undefined;
    if (typeof part === "string" && last !== undefined) {
      node[node.length - 1] = last + part;
      node.shown.lastChild.appendData(part);
    } else if (typeof part !== "number") {
      node.push(part);
      node.shown.append(show(part, panel));
    } else if (part > 0) {
      node.splice(-part);
      for (let left = part; left > 0; left -= 1) node.shown.lastChild.remove();
    } else {
      node[node.length - 1] = last.slice(0, part);
      node.shown.lastChild.data = node.at(-1);
    }
  }
  if (block[0] === "table") align(block, hasAttributes(block) ? block[1] : {});
}
