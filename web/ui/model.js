// A Model has the outline of a session and the lanes of its lines. It grows at its end, and
// each row costs the same whatever the length.

/** @typedef {import('./api.js').Row} Row */

/**
 * @typedef {object} Branch a branch or the main line
 * @property {string} name
 * @property {number} origin seq at which it leaves its parent; 0 for none
 * @property {number} first seq of its first thought
 * @property {number} last seq of its last thought that is known
 * @property {number} length thoughts
 * @property {number} lane the lane that it has now; -1 for none
 * @property {number} colour
 * @property {Segment | null} segment the one that grows
 */

/**
 * @typedef {object} Segment a piece of a lane
 * @property {Branch} branch
 * @property {number} lane
 * @property {number} from seq
 * @property {number} to seq
 * @property {number} parent lane that it comes from, -1 for none
 */

/** @typedef {import('./api.js').Row & {head: string}} Thought a row with the first sentence of its text */

/** headSize is the maximum number of characters of a head. */
const headSize = 96;

/** Returns the first sentence of a text on one line, shortened. @param {string} text */
function head(text) {
  const line = text.slice(0, 8 * headSize).trim().replace(/\s+/g, ' ');
  const sentence = /^.{23,}?[.!?](?= )/u.exec(line)?.[0] ?? line, letters = [...sentence];
  return letters.length > headSize ? letters.slice(0, headSize - 1).join('') + '…' : sentence;
}

/** restAfter is how many rows a line that has just grown keeps its lane without a new one. */
const restAfter = 40;

export class Model {
  constructor() {
    /** @type {Thought[]} the row of seq n is at n - 1 */
    this.rows = [];
    /** @type {Map<string, Branch>} */
    this.branches = new Map();
    /** @type {Segment[]} in the order of from */
    this.segments = [];
    /** @type {Map<number, number>} seq to the seq that replaced it last */
    this.replacedBy = new Map();
    /** @type {[number, number][]} replaced seq and its revision, in the order of the revision */
    this.arcs = [];
    /** @type {Int16Array} lane by seq - 1 */
    this.lanes = new Int16Array(1024);
    /** @type {(Branch | null)[]} */
    this.holders = [];
    /** @type {Map<string, number>} seq of the last thought by line, as the server has told */
    this.ends = new Map();
    /** @type {Map<string, import('./api.js').Line>} what the server says of the lines */
    this.lines = new Map();
    /** @type {Map<number, import('./api.js').Note[]>} by seq */
    this.notes = new Map();
    /** @type {Set<number>} */
    this.givenUp = new Set();
    /** @type {Set<number>} */
    this.disputed = new Set();
    this.concluded = 0;
    this.known = 0; // ends holds for rows up to this seq
    this.width = 1; // lanes
  }

  /**
   * Tells what the server says of lines, notes and standings. Where the lines end is told
   * before the first row, so that their lanes can be used again at once.
   * @param {import('./api.js').Document} state
   */
  tell(state) {
    this.lines = new Map(state.lines.map((l) => [l.name, l]));
    if (this.rows.length === 0) {
      for (const l of state.lines) this.ends.set(l.name, l.last);
      this.known = state.session.thoughts;
    }
    this.notes = new Map();
    for (const n of state.notes) {
      const list = this.notes.get(n.seq);
      if (list) list.push(n);
      else this.notes.set(n.seq, [n]);
    }
    this.givenUp = new Set(state.standing.givenUp);
    this.disputed = new Set(state.standing.disputed);
    this.concluded = state.standing.concluded || 0;
  }

  /** Returns what came of a line, for people; empty if nothing did yet. @param {string} name */
  verdictOf(name) {
    const l = this.lines.get(name);
    if (!l) return '';
    return l.verdict === 'rejected' ? '× rejected' : l.verdict || '';
  }

  /** Reports whether a thought is on a line that is rejected or undecided. @param {number} seq */
  isGivenUp(seq) { return this.givenUp.has(seq); }

  get length() { return this.rows.length; }

