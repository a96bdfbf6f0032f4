// Differences between two texts, word by word.

/** maxWork limits the comparisons; texts that differ more are shown one after the other. */
const maxWork = 4e6;

/**
 * Returns the pieces of two texts: "=" in both, "-" only in the first, "+" only in the
 * second (E. Myers, An O(ND) difference algorithm, 1986).
 * @param {string} before
 * @param {string} after
 * @returns {['=' | '-' | '+', string][]}
 */
export function words(before, after) {
  const a = split(before), b = split(after);
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) endA--, endB--;
  /** @type {['=' | '-' | '+', string][]} */
  const out = [];
  const add = (/** @type {'=' | '-' | '+'} */ kind, /** @type {string[]} */ pieces) => {
    if (pieces.length === 0) return;
    const text = pieces.join(''), last = out[out.length - 1];
    if (last && last[0] === kind) last[1] += text;
    else out.push([kind, text]);
  };
  add('=', a.slice(0, start));
  for (const [kind, piece] of middle(a.slice(start, endA), b.slice(start, endB))) add(kind, [piece]);
  add('=', a.slice(endA));
  return out;
}

/** @param {string} text */
function split(text) { return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || []; }

/**
 * @param {string[]} a
 * @param {string[]} b
 * @returns {['=' | '-' | '+', string][]}
 */
function middle(a, b) {
  const n = a.length, m = b.length;
  /** @type {['=' | '-' | '+', string][]} */
  const whole = [['-', a.join('')], ['+', b.join('')]];
  if (n === 0 || m === 0) return whole.filter(([, text]) => text !== '');
  const max = n + m, v = new Int32Array(2 * max + 2);
  /** @type {Int32Array[]} */
  const trace = [];
  let work = 0, found = -1;
  for (let d = 0; d <= max && found < 0; d++) {
    trace.push(v.slice(max - d, max + d + 2));
    if ((work += d * 2 + 1) > maxWork || d > 2000) return whole;
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && v[max + k - 1] < v[max + k + 1]) ? v[max + k + 1] : v[max + k - 1] + 1;
      let y = x - k;
      while (x < n && y < m && a[x] === b[y]) x++, y++;
      v[max + k] = x;
      if (x >= n && y >= m) { found = d; break; }
    }
  }
  /** @type {['=' | '-' | '+', string][]} */
  const back = [];
  let x = n, y = m;
  for (let d = found; d > 0; d--) {
    const at = (/** @type {number} */ k) => trace[d][k + d];
    const k = x - y, down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const pk = down ? k + 1 : k - 1, px = at(pk), py = px - pk;
    while (x > px && y > py && x > 0 && y > 0 && a[x - 1] === b[y - 1]) back.push(['=', a[--x]]), y--;
    if (down) back.push(['+', b[--y]]);
    else back.push(['-', a[--x]]);
  }
  while (x > 0 && y > 0) back.push(['=', a[--x]]), y--;
  return back.reverse();
}
