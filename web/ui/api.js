// The API of the server: docs/reference/api.md.

/**
 * @typedef {{id: string, title: string, state: string, dialect?: string, conclusion?: string, thoughts: number,
 *   branches?: number, version: number, created: string, updated: string, expires?: string, origin?: Origin,
 *   labels?: Record<string, string>}} Session
 * @typedef {{client?: string, clientVersion?: string, agent?: string, model?: string, project?: string, gitBranch?: string, commit?: string}} Origin
 * @typedef {{name: string, origin?: number, first: number, last: number, verdict?: string, by?: number}} Line
 * @typedef {{seq: number, kind: string, text?: string, from?: string, at: string}} Note
 * @typedef {{superseded: [number, number][], givenUp: number[], disputed: number[], concluded?: number}} Standing
 * @typedef {{session: Session, fault?: string, lines: Line[], notes: Note[], standing: Standing, rows: Row[], position: string, more: boolean}} Document
 * @typedef {{seq: number, number: number, total?: number, branch?: string, after?: number, supersedes?: number, revision?: boolean,
 *   last?: boolean, at: number, text: string, note?: string}} Row
 * @typedef {{after?: string, limit?: number}} Wanted what is wanted of a session, as in the query
 * @typedef {{session: string, title: string, seq: number, number: number, branch?: string, excerpt: string, at: number,
 *   state: string, standing: string, by?: number, asked?: string, now?: string, conclusion?: string}} Hit
 * @typedef {Pick<Server, 'session' | 'article' | 'search' | 'follow'>} Source what a session is read from
 * @typedef {{version: number, program: string, auth: string, write: boolean, links: boolean, owner?: string, signIn?: string, scope?: string, commands?: string[]}} About
 * @typedef {{id: string, session: string, token?: string, ended?: boolean, created: string, expires: string, path?: string, url?: string}} Link
 */

/** A Refused is an error that the server reports. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {{code?: string, message?: string, fix?: string}} e
   */
  constructor(status, e) {
    super(e.message || 'the server answered ' + status);
    this.status = status;
    this.code = e.code || '';
    this.fix = e.fix || '';
  }
}

const keyName = 'sequent.key';

/** A Server answers from the API. */
export class Server {
  /** @param {string} [within] path below the API of what is read, such as linked/ID/ */
  constructor(within = '') {
    this.base = '/api/v1/' + within;
    this.key = sessionStorage.getItem(keyName) || '';
    this.live = true; // there are events
    this.signIn = ''; // host of the provider through which people sign in; empty for none
    this.owner = ''; // of the sessions, if not those of who is signed in
  }

