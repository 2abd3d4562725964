// A visit to a page: what the reader does and sees.

/** How long anything that should happen may take. Far above what is normal, for a machine that does something else too. */
const PATIENCE = 30_000;

export class Visit {
  /** What the browser's console complained of, beyond what was to be expected. */
  complaints = [];
  /** What the page asked the assistant, and the answers' heads: `{method, url, body, status, thread}`. */
  exchanges = [];
  #expected = [];
  #server;

  constructor(server) {
    this.#server = server;
  }

  static async open(browser, address, { server, domain, key, resumes = false }) {
    const visit = new Visit(server);
    visit.context = await browser.newContext({ viewport: { width: 760, height: 720 } });
    const page = await visit.context.newPage();
    page.setDefaultTimeout(PATIENCE);
    visit.page = page;
    page.on('console', message => message.type() === 'error' && visit.#hears(`${message.text()} (${message.location().url})`));
    page.on('pageerror', error => visit.#hears(`thrown: ${error.stack}`));
    page.on('request', request => {
      if (request.url().startsWith(server) && request.method() !== 'OPTIONS') {
        const exchange = { method: request.method(), url: request.url(), body: request.postData() };
        visit.exchanges.push(exchange);
        request.response().then(response => {
          exchange.status = response?.status();
          exchange.thread = response?.headers()['x-thread-id'];
        }, () => {});
      }
    });
    await page.goto(`${address}?${new URLSearchParams({ server, domain, key, ...(resumes && { resume: '' }) })}`);
    await page.getByLabel('Question').waitFor();
    return visit;
  }

  #hears(complaint) {
    if (!this.#expected.some(expected => complaint.includes(expected))) this.complaints.push(complaint);
  }

  /** The console may say this. */
  expects(complaint) {
    this.#expected.push(complaint);
  }

  async asks(question) {
    await this.page.getByLabel('Question').fill(question);
    await this.page.getByRole('button', { name: 'Send' }).click();
  }

  /** Reloads the page, and gives the answer to the first thing that it asks the assistant. */
  async reloads() {
    const answer = this.page.waitForResponse(response => response.url().startsWith(this.#server));
    await this.page.reload();
    return answer;
  }

  /** The reply with this number, beginning with 0. */
  reply(n) {
    return this.page.locator('article.assistant').nth(n);
  }

  async textOf(n) {
    return this.reply(n).locator('.text').innerText();
  }

  async replies() {
    return this.page.locator('article.assistant').count();
  }

  async questions() {
    return this.page.locator('article.user').allInnerTexts();
  }

  async sources(n) {
    return this.reply(n).locator('.sources a').evaluateAll(links => links.map(link => ({ title: link.innerText, url: link.getAttribute('href') })));
  }

  async status() {
    return this.page.locator('main').getAttribute('data-status');
  }

  /** Waits until nothing runs. */
  async rests() {
    await this.page.locator('main[data-status=ready], main[data-status=error]').waitFor();
  }

  /** What the page says is wrong. */
  async trouble() {
    return this.page.getByRole('alert').innerText();
  }

  async troubles() {
    return this.page.getByRole('alert').count();
  }

  /** Waits until a reply holds these words. */
  async reads(n, words) {
    await this.reply(n).locator('.text', { hasText: words }).waitFor();
  }

  /** Watches every text that the next reply shows on its way. */
  async watches(n) {
    await this.page.evaluate(at => {
      const seen = (window.seen = []);
      const look = () => {
        const text = document.querySelectorAll('article.assistant')[at]?.querySelector('.text').innerText ?? '';
        if (text !== '' && text !== seen.at(-1)) seen.push(text);
      };
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
    }, n);
  }

  async seen() {
    return this.page.evaluate(() => window.seen);
  }

  async close() {
    await this.context.close();
  }
}
