// A Recording answers like the server, from the data of a file.

/**
 * @typedef {{at?: number, n?: number, seq?: number, place?: number, replaced?: number[]}} Piece
 * @typedef {{thought?: number, field: string, pattern: string, count: number}} Finding
 * @typedef {import('./api.js').State & {rows: import('./api.js').Row[], thoughts: import('./api.js').Text[],
 *   chains: Piece[][], tree: [number, number][], masked?: Finding[]}} Data
 */

export class Recording {
  /** @param {Data} data */
  constructor(data) { this.data = data; }

  async session() { return this.data; }

  async outline() { return { rows: this.data.rows, position: '', more: false }; }

  /** @param {string} _ @param {number} from @param {number} to */
  async thoughts(_, from, to) { return { thoughts: this.data.thoughts.slice(from - 1, to) }; }

  /** @param {string} _ @param {string} line */
  async chain(_, line) {
    const d = this.data, index = (/** @type {string} */ name) => d.lines.findIndex((l) => l.name === name);
    const common = /** @type {import('./api.js').Step[]} */ (d.chains[index('')] || []);
    return { steps: (d.chains[index(line)] || []).flatMap((p) => p.n ? common.slice(p.at || 0, (p.at || 0) + p.n) : [/** @type {import('./api.js').Step} */ (p)]) };
  }

  async tree() { return { thoughts: this.data.tree }; }

  /** Finds thoughts that have all words of a query, in their order. @param {string} q */
  async search(q) {
    const d = this.data, wanted = q.toLowerCase().split(/\s+/).filter(Boolean), left = new Set(d.standing.left), by = new Map(d.standing.superseded);
    const hits = d.thoughts.filter((t) => wanted.every((w) => t.text.toLowerCase().includes(w))).map((t) => {
      const row = d.rows[t.seq - 1];
      return {
        session: d.session.id, title: d.session.title, seq: t.seq, number: row.number, branch: row.branch, excerpt: row.head, at: row.at,
        state: d.session.state, standing: by.has(t.seq) ? 'superseded' : left.has(t.seq) ? 'left' : 'current',
      };
    });
    return { hits };
  }

  /** @returns {() => void} */
  follow() { return () => {}; }
}
