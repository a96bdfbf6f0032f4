// The page of one session: its head, its conclusion, and a grid of its thoughts.

import { el, fill, put, prose, said, visible, ago, duration, clock, count } from './dom.js';
import { Model } from './model.js';
import { Grid } from './grid.js';
import { Pane } from './pane.js';
import { Refused } from './api.js';
import { states } from './list.js';
import { folded, chain, compared } from './views.js';
import { Replay } from './replay.js';
import { exportDialog, maskedDialog } from './export.js';
import { paper } from './paper.js';

/** @typedef {import('./place.js').Place} Place */
/** @typedef {import('./api.js').Text} Text */

/** firstRows is the size of the first page of the outline, which is shown at once. */
const firstRows = 500;

/** The views, by name. */
export const views = { log: 'Log', effective: 'Effective', compare: 'Compare', outline: 'Outline' };

/** maxChips is the maximum number of branches in the card of the conclusion. */
const maxChips = 100;
/** readAhead is the size in bytes up to which all texts of a session are read at once. */
const readAhead = 256 << 10;

/**
 * @typedef {object} Options
 * @property {string} id
 * @property {() => Place} place
 * @property {(change: Partial<Place>, push?: boolean) => void} go
 * @property {(name: string) => void} screen
 * @property {(text: string) => void} say
 * @property {import('./pane.js').Action[]} actions what can be said about a thought
 * @property {string[]} files formats of export
 * @property {import('./api.js').Server} [server] that writes files
 * @property {import('./recording.js').Finding[]} [masked] what was masked in a file
 * @property {(problem: string) => void} [signIn] asks for a token
 * @property {Element} [find] the search of a page without a list
 */

export class SessionPage {
  /**
   * @param {import('./api.js').Source} server
   * @param {Options} o
   */
  constructor(server, o) {
    this.server = server;
    this.o = o;
    this.id = o.id;
    this.model = new Model();
    /** @type {import('./api.js').Session | null} */
    this.head = null;
    /** @type {Map<number, Promise<Text>>} */
    this.texts = new Map();
    /** @type {Map<number, Text>} texts that are here */
    this.known = new Map();
    /** @type {Set<number>} */
    this.hits = new Set();
    this.fold = false;
    /** @type {Set<number>} */
    this.unfolded = new Set();
    /** @type {Replay | null} */
    this.replay = null;
    this.drawn = 0; // counts views that were asked for
    this.following = true;
    this.unseen = 0;
    this.stopped = false;
    this.gone = '';
    this.stopFollowing = () => {};
    /** @type {HTMLElement | null} what is printed */
    this.paper = null;
    /** @type {Promise<void>} */
    this.ready = new Promise((resolve) => { this.complete = resolve; });
    this.printing = () => { this.paper ||= document.body.appendChild(paper(this)); };
    this.printed = () => { this.paper?.remove(); this.paper = null; };
    addEventListener('beforeprint', this.printing);
    addEventListener('afterprint', this.printed);
    this.grid = new Grid(this.model, {
      select: (seq, how) => this.selected(seq, how),
      status: (seq) => this.status(seq),
      unfold: (item) => { if (item.fold) this.unfolded.add(item.fold.from); this.showView(); },
      scrolled: () => { if (this.grid.atEnd) this.caughtUp(); else this.following = false; },
    });
    this.grid.expand = (seq, into) => {
      into.append(el('div', { class: 'prose skeleton' }, '…'));
      this.text(seq).then((t) => {
        fill(into, prose(t.text));
        this.grid.fit(seq);
      }, (e) => fill(into, e.message));
    };
    this.pane = new Pane({
      texts: (seq) => this.text(seq), go: (seq) => this.jump(seq), back: () => o.screen('session'),
      diff: (on) => { o.go({ diff: on }); this.showPane(); },
      actions: o.actions.map((a) => ({ ...a, save: async (seq, text) => { await a.save(seq, text); await this.refresh(); } })),
    });
    this.header = el('header', { class: 'head' });
    this.card = el('section', { class: 'conclusion', 'aria-label': 'How it ended' });
    this.tabs = el('div', { role: 'tablist', 'aria-label': 'Views' });
    this.tools = el('div', { class: 'tools' });
    this.banner = el('p', { class: 'banner', role: 'status', hidden: true });
    this.writing = el('ul', { class: 'writing', 'aria-label': 'Being written', hidden: true });
    /** @type {Map<number, HTMLElement>} */
    this.drafts = new Map();
    this.more = el('button', { class: 'more', hidden: true, onclick: () => this.toEnd() });
    this.bars = el('div', { class: 'bars' });
    this.element = el('main', { class: 'session-page' }, this.header, this.banner, this.card, el('div', { class: 'tabs' }, this.tabs, this.tools, o.find), this.bars, this.grid.element, this.writing, this.more);
  }

