// The heading of a session's page: its title, its state, and where it comes from.

import { el, fill, said, visible, duration, count, faultOf } from './dom.js';
import { states } from './list.js';
import { maskedDialog } from './export.js';

export class Heading {
  /** @param {import('./session.js').SessionPage} page */
  constructor(page) {
    this.page = page;
    this.element = el('header', { class: 'head' });
  }

  draw() {
    const h = this.page.head, o = this.page.o;
    if (!h) return;
    const [shape, word] = states[h.state] || ['○', h.state], masked = o.masked || [];
    document.title = visible(h.title) + ' · sequent';
    fill(this.element,
      el('button', { class: 'back', onclick: () => o.screen('list') }, '‹ Sessions'),
      el('h1', { title: visible(h.title) }, said(h.title || 'untitled')),
      el('span', { class: 'state ' + h.state }, el('span', { 'aria-hidden': 'true' }, shape + ' '), word),
      el('p', { class: 'meta' }, o.linked ? 'shared with you · ' : null, this.summary(), masked.length ? ' · ' : null,
        masked.length ? el('button', { onclick: () => maskedDialog(masked) }, count(masked.reduce((n, f) => n + f.count, 0), 'text') + ' masked') : null),
      h.fault ? el('p', { class: 'fault', role: 'note' }, faultOf(h.fault)) : null);
  }

  /** Returns where the session comes from, when it began, how long it took, and how much it has. */
  summary() {
    const h = this.page.head, m = this.page.model;
    if (!h) return '';
    const begun = Date.parse(h.created), changed = Date.parse(h.updated), agent = h.origin?.agent, client = h.origin?.client;
    return [
      client || '', agent !== client ? agent || '' : '', project(h.origin), h.dialect || '',
      new Date(begun).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' }), changed - begun >= 1000 ? duration(changed - begun) : '',
      count(h.thoughts, 'thought'), m.branches.size > 1 ? count(m.branches.size - 1, 'branch', 'branches') : '', m.arcs.length ? count(m.arcs.length, 'revision') : '',
    ].filter(Boolean).map(visible).join(' · ');
  }
}

/** @param {import('./api.js').Origin} [c] */
function project(c) {
  if (!c) return '';
  const name = (c.project || '').split('/').filter(Boolean).pop() || '';
  return [name, c.gitBranch ? c.gitBranch + (c.commit ? '@' + c.commit.slice(0, 7) : '') : ''].filter(Boolean).join(' ');
}
