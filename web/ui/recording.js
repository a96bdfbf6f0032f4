// A Recording answers like the server, from the data of a file.

/**
 * @typedef {{thought?: number, field: string, pattern: string, count: number}} Finding
 * @typedef {import('./api.js').Document & {masked?: Finding[]}} Data
 */

export class Recording {
  /** @param {Data} data */
  constructor(data) { this.data = data; }

  async session() { return this.data; }

  /** Finds thoughts that have all words of a query, in their order. @param {string} q */
  async search(q) {
    const d = this.data, wanted = q.toLowerCase().split(/\s+/).filter(Boolean), givenUp = new Set(d.standing.givenUp), verdicts = new Map(d.lines.map((l) => [l.name, l.verdict])), by = new Map(d.standing.superseded);
    const hits = d.rows.filter((r) => wanted.every((w) => r.text.toLowerCase().includes(w))).map((r) => ({
      session: d.session.id, title: d.session.title, seq: r.seq, number: r.number, branch: r.branch, excerpt: r.text.slice(0, 160), at: r.at,
      state: d.session.state, standing: by.has(r.seq) ? 'superseded' : givenUp.has(r.seq) ? verdicts.get(r.branch || '') || 'undecided' : 'current',
    }));
    return { hits };
  }

  /** @returns {() => void} */
  follow() { return () => {}; }
}
