// The page of one session: the article, the overview, and the thought that is selected.

import { el, fill, visible } from './dom.js';
import { Model } from './model.js';
import { Article } from './article.js';
import { copied } from './copy.js';
import { Grid } from './grid.js';
import { Pane } from './pane.js';
import { Refused } from './api.js';
import { Tabs } from './tabs.js';
import { Following } from './following.js';
import { exportDialog } from './export.js';

/** @typedef {import('./place.js').Place} Place */

/** firstRows is the number of rows that are read and shown first. */
const firstRows = 200;

/** wholeUpTo is how many thoughts have all their texts in the page, for find in page and print. */
const wholeUpTo = 1000;

/** slow is the delay in milliseconds after which the page says that it is loading. */
const slow = 300;

/**
 * @typedef {object} Options
 * @property {string} id
 * @property {() => Place} place
 * @property {(change: Partial<Place>, push?: boolean) => void} go
 * @property {(name: string) => void} screen
 * @property {() => void} [sessions] goes to the list
 * @property {(text: string) => void} say
 * @property {import('./pane.js').Action[]} actions what can be said about a thought
 * @property {string[]} files formats of export
 * @property {import('./api.js').Server} [server] that writes files
 * @property {(problem: string) => void} [signIn] asks for a token
 * @property {(id: string) => void} [link] asks for a link with which others read the session
 * @property {boolean} [linked] the reader has come by such a link
 * @property {(at: number) => void} [over] the link has ended, at a time or, with 0, before
 * @property {boolean} [short] the article is its conclusion and its end, until the reader asks for all
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
    this.article = new Article(this);
    this.tabs = new Tabs(this);
    this.following = new Following(this);
    this.grid = new Grid(this.model, {
      select: (seq, how) => { if (how === 'open') this.read(seq); else this.selected(seq); },
      status: (seq) => this.status(seq),
      scrolled: () => this.following.scrolled(),
    });
    this.pane = new Pane({
      go: (seq) => this.jump(seq),
      diff: (on) => { o.go({ diff: on }); this.showPane(true); },
      actions: o.actions.map((a) => ({ ...a, save: async (seq, text) => { await a.save(seq, text); await this.refresh(); } })),
    });
    this.banner = el('p', { class: 'banner', role: 'status', hidden: true });
    this.element = el('main', { class: 'session-page', 'data-view': o.place().view, onclick: (/** @type {MouseEvent} */ e) => this.clicked(e), onscroll: () => { this.following.scrolled(); if (this.reading) this.article.scrolled(); }, oncopy: (/** @type {ClipboardEvent} */ e) => copied(e, this) },
      el('div', { class: 'bar' }, o.sessions ? el('button', { class: 'back', onclick: () => o.sessions?.() }, 'Sessions') : null, this.tabs.element), this.banner,
      this.article.element, this.grid.element, this.following.more);
  }

  /** Reports whether the article, or a comparison, is shown. */
  get reading() { return this.o.place().view !== 'overview'; }

  async start() {
    const loading = setTimeout(() => { this.element.classList.add('loading'); }, slow), at = this.o.place().at;
    try {
      this.tabs.draw();
      await Promise.all([this.article.load(at), this.reading ? null : this.rows()]);
      clearTimeout(loading);
      this.element.classList.remove('loading');
      if (this.stopped) return;
      if (at && this.reading) await this.article.go(at, true);
      if (this.reading) await this.rows();
      await this.tabs.show();
      if (at) this.arrive(at);
      this.following.start(this.position);
      if (this.article.thoughts <= wholeUpTo && !this.o.short) await this.article.whole();
    } catch (e) {
      clearTimeout(loading);
      this.failed(/** @type {Error} */ (e));
    }
  }

  /** Reads the rows, and shows the first of them at once. */
  async rows() {
    for (let more = true; more && !this.stopped;) {
      const first = this.model.length === 0;
      const d = await this.server.session(this.id, first ? { limit: firstRows } : { after: this.position });
      more = d.more;
      this.tell(d);
      this.grid.grown();
      if (!first) continue;
      this.tabs.draw();
      if (!this.reading) this.grid.render();
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

  /** Selects the thought of the URL. @param {number} at */
  arrive(at) {
    const i = this.grid.indexOf(at);
    if (i >= 0) this.grid.select(i, { middle: true, quiet: true, focus: !this.reading });
    if (this.o.place().diff) this.showPane(true);
  }

  stop() {
    this.stopped = true;
    this.following.stop();
    this.grid.stop();
    this.article.seen.disconnect();
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
    if (!this.stopped && !this.following.ended) await this.following.changed(await this.server.session(this.id, { after: this.position }));
  }

  /** Shows what is known of the thoughts again. */
  draw() {
    if (this.tabs.known !== this.model.branches.size) this.tabs.draw();
    this.grid.grown();
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

  /** Prints the article with every text. */
  async print() {
    await this.article.whole();
    window.print();
  }

  /** Follows a link to a thought; a thought's own number opens the side pane. @param {MouseEvent} e */
  clicked(e) {
    const a = /** @type {Element} */ (e.target).closest?.('a[href^="#t"]');
    if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    const seq = Number(a.getAttribute('href')?.slice(2));
    if (a.closest('.n')) {
      this.selected(seq);
      this.showPane(true);
    } else this.jump(seq, true);
  }

  /** Takes note of the thought that is selected. @param {number} seq */
  selected(seq) {
    this.o.go({ at: seq });
    this.article.mark(seq);
    this.showPane();
  }

  /** Shows what can be done about the selected thought, if that was asked for. @param {boolean} [open] */
  showPane(open = this.pane.shown) {
    const p = this.o.place();
    if (open && p.at) this.pane.show(this.model, p.at, p.diff);
    else this.pane.hide();
  }

  /** Goes to a thought of the article. @param {number} seq */
  read(seq) {
    this.o.go({ view: 'read', at: seq }, true);
    this.tabs.show().then(() => this.jump(seq));
  }

  /** Goes to a thought. @param {number} seq @param {boolean} [push] back leads to where the reader was */
  jump(seq, push = false) {
    if (this.reading) {
      if (this.article.wants && !this.article.at(seq)) return this.read(seq); // it is on neither of the lines that are compared
      this.o.go({ at: seq }, push);
      this.showPane();
      return void this.article.go(seq);
    }
    const i = this.grid.indexOf(seq);
    if (i >= 0) this.grid.select(i, { middle: true });
    else this.read(seq); // it is not in this view
  }

  /** Selects the thought that is by so many after the selected one. @param {number} by */
  step(by) {
    if (this.reading) this.jump(this.article.next(by, this.o.place().at));
    else this.grid.select(this.grid.selected + by);
  }

  /** Applies the URL after back or forward. */
  async moved() {
    const p = this.o.place();
    await this.tabs.show();
    const i = this.grid.indexOf(p.at);
    if (i >= 0 && i !== this.grid.selected) this.grid.select(i, { focus: false, quiet: true });
    if (this.reading && p.at) await this.article.go(p.at, true);
    this.showPane();
  }

  /** Marks what a search has found. @param {import('./api.js').Hit[]} hits */
  mark(hits) {
    this.hits = new Set(hits.map((h) => h.seq));
    this.article.hits();
    this.grid.grown();
  }
}
