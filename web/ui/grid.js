// A Grid shows rows of a session, of which at most 80 are in the document at any time, with
// the rail of lanes beside them.

import { el, svg, visible, duration, put } from './dom.js';
import { rail, railWidth } from './rail.js';

/** @typedef {import('./model.js').Model} Model */

/** maxRows is the maximum number of rows in the document. */
const maxRows = 78;
/** burst is how many rows a frame fills; more only if they can be seen. */
const burst = 12;

/**
 * @typedef {object} Options
 * @property {(seq: number, how: 'move' | 'open') => void} select
 * @property {(seq: number) => {mark?: string, verdict?: string, hit?: boolean, givenUp?: boolean}} status
 * @property {() => void} scrolled
 */

export class Grid {
  /**
   * @param {Model} model
   * @param {Options} o
   */
  constructor(model, o) {
    this.model = model;
    this.o = o;
    this.length = 0; // rows
    this.selected = 0; // index, -1 for none
    this.limit = Infinity; // thoughts of the log that are shown
    /** @type {Map<number, HTMLElement>} by index */
    this.shown = new Map();
    /** @type {HTMLElement[]} */
    this.spare = [];
    this.height = 28;
    this.first = 0;
    this.last = -1;
    this.dirty = true;
    this.partial = false; // rows around those that can be seen are missing
    this.frame = 0;

    this.svg = /** @type {SVGSVGElement} */ (svg('svg', { class: 'rail', 'aria-hidden': 'true' }));
    /** @type {Map<string, SVGElement>} */
    this.paths = new Map();
    this.canvas = el('div', { class: 'canvas', role: 'rowgroup' }, this.svg);
    this.element = el('div', {
      class: 'grid', role: 'grid', 'aria-label': 'Thoughts', 'aria-colcount': 4, 'aria-readonly': 'true',
      onscroll: () => { this.o.scrolled(); this.schedule(); },
      onclick: (/** @type {MouseEvent} */ e) => this.clicked(e),
    }, this.canvas);
    this.view = 0; // height that was seen last
    this.watcher = new ResizeObserver(() => this.resized());
    this.watcher.observe(this.element);
  }

  /** Keeps a reader at the end there when a banner takes room, or gives it back. */
  resized() {
    const e = this.element, end = this.view && this.atEnd;
    this.height = parseFloat(getComputedStyle(e).getPropertyValue('--row')) || this.height;
    if (e.offsetParent) this.view = e.clientHeight;
    if (end) this.toEnd();
    this.grown();
  }

  /** Says that there are more rows, or that rows look different. */
  grown() {
    this.length = Math.min(this.model.length, this.limit);
    this.element.setAttribute('aria-rowcount', String(this.length));
    this.dirty = true;
    this.schedule();
  }

  /** @param {number} seq @returns {number} index, -1 for none */
  indexOf(seq) {
    return seq >= 1 && seq <= this.length ? seq - 1 : -1;
  }

  /** @param {number} i index @returns {number} */
  top(i) { return i * this.height; }

