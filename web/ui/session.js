// The page of one session: what is read of it, what it consists of, and the thought that is selected.
// Its parts are heading.js, conclusion.js, tabs.js, grid.js, pane.js and following.js.

import { el, fill, prose, visible } from './dom.js';
import { Model } from './model.js';
import { Grid } from './grid.js';
import { Pane } from './pane.js';
import { Refused } from './api.js';
import { Heading } from './heading.js';
import { Conclusion } from './conclusion.js';
import { Tabs } from './tabs.js';
import { Following } from './following.js';
import { exportDialog } from './export.js';
import { paper } from './paper.js';

/** @typedef {import('./place.js').Place} Place */

/** firstRows is the number of rows that are read and shown first. */
const firstRows = 200;

/** slow is the delay in milliseconds after which the page says that it is loading. */
const slow = 300;

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
 * @property {(id: string) => void} [link] asks for a link with which others read the session
 * @property {boolean} [linked] the reader has come by such a link
 * @property {(at: number) => void} [over] the link has ended, at a time or, with 0, before
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
    this.position = ''; // after the last row
    /** @type {import('./api.js').Session | null} */
    this.head = null;
    /** @type {Set<number>} what a search has found */
    this.hits = new Set();
    this.stopped = false;
    /** @type {Promise<void>} every row is there */
    this.ready = new Promise((resolve) => { this.complete = resolve; });
    this.heading = new Heading(this);
    this.conclusion = new Conclusion(this);
    this.tabs = new Tabs(this);
    this.following = new Following(this);
    this.grid = new Grid(this.model, {
      select: (seq, how) => this.selected(seq, how),
      status: (seq) => this.status(seq),
      unfold: (item) => { if (item.fold) this.tabs.unfold(item.fold.from); },
      scrolled: () => this.following.scrolled(),
    });
    this.grid.expand = (seq, into) => {
      fill(into, prose(this.model.at(seq)?.text || ''));
      this.grid.fit(seq);
    };
    this.pane = new Pane({
      go: (seq) => this.jump(seq), back: () => o.screen('session'),
      diff: (on) => { o.go({ diff: on }); this.showPane(); },
      actions: o.actions.map((a) => ({ ...a, save: async (seq, text) => { await a.save(seq, text); await this.refresh(); } })),
    });
    this.banner = el('p', { class: 'banner', role: 'status', hidden: true });
    this.element = el('main', { class: 'session-page' }, this.heading.element, this.banner, this.conclusion.element, this.tabs.element, this.tabs.bars,
      this.grid.element, this.following.writing, this.following.more);
    /** @type {HTMLElement | null} what is printed */
    this.paper = null;
    this.printing = () => { this.paper ||= document.body.appendChild(paper(this)); };
    this.printed = () => { this.paper?.remove(); this.paper = null; };
    addEventListener('beforeprint', this.printing);
    addEventListener('afterprint', this.printed);
  }

  async start() {
    const loading = setTimeout(() => { this.grid.element.classList.add('loading'); }, slow);
    try {
      await this.read();
      clearTimeout(loading);
      this.grid.element.classList.remove('loading');
      if (this.stopped) return;
      this.heading.draw();
      this.conclusion.draw();
      await this.tabs.show();
      if (this.grid.items) this.arrive(this.o.place().at);
      this.following.start(this.position);
    } catch (e) {
      clearTimeout(loading);
      this.failed(/** @type {Error} */ (e));
    }
  }

  /** Reads the rows, and shows the first of them at once. */
  async read() {
    const at = this.o.place().at;
    for (let more = true; more && !this.stopped;) {
      const first = this.model.length === 0;
      const d = await this.server.session(this.id, first ? { limit: firstRows } : { after: this.position });
      more = d.more;
      this.tell(d);
      if (first) {
        this.heading.draw();
        this.tabs.draw();
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
  }

  /** Takes a document, and returns how many of its rows are new. @param {import('./api.js').Document} d */
  tell(d) {
    this.head = d.session;
    this.model.tell(d);
    this.position = d.position;
    return this.model.add(d.rows);
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
    this.following.stop();
    this.grid.stop();
    this.printed();
    removeEventListener('beforeprint', this.printing);
    removeEventListener('afterprint', this.printed);
  }

  /** @param {Error} e */
  failed(e) {
    if (e instanceof Refused && e.status === 401 && this.o.over) return this.o.over(0);
    if (e instanceof Refused && e.status === 401 && this.o.signIn) return this.o.signIn(e.message);
    const missing = e instanceof Refused && e.status === 404;
    fill(this.element, el('div', { class: 'message' },
      el('h2', {}, missing ? 'There is no such session' : 'The session could not be read'),
      el('p', {}, missing ? 'It was deleted, or it belongs to someone else.' : visible(e.message)),
      this.o.linked ? null : el('button', { onclick: () => this.o.go({ id: '' }, true) }, 'All sessions')));
  }

  /** Reads what has changed. */
  async refresh() {
    if (!this.stopped && !this.following.ended) this.following.changed(await this.server.session(this.id, { after: this.position }));
  }

  /** Shows what is known of the thoughts again. */
  draw() {
    this.heading.draw();
    this.conclusion.draw();
    if (this.tabs.fold && this.o.place().view === 'log') this.tabs.show();
    else this.grid.grown();
    if (!this.pane.writing) this.showPane();
  }

  /** @param {number} seq */
  status(seq) {
    const m = this.model, line = m.lines.get(m.at(seq)?.branch || '');
    return {
      hit: this.hits.has(seq), givenUp: m.isGivenUp(seq), mark: (m.disputed.has(seq) ? '!' : '') + (m.notes.has(seq) ? '✎' : ''),
      verdict: line?.name && line.last === seq ? m.verdictOf(line.name) : '',
    };
  }

  /** @param {string} text empty hides it @param {boolean} [lasting] */
  showBanner(text, lasting = false) {
    this.banner.hidden = text === '';
    this.banner.classList.toggle('lasting', lasting);
    this.banner.textContent = text;
  }

  export() {
    if (this.o.files.length > 0 && this.model.length > 0) exportDialog(this);
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
    if (i >= 0) return this.grid.select(i, { middle: true });
    this.tabs.showAll(); // it is not in this view
    this.o.go({ view: 'log', at: seq }, true);
    this.tabs.show().then(() => this.grid.select(this.grid.indexOf(seq), { middle: true }));
  }

  /** Applies the URL after back or forward. */
  async moved() {
    const p = this.o.place();
    await this.tabs.show();
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