  /**
   * Takes the key of a server on this machine from the fragment of the URL, which no
   * server sees, or from another tab.
   */
  async enter() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (given.has('key') || given.has('code')) {
      history.replaceState(history.state, '', location.pathname + location.search);
      if (given.has('key')) this.keep(given.get('key') || '');
      else if ((await this.about()).auth === 'token') {
        await this.send('POST', 'login', { code: given.get('code') }).catch((e) => {
          if (!(e instanceof Refused && e.status === 401)) throw e; // a used code: the browser may be signed in
        });
      }
      else this.keep((await this.send('POST', 'key', { code: given.get('code') })).key);
    }
    const tabs = new BroadcastChannel('sequent');
    tabs.onmessage = (m) => {
      if (m.data === 'key?' && this.key) tabs.postMessage({ key: this.key });
    };
    if (this.key) return;
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, 150, null);
      tabs.addEventListener('message', (m) => {
        if (m.data && typeof m.data.key === 'string') {
          this.keep(m.data.key);
          clearTimeout(timer);
          resolve(null);
        }
      });
      tabs.postMessage('key?');
    });
  }

  /** @param {string} key */
  keep(key) {
    this.key = key;
    sessionStorage.setItem(keyName, key);
  }

  /** @returns {Record<string, string>} */
  headers() {
    return this.key ? { Authorization: 'Bearer ' + this.key } : {};
  }

  /**
   * Sends a request, and again if that needed a renewal of the sign-in. A refusal is thrown.
   * @param {string} path
   * @param {{method?: string, headers?: Record<string, string>, body?: any, signal?: AbortSignal}} [o] the body is sent as JSON
   */
  async request(path, { headers, body, ...rest } = {}) {
    const ask = () => fetch(this.base + path, {
      ...rest, headers: { ...this.headers(), ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      body: body ? JSON.stringify(body) : undefined, credentials: 'same-origin', cache: 'no-store',
    });
    let r = await ask();
    if (r.status === 401 && !path.startsWith('login') && await this.renew()) r = await ask();
    if (!r.ok) throw new Refused(r.status, ((await r.json().catch(() => ({}))) || {}).error || {});
    return r;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {any} [body]
   * @returns {Promise<any>}
   */
  async send(method, path, body) { return (await this.request(path, { method, body })).json(); }

  /**
   * Renews the sign-in, and reports whether requests are admitted now. The pages of a browser
   * take turns: the provider accepts a refresh token once, and another page may have been faster.
   * @returns {Promise<boolean>}
   */
  async renew() {
    if (!this.signIn) return false;
    return navigator.locks.request('sequent.renew', async () => {
      if ((await this.about()).owner) return true;
      try {
        await this.send('POST', 'login/renew', {});
        return true;
      } catch (e) {
        if (e instanceof Refused && (e.status === 401 || e.status === 403)) return false;
        throw e; // the provider cannot be reached, which ends no sign-in
      }
    });
  }

  /**
   * @param {string} path
   * @param {Record<string, any>} [query]
   */
  get(path, query = {}) {
    const q = parameters({ ...query, owner: this.owner });
    return this.send('GET', path + (q.size ? '?' + q : ''));
  }

  /** @returns {Promise<About>} */
  async about() {
    const about = await this.send('GET', '');
    this.signIn = about.signIn || '';
    return about;
  }
  /** Returns the owners that have sessions. Only an admin sees them. @returns {Promise<string[]>} */
  async owners() {
    const all = await this.send('POST', 'store/usage', { AllOwners: true });
    return (all || []).filter((/** @type {any} */ u) => u.owner && u.sessions > 0).map((/** @type {any} */ u) => u.owner);
  }
  /** @param {string} [cursor] @returns {Promise<{sessions: Session[], next?: string}>} */
  sessions(cursor) { return this.get('sessions', { cursor }); }
  /** @param {string} id @param {Wanted} wanted @returns {Promise<Document>} */
  session(id, wanted) { return this.get('session', { id, ...wanted }); }
  /** @param {string} id @param {Record<string, any>} wanted @returns {Promise<{html: string, position: string, thoughts: number}>} */
  article(id, wanted) { return this.get('article', { id, ...wanted }); }
  /** @param {string} q @param {string} [id] @param {string} [project] @returns {Promise<{hits: Hit[], next?: string, notice?: string}>} */
  search(q, id, project) { return this.get('search', { q, id, project }); }

  /** @param {string} id @param {number} seq @param {string} kind @param {string} text */
  note(id, seq, kind, text) { return this.send('POST', 'notes', { id, seq, kind, text }); }

  /** @param {string} id @returns {Promise<{links: Link[]}>} */
  links(id) { return this.get('links', { id }); }
  /** @param {string} id @param {number} seconds @returns {Promise<Link>} */
  makeLink(id, seconds) { return this.send('POST', 'links', { id, seconds }); }
  /** @param {string} link @returns {Promise<Link>} */
  revokeLink(link) { return this.send('DELETE', 'links/' + encodeURIComponent(link)); }

  /**
   * Returns a file of a session, and how many texts were masked in it.
   * @param {string} id
   * @param {string} format
   * @param {boolean} secrets mask keys, tokens and passwords
   */
  async file(id, format, secrets) {
    const r = await this.request('export?' + parameters({ id, format, secrets, owner: this.owner }));
    return { blob: await r.blob(), masked: Number(r.headers.get('Sequent-Redacted')) };
  }

  /**
   * Follows the events of a session or, without id, of the list. It connects again until
   * stop is called, and misses and repeats nothing.
   * @param {{id?: string, project?: string, after?: string, on: (event: string, data: any) => void, state: (connected: boolean, e?: Refused) => void}} o
   * @returns {() => void} stop
   */
  follow(o) {
    const abort = new AbortController();
    // A browser keeps pages that were left, and with HTTP/1.1 six connections for all tabs of a server. A
    // page that nobody sees gives its connection up, and connects again when it is shown.
    let connection = new AbortController();
    document.addEventListener('visibilitychange', () => { if (document.hidden) connection.abort(); }, { signal: abort.signal });
    const shown = () => new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true, signal: abort.signal }));
    let last = o.after || '', wait = 250, over = false;
    const run = async () => {
      while (!abort.signal.aborted && !over) {
        while (document.hidden) await shown();
        try {
          const q = new URLSearchParams(o.id ? { id: o.id } : o.project ? { project: o.project } : {});
          if (this.owner) q.set('owner', this.owner);
          connection = new AbortController();
          const r = await this.request('events?' + q, {
            headers: last ? { 'Last-Event-ID': last } : {}, signal: AbortSignal.any([abort.signal, connection.signal]),
          });
          o.state(true);
          wait = 250;
          if (r.body) await events(r.body, (event, id, data) => {
            if (event === 'deleted' || event === 'replaced' || event === 'revoked') over = true;
            o.on(event, JSON.parse(data));
            if (id) last = id;
          });
        } catch (e) {
          if (abort.signal.aborted) return;
          if (connection.signal.aborted) continue;
          const refused = e instanceof Refused ? e : undefined;
          o.state(false, refused);
          if (refused && (refused.status === 401 || refused.status === 404)) return;
        }
        if (over || abort.signal.aborted) return;
        o.state(false);
        await new Promise((resolve) => setTimeout(resolve, wait * (0.75 + Math.random() / 2)));
        wait = Math.min(wait * 2, 10000);
      }
    };
    run();
    return () => abort.abort();
  }
}

/** Returns a query without what is empty. @param {Record<string, any>} query */
export function parameters(query) {
  const q = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) for (const v of [values].flat()) if (v !== undefined && (v !== '' || name === 'line')) q.append(name, String(v));
  return q;
}

/**
 * Reads server-sent events. Those of a browser cannot send headers.
 * @param {ReadableStream<Uint8Array>} body
 * @param {(event: string, id: string, data: string) => void} on
 */
async function events(body, on) {
  const reader = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    for (let end; (end = rest.indexOf('\n\n')) >= 0; rest = rest.slice(end + 2)) {
      let event = 'message', id = '', data = '';
      for (const line of rest.slice(0, end).split('\n')) {
        if (line.startsWith('event: ')) event = line.slice(7);
        else if (line.startsWith('id: ')) id = line.slice(4);
        else if (line.startsWith('data: ')) data += line.slice(6);
      }
      if (data) on(event, id, data);
    }
  }
}
