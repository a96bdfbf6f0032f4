// The choice of a view: the tabs, the tools beside them, the lines of a view, folding and replay.

import { el, fill, put, visible } from './dom.js';
import { folded, chainOf, compared } from './views.js';
import { Replay } from './replay.js';

/** The views, by name. */
const titles = { read: 'Read', overview: 'Overview', compare: 'Compare' };

export class Tabs {
  /** @param {import('./session.js').SessionPage} page */
  constructor(page) {
    this.page = page;
    this.fold = false;
    /** @type {Set<number>} first thoughts of folded runs that stay open */
    this.unfolded = new Set();
    /** @type {Replay | null} */
    this.replay = null;
    this.drawn = 0; // counts views that were asked for
    this.list = el('div', { role: 'tablist', 'aria-label': 'Views' });
    this.tools = el('div', { class: 'tools' });
    this.element = el('div', { class: 'tabs' }, this.list, this.tools, page.o.find);
    this.bars = el('div', { class: 'bars' });
  }

  draw() {
    const page = this.page, o = page.o, now = o.place().view;
    this.list.replaceChildren();
    for (const [name, title] of Object.entries(titles)) {
      put(this.list, el('button', { role: 'tab', 'aria-selected': name === now, tabindex: name === now ? 0 : -1, onclick: () => this.open(name) }, title));
    }
    fill(this.tools,
      now === 'overview' ? el('button', { 'aria-pressed': this.fold, onclick: () => this.toggleFold(), title: 'Fold rejected and undecided lines and long runs (z)' }, 'Fold') : null,
      now === 'overview' && page.model.length > 1 ? el('button', { 'aria-pressed': !!this.replay, onclick: () => this.toggleReplay(), title: 'Replay (r)' }, 'Replay') : null,
      o.link ? el('button', { onclick: () => o.link?.(page.id), title: 'Share by a link' }, 'Share') : null,
      el('button', { onclick: () => page.export(), title: 'Export (e)', hidden: o.files.length === 0 }, 'Export'));
  }

  /** Goes to another view. @param {string} name */
  open(name) {
    this.endReplay();
    const o = this.page.o, other = [...this.page.model.branches.keys()].find((b) => b !== '') || '';
    o.go({ view: name, ...(name === 'compare' && !o.place().other ? { other } : {}) }, true);
    this.show();
  }

  toggleFold() {
    this.fold = !this.fold;
    this.unfolded.clear();
    this.show();
  }

  /** Shows the thoughts of a row that is folded. @param {number} first its first thought */
  unfold(first) {
    this.unfolded.add(first);
    this.show();
  }

  toggleReplay() {
    if (this.replay) return this.endReplay();
    const page = this.page;
    this.fold = false;
    if (page.reading) page.o.go({ view: 'overview' }, true);
    this.show();
    this.replay = new Replay(page.model, {
      show: (upto) => {
        page.grid.limit = upto;
        page.grid.grown();
        if (this.replay) page.grid.select(upto - 1, { focus: false });
      },
      close: () => this.endReplay(),
    });
    page.element.append(this.replay.element);
    this.draw();
  }

  endReplay() {
    if (!this.replay) return;
    this.replay.pause();
    this.replay.element.remove();
    this.replay = null;
    this.page.grid.limit = Infinity;
    this.page.grid.grown();
    this.draw();
  }

  /** Shows the view of the URL. */
  async show() {
    const page = this.page, m = page.model, grid = page.grid, mine = ++this.drawn, p = page.o.place();
    this.draw();
    this.drawBars();
    page.element.dataset.view = p.view;
    if (p.view !== 'overview') this.endReplay();
    if (page.reading) return;
    let items;
    try {
      items = await this.items(p);
    } catch (e) {
      return page.showBanner('The view could not be read. ' + /** @type {Error} */ (e).message);
    }
    if (mine !== this.drawn) return; // another view was asked for meanwhile
    const known = items && items.filter((i) => m.at(i.seq)), at = grid.item(grid.selected)?.seq || p.at;
    grid.rail = p.view === 'overview';
    grid.element.classList.toggle('comparing', p.view === 'compare');
    grid.show(known);
    grid.selected = Math.max(0, grid.indexOf(at));
    const timed = m.rows.some((r, i) => i > 0 && Math.abs(r.at - m.rows[i - 1].at) >= 1000);
    grid.element.style.setProperty('--time', timed ? '56px' : '0px');
    const longest = Math.max(0, ...[...m.branches.keys()].map((name) => name.length));
    grid.element.style.setProperty('--number', Math.min(longest, 10) + String(m.length).length + 2 + 'ch');
  }

  /**
   * Returns the rows of a view; null means the log.
   * @param {import('./place.js').Place} p
   * @returns {Promise<import('./grid.js').Item[] | null>}
   */
  async items(p) {
    const { server, id, model, position: after } = this.page;
    switch (p.view) {
      case 'compare': {
        const d = await server.session(id, { after, line: [p.line, p.other] });
        return compared(chainOf(d, p.line), chainOf(d, p.other));
      }
    }
    return this.fold ? folded(model, this.unfolded) : null;
  }

  /** Shows the choice of lines of a view. */
  drawBars() {
    const page = this.page, p = page.o.place();
    this.bars.replaceChildren();
    if (p.view !== 'compare') return;
    const choice = (/** @type {'line' | 'other'} */ key, /** @type {string} */ label) => {
      const select = el('select', { 'aria-label': label, onchange: () => { page.o.go({ [key]: select.value }, true); this.show(); } },
        ...[...page.model.branches.keys()].map((b) => el('option', { value: b, selected: b === p[key] }, b === '' ? 'main line' : visible(b))));
      return select;
    };
    put(this.bars, choice('line', 'Line'), ' beside ', choice('other', 'Other line'));
  }
}