  async start() {
    const slow = setTimeout(() => { this.grid.element.classList.add('loading'); }, 300);
    try {
      const state = await this.server.session(this.id);
      this.head = state.session;
      this.model.tell(state);
      let after = '';
      const at = this.o.place().at;
      for (let more = true; more && !this.stopped;) {
        const page = await this.server.outline(this.id, after, after ? 5000 : firstRows);
        after = page.position;
        more = page.more;
        const first = this.model.length === 0;
        this.model.add(page.rows);
        if (first) {
          this.drawHead();
          this.drawTabs();
        }
        this.grid.grown();
        if (first) {
          this.grid.render();
          performance.mark('rows');
        }
        if (first || at > 0 && this.model.at(at) && this.grid.selected !== at - 1) this.arrive(at);
      }
      performance.mark('complete');
      this.complete();
      clearTimeout(slow);
      this.grid.element.classList.remove('loading');
      if (this.stopped) return;
      this.drawHead();
      await this.drawCard();
      await this.showView();
      if (this.grid.items) this.arrive(this.o.place().at);
      if (this.model.rows.reduce((sum, r) => sum + r.size, 0) <= readAhead) this.readAll().catch(() => {});
      this.stopFollowing = this.server.follow({
        id: this.id, after, on: (event, data) => this.event(event, data), state: (connected, e) => this.connection(connected, e),
      });
    } catch (e) {
      clearTimeout(slow);
      this.failed(/** @type {Error} */ (e));
    }
  }

  /** Selects the thought of the URL, or nothing. @param {number} at */
  arrive(at) {
    if (at > 0 && this.model.at(at)) {
      const i = this.grid.indexOf(at);
      if (i >= 0) this.grid.select(i, { middle: true, quiet: true });
      this.showPane();
    } else if (at === 0) {
      this.grid.select(0, { quiet: true });
      this.pane.show(this.model, 1, false);
    }
  }

  stop() {
    this.stopped = true;
    this.stopFollowing();
    this.grid.stop();
    this.printed();
    removeEventListener('beforeprint', this.printing);
    removeEventListener('afterprint', this.printed);
  }

  /** @param {Error} e */
  failed(e) {
    if (e instanceof Refused && e.status === 401 && this.o.signIn) return this.o.signIn(e.message);
    const missing = e instanceof Refused && e.status === 404;
    fill(this.element, el('div', { class: 'message' },
      el('h2', {}, missing ? 'There is no such session' : 'The session could not be read'),
      el('p', {}, missing ? 'It was deleted, or it belongs to someone else.' : visible(e.message)),
      el('button', { onclick: () => this.o.go({ id: '' }, true) }, 'All sessions')));
  }

  /**
   * @param {string} event
   * @param {any} data
   */
  event(event, data) {
    switch (event) {
      case 'session': {
        const changed = this.head && (this.head.state !== data.state || this.head.conclusion !== data.conclusion);
        this.head = data;
        this.drawHead();
        if (changed) this.drawCard();
        this.later();
        break;
      }
      case 'thoughts': {
        const wasEnd = this.following && this.grid.atEnd, n = this.model.add(data);
        if (n === 0) break;
        this.added(n, wasEnd);
        break;
      }
      case 'writing':
        for (const d of data) this.write(d);
        break;
      case 'deleted':
        this.gone = 'This session was deleted at ' + clock(Date.parse(data.at)) + '. What is shown is no longer stored.';
        this.showBanner(this.gone, true);
        break;
      case 'replaced':
        this.gone = 'This session was begun again. ';
        this.showBanner(this.gone, true);
        put(this.banner, el('button', { onclick: () => location.reload() }, 'Read it again'));
        break;
    }
  }

