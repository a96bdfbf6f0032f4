// The card above the thoughts: how the session ended, and the branches that were weighed.

import { el, fill, put, prose, said, visible, ago, count } from './dom.js';
import { states } from './list.js';

/** maxChips is the maximum number of branches in the card. */
const maxChips = 100;

export class Conclusion {
  /** @param {import('./session.js').SessionPage} page */
  constructor(page) {
    this.page = page;
    this.element = el('section', { class: 'conclusion', 'aria-label': 'How it ended' });
  }

  draw() {
    const page = this.page, card = this.element, h = page.head, m = page.model;
    if (!h || m.length === 0) return card.replaceChildren();
    const end = m.concluded, last = m.at(end || m.length);
    if (!last) return;
    /** @type {HTMLElement} */
    let what;
    if (h.conclusion) what = prose(h.conclusion);
    else what = prose(end ? m.at(end)?.text || last.head : last.head);
    const title = end || h.conclusion ? 'Conclusion' : (states[h.state] || ['', h.state])[1].replace(/^./, (c) => c.toUpperCase()) + ' at';
    const open = card.querySelector('button.open-card')?.getAttribute('aria-expanded') === 'true';
    const toggle = el('button', { class: 'open-card', 'aria-expanded': open, onclick: () => {
      const now = toggle.getAttribute('aria-expanded') !== 'true';
      toggle.setAttribute('aria-expanded', String(now));
      toggle.textContent = now ? 'less' : 'more';
      card.classList.toggle('whole', now);
      for (const chip of card.querySelectorAll('button')) chip.tabIndex = 0;
    } }, open ? 'less' : 'more');
    card.classList.toggle('unfinished', !end && !h.conclusion);
    fill(card,
      el('h2', {}, title + ' ', el('button', { class: 'ref', title: visible(m.name(last.seq)), onclick: () => page.jump(last.seq) }, said(m.name(last.seq))), end || h.conclusion ? '' : ', ' + ago(last.at)),
      what, toggle);
    const branches = [...m.branches.values()].filter((b) => b.name), list = el('ul', { class: 'weighed', 'aria-label': 'Branches' });
    for (const b of branches.slice(0, maxChips)) {
      put(list, el('li', {}, el('button', { class: 'chip lane' + b.colour % 8, title: visible(b.name), onclick: () => page.jump(b.first) },
        el('bdi', {}, visible(b.name)), el('small', {}, m.verdictOf(b.name) || count(b.length, 'thought')))));
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
}
