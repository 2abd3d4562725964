// The stage of the SDK tests, with the requests that only pages in a browser make.
import { Stage as Model } from '../sdk/stage.mjs';

export class Stage extends Model {
  /** Where the assistant is, with a key for pages of this origin and one for pages of another. */
  opensFor(origin) {
    return this.ask('open', origin);
  }

  /** Where an assistant without a language model answers from these pages, by path. */
  servesPages(pages) {
    return this.ask('pages', JSON.stringify(pages));
  }

  /** Uses up what this hour allows. */
  usesUpTheLimit() {
    return this.ask('use-up');
  }

  /** Allows more. */
  raisesTheLimit() {
    return this.ask('raise');
  }
}
