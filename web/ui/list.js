// The list of sessions by project and day, and what a search over all of them finds.

import { el, fill, put, said, visible, day, hour, count } from './dom.js';
import { placeIn, url } from './place.js';

/** @typedef {import('./api.js').Session} Session */
/** @typedef {import('./api.js').Hit} Hit */

/** maxListed is the maximum number of sessions, and of hits, in the document. */
const maxListed = 200;

/** recent is the time in milliseconds for which an unfinished session that has changed is live. */
const recent = 120000;

export class List {
  /**
   * @param {import('./api.js').Server} server
   * @param {{open: (id: string, seq?: number) => void, listed: (sessions: Session[]) => void, searched: (q: string, hits: Hit[]) => void, project: (name: string) => void, owner: (name: string) => void, signedOut: (reason: string) => void}} o
   */
  constructor(server, o) {
    this.server = server;
    this.o = o;
    /** @type {Session[]} */
    this.sessions = [];
    /** @type {Hit[] | null} null before a search has ended */
    this.hits = null;
    this.notice = ''; // about the hits
    this.current = '';
    this.more = false;
    this.loaded = false;
    this.project = ''; // of the sessions that are listed, and those without one; empty for all
    this.input = el('input', {
      type: 'search', class: 'find', placeholder: 'Filter or search', 'aria-label': 'Filter sessions or search all thoughts',
      autocomplete: 'off', spellcheck: 'false', oninput: () => this.typed(),
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e),
    });
    this.people = el('select', { 'aria-label': 'Owner', hidden: true, onchange: () => this.o.owner(this.people.value) });
    this.filter = el('p', { class: 'filter' });
    this.status = el('p', { role: 'status' });
    this.brand = el('p', { class: 'brand' }, this.link({}, {}, 'sequent'));
    this.body = el('div', { class: 'sessions' });
    this.element = el('div', { class: 'list', role: 'navigation', 'aria-label': 'Sessions' },
      el('div', { class: 'top' }, this.brand, this.input, this.people, this.filter, this.status), this.body);
    this.stop = () => {};
    this.timer = 0;
    this.wanted = 0;
    setInterval(() => { if (this.sessions.some(live)) this.draw(); }, recent / 2);
  }

  start() {
    this.stop();
    this.loaded = false;
    this.sessions = [];
    this.hits = null;
    fill(this.filter, this.project ? el('span', {}, 'Only ', el('bdi', { title: visible(this.project) }, visible(short(this.project))), ' ') : null, this.widen());
    this.stop = this.server.follow({
      project: this.project, on: (event, data) => {
        if (event !== 'sessions') return;
        const known = new Map(this.sessions.map((s) => [s.id, s]));
        for (const s of data.changed) known.set(s.id, s);
        this.sessions = data.order.map((/** @type {string} */ id) => known.get(id)).filter(Boolean);
        this.more = data.more;
        this.loaded = true;
        this.o.listed(this.sessions);
        this.draw();
      },
      state: (connected, e) => {
        if (e?.status === 401) return this.o.signedOut(e.message);
        this.status.textContent = connected ? '' : e && !this.loaded ? e.message : 'Reconnecting …';
      },
    });
    if (this.input.value.trim()) this.search();
  }

  /** Lists the sessions of another project. @param {string} name */
  choose(name) {
    this.project = name;
    this.o.project(name);
    this.start();
    this.input.focus();
  }

  /** Offers the owners whose sessions an admin can see. @param {string} own who is signed in */
  async offer(own) {
    const names = (await this.server.owners().catch(() => [])).filter((name) => name !== own);
    if (this.server.owner && !names.includes(this.server.owner)) names.push(this.server.owner);
    this.people.hidden = names.length === 0;
    fill(this.people, el('option', { value: '' }, 'Your sessions'), ...names.map((name) => el('option', { value: name }, visible(name))));
    this.people.value = this.server.owner;
  }

  typed() {
    clearTimeout(this.timer);
    this.hits = null;
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
      this.search().then(() => /** @type {HTMLElement | null} */ (this.body.querySelector('li a'))?.focus());
    } else if (e.key === 'ArrowDown') {
      e.preventDefault();
      /** @type {HTMLElement | null} */ (this.body.querySelector('li a'))?.focus();
    }
  }

  async search() {
    const q = this.input.value.trim(), mine = ++this.wanted;
    if (!q) return this.o.searched('', []);
    let own = /** @type {Hit[]} */ ([]), all = own;
    this.notice = '';
    try {
      const found = await Promise.all([this.current ? this.server.search(q, this.current) : { hits: [] }, this.server.search(q, '', this.project)]);
      own = found[0].hits;
      all = found[1].hits;
      this.notice = found[1].notice || '';
    } catch (e) {
      this.notice = /** @type {Error} */ (e).message;
    }
    if (mine !== this.wanted) return;
    this.hits = [...own, ...all.filter((h) => h.session !== this.current)];
    this.o.searched(q, own);
    this.draw();
  }

  draw() {
    const q = this.input.value.trim(), focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.id;
    this.body.replaceChildren();
    if (!this.loaded) return;
    if (q) this.drawHits(q);
    const list = this.sessions.filter((s) => (s.title + ' ' + s.id).toLowerCase().includes(q.toLowerCase())).slice(0, maxListed);
    if (list.length === 0 && (!q || this.hits?.length === 0)) {
      put(this.body, el('p', { class: 'empty' }, q ? 'No thought and no title has these words.' : this.project ? 'This project has no sessions.' : 'Sessions appear here, by project and day.'));
    }
    const projects = Map.groupBy(list, (s) => s.origin?.project || ''); // that whose session has changed last comes first
    for (const [project, sessions] of projects) {
      const named = projects.size > 1 || !!project;
      if (named) put(this.body, el('h2', {}, project ? this.link({ project }, { title: 'Only ' + visible(project) }, visible(short(project))) : 'No project'));
      for (const [d, rows] of Map.groupBy(sessions, (s) => day(Date.parse(s.updated)))) put(this.body, el(named ? 'h3' : 'h2', { class: 'day' }, d), el('ul', {}, ...rows.map((s) => el('li', {}, this.row(s)))));
    }
    if (this.more) put(this.body, el('p', { class: 'empty' }, 'Older sessions are found by search.'));
    if (focused) /** @type {HTMLElement | null} */ (this.body.querySelector('[data-id="' + CSS.escape(focused) + '"]'))?.focus();
  }

  /** Shows the sentences that were found, in the problems of their sessions. @param {string} q */
  drawHits(q) {
    if (!this.hits) return;
    const n = this.hits.length;
    this.status.textContent = n ? count(n, 'thought') + ' found' : '';
    if (this.notice) put(this.body, el('p', { class: 'empty' }, this.notice));
    for (const [id, hits] of Map.groupBy(this.hits.slice(0, maxListed), (h) => h.session)) {
      put(this.body, el('h2', { class: 'problem', dir: 'auto' }, visible(hits[0].title)), el('ul', {}, ...hits.map((h) => el('li', {},
        this.link({ id, at: h.seq }, { class: 'hit' }, el('span', { class: 'excerpt', dir: 'auto' }, ...marked(h.excerpt, q)),
          el('small', {}, said((h.branch || '') + '#' + h.number), h.standing === 'current' ? null : ' · ' + h.standing))))),
        ...[['Now', hits[0].now], ['Conclusion', hits[0].conclusion]].map(([word, text]) => text ? el('p', { class: 'came small', dir: 'auto' }, word + ': ' + visible(text)) : null));
    }
  }

  /** @param {Session} s */
  row(s) {
    const word = s.state === 'active' ? 'unfinished' : s.state, thoughts = count(s.thoughts, 'thought');
    return this.link({ id: s.id }, { class: 'session ' + s.state + (live(s) ? ' live' : ''), 'aria-current': s.id === this.current ? 'page' : null },
      el('span', { class: 'title', dir: 'auto' }, visible(s.title) || 'untitled'), ' ',
      el('small', {}, s.state === 'completed' ? el('time', { datetime: s.updated }, hour(Date.parse(s.updated))) : el('b', {}, live(s) ? 'live' : word), ' · ' + thoughts));
  }

  /**
   * Returns a link to a session, a thought of it, or the list of a project.
   * @param {{id?: string, at?: number, project?: string}} to @param {Record<string, any>} o properties @param {...import('./dom.js').Child} children
   */
  link(to, o, ...children) {
    return el('a', { ...o, 'data-id': to.project || (to.id || '') + (to.at ? '@' + to.at : ''), href: url({ ...placeIn('', new URLSearchParams()), ...to, owner: this.server.owner }), onclick: (/** @type {MouseEvent} */ e) => {
      if (e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return; // the browser opens it elsewhere
      e.preventDefault();
      if (to.project) this.choose(to.project);
      else this.o.open(to.id || '', to.at);
    } }, ...children);
  }

  /** Returns the button that lists all projects; null if they are listed. */
  widen() { return this.project ? el('button', { class: 'widen', onclick: () => this.choose('') }, 'All projects') : null; }

  /** Says whether the list is all that is shown. @param {boolean} alone */
  setAlone(alone) {
    this.element.role = alone ? 'main' : 'navigation';
    this.brand.role = alone ? 'heading' : null;
    this.brand.ariaLevel = alone ? '1' : null;
  }

  /** @param {string} id */
  setCurrent(id) {
    this.current = id;
    for (const a of /** @type {NodeListOf<HTMLElement>} */ (this.body.querySelectorAll('a.session'))) {
      if (a.dataset.id === id) a.setAttribute('aria-current', 'page');
      else a.removeAttribute('aria-current');
    }
  }
}

/** Reports whether a session grows. Clocks that differ more than a little make none live. @param {Session} s */
function live(s) { return s.state === 'active' && Math.abs(Date.now() - Date.parse(s.updated)) < recent; }

/** Returns the last part of the name of a project. @param {string} project */
export function short(project) { return (project.split('/').filter(Boolean).pop() || project).replace(/\.git$/, ''); }

/** Returns a text in which the words of a search are marked. @param {string} text @param {string} q */
function marked(text, q) {
  const words = (q.match(/[\p{L}\p{N}]+/gu) || []).sort((a, b) => b.length - a.length);
  if (words.length === 0) return [visible(text)];
  return text.split(new RegExp('(' + words.join('|') + ')', 'giu')).map((piece, i) => i % 2 ? el('mark', {}, visible(piece)) : visible(piece));
}
