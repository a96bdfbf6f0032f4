import { replyOf, SequentialThinkingError, type Reply } from './errors.js';
import { request, type Wire } from './wire.js';

/** How often a call is sent before it fails. */
const maxAttempts = 8;

/** Wait before the second attempt, doubled with each further one. */
const retryWaitMs = 100;

/** The longest wait that a server can ask for. */
const maxWaitMs = 10_000;

/** Statuses that say that the call can be repeated. */
const temporary = new Set([429, 502, 503, 504]);

/** A wire to a server. */
export class HttpWire implements Wire {
  #endpoint: URL;
  #headers: Record<string, string>;
  #lastId = 0;

  constructor(url: string, token?: string) {
    this.#endpoint = new URL(url);
    this.#endpoint.pathname = this.#endpoint.pathname.replace(/(\/mcp(\/[a-z-]*)?)?\/*$/, '/mcp/native');
    this.#headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'Mcp-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
    };
    if (token) this.#headers.Authorization = `Bearer ${token}`;
  }

  async call(name: string, args: object, signal?: AbortSignal): Promise<Reply> {
    const id = ++this.#lastId;
    const init: RequestInit = {
      method: 'POST', headers: { ...this.#headers, 'Mcp-Name': name }, body: request(id, name, args), signal: signal ?? null,
      redirect: 'manual', // thoughts and the token are for this server
    };
    for (let attempt = 1; ; attempt++) {
      const last = attempt === maxAttempts;
      let wait = retryWaitMs * 2 ** (attempt - 1);
      try {
        const response = await fetch(this.#endpoint, init);
        const text = await response.text();
        if (!temporary.has(response.status) || last) return replyOf(parse(response, text, id));
        wait = Math.max(wait, Number(response.headers.get('Retry-After') ?? 0) * 1000);
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (error instanceof SequentialThinkingError) throw error;
        if (last) {
          throw new SequentialThinkingError('SERVER_UNREACHABLE', `${this.#endpoint.origin} does not answer; check the option url`, undefined, { cause: error });
        }
      }
      await sleep(Math.min(wait, maxWaitMs));
      signal?.throwIfAborted();
    }
  }

  async close(): Promise<void> {} // fetch closes idle connections
}

/** Waits for a time in milliseconds. */
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the response to the call with an id. */
function parse(response: Response, text: string, id: number): unknown {
  if (response.status === 401 || response.status === 403) {
    throw new SequentialThinkingError('UNAUTHORIZED', `the server answered ${response.status}; check the option token`);
  }
  const documents = response.headers.get('Content-Type')?.startsWith('text/event-stream')
    ? text.split(/\r?\n\r?\n/).map((event) => event.split(/\r?\n/).filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join('\n'))
    : [text];
  for (const document of documents.reverse()) {
    try {
      const message = JSON.parse(document);
      if (message.id === id || message.error) return message;
    } catch {
      // not a message
    }
  }
  throw new SequentialThinkingError('PROTOCOL', `the server answered ${response.status} without a reply; check the option url`);
}
