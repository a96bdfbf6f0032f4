// The texts of a session, which are read when they are shown.

/** @typedef {import('./api.js').Text} Text */

/** maxAsked is the maximum number of texts kept that were asked for one by one. */
const maxAsked = 500;
/** pageSize is the number of texts in a request of readAll. */
const pageSize = 200;

export class Texts {
  /**
   * @param {import('./api.js').Source} server
   * @param {string} id of the session
   */
  constructor(server, id) {
    this.server = server;
    this.id = id;
    /** @type {Map<number, Promise<Text>>} by seq */
    this.asked = new Map();
    /** @type {Map<number, Text>} by seq, those of readAll */
    this.known = new Map();
    this.stopped = false;
  }

  /** @param {number} seq @returns {Promise<Text>} */
  get(seq) {
    const known = this.known.get(seq);
    if (known) return Promise.resolve(known);
    let t = this.asked.get(seq);
    if (!t) {
      if (this.asked.size > maxAsked) this.asked.clear();
      t = this.server.thoughts(this.id, seq, seq).then((r) => {
        if (!r.thoughts[0]) throw new Error('It is not stored any more.');
        return r.thoughts[0];
      });
      t.catch(() => this.asked.delete(seq));
      this.asked.set(seq, t);
    }
    return t;
  }

  /** Reads the texts of a model's thoughts that are not known yet. @param {import('./model.js').Model} m */
  async readAll(m) {
    for (let seq = 1; seq <= m.length && !this.stopped;) {
      if (this.known.has(seq)) {
        seq++;
        continue;
      }
      const texts = (await this.server.thoughts(this.id, seq, seq + pageSize - 1)).thoughts;
      if (texts.length === 0) return;
      for (const t of texts) this.known.set(seq = t.seq, t);
      seq++;
    }
  }

  /** Ends readAll. */
  stop() { this.stopped = true; }
}
