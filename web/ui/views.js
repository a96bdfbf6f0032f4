// The rows of the overview.

/** @typedef {import('./grid.js').Item} Item */
/** @typedef {import('./model.js').Model} Model */

/** shortRun is the length from which a run of thoughts without events can be folded. */
const shortRun = 12;

/**
 * Returns the log with lines that are rejected or undecided, and long runs in which nothing happened,
 * folded into a row each.
 * @param {Model} m
 * @param {Set<number>} unfolded first thoughts of those that stay open
 * @returns {Item[]}
 */
export function folded(m, unfolded) {
  /** @type {Item[]} */
  const items = [];
  for (let seq = 1; seq <= m.length;) {
    const r = /** @type {import('./api.js').Row} */ (m.at(seq)), line = r.branch || '';
    const givenUp = m.isGivenUp(seq);
    let to = seq;
    while (to < m.length && (m.at(to + 1)?.branch || '') === line && (givenUp ? m.isGivenUp(to + 1) : plainRow(m, to + 1))) to++;
    const n = to - seq + 1;
    if (givenUp && n > 1 && !unfolded.has(seq)) {
      items.push({ seq: to, fold: { count: n, from: seq, why: 'thoughts, ' + (m.lines.get(line)?.verdict || 'undecided') } }); // its last sentence says why
    } else if (!givenUp && n > shortRun && plainRow(m, seq) && !unfolded.has(seq + 1)) {
      items.push({ seq }, { seq: seq + 1, fold: { count: n - 2, from: seq + 1, to: to - 1, why: 'thoughts in a row' } }, { seq: to });
    } else for (let s = seq; s <= to; s++) items.push({ seq: s });
    seq = to + 1;
  }
  return items;
}

/** Reports whether nothing happened at a thought but the next step. @param {Model} m @param {number} seq */
function plainRow(m, seq) {
  const r = m.at(seq);
  return !!r && m.kind(r) === 'thought' && !m.notes.has(seq) && !m.isGivenUp(seq) && m.branches.get(r.branch || '')?.first !== seq;
}
