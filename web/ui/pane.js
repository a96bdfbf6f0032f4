// The pane beside the text: when and on which line a thought was recorded, its versions, and what can be done about it.

import { el, fill, put, said, visible, clock, duration } from './dom.js';
import { words } from './diff.js';

/**
 * @typedef {object} Action what can be said about a thought
 * @property {string} title
 * @property {string} key
 * @property {string} hint what the text is for
 * @property {string} done the button that says it
 * @property {(seq: number, text: string) => Promise<any>} save
 */

export class Pane {
  /**
   * @param {{go: (seq: number) => void, diff: (on: boolean) => void, actions: Action[]}} o
   */
  constructor(o) {
    this.o = o;
    this.seq = 0;
    this.element = el('aside', { class: 'pane', 'aria-label': 'Thought', tabindex: -1 });
    this.writing = false; // a note
    /** @type {HTMLElement | null} */
    this.writer = null;
  }

  get shown() { return this.element.childElementCount > 0; }

  hide() {
    this.writing = false;
    this.element.replaceChildren();
  }

  /**
   * Shows a thought.
   * @param {import('./model.js').Model} m
   * @param {number} seq
   * @param {boolean} diff show what it has changed
   */
  show(m, seq, diff) {
    const r = m.at(seq);
    this.writing = false;
    this.seq = seq;
    if (!r) return this.hide();
    const versions = m.versions(seq), place = versions.indexOf(seq), earlier = versions[place - 1];
    const old = diff && earlier ? m.at(earlier) : undefined;
    const go = (/** @type {number} */ to) => el('button', { class: 'ref', onclick: () => this.o.go(to) }, said(m.name(to)));
    const before = seq > 1 ? m.at(seq - 1) : undefined;
    const b = m.branches.get(r.branch || '');
    this.writer = el('div', { class: 'writer' });
    fill(this.element,
      el('header', {}, el('h2', {}, said(m.name(seq))), el('button', { onclick: () => this.hide(), 'aria-label': 'Close', title: 'Close (Escape)' }, '×'),
        el('p', { class: 'meta' }, r.branch ? el('span', {}, 'branch ', said(r.branch), b && b.origin ? ' from ' : '', b && b.origin ? go(b.origin) : null) : 'main line', ' · ',
          el('time', { datetime: new Date(r.at).toISOString(), title: new Date(r.at).toLocaleString() }, clock(r.at)),
          before && Math.abs(r.at - before.at) >= 1000 ? ' · ' + (r.at < before.at ? '−' : '+') + duration(r.at - before.at) : '', r.total ? ' · ' + r.number + ' of ' + r.total : '')),
      el('div', { class: 'actions' }, ...this.o.actions.map((a) => el('button', { onclick: () => this.write(a.key), title: a.title + ' (' + a.key + ')' }, a.title)),
        copies('Copy text', () => r.text), location.protocol === 'about:' || location.pathname.startsWith('/ui/link') ? null : copies('Copy link', () => location.href)),
      this.writer,
      versions.length > 1 ? el('div', { class: 'versions' },
        el('button', { disabled: place <= 0, onclick: () => this.o.go(versions[place - 1]), title: 'Earlier version ([)' }, '['),
        'version ' + (place + 1) + ' of ' + versions.length,
        el('button', { disabled: place >= versions.length - 1, onclick: () => this.o.go(versions[place + 1]), title: 'Later version (])' }, ']'),
        earlier ? el('button', { 'aria-pressed': diff, onclick: () => this.o.diff(!diff), title: 'Changes since the earlier version (d)' }, 'changes') : null) : null,
      old && old.text.length + r.text.length < 300000 ? changes(old.text, r.text, m.name(earlier)) : null);
  }

  /**
   * Asks for the text of what is said about the thought.
   * @param {string} key of the action
   */
  write(key) {
    const seq = this.seq, action = this.o.actions.find((a) => a.key === key), into = this.writer;
    if (!action || !into || !seq) return;
    this.writing = true;
    const area = el('textarea', { rows: 3, 'aria-label': action.title, placeholder: action.hint });
    const problem = el('p', { role: 'alert' });
    const save = async () => {
      try {
        this.writing = false;
        await action.save(seq, area.value.trim());
        into.replaceChildren();
      } catch (e) {
        this.writing = true;
        problem.textContent = /** @type {Error} */ (e).message;
      }
    };
    fill(into, el('div', { // a form would not be let through in the frame of a chat
      onkeydown: (/** @type {KeyboardEvent} */ e) => {
        if (e.key === 'Escape') { e.stopPropagation(); this.writing = false; into.replaceChildren(); }
        if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); save(); }
      },
    }, area, el('button', { class: 'main', onclick: save }, action.done), problem));
    area.focus();
  }
}

/**
 * Returns a button that copies a text, and says that it has.
 * @param {string} title
 * @param {() => string} text
 */
function copies(title, text) {
  const b = el('button', { onclick: async () => {
    try {
      await navigator.clipboard.writeText(text());
      b.textContent = 'Copied';
    } catch {
      b.textContent = 'The browser does not allow it';
    }
    setTimeout(() => { b.textContent = title; }, 1500);
  } }, title);
  return b;
}

/**
 * @param {string} before
 * @param {string} after
 * @param {string} name
 */
function changes(before, after, name) {
  const prose = el('div', { class: 'changes', dir: 'auto' });
  for (const [kind, text] of words(before, after)) {
    put(prose, kind === '=' ? visible(text) : el(kind === '-' ? 'del' : 'ins', {}, visible(text)));
  }
  return el('section', {}, el('h3', {}, 'Changed since ' + visible(name)), prose);
}
