// A session as paper: every thought whole, one after the other.

import { el, put, said, visible } from './dom.js';

/**
 * Reads every text, and prints.
 * @param {import('./session.js').SessionPage} page
 */
export async function print(page) {
  page.o.say('Reading every thought');
  await page.texts.readAll(page.model);
  window.print(); // the page lays itself out before it is printed
}

/**
 * Returns the session as paper. Thoughts whose texts are not known have their first
 * sentence, and the paper says so.
 * @param {import('./session.js').SessionPage} page
 */
export function paper(page) {
  const m = page.model, h = page.head, missing = m.rows.filter((r) => !page.texts.known.has(r.seq) && r.head.endsWith('…')).length;
  const out = el('article', { class: 'paper' }, el('h1', {}, said(h?.title || 'untitled')), el('p', { class: 'meta' }, page.heading.summary()));
  if (missing) put(out, el('p', { class: 'meta' }, missing + ' long thoughts are shown with their beginning. To print them whole, press p in the page.'));
  if (h?.conclusion) put(out, el('section', { class: 'conclusion' }, el('h2', {}, 'Conclusion'), el('div', { class: 'prose', dir: 'auto' }, visible(h.conclusion))));
  for (const r of m.rows) {
    const by = m.replacedBy.get(r.seq), b = m.branches.get(r.branch || ''), text = page.texts.known.get(r.seq);
    const facts = [
      m.concluded === r.seq ? 'conclusion' : '',
      r.supersedes ? 'revises ' + m.name(r.supersedes) : '', by ? 'superseded by ' + m.name(by) : '',
      b && b.first === r.seq && b.origin ? 'from ' + m.name(b.origin) : '', page.status(r.seq).verdict,
    ].filter(Boolean).join(' · ');
    put(out, el('section', { class: 'thought lane' + m.colourOf(r.seq) + (by ? ' replaced' : '') },
      el('h2', {}, el('b', { class: 'number' }, said(m.name(r.seq))), facts ? el('small', {}, said(facts)) : null, el('small', { class: 'when' }, new Date(r.at).toLocaleString())),
      el('div', { class: 'prose', dir: 'auto' }, visible(text ? text.text : r.head)),
      text?.note ? el('p', { class: 'note' }, said(text.note)) : null,
      ...(m.notes.get(r.seq) || []).map((n) => el('p', { class: 'note ' + n.kind }, '✎ ', said((n.from || 'a person') + { remark: '', wrong: ', wrong', approve: ', approved' }[n.kind] + (n.text ? ': ' + n.text : ''))))));
  }
  return out;
}
