// A picture of some rows of the log, as SVG that needs nothing else.

import { el, svg, visible } from './dom.js';
import { rail, railWidth } from './rail.js';

const rowHeight = 28, width = 960;

/**
 * Returns the rows of thoughts from first to last as a document of SVG, in the colours of
 * the page.
 * @param {import('./model.js').Model} m
 * @param {number} first
 * @param {number} last
 */
export function picture(m, first, last) {
  const height = (last - first + 1) * rowHeight, left = railWidth(m);
  const y = (/** @type {number} */ seq) => (seq - first) * rowHeight + rowHeight / 2;
  const seqs = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const root = svg('svg', { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height, 'font-family': 'system-ui, sans-serif', 'font-size': 15 });
  const colours = palette();
  root.append(svg('rect', { width, height, fill: colours.back }));
  const lines = svg('svg', { width, height });
  root.append(lines);
  const paths = rail(m, { seqs, low: first, high: last, half: rowHeight / 2, height, y, last: (s) => Math.min(s.to, m.length) });
  for (const layer of ['line', 'arc', 'ring', 'dot']) {
    for (const [key, d] of paths) {
      if (!key.startsWith(layer)) continue;
      const colour = colours.lanes[Number(key.slice(-1))];
      lines.append(svg('path', layer === 'dot' ? { d, fill: colour } : {
        d, fill: layer === 'ring' ? colours.back : 'none', stroke: colour, 'stroke-width': layer === 'line' ? 2 : 1.25,
        ...(layer === 'arc' ? { 'stroke-dasharray': '3 3' } : {}),
      }));
    }
  }
  for (const seq of seqs) {
    const r = m.at(seq);
    if (!r) continue;
    const name = svg('text', { x: left, y: y(seq) + 5, fill: colours.lanes[m.colourOf(seq)], 'font-family': 'ui-monospace, monospace', 'font-size': 13 });
    name.textContent = visible(short(m.name(seq), 16));
    const text = svg('text', { x: left + 132, y: y(seq) + 5, fill: m.replacedBy.has(seq) ? colours.quiet : colours.text });
    text.textContent = visible(short(r.head, Math.floor((width - left - 132) / 7.6)));
    root.append(name, text);
  }
  return new XMLSerializer().serializeToString(root);
}

/** @param {string} text @param {number} n */
function short(text, n) { return text.length > n ? text.slice(0, n - 1) + '…' : text; }

/** Returns the colours of the page as they are shown now. */
function palette() {
  const probe = el('span', {});
  document.body.append(probe);
  const colour = (/** @type {string} */ name) => {
    probe.style.color = 'var(--' + name + ')';
    return getComputedStyle(probe).color;
  };
  const all = { back: colour('page'), text: colour('ink'), quiet: colour('quiet'), lanes: Array.from({ length: 8 }, (_, i) => colour('lane' + i)) };
  probe.remove();
  return all;
}