  /**
   * Shows what a model has added to a thought that it is writing.
   * @param {{id: number, branch?: string, number?: number, from: number, text?: string, over?: boolean}} d
   */
  write(d) {
    let text = this.drafts.get(d.id);
    if (d.over) {
      text?.parentElement?.remove();
      this.drafts.delete(d.id);
    } else {
      if (!text) {
        text = el('span', { class: 'text' });
        this.drafts.set(d.id, text);
        put(this.writing, el('li', {}, el('small', {}, el('bdi', {}, visible(d.branch ? d.branch + '#' + d.number : String(d.number))), ' being written'), text));
      }
      text.textContent = (d.from ? text.textContent : '') + visible(d.text || '');
      text.scrollTop = text.scrollHeight;
    }
    this.writing.hidden = this.drafts.size === 0;
  }

  /**
   * Shows rows that have arrived. Nothing moves under a reader who is not at the end.
   * @param {number} n
   * @param {boolean} wasEnd
   */
  added(n, wasEnd) {
    if (this.o.place().view === 'log' && !this.fold) this.grid.extended();
    else this.showView();
    if (wasEnd) {
      this.grid.render();
      this.grid.toEnd();
    } else this.unseen += n;
    this.showUnseen();
    this.o.say(n === 1 ? 'New thought ' + this.model.name(this.model.length) : n + ' new thoughts');
    this.later();
  }

  /** Reads the standing of thoughts again, soon and once for many changes. */
  later() {
    if (!this.cardTimer) this.cardTimer = setTimeout(() => { this.cardTimer = 0; this.refresh().catch(() => {}); }, this.model.length > 2000 ? 2000 : 300);
  }

  async refresh() {
    if (this.stopped || this.gone) return;
    const state = await this.server.session(this.id);
    this.head = state.session;
    this.model.tell(state);
    this.drawHead();
    this.drawCard();
    if (this.fold && this.o.place().view === 'log') this.showView();
    else this.grid.grown();
    if (!this.pane.writing) this.showPane();
  }

  /** @param {number} seq */
  status(seq) {
    const m = this.model, line = m.lines.get(m.at(seq)?.branch || '');
    const end = line && line.last === seq && line.name !== '';
    return {
      hit: this.hits.has(seq), left: m.left.has(seq), mark: (m.disputed.has(seq) ? '!' : '') + (m.notes.has(seq) ? '✎' : ''),
      verdict: !end ? '' : line.verdict === 'chosen' ? '✓ chosen' : line.verdict === 'rejected' ? '╳ rejected' : line.left ? '╳ left' : '',
    };
  }

  /** @type {any} */ cardTimer = 0;

  caughtUp() {
    this.following = true;
    if (this.unseen) {
      this.unseen = 0;
      this.showUnseen();
    }
  }

  showUnseen() {
    this.more.hidden = this.unseen === 0;
    this.more.textContent = this.unseen + ' new ↓';
  }

  toEnd() {
    this.grid.toEnd();
    this.grid.select(this.grid.length - 1);
    this.caughtUp();
  }

  /**
   * @param {boolean} connected
   * @param {Refused} [e]
   */
  connection(connected, e) {
    if (this.gone) return;
    if (e && e.status === 401) return this.showBanner('You are signed out. Reload to sign in again.', true);
    if (e && e.status === 404) return this.showBanner('This session was deleted. What is shown is no longer stored.', true);
    for (const id of this.drafts.keys()) this.write({ id, from: 0, over: true }); // sent again if they last
    if (connected) {
      performance.mark('following');
      return this.showBanner('');
    }
    this.showBanner('Reconnecting; shown up to ' + this.model.name(this.model.length) + '.');
  }

