// The page of one session: its head, its conclusion, and a grid of its thoughts.

import { el, fill, put, said, visible, ago, duration, clock, count } from './dom.js';
import { Model } from './model.js';
import { Grid } from './grid.js';
import { Pane } from './pane.js';
import { Refused } from './api.js';
import { states } from './list.js';

/** @typedef {import('./place.js').Place} Place */
/** @typedef {import('./api.js').Text} Text */

/** firstRows is the size of the first page of the outline, which is shown at once. */
const firstRows = 500;

/** The views, by name. */
export const views = { log: 'Log', effective: 'Effective', compare: 'Compare', outline: 'Outline' };

export class SessionPage {
  /**
   * @param {import('./api.js').Server} server
   * @param {{id: string, place: () => Place, go: (change: Partial<Place>, push?: boolean) => void, screen: (name: string) => void, say: (text: string) => void}} o
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
    /** @type {Set<number>} */
    this.hits = new Set();
    this.following = true;
    this.unseen = 0;
    this.stopped = false;
    this.gone = '';
    this.stopFollowing = () => {};
    this.grid = new Grid(this.model, {
      select: (seq, how) => this.selected(seq, how),
      status: (seq) => ({ hit: this.hits.has(seq) }),
      unfold: () => {},
      scrolled: () => { if (this.grid.atEnd) this.caughtUp(); else this.following = false; },
    });
    this.grid.expand = (seq, into) => {
      into.append(el('div', { class: 'prose skeleton' }, '…'));
      this.text(seq).then((t) => {
        fill(into, el('div', { class: 'prose', dir: 'auto' }, visible(t.text)));
        this.grid.fit(seq);
      }, (e) => fill(into, e.message));
    };
    this.pane = new Pane({
      texts: (seq) => this.text(seq), go: (seq) => this.jump(seq), back: () => o.screen('session'),
      diff: (on) => { o.go({ diff: on }); this.showPane(); },
    });
    this.header = el('header', { class: 'head' });
    this.card = el('section', { class: 'conclusion', 'aria-label': 'How it ended' });
    this.tabs = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' });
    this.banner = el('p', { class: 'banner', role: 'status', hidden: true });
    this.more = el('button', { class: 'more', hidden: true, onclick: () => this.toEnd() });
    this.bars = el('div', { class: 'bars' });
    this.element = el('main', { class: 'session-page' }, this.header, this.banner, this.card, this.tabs, this.bars, this.grid.element, this.more);
  }

  async start() {
    const slow = setTimeout(() => { this.grid.element.classList.add('loading'); }, 300);
    try {
      const { session, lines } = await this.server.session(this.id);
      this.head = session;
      this.model.setEnds(lines, session.thoughts);
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
        if (first || at > 0 && this.model.at(at) && this.grid.selected !== at - 1) this.arrive(at);
      }
      clearTimeout(slow);
      this.grid.element.classList.remove('loading');
      if (this.stopped) return;
      this.drawHead();
      await this.drawCard();
      this.showView();
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
  }

  /** @param {Error} e */
  failed(e) {
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
        break;
      }
      case 'thoughts': {
        const wasEnd = this.following && this.grid.atEnd, n = this.model.add(data);
        if (n === 0) break;
        this.added(n, wasEnd);
        break;
      }
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
   * Shows rows that have arrived. Nothing moves under a reader who is not at the end.
   * @param {number} n
   * @param {boolean} wasEnd
   */
  added(n, wasEnd) {
    if (this.o.place().view === 'log') this.grid.grown();
    else this.showView();
    if (wasEnd) {
      this.grid.render();
      this.grid.toEnd();
    } else this.unseen += n;
    this.showUnseen();
    this.o.say(n === 1 ? 'New thought ' + this.model.name(this.model.length) : n + ' new thoughts');
    if (!this.cardTimer) this.cardTimer = setTimeout(() => { this.cardTimer = 0; this.drawHead(); this.drawCard(); }, 300);
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
    if (connected) return this.showBanner('');
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
    const [shape, word] = states[h.state] || ['○', h.state], m = this.model;
    const begun = Date.parse(h.created), changed = Date.parse(h.updated);
    document.title = visible(h.title) + ' · sequent';
    const seqs = m.arcs.length;
    fill(this.header,
      el('button', { class: 'back', onclick: () => this.o.screen('list') }, '‹ Sessions'),
      el('h1', {}, said(h.title || 'untitled')),
      el('span', { class: 'state ' + h.state }, el('span', { 'aria-hidden': 'true' }, shape + ' '), word),
      el('p', { class: 'meta' }, [
        h.dialect || '', new Date(begun).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' }),
        duration(changed - begun), count(h.thoughts, 'thought'), m.branches.size > 1 ? count(m.branches.size - 1, 'branch', 'branches') : '',
        seqs ? count(seqs, 'revision') : '',
      ].filter(Boolean).join(' · '), ' ', this.menu()));
  }

  menu() {
    return el('span', { class: 'export' }, 'Export ', ...['md', 'json', 'mermaid'].map((f) => el('button', {
      onclick: () => this.save(f),
    }, { md: 'Markdown', json: 'JSON', mermaid: 'Mermaid' }[f])));
  }

  /** @param {string} format */
  async save(format) {
    const blob = await this.server.file(this.id, format);
    const a = el('a', { href: URL.createObjectURL(blob), download: this.id.replace(/[^\w.-]+/g, '_') + '.' + { md: 'md', json: 'json', mermaid: 'mmd' }[format] });
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10000);
  }

  /** Shows how the session ended, and the branches that were weighed. */
  async drawCard() {
    const h = this.head, m = this.model;
    if (!h || m.length === 0) return this.card.replaceChildren();
    const end = h.state === 'completed' ? m.conclusion() : 0, last = m.at(end || m.length);
    if (!last) return;
    /** @type {HTMLElement} */
    let what;
    if (h.conclusion) what = el('div', { class: 'prose', dir: 'auto' }, visible(h.conclusion));
    else what = el('div', { class: 'prose', dir: 'auto' }, visible(end ? (await this.text(end).catch(() => ({ text: last.head }))).text : last.head));
    const title = end || h.conclusion ? 'Conclusion' : (states[h.state] || ['', h.state])[1].replace(/^./, (c) => c.toUpperCase()) + ' at';
    const open = this.card.querySelector('button.open-card')?.getAttribute('aria-expanded') === 'true';
    const toggle = el('button', { class: 'open-card', 'aria-expanded': open, onclick: () => {
      const now = toggle.getAttribute('aria-expanded') !== 'true';
      toggle.setAttribute('aria-expanded', String(now));
      toggle.textContent = now ? 'less' : 'more';
      this.card.classList.toggle('whole', now);
    } }, open ? 'less' : 'more');
    this.card.classList.toggle('unfinished', !end && !h.conclusion);
    fill(this.card,
      el('h2', {}, title + ' ', el('button', { class: 'ref', onclick: () => this.jump(last.seq) }, said(m.name(last.seq))), end || h.conclusion ? '' : ', ' + ago(last.at)),
      what, toggle);
    toggle.hidden = what.scrollHeight <= what.clientHeight + 2 && !open;
    const branches = [...m.branches.values()].filter((b) => b.name);
    if (branches.length > 0) {
      const list = el('ul', { class: 'weighed', 'aria-label': 'Branches' });
      for (const b of branches.slice(0, 12)) {
        put(list, el('li', {}, el('button', { class: 'chip lane' + b.colour % 8, onclick: () => this.jump(b.first) },
          el('bdi', {}, visible(b.name)), el('small', {}, count(b.length, 'thought')))));
      }
      if (branches.length > 12) put(list, el('li', {}, el('small', {}, 'and ' + (branches.length - 12) + ' more')));
      put(this.card, list);
    }
  }

  drawTabs() {
    const now = this.o.place().view;
    this.tabs.replaceChildren();
    for (const [name, title] of Object.entries(views)) {
      if (name !== 'log') continue;
      put(this.tabs, el('button', { role: 'tab', 'aria-selected': name === now, onclick: () => { this.o.go({ view: name, at: this.o.place().at }, true); this.showView(); } }, title));
    }
  }

  /** Shows the view of the URL. */
  showView() {
    this.drawTabs();
    this.grid.show(null);
    const longest = Math.max(0, ...[...this.model.branches.keys()].map((name) => name.length));
    this.grid.element.style.setProperty('--number', Math.min(longest, 10) + String(this.model.length).length + 2 + 'ch');
  }

  /** @param {number} seq @returns {Promise<Text>} */
  text(seq) {
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

  /**
   * @param {number} seq
   * @param {'move' | 'open'} how
   */
  selected(seq, how) {
    this.o.go({ at: seq });
    this.showPane();
    if (how === 'open') this.o.screen('thought');
  }

  showPane() {
    const p = this.o.place();
    this.pane.show(this.model, p.at, p.diff);
  }

  /** Goes to a thought. @param {number} seq */
  jump(seq) {
    const i = this.grid.indexOf(seq);
    if (i >= 0) this.grid.select(i, { middle: true });
    else { // it is not in this view
      this.o.go({ view: 'log', at: seq }, true);
      this.showView();
      this.grid.select(this.grid.indexOf(seq), { middle: true });
    }
  }

  /** Applies the URL after back or forward. */
  moved() {
    const p = this.o.place();
    this.showView();
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
