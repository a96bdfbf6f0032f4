// The pane shows one thought whole, with what it replaced and what replaced it.

import { el, fill, put, prose, said, visible, clock, duration } from './dom.js';
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
   * @param {{go: (seq: number) => void, back: () => void, diff: (on: boolean) => void, actions: Action[]}} o
   */
  constructor(o) {
    this.o = o;
    this.seq = 0;
    this.element = el('aside', { class: 'pane', 'aria-label': 'Thought', tabindex: -1 });
    this.writing = false; // a note
    /** @type {HTMLElement | null} */
    this.writer = null;
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
    if (!r) return fill(this.element, el('p', { class: 'empty' }, 'Select a thought.'));
    const versions = m.versions(seq), place = versions.indexOf(seq), earlier = versions[place - 1];
    const old = diff && earlier ? m.at(earlier) : undefined;
    const go = (/** @type {number} */ to) => el('button', { class: 'ref', onclick: () => this.o.go(to) }, said(m.name(to)));
    const head = el('h2', {}, said(m.name(seq)));
    if (r.supersedes) put(head, el('span', {}, ' revises ', go(r.supersedes)));
    const replacer = m.replacedBy.get(seq);
    const before = seq > 1 ? m.at(seq - 1) : undefined;
    const b = m.branches.get(r.branch || '');
    fill(this.element,
      el('header', {},
        el('button', { class: 'back', onclick: () => this.o.back() }, '‹ Log'), head,
        el('p', { class: 'meta' }, r.branch ? el('span', {}, 'branch ', said(r.branch), b && b.origin ? ' from ' : '', b && b.origin ? go(b.origin) : null) : 'main line', ' · ',
          el('time', { datetime: new Date(r.at).toISOString(), title: new Date(r.at).toLocaleString() }, clock(r.at)),
          before && Math.abs(r.at - before.at) >= 1000 ? ' · ' + (r.at < before.at ? '−' : '+') + duration(r.at - before.at) : '', r.total ? ' · ' + r.number + ' of ' + r.total : '')),
      replacer ? el('p', { class: 'standing' }, 'Superseded by ', go(replacer)) : null,
      r.last && !replacer ? el('p', { class: 'standing end' }, 'The last thought of its line') : null);
    if (old && old.text.length + r.text.length < 300000) put(this.element, changes(old.text, r.text, m.name(earlier)));
    else put(this.element, prose(r.text));
    if (r.note) put(this.element, el('div', { class: 'note' }, el('b', {}, 'Note '), said(r.note)));
    if (versions.length > 1) {
      put(this.element, el('div', { class: 'versions' },
        el('button', { disabled: place <= 0, onclick: () => this.o.go(versions[place - 1]), title: 'Earlier version ([)' }, '['),
        'version ' + (place + 1) + ' of ' + versions.length,
        el('button', { disabled: place >= versions.length - 1, onclick: () => this.o.go(versions[place + 1]), title: 'Later version (])' }, ']'),
        earlier ? el('button', { 'aria-pressed': diff, onclick: () => this.o.diff(!diff), title: 'Changes since the earlier version (d)' }, 'changes') : null));
    }
    for (const n of m.notes.get(seq) || []) {
      put(this.element, el('div', { class: 'note ' + n.kind }, el('small', {}, '✎ ', said(n.from || 'a person'), ', ' + clock(Date.parse(n.at)) + { remark: '', wrong: ' · wrong', approve: ' · approved' }[n.kind]),
        n.text ? prose(n.text) : null));
    }
    this.writer = el('div', { class: 'writer' });
    put(this.element, this.writer);
    put(this.element, el('footer', {},
      ...this.o.actions.map((a) => el('button', { onclick: () => this.write(a.key), title: a.title + ' (' + a.key + ')' }, a.title)),
      copies('Copy text', () => r.text), location.protocol === 'about:' || location.pathname.startsWith('/ui/link') ? null : copies('Copy link', () => location.href)));
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
  const prose = el('div', { class: 'prose changes', dir: 'auto' });
  for (const [kind, text] of words(before, after)) {
    put(prose, kind === '=' ? visible(text) : el(kind === '-' ? 'del' : 'ins', {}, visible(text)));
  }
  return el('section', {}, el('h3', {}, 'Changed since ' + visible(name)), prose);
}