  /** @param {number} seq @returns {Thought | undefined} */
  at(seq) { return this.rows[seq - 1]; }

  /** @param {number} seq */
  laneOf(seq) { return this.lanes[seq - 1]; }

  /**
   * Appends rows. Rows that are there already are skipped.
   * @param {Row[]} rows
   * @returns {number} how many were new
   */
  add(rows) {
    const before = this.rows.length;
    for (const r of rows) if (r.seq === this.rows.length + 1) this.place(r);
    return this.rows.length - before;
  }

  /** @param {Row} r */
  place(r) {
    this.rows.push({ ...r, head: head(r.text) });
    if (r.seq > this.lanes.length) {
      const larger = new Int16Array(this.lanes.length * 2);
      larger.set(this.lanes);
      this.lanes = larger;
    }
    if (r.supersedes) {
      this.replacedBy.set(r.supersedes, r.seq);
      this.arcs.push([r.supersedes, r.seq]);
    }
    const name = r.branch || '';
    let b = this.branches.get(name);
    if (!b) {
      b = { name, origin: name ? r.after || 0 : 0, first: r.seq, last: r.seq, length: 0, lane: -1, colour: this.branches.size, segment: null };
      this.branches.set(name, b);
    }
    if (b.lane < 0) this.allocate(b, r);
    b.length++;
    b.last = r.seq;
    if (b.segment) b.segment.to = r.seq;
    this.lanes[r.seq - 1] = b.lane;
  }

  /**
   * Gives a line the lowest free lane.
   * @param {Branch} b
   * @param {Row} r
   */
  allocate(b, r) {
    const parent = r.after ? this.branches.get(this.rows[r.after - 1]?.branch || '') : undefined;
    const from = parent && parent !== b && parent.lane >= 0 ? parent.lane : -1;
    if (parent && from >= 0 && parent.segment) parent.segment.to = Math.max(parent.segment.to, r.seq);
    let lane = b.name === '' ? 0 : 1;
    for (; lane < this.holders.length; lane++) {
      const h = this.holders[lane];
      if (!h) break;
      if (lane > 0 && h !== parent && this.ended(h, r.seq)) {
        h.lane = -1;
        h.segment = null;
        break;
      }
      if (b.name === '') break; // the first lane is kept for the main line
    }
    b.lane = lane;
    b.segment = { branch: b, lane, from: r.seq, to: r.seq, parent: from };
    this.holders[lane] = b;
    if (this.holders[0] === undefined) this.holders[0] = null;
    this.segments.push(b.segment);
    this.width = Math.max(this.width, lane + 1);
  }

  /** @param {Branch} b @param {number} seq */
  ended(b, seq) {
    const to = b.segment ? b.segment.to : b.last;
    if (to >= seq) return false;
    if (seq <= this.known) return (this.ends.get(b.name) || b.last) < seq;
    return b.last + restAfter < seq;
  }

  /**
   * Returns the versions of a thought, oldest first.
   * @param {number} seq
   */
  versions(seq) {
    let first = seq;
    for (let r = this.at(first); r && r.supersedes; r = this.at(first)) first = r.supersedes;
    const list = [first];
    for (let next; (next = this.replacedBy.get(list[list.length - 1])); ) list.push(next);
    if (!list.includes(seq)) list.push(seq); // one of several revisions of the same thought
    return list;
  }

  /** @param {number} seq */
  name(seq) {
    const r = this.at(seq);
    if (!r) return '#' + seq;
    return (r.branch ? r.branch : '') + '#' + r.number;
  }

  /** @param {number} seq @returns {number} of eight */
  colourOf(seq) { return (this.branches.get(this.at(seq)?.branch || '')?.colour || 0) % 8; }

  /** @param {Row} r @returns {'thought' | 'revision' | 'replaced' | 'end'} */
  kind(r) {
    if (this.replacedBy.has(r.seq)) return 'replaced';
    if (r.last) return 'end';
    return r.supersedes || r.revision ? 'revision' : 'thought';
  }
}
