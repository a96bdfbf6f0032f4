// A session as paper: every thought whole, one after the other.

import { el, put, said, visible, faultOf } from './dom.js';

/**
 * Waits for every text, and prints.
 * @param {import('./session.js').SessionPage} page
 */
export async function print(page) {
  await page.ready;
  window.print(); // the page lays itself out before it is printed
}

/**
 * Returns the session as paper.
 * @param {import('./session.js').SessionPage} page
 */
export function paper(page) {
  const m = page.model, h = page.head;
  const out = el('article', { class: 'paper' }, el('h1', {}, said(h?.title || 'untitled')), el('p', { class: 'meta' }, page.heading.summary()));
  if (h?.fault) put(out, el('p', { class: 'fault' }, faultOf(h.fault)));
  if (h?.conclusion) put(out, el('section', { class: 'conclusion' }, el('h2', {}, 'Conclusion'), el('div', { class: 'prose', dir: 'auto' }, visible(h.conclusion))));
  for (const r of m.rows) {
    const by = m.replacedBy.get(r.seq), b = m.branches.get(r.branch || '');
    const facts = [
      m.concluded === r.seq ? 'conclusion' : '',
      r.supersedes ? 'revises ' + m.name(r.supersedes) : '', by ? 'superseded by ' + m.name(by) : '',
      b && b.first === r.seq && b.origin ? 'from ' + m.name(b.origin) : '', page.status(r.seq).verdict,
    ].filter(Boolean).join(' · ');
    put(out, el('section', { class: 'thought lane' + m.colourOf(r.seq) + (by ? ' replaced' : '') },
      el('h2', {}, el('b', { class: 'number' }, said(m.name(r.seq))), facts ? el('small', {}, said(facts)) : null, el('small', { class: 'when' }, new Date(r.at).toLocaleString())),
      el('div', { class: 'prose', dir: 'auto' }, visible(r.text)),
      r.note ? el('p', { class: 'note' }, said(r.note)) : null,
      ...(m.notes.get(r.seq) || []).map((n) => el('p', { class: 'note ' + n.kind }, '✎ ', said((n.from || 'a person') + { remark: '', wrong: ', wrong', approve: ', approved' }[n.kind] + (n.text ? ': ' + n.text : ''))))));
  }
  return out;
}
