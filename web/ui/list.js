// The list of sessions, and what a search over all of them finds.

import { el, fill, put, said, visible, ago, day, count } from './dom.js';

/** @typedef {import('./api.js').Session} Session */
/** @typedef {import('./api.js').Hit} Hit */

/** Shapes and words of the states. @type {Record<string, [string, string]>} */
export const states = {
  completed: ['●', 'completed'], active: ['◐', 'unfinished'], cancelled: ['○', 'cancelled'], abandoned: ['○', 'abandoned'],
};

/** maxListed is the maximum number of sessions in the document. */
const maxListed = 200;

export class List {
  /**
   * @param {import('./api.js').Server} server
   * @param {{open: (id: string, seq?: number) => void, searched: (q: string, hits: Hit[]) => void, project: (name: string) => void, owner: (name: string) => void, signedOut: (reason: string) => void}} o
   */
  constructor(server, o) {
    this.server = server;
    this.o = o;
    /** @type {Session[]} */
    this.sessions = [];
    /** @type {Hit[] | null} */
    this.hits = null;
    this.notice = ''; // about the hits
    this.current = '';
    this.more = false;
    this.loaded = false;
    this.input = el('input', {
      type: 'search', class: 'find', placeholder: 'Filter or search', 'aria-label': 'Filter sessions or search all thoughts',
      autocomplete: 'off', spellcheck: 'false', oninput: () => this.typed(),
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e),
    });
    this.project = ''; // of the sessions that are listed, and those without one; empty for all
    /** @type {Set<string>} projects of the sessions that were listed */
    this.projects = new Set();
    this.menu = el('select', { 'aria-label': 'Project', hidden: true, onchange: () => this.choose(this.menu.value) });
    this.people = el('select', { 'aria-label': 'Owner', hidden: true, onchange: () => this.o.owner(this.people.value) });
    this.stop = () => {};
    this.found = el('div', { class: 'found', role: 'status' });
    this.body = el('div', { class: 'sessions' });
    this.element = el('nav', { class: 'list', 'aria-label': 'Sessions' },
      el('header', {}, el('h1', {}, el('a', { href: '/ui/', onclick: (/** @type {Event} */ e) => { e.preventDefault(); this.o.open(''); } }, 'sequent')), this.input, this.people, this.menu), this.found, this.body);
    this.timer = 0;
    this.wanted = 0;
  }

  start() {
    this.stop();
    this.loaded = false;
    this.sessions = [];
    this.stop = this.server.follow({
      project: this.project, on: (event, data) => {
        if (event !== 'sessions') return;
        const known = new Map(this.sessions.map((s) => [s.id, s]));
        for (const s of data.changed) known.set(s.id, s);
        this.sessions = data.order.map((/** @type {string} */ id) => known.get(id)).filter(Boolean);
        this.more = data.more;
        for (const s of this.sessions) if (s.origin?.project) this.projects.add(s.origin.project);
        this.drawMenu();
        this.loaded = true;
        this.draw();
      },
      state: (connected, e) => {
        if (e?.status === 401) return this.o.signedOut(e.message);
        if (e && !this.loaded) fill(this.body, el('p', { class: 'empty' }, e.message));
      },
    });
  }

  /** Lists the sessions of another project. @param {string} name */
  choose(name) {
    this.project = name;
    this.o.project(name);
    this.start();
    if (this.input.value.trim()) this.search();
  }

  /** Offers the owners whose sessions an admin can see. @param {string} own who is signed in */
  async offer(own) {
    const names = (await this.server.owners().catch(() => [])).filter((name) => name !== own);
    if (this.server.owner && !names.includes(this.server.owner)) names.push(this.server.owner);
    this.people.hidden = names.length === 0;
    fill(this.people, el('option', { value: '' }, 'Your sessions'), ...names.map((name) => el('option', { value: name }, visible(name))));
    this.people.value = this.server.owner;
  }

  drawMenu() {
    if (this.project) this.projects.add(this.project);
    const names = [...this.projects].sort((a, b) => short(a).localeCompare(short(b)));
    this.menu.hidden = names.length < 2 && !this.project;
    if (this.menu.hidden || document.activeElement === this.menu && this.menu.options.length === names.length + 1) return;
    fill(this.menu, el('option', { value: '' }, 'All projects'), ...names.map((p) => el('option', { value: p, title: visible(p) }, visible(short(p)))));
    this.menu.value = this.project;
  }

  typed() {
    clearTimeout(this.timer);
    this.draw();
    this.timer = window.setTimeout(() => this.search(), 250);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if (e.key === 'Escape') {
      this.input.value = '';
      this.typed();
      this.input.blur();
    } else if (e.key === 'Enter') {
      clearTimeout(this.timer);
      this.search().then(() => /** @type {HTMLElement | null} */ (this.found.querySelector('a'))?.focus());
    } else if (e.key === 'ArrowDown') {
      e.preventDefault();
      /** @type {HTMLElement | null} */ (this.element.querySelector('.found a, .sessions a'))?.focus();
    }
  }

  async search() {
    const q = this.input.value.trim(), mine = ++this.wanted;
    if (!q) {
      this.hits = null;
      this.o.searched('', []);
      return this.drawHits();
    }
    try {
      const [own, all] = await Promise.all([
        this.current ? this.server.search(q, this.current) : { hits: [] }, this.server.search(q, '', this.project),
      ]);
      if (mine !== this.wanted) return;
      this.notice = all.notice || '';
      this.hits = [...own.hits, ...all.hits.filter((h) => h.session !== this.current)];
      this.o.searched(q, own.hits);
    } catch (e) {
      if (mine !== this.wanted) return;
      this.hits = [];
      this.o.searched(q, []);
    }
    this.drawHits();
  }

  drawHits() {
    if (!this.hits) return fill(this.found);
    const n = this.hits.length;
    fill(this.found, el('h2', {}, n ? count(n, 'thought') + ' found' : 'No thoughts match.'), n === 0 ? this.widen() : this.notice ? el('p', { class: 'empty' }, this.notice) : null);
    for (const h of this.hits.slice(0, 50)) {
      put(this.found, el('a', {
        class: 'hit', href: '/ui/s/' + encodeURIComponent(h.session) + '?at=' + h.seq + this.of('&'),
        onclick: (/** @type {MouseEvent} */ e) => { if (plain(e)) { e.preventDefault(); this.o.open(h.session, h.seq); } },
      }, el('span', { class: 'excerpt' }, said(h.excerpt)), el('small', {}, said((h.branch || '') + '#' + h.number), h.session === this.current ? null : ' · ', h.session === this.current ? null : said(h.title),
        h.standing === 'current' ? null : ' · ' + h.standing)));
    }
  }

  draw() {
    const q = this.input.value.trim().toLowerCase();
    const list = this.sessions.filter((s) => !q || (s.title + ' ' + s.id).toLowerCase().includes(q));
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.id;
    this.body.replaceChildren();
    if (!this.loaded) return;
    if (this.sessions.length === 0 && this.project) {
      put(this.body, el('p', { class: 'empty' }, 'This project has no sessions. ', this.widen()));
      return;
    }
    if (this.sessions.length === 0) {
      put(this.body, el('p', { class: 'empty' }, 'Nothing yet. Try: ', el('code', {}, 'sequent demo')));
      return;
    }
    if (list.length === 0 && !this.hits?.length) put(this.body, el('p', { class: 'empty' }, 'No session has this in its title. ', this.hits ? null : this.widen()));
    let group = '';
    for (const s of list.slice(0, maxListed)) {
      const at = Date.parse(s.updated), d = day(at);
      if (d !== group) put(this.body, el('h2', {}, group = d));
      const [shape, word] = states[s.state] || ['○', s.state];
      put(this.body, el('a', {
        class: 'session ' + s.state, href: '/ui/s/' + encodeURIComponent(s.id) + this.of('?'), 'data-id': s.id, 'aria-current': s.id === this.current ? 'page' : null,
        onclick: (/** @type {MouseEvent} */ e) => { if (plain(e)) { e.preventDefault(); this.o.open(s.id); } },
      },
      el('span', { class: 'state', title: word, 'aria-label': word }, shape),
      el('bdi', { class: 'title', dir: 'auto' }, visible(s.title) || 'untitled'),
      el('small', {}, el('span', {}, [count(s.thoughts, 'thought'), s.branches ? count(s.branches, 'branch', 'branches') : '', s.state === 'completed' ? '' : word].filter(Boolean).join(' · ')),
        el('time', { datetime: s.updated }, ago(at)))));
    }
    if (this.more) put(this.body, el('p', { class: 'empty' }, 'Older sessions are found by search.'));
    if (focused) /** @type {HTMLElement | null} */ (this.body.querySelector('[data-id="' + CSS.escape(focused) + '"]'))?.focus();
  }

  /** Returns the owner for a URL. @param {string} sign before it */
  of(sign) { return this.server.owner ? sign + new URLSearchParams({ owner: this.server.owner }) : ''; }

  /** Returns the button that lists all projects; null if they are listed. */
  widen() {
    return this.project ? el('button', { class: 'widen', onclick: () => { this.menu.value = ''; this.choose(''); } }, 'Look in all projects') : null;
  }

  /** @param {string} id */
  setCurrent(id) {
    this.current = id;
    for (const a of this.body.querySelectorAll('a.session')) {
      if (/** @type {HTMLElement} */ (a).dataset.id === id) a.setAttribute('aria-current', 'page');
      else a.removeAttribute('aria-current');
    }
  }
}

/** Returns the last part of the name of a project. @param {string} project */
function short(project) { return project.split('/').filter(Boolean).pop() || project; }

/** Reports whether a click opens a link here. @param {MouseEvent} e */
export function plain(e) { return e.button === 0 && !e.ctrlKey && !e.metaKey && !e.shiftKey && !e.altKey; }
