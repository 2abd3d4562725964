/** See docs/WIDGET.md, "Move in". */
export interface DocSearchOptions {
  /** The domain of the docs on the server, and an assistant key, which is public. */
  domain: string;
  key: string;
  /** The server. Default: where the script comes from. */
  server?: string;
  /** Where the docs begin, such as `/docs`. */
  base?: string;
  /** What stands over the results. */
  group?: string;
  /** As of `POST /discovery/v1/search/{domain}`. */
  filter?: { version?: string; language?: string; tag?: string };
  /** Whether the last result asks the chat on the page. */
  ask?: boolean;
}

/** For `transformSearchClient` of DocSearch. */
export function docent(options: DocSearchOptions): (client: any) => any;