  /** @param {string} text @param {boolean} [lasting] */
  showBanner(text, lasting = false) {
    this.banner.hidden = text === '';
    this.banner.classList.toggle('lasting', lasting);
    this.banner.textContent = text;
  }

  drawHead() {
    const h = this.head;
    if (!h) return;
    const [shape, word] = states[h.state] || ['○', h.state], masked = this.o.masked || [];
    document.title = visible(h.title) + ' · sequent';
    fill(this.header,
      el('button', { class: 'back', onclick: () => this.o.screen('list') }, '‹ Sessions'),
      el('h1', { title: visible(h.title) }, said(h.title || 'untitled')),
      el('span', { class: 'state ' + h.state }, el('span', { 'aria-hidden': 'true' }, shape + ' '), word),
      el('p', { class: 'meta' }, this.summary(), masked.length ? ' · ' : null,
        masked.length ? el('button', { onclick: () => maskedDialog(masked) }, count(masked.reduce((n, f) => n + f.count, 0), 'text') + ' masked') : null));
  }

  /** Returns where the session comes from, when, and how much it has. */
  summary() {
    const h = this.head, m = this.model;
    if (!h) return '';
    const begun = Date.parse(h.created), changed = Date.parse(h.updated), agent = h.context?.agent, client = h.context?.client;
    return [
      client || '', agent !== client ? agent || '' : '', project(h.context), h.dialect || '',
      new Date(begun).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' }), changed - begun >= 1000 ? duration(changed - begun) : '',
      count(h.thoughts, 'thought'), m.branches.size > 1 ? count(m.branches.size - 1, 'branch', 'branches') : '', m.arcs.length ? count(m.arcs.length, 'revision') : '',
    ].filter(Boolean).map(visible).join(' · ');
  }

  /** Shows how the session ended, and the branches that were weighed. */
  async drawCard() {
    const h = this.head, m = this.model;
    if (!h || m.length === 0) return this.card.replaceChildren();
    const end = m.concluded, last = m.at(end || m.length);
    if (!last) return;
    /** @type {HTMLElement} */
    let what;
    if (h.conclusion) what = prose(h.conclusion);
    else what = prose(end ? (await this.text(end).catch(() => ({ text: last.head }))).text : last.head);
    const title = end || h.conclusion ? 'Conclusion' : (states[h.state] || ['', h.state])[1].replace(/^./, (c) => c.toUpperCase()) + ' at';
    const open = this.card.querySelector('button.open-card')?.getAttribute('aria-expanded') === 'true';
    const toggle = el('button', { class: 'open-card', 'aria-expanded': open, onclick: () => {
      const now = toggle.getAttribute('aria-expanded') !== 'true';
      toggle.setAttribute('aria-expanded', String(now));
      toggle.textContent = now ? 'less' : 'more';
      this.card.classList.toggle('whole', now);
      for (const chip of this.card.querySelectorAll('button')) chip.tabIndex = 0;
    } }, open ? 'less' : 'more');
    this.card.classList.toggle('unfinished', !end && !h.conclusion);
    fill(this.card,
      el('h2', {}, title + ' ', el('button', { class: 'ref', title: visible(m.name(last.seq)), onclick: () => this.jump(last.seq) }, said(m.name(last.seq))), end || h.conclusion ? '' : ', ' + ago(last.at)),
      what, toggle);
    const branches = [...m.branches.values()].filter((b) => b.name), list = el('ul', { class: 'weighed', 'aria-label': 'Branches' });
    for (const b of branches.slice(0, maxChips)) {
      put(list, el('li', {}, el('button', { class: 'chip lane' + b.colour % 8, title: visible(b.name), onclick: () => this.jump(b.first) },
        el('bdi', {}, visible(b.name)), el('small', {}, verdictOf(m.lines.get(b.name)) || count(b.length, 'thought')))));
    }
    if (branches.length > maxChips) put(list, el('li', {}, el('small', {}, 'and ' + (branches.length - maxChips) + ' more')));
    if (branches.length > 0) toggle.before(list);
    const whole = (/** @type {HTMLElement} */ e) => e.scrollHeight <= e.clientHeight + 2;
    toggle.hidden = !open && whole(what) && whole(list);
    if (!open) { // what cannot be seen cannot have the focus
      const bottom = list.getBoundingClientRect().bottom;
      for (const chip of list.querySelectorAll('button')) chip.tabIndex = chip.getBoundingClientRect().top < bottom ? 0 : -1;
    }
  }

