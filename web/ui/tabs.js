// The choice of a view: the tabs, the tools beside them, the lines to compare, and replay.

import { el, fill, put, visible } from './dom.js';
import { Replay } from './replay.js';

/** The views, by name. */
const titles = { read: 'Read', overview: 'Overview', compare: 'Compare' };

export class Tabs {
  /** @param {import('./session.js').SessionPage} page */
  constructor(page) {
    this.page = page;
    /** @type {Replay | null} */
    this.replay = null;
    this.known = 0; // lines that the tabs and the choice have
    this.list = el('div', { role: 'tablist', 'aria-label': 'Views' });
    this.tools = el('div', { class: 'tools' });
    this.element = el('div', { class: 'tabs' }, this.list, this.tools, page.o.find);
    this.choice = el('div', { class: 'choose' });
  }

  draw() {
    const page = this.page, o = page.o, now = o.place().view;
    this.known = page.model.branches.size;
    this.drawChoice();
    this.list.replaceChildren();
    for (const [name, title] of Object.entries(titles)) {
      if (name === 'compare' && now !== name && page.model.branches.size < 2) continue;
      put(this.list, el('button', { role: 'tab', 'aria-selected': name === now, tabindex: name === now ? 0 : -1, onclick: () => this.open(name) }, title));
    }
    fill(this.tools,
      now === 'overview' && page.model.length > 1 ? el('button', { 'aria-pressed': !!this.replay, onclick: () => this.toggleReplay(), title: 'Replay (r)' }, 'Replay') : null,
      o.link ? el('button', { onclick: () => o.link?.(page.id), title: 'Share by a link' }, 'Share') : null,
      el('button', { onclick: () => page.export(), title: 'Export (e)', hidden: o.files.length === 0 }, 'Export'));
  }

  /** Goes to another view. @param {string} name */
  open(name) {
    const { o, model } = this.page, p = o.place();
    if (name === 'compare' && model.branches.size < 2) return;
    this.endReplay();
    o.go({ view: name, ...(name === 'compare' && p.line === p.other ? this.lines() : {}) }, true);
    this.show().then(() => {
      const { grid, article } = this.page;
      if (!this.page.reading) grid.select(grid.selected, { middle: true, quiet: true });
      else if (name === 'read' && o.place().at) article.go(o.place().at, this.page.pane.writing);
    });
  }

  /** Returns the lines that are compared first: what was chosen with what was not. */
  lines() {
    const m = this.page.model, of = (/** @type {string} */ verdict) => [...m.lines.values()].find((l) => l.name && l.verdict === verdict)?.name;
    const line = of('chosen') ?? '', others = [...m.branches.keys()].filter((name) => name && name !== line);
    return { line, other: others.find((name) => m.lines.get(name)?.verdict === 'rejected') ?? others[0] ?? '' };
  }

  toggleReplay() {
    if (this.replay) return this.endReplay();
    const page = this.page;
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
    const page = this.page, m = page.model, grid = page.grid, p = page.o.place();
    this.draw();
    page.element.dataset.view = p.view;
    if (page.reading) {
      this.endReplay();
      return page.article.show();
    }
    grid.grown();
    grid.selected = Math.max(0, p.at ? grid.indexOf(p.at) : grid.selected);
    const timed = m.rows.some((r, i) => i > 0 && Math.abs(r.at - m.rows[i - 1].at) >= 1000);
    grid.element.style.setProperty('--time', timed ? '56px' : '0px');
    const longest = Math.max(0, ...[...m.branches.keys()].map((name) => name.length));
    grid.element.style.setProperty('--number', Math.min(longest, 10) + String(m.length).length + 2 + 'ch');
  }

  /** Shows the choice of the lines that are compared. */
  drawChoice() {
    const page = this.page, p = page.o.place();
    const choice = (/** @type {'line' | 'other'} */ key, /** @type {string} */ label) => {
      const select = el('select', { 'aria-label': label, onchange: () => { page.o.go({ [key]: select.value }, true); this.show(); } },
        ...[...page.model.branches.keys()].map((b) => el('option', { value: b, selected: b === p[key] }, b === '' ? 'main line' : visible(b))));
      return select;
    };
    if (!this.choice.contains(document.activeElement)) fill(this.choice, choice('line', 'Line'), ' beside ', choice('other', 'Other line'));
  }
}
