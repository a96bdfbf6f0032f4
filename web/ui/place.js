// A Place is what the URL says: everything that a reload or a colleague needs to see the
// same. It never holds a key.

/**
 * @typedef {object} Place
 * @property {string} id session; empty for the list alone
 * @property {string} view log, effective, compare, outline
 * @property {number} at seq of the selected thought; 0 for none
 * @property {string} line of the views effective and compare
 * @property {string} other second line of the view compare
 * @property {string} q search
 * @property {boolean} diff the pane shows what the thought has changed
 */

/** @returns {Place} */
export function here() {
  const q = new URLSearchParams(location.search);
  let id = q.get('id') || '';
  if (location.pathname.startsWith('/ui/s/') && location.pathname.length > 6) {
    try { id = decodeURIComponent(location.pathname.slice(6)); } catch { /* not an id */ }
  }
  const view = q.get('view') || 'log';
  return {
    id, view: ['log', 'effective', 'compare', 'outline'].includes(view) ? view : 'log',
    at: Math.max(0, Number(q.get('at')) | 0), line: q.get('line') || '', other: q.get('other') || '', q: q.get('q') || '', diff: q.has('diff'),
  };
}

/** @param {Place} p @returns {string} path and query */
export function url(p) {
  const q = new URLSearchParams();
  let path = '/ui/';
  // A path cannot have the segments "." and "..": browsers resolve them.
  if (p.id === '.' || p.id === '..') q.set('id', p.id);
  else if (p.id) path = '/ui/s/' + encodeURIComponent(p.id);
  if (p.view !== 'log') q.set('view', p.view);
  if (p.line) q.set('line', p.line);
  if (p.other) q.set('other', p.other);
  if (p.at) q.set('at', String(p.at));
  if (p.diff) q.set('diff', '');
  if (p.q) q.set('q', p.q);
  return path + (q.size ? '?' + q : '');
}