  drawTabs() {
    const now = this.o.place().view;
    this.tabs.replaceChildren();
    for (const [name, title] of Object.entries(views)) {
      put(this.tabs, el('button', { role: 'tab', 'aria-selected': name === now, tabindex: name === now ? 0 : -1, onclick: () => this.view(name) }, title));
    }
    fill(this.tools,
      now === 'log' ? el('button', { 'aria-pressed': this.fold, onclick: () => this.toggleFold(), title: 'Fold lines that were left and long runs (z)' }, 'Fold') : null,
      now === 'log' && this.model.length > 1 ? el('button', { 'aria-pressed': !!this.replay, onclick: () => this.toggleReplay(), title: 'Replay (r)' }, 'Replay') : null,
      el('button', { onclick: () => this.export(), title: 'Export (e)', hidden: this.o.files.length === 0 }, 'Export'));
  }

  export() {
    if (this.o.files.length > 0 && this.model.length > 0) exportDialog(this);
  }

  /** Shows another view. @param {string} name */
  view(name) {
    this.endReplay();
    const other = [...this.model.branches.keys()].find((b) => b !== '') || '';
    this.o.go({ view: name, ...(name === 'compare' && !this.o.place().other ? { other } : {}) }, true);
    this.showView();
  }

  toggleFold() {
    this.fold = !this.fold;
    this.unfolded.clear();
    this.showView();
  }

  toggleReplay() {
    if (this.replay) return this.endReplay();
    this.fold = false;
    this.showView();
    this.replay = new Replay(this.model, {
      show: (upto) => {
        this.grid.limit = upto;
        this.grid.grown();
        if (this.replay) this.grid.select(upto - 1, { focus: false });
      },
      close: () => this.endReplay(),
    });
    this.element.append(this.replay.element);
    this.drawTabs();
  }

  endReplay() {
    if (!this.replay) return;
    this.replay.pause();
    this.replay.element.remove();
    this.replay = null;
    this.grid.limit = Infinity;
    this.grid.grown();
    this.drawTabs();
  }

  /** Shows the view of the URL. */
  async showView() {
    const mine = ++this.drawn, p = this.o.place();
    this.drawTabs();
    this.drawBars();
    let items = null;
    try {
      if (p.view === 'effective') items = chain((await this.server.chain(this.id, p.line)).steps);
      else if (p.view === 'compare') {
        const [a, b] = await Promise.all([this.server.chain(this.id, p.line), this.server.chain(this.id, p.other)]);
        items = compared(a.steps, b.steps);
      } else if (p.view === 'outline') items = (await this.server.tree(this.id)).thoughts.map(([seq, depth]) => ({ seq, depth }));
      else if (this.fold) items = folded(this.model, this.unfolded);
    } catch (e) {
      return this.showBanner('The view could not be read. ' + /** @type {Error} */ (e).message);
    }
    if (mine !== this.drawn) return; // another view was asked for meanwhile
    const known = items && items.filter((i) => this.model.at(i.seq)), at = this.grid.item(this.grid.selected)?.seq || p.at;
    this.grid.rail = p.view === 'log';
    this.grid.element.classList.toggle('comparing', p.view === 'compare');
    this.grid.show(known);
    const i = this.grid.indexOf(at);
    this.grid.selected = Math.max(0, i);
    const timed = this.model.rows.some((r, i) => i > 0 && Math.abs(r.at - this.model.rows[i - 1].at) >= 1000);
    this.grid.element.style.setProperty('--time', timed ? '56px' : '0px');
    const longest = Math.max(0, ...[...this.model.branches.keys()].map((name) => name.length));
    this.grid.element.style.setProperty('--number', Math.min(longest, 10) + String(this.model.length).length + 2 + 'ch');
  }