  /** @param {number} y @returns {number} index of the row at y */
  indexAt(y) { return Math.max(0, Math.min(Math.floor(y / this.height), this.length - 1)); }

  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => { this.frame = 0; this.render(); });
  }

  /** Puts the rows into the document that can be seen, and some around them. */
  render() {
    if (!this.element.offsetParent) return; // another view is shown; the watcher says when this one is
    const view = this.element.clientHeight || 600;
    const from = this.indexAt(this.element.scrollTop), to = this.indexAt(this.element.scrollTop + view);
    const inView = to - from + 1, room = Math.max(4, Math.floor((maxRows - inView) / 2));
    const inside = from >= this.first && to <= this.last;
    if (inside && !this.dirty && !this.partial && (from - this.first > 6 || this.first === 0) && (this.last - to > 6 || this.last === this.length - 1)) return;
    const first = Math.max(0, from - room), last = Math.min(this.length - 1, to + room);
    const moved = this.dirty || first !== this.first || last !== this.last;
    if (this.dirty) this.canvas.style.height = this.top(this.length) + 'px';
    for (const [i, e] of this.shown) {
      if (i < first || i > last) {
        if (i === this.selected && e.contains(document.activeElement)) continue; // focus stays where it is
        this.shown.delete(i);
        e.remove();
        this.spare.push(e);
      } else if (this.dirty) this.fillRow(e, i);
    }
    // What can be seen is filled at once, what is around it a few rows a frame.
    const added = document.createDocumentFragment();
    let left = burst;
    const fill = (/** @type {number} */ i, /** @type {boolean} */ seen) => {
      if (i < first || i > last || this.shown.has(i)) return;
      if (--left < 0 && !seen) return;
      const e = this.spare.pop() || this.row();
      this.shown.set(i, e);
      this.fillRow(e, i);
      added.append(e);
    };
    for (let i = from; i <= to; i++) fill(i, true);
    for (let d = 1; d <= room; d++) {
      fill(to + d, false);
      fill(from - d, false);
    }
    this.canvas.append(added);
    if (this.spare.length > maxRows) this.spare.length = maxRows;
    this.first = first;
    this.last = last;
    this.dirty = false;
    this.partial = left < 0;
    if (this.partial) this.schedule();
    if (!moved) return;
    this.drawRail();
  }

  row() {
    return el('div', { class: 'row', role: 'row' },
      el('span', { class: 'number', role: 'rowheader' }),
      el('span', { class: 'text', role: 'gridcell' }),
      el('span', { class: 'effect', role: 'gridcell' }),
      el('span', { class: 'time', role: 'gridcell' }));
  }

  /**
   * @param {HTMLElement} e
   * @param {number} i
   */
  fillRow(e, i) {
    const m = this.model, r = m.at(i + 1);
    if (!r) return;
    const [num, text, effect, time] = /** @type {HTMLElement[]} */ ([...e.children]);
    const replacer = m.replacedBy.get(r.seq), kind = m.kind(r), status = this.o.status(r.seq);
    const before = m.at(i);
    e.style.transform = 'translateY(' + this.top(i) + 'px)';
    e.className = 'row is-' + kind + (status.givenUp ? ' given-up' : '') + (status.hit ? ' hit' : '') + (i === this.selected ? ' selected' : '');
    e.dataset.index = String(i);
    e.dataset.seq = String(r.seq);
    e.setAttribute('aria-rowindex', String(i + 1));
    e.setAttribute('aria-selected', String(i === this.selected));
    e.tabIndex = i === this.selected ? 0 : -1;
    e.style.paddingInlineStart = railWidth(m) + 'px';
    num.className = 'number lane' + m.colourOf(r.seq);
    num.replaceChildren();
    if (r.branch) put(num, el('bdi', { class: 'of', title: visible(r.branch) }, visible(r.branch)));
    put(num, el('b', {}, '#' + r.number), status.mark ? el('i', { class: 'mark' }, status.mark) : null);
    text.replaceChildren();
    put(text, el('bdi', { dir: 'auto' }, visible(r.head) || '(empty)'));
    const parts = [];
    if (replacer) parts.push('replaced by ' + m.name(replacer));
    if (r.supersedes) parts.push('replaces ' + m.name(r.supersedes));
    const b = m.branches.get(r.branch || '');
    if (b && b.first === r.seq && b.origin) parts.push('from ' + m.name(b.origin));
    if (status.verdict) parts.push(status.verdict);
    effect.textContent = parts.join(' · ');
    time.textContent = before && Math.abs(r.at - before.at) >= 1000 ? (r.at < before.at ? '−' : '+') + duration(r.at - before.at) : '';
  }

  /** @param {number} seq @returns {number} vertical middle of the row of a thought; NaN for none */
  y(seq) {
    const i = this.indexOf(seq);
    return i < 0 ? NaN : this.top(i) + this.height / 2;
  }

  /** Draws the lanes beside the rows in the document. */
  drawRail() {
    if (this.length === 0) return;
    const m = this.model, base = this.top(this.first), height = this.top(this.last + 1) - base, seqs = [];
    for (let i = this.first; i <= this.last; i++) seqs.push(i + 1);
    this.svg.style.transform = 'translateY(' + base + 'px)';
    this.svg.setAttribute('height', String(height));
    this.svg.setAttribute('width', String(railWidth(m)));
    const d = rail(m, {
      seqs, low: this.first + 1, high: this.last + 1, half: this.height / 2, height, y: (seq) => this.y(seq) - base,
      last: (s) => Math.min(s.to, this.length),
    });
    for (const [key, path] of this.paths) if (!d.has(key)) path.setAttribute('d', '');
    for (const layer of ['line', 'arc', 'ring', 'dot']) {
      for (const [key, value] of d) {
        if (!key.startsWith(layer)) continue;
        let path = this.paths.get(key);
        if (!path) {
          path = svg('path', { class: key });
          this.paths.set(key, path);
          // Dots are drawn over lines.
          const after = layer === 'dot' || layer === 'ring' ? null : this.svg.querySelector('.dot, .ring');
          this.svg.insertBefore(path, after);
        }
        path.setAttribute('d', value);
      }
    }
  }

  /** @param {MouseEvent} e */
  clicked(e) {
    const target = /** @type {Element} */ (e.target), row = /** @type {HTMLElement | null} */ (target.closest('.row'));
    if (!row) return;
    const i = Number(row.dataset.index);
    const chosen = getSelection();
    if (chosen && !chosen.isCollapsed && row.contains(chosen.anchorNode)) return; // text is being selected
    this.select(i, { how: 'open' });
  }

  /**
   * Selects a row.
   * @param {number} i index
   * @param {{how?: 'move' | 'open', focus?: boolean, middle?: boolean, quiet?: boolean}} [o]
   */
  select(i, o = {}) {
    if (this.length === 0) return;
    i = Math.max(0, Math.min(i, this.length - 1));
    const before = this.selected;
    this.selected = i;
    this.reveal(i, o.middle);
    this.dirty = true;
    this.render();
    if (o.focus !== false) {
      this.shown.get(i)?.focus({ preventScroll: true });
      this.element.scrollIntoView({ block: 'nearest' }); // in a low window the grid may be below
    }
    if (before !== i || o.how === 'open') if (!o.quiet) this.o.select(i + 1, o.how || 'move');
  }

  /** Scrolls to a row. @param {number} i @param {boolean} [middle] */
  reveal(i, middle) {
    const y = this.top(i), view = this.element.clientHeight, at = this.element.scrollTop;
    if (y >= at + this.height && y <= at + view - 2 * this.height) return;
    const far = middle || y < at - view || y > at + 2 * view;
    this.element.scrollTop = far ? y - view / 2.5 : y < at + this.height ? y - this.height : y - view + 2 * this.height;
  }

  get atEnd() {
    const e = this.element, view = Math.max(this.view, e.clientHeight);
    return e.scrollTop + view >= e.scrollHeight - this.height * 1.5;
  }

  toEnd() {
    this.canvas.style.height = this.top(this.length) + 'px';
    this.element.scrollTop = this.element.scrollHeight;
  }

  stop() { this.watcher.disconnect(); }
}
