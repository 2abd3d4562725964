// The connection to the test that started this program, which runs the assistant and its model. A line on stdout that
// begins with `? ` is a request, which the test answers with a line of JSON.
import { createInterface } from 'node:readline';

export class Stage {
  #lines = createInterface({ input: process.stdin });
  #answers = this.#lines[Symbol.asyncIterator]();

  /** How often the model was asked to answer this, and how many of its replies were broken off: `{asked, hungUp}`. */
  model(question) {
    return this.ask('model', question);
  }

  /** From here on the model waits in the middle of some replies. */
  holdsTheModel() {
    return this.ask('hold');
  }

  /** The model goes on. */
  lets() {
    return this.ask('let');
  }

  /** What the model replies to `Show the retries`. */
  shows(text) {
    return this.ask('show', JSON.stringify(text));
  }

  close() {
    this.#lines.close();
  }

  async ask(...words) {
    console.log(`? ${words.join(' ')}`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error('nobody answers');
    return JSON.parse(value);
  }
}
