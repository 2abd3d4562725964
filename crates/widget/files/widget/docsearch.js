// Lets DocSearch's own box search a site of Docent: `transformSearchClient: docent({ domain, key })`. See docs/WIDGET.md.
const HERE = new URL(import.meta.url);
const EXCERPT = 160;
const ASK = "#docent-ask=";

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The words of a query as one pattern, each to the end of a word that begins with it. */
const pattern = (query) => {
  const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const sources = words.sort((a, b) => b.length - a.length);
  return sources.length ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${sources.join("|")})[\\p{L}\\p{N}]*`, "giu") : /(?!)/gu;
};

/** HTML in which the words are marked. What was between the marks is text. */
const marked = (text, words) => {
  let html = "", at = 0;
  for (const found of text.matchAll(words)) {
    html += `${escaped(text.slice(at, found.index))}<mark>${escaped(found[0])}</mark>`;
    at = found.index + found[0].length;
  }
  return html + escaped(text.slice(at));
};

/** The text of a passage without its headings and its Markdown. */
const plain = (markdown) => markdown
  .replace(/^#{1,6} .*$/gm, "")
  .replace(/^(```|~~~).*$/gm, "")
  .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
  .replace(/[*`]+|^\s*(?:[-+>|]|\d+\.)\s+/gm, "")
  .replace(/\s+/g, " ")
  .trim();

/** The part of a text around the first of the words. */
const excerpt = (text, words) => {
  const first = Math.max(0, (text.search(words) - EXCERPT / 4) | 0);
  const from = first && text.indexOf(" ", first) + 1;
  const cut = text.slice(from, from + EXCERPT);
  return `${from ? "…" : ""}${cut}${from + EXCERPT < text.length ? "…" : ""}`;
};

/** Whether an address may be a link: one of the docs, or of the web. */
const isLink = ({ metadata: { href } }) => /^(?:[/#]|https?:|$)/i.test(href);

const hit = ({ content, path, metadata }, words, { base, group }) => {
  const names = [group, metadata.title, ...metadata.headings].slice(0, 7);
  const text = excerpt(plain(content), words);
  const hierarchy = {}, levels = {};
  for (let level = 0; level < 7; level++) {
    hierarchy[`lvl${level}`] = names[level] ?? null;
    const value = marked(names[level] ?? "", words);
    levels[`lvl${level}`] = { value, matchLevel: value.includes("<mark>") ? "full" : "none", matchedWords: [] };
  }
  const inName = levels[`lvl${names.length - 1}`].matchLevel === "full";
  const snippet = { value: marked(text, words), matchLevel: "full", matchedWords: [] };
  const results = { hierarchy: levels, hierarchy_camel: [levels], content: snippet };
  const url = base.replace(/\/$/, "") + metadata.href;
  const [pageUrl, anchor = null] = url.split("#");
  return {
    objectID: metadata.href || path, url, url_without_anchor: pageUrl, anchor, content: text, hierarchy,
    type: inName || !text ? `lvl${names.length - 1}` : "content", _highlightResult: results, _snippetResult: results,
  };
};

const asking = (query, group) => {
  const lvl1 = `Ask: ${query}`;
  const hierarchy = { lvl0: group, lvl1, lvl2: null, lvl3: null, lvl4: null, lvl5: null, lvl6: null };
  const levels = { lvl0: { value: escaped(group) }, lvl1: { value: escaped(lvl1) } };
  const results = { hierarchy: levels, hierarchy_camel: [levels] };
  const url = ASK + encodeURIComponent(query);
  return { objectID: url, url, url_without_anchor: "", anchor: null, content: null, hierarchy, type: "lvl1", _highlightResult: results, _snippetResult: results };
};

/** `facetFilters` as a filter: `version:2`, `language:de`, `tag:x`; of several values of one facet the first. */
const filterOf = (facets = []) => {
  const filter = {};
  for (const facet of [facets].flat(3)) {
    const [name, value] = facet.split(/:(.*)/s);
    if (["version", "language", "tag"].includes(name)) filter[name] ??= value;
  }
  return filter;
};

const failure = (message) => Object.assign(new Error(message), { name: "RetryError" });

// `domain` and `key` are the site's on the server, an assistant key; `server` is where this file came from, if it is not given; `base` is
// where the docs begin, such as `/docs`; `group` stands over the results; `filter` is that of `POST /discovery/v1/search/{domain}`;
// `ask` says whether the last result asks the chat on the page (`widget.js`).
export const docent = ({ domain, key, server = new URL("..", HERE).href.slice(0, -1), base = "", group = "Documentation", filter = {}, ask = true }) => {
  const search = async ({ query = "", hitsPerPage = 20, indexName, facetFilters }) => {
    const found = { hits: [], nbHits: 0, page: 0, nbPages: 1, hitsPerPage, processingTimeMS: 1, index: indexName, query, params: "" };
    if (!query.trim()) return found;
    const body = { query: query.slice(0, 2000), pageSize: Math.min(hitsPerPage, 50), filter: { ...filter, ...filterOf(facetFilters) } };
    const response = await fetch(`${server}/discovery/v1/search/${encodeURIComponent(domain)}`, {
      method: "POST", headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }, body: JSON.stringify(body),
    }).catch((error) => { throw failure(error.message); });
    if (!response.ok) throw failure(`the search was refused (${response.status}): ${await response.text()}`);
    const words = pattern(query);
    found.hits = (await response.json()).filter(isLink).map((result) => hit(result, words, { base, group }));
    found.nbHits = found.hits.length;
    if (ask && globalThis.Docent) found.hits.push(asking(query, group));
    return found;
  };
  if (ask) {
    globalThis.addEventListener?.("hashchange", () => {
      if (!location.hash.startsWith(ASK) || !globalThis.Docent) return;
      const question = decodeURIComponent(location.hash.slice(ASK.length));
      history.replaceState(history.state, "", location.pathname + location.search);
      globalThis.Docent.open({ question });
    });
  }
  return (client) => ({
    addAlgoliaAgent() {},
    transporter: client?.transporter ?? { algoliaAgent: { value: "" } },
    search: async (queries) => ({ results: await Promise.all((queries.requests ?? queries).map((request) => search({ ...request, ...request.params }))) }),
  });
};