  /** Shows the choice of lines of a view. */
  drawBars() {
    const p = this.o.place();
    this.bars.replaceChildren();
    if (p.view !== 'effective' && p.view !== 'compare') return;
    const choice = (/** @type {'line' | 'other'} */ key, /** @type {string} */ label) => {
      const select = el('select', { 'aria-label': label, onchange: () => { this.o.go({ [key]: select.value }, true); this.showView(); } },
        ...[...this.model.branches.keys()].map((b) => el('option', { value: b, selected: b === p[key] }, b === '' ? 'main line' : visible(b))));
      return select;
    };
    put(this.bars, choice('line', 'Line'), p.view === 'compare' ? ' beside ' : null, p.view === 'compare' ? choice('other', 'Other line') : null);
  }

  /** @param {number} seq @returns {Promise<Text>} */
  text(seq) {
    const here = this.known.get(seq);
    if (here) return Promise.resolve(here);
    let t = this.texts.get(seq);
    if (!t) {
      if (this.texts.size > 500) this.texts.clear();
      t = this.server.thoughts(this.id, seq, seq).then((r) => {
        if (!r.thoughts[0]) throw new Error('It is not stored any more.');
        return r.thoughts[0];
      });
      t.catch(() => this.texts.delete(seq));
      this.texts.set(seq, t);
    }
    return t;
  }

  /** Reads the texts that are not here yet. */
  async readAll() {
    for (let seq = 1; seq <= this.model.length && !this.stopped;) {
      if (this.known.has(seq)) {
        seq++;
        continue;
      }
      const texts = (await this.server.thoughts(this.id, seq, seq + 199)).thoughts;
      if (texts.length === 0) return;
      for (const t of texts) this.known.set(seq = t.seq, t);
      seq++;
    }
  }

  /**
   * @param {number} seq
   * @param {'move' | 'open'} how
   */
  selected(seq, how) {
    this.o.go({ at: seq });
    this.showPane();
    if (how === 'open' && this.covered) this.o.screen('thought');
  }

  /** Reports whether the thought is a screen of its own. */
  get covered() { return getComputedStyle(this.pane.element).visibility === 'hidden'; }

  showPane() {
    const p = this.o.place();
    this.pane.show(this.model, p.at || this.grid.item(this.grid.selected)?.seq || 0, p.diff);
  }

  /** Goes to a thought. @param {number} seq */
  jump(seq) {
    const i = this.grid.indexOf(seq);
    if (i >= 0) this.grid.select(i, { middle: true });
    else { // it is not in this view
      this.endReplay();
      this.fold = false;
      this.o.go({ view: 'log', at: seq }, true);
      this.showView().then(() => this.grid.select(this.grid.indexOf(seq), { middle: true }));
    }
  }

  /** Applies the URL after back or forward. */
  async moved() {
    const p = this.o.place();
    await this.showView();
    const i = this.grid.indexOf(p.at);
    if (i >= 0 && i !== this.grid.selected) this.grid.select(i, { focus: false, quiet: true });
    this.showPane();
  }

  /** Marks what a search has found. @param {import('./api.js').Hit[]} hits */
  mark(hits) {
    this.hits = new Set(hits.map((h) => h.seq));
    this.grid.grown();
  }
}

/** @param {import('./api.js').Context} [c] */
function project(c) {
  if (!c) return '';
  const name = (c.project || '').split('/').filter(Boolean).pop() || '';
  return [name, c.gitBranch ? c.gitBranch + (c.commit ? '@' + c.commit.slice(0, 7) : '') : ''].filter(Boolean).join(' ');
}

/** @param {import('./api.js').Line} [l] */
function verdictOf(l) {
  if (!l) return '';
  return l.verdict === 'chosen' ? '✓ chosen' : l.verdict === 'rejected' ? '╳ rejected' : l.left ? '╳ left' : '';
}
