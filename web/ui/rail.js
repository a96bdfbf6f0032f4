// The rail of lanes beside rows, as paths of SVG.

/** maxLanes is how many lanes are drawn beside each other; further ones share the last. */
const maxLanes = 14;
const laneWidth = 14, margin = 20;

/** @param {import('./model.js').Model} m */
export function railWidth(m) { return margin + Math.min(m.width, maxLanes) * laneWidth + 6; }

/** @param {number} lane */
function x(lane) { return margin + Math.min(lane, maxLanes - 1) * laneWidth; }

/**
 * Returns the paths of a part of the rail by class. The classes begin with line, arc, ring
 * or dot, and are drawn in this order.
 * @param {import('./model.js').Model} m
 * @param {{seqs: number[], low: number, high: number, half: number, height: number, y: (seq: number) => number, last: (s: import('./model.js').Segment) => number}} o
 *   seqs are the rows, low and high the thoughts that they stand for, half is half the height of a row, y the middle of
 *   the row of a thought (NaN for none), last the thought at which a segment ends
 * @returns {Map<string, string>}
 */
export function rail(m, o) {
  /** @type {Map<string, string>} */
  const d = new Map();
  const add = (/** @type {string} */ key, /** @type {string} */ s) => d.set(key, (d.get(key) || '') + s);
  for (const s of m.segments) {
    if (s.from > o.high) break;
    if (s.to < o.low) continue;
    const key = 'line lane' + s.branch.colour % 8, at = x(s.lane), y1 = o.y(s.from), y2 = o.y(o.last(s));
    if (Number.isNaN(y1) || Number.isNaN(y2)) continue;
    add(key, 'M' + at + ' ' + Math.max(-o.half, y1) + 'V' + Math.min(o.height + o.half, y2));
    if (s.parent >= 0 && s.from >= o.low) {
      const px = x(s.parent);
      add(key, 'M' + px + ' ' + (y1 - o.half - 4) + 'C' + px + ' ' + (y1 - 2) + ' ' + at + ' ' + (y1 - o.half + 2) + ' ' + at + ' ' + y1);
    }
  }
  for (const [a, b] of m.arcs) {
    if (a > o.high || b < o.low) continue;
    const x1 = x(m.laneOf(a)), x2 = x(m.laneOf(b)), y1 = o.y(a), y2 = o.y(b);
    if (Number.isNaN(y1) || Number.isNaN(y2) || y2 - y1 < 1) continue;
    const out = Math.min(x1, x2) - 7 - Math.min(9, (y2 - y1) / 40);
    add('arc lane' + m.colourOf(b), 'M' + (x1 - 5) + ' ' + y1 + 'C' + out + ' ' + (y1 + 6) + ' ' + out + ' ' + (y2 - 6) + ' ' + (x2 - 5) + ' ' + y2);
  }
  for (const seq of o.seqs) {
    const r = m.at(seq);
    if (!r) continue;
    const at = x(m.laneOf(seq)), y = o.y(seq), key = ' lane' + m.colourOf(seq);
    switch (m.kind(r)) {
      case 'replaced': add('ring' + key, circle(at, y, 4)); break;
      case 'revision': add('dot' + key, 'M' + at + ' ' + (y - 5.5) + 'l5.5 5.5l-5.5 5.5l-5.5 -5.5z'); break;
      case 'end': add('dot' + key, 'M' + (at - 4.5) + ' ' + (y - 4.5) + 'h9v9h-9z'); break;
      default: add('dot' + key, circle(at, y, 4));
    }
  }
  return d;
}

/** @param {number} x @param {number} y @param {number} r */
function circle(x, y, r) {
  return 'M' + (x - r) + ' ' + y + 'a' + r + ' ' + r + ' 0 1 0 ' + 2 * r + ' 0a' + r + ' ' + r + ' 0 1 0 ' + -2 * r + ' 0z';
}
