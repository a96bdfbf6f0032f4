// The connection of a page in a chat to its host: JSON-RPC by messages (MCP Apps, 2026-01-26).

/** patience is how many milliseconds a host may take to answer. */
const patience = 60000;

export class Bridge {
  constructor() {
    /** @type {Map<number, {resolve: (result: any) => void, reject: (e: Error) => void, timer: number}>} */
    this.waiting = new Map();
    this.id = 0;
    /** What is done with messages of the host, by method. @type {Record<string, (params: any) => any>} */
    this.on = {};
    addEventListener('message', (e) => {
      if (e.source === window.parent && e.data && e.data.jsonrpc === '2.0') this.received(e.data);
    });
  }

  /** @param {any} m */
  async received(m) {
    if (typeof m.method !== 'string') {
      const w = this.waiting.get(m.id);
      if (!w) return;
      this.waiting.delete(m.id);
      clearTimeout(w.timer);
      if (m.error) w.reject(new Error(String(m.error.message)));
      else w.resolve(m.result);
      return;
    }
    const answer = this.on[m.method];
    if (m.id === undefined) return void answer?.(m.params || {});
    if (!answer) return this.post({ id: m.id, error: { code: -32601, message: 'there is no method ' + m.method } });
    this.post({ id: m.id, result: (await answer(m.params || {})) || {} });
  }

  /** @param {object} m */
  post(m) { window.parent.postMessage({ jsonrpc: '2.0', ...m }, '*'); }

  /**
   * @param {string} method
   * @param {object} params
   * @returns {Promise<any>}
   */
  request(method, params) {
    const id = ++this.id;
    return new Promise((resolve, reject) => {
      const timer = window.setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error('the chat does not answer'));
      }, patience);
      this.waiting.set(id, { resolve, reject, timer });
      this.post({ id, method, params });
    });
  }

  /** @param {string} method @param {object} params */
  notify(method, params) { this.post({ method, params }); }
}
