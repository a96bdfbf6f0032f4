// A Place is what the URL says: everything that a reload or a colleague needs to see the
// same. It never holds a key.

/**
 * @typedef {object} Place
 * @property {string} id session; empty for the list alone
 * @property {string} view read, overview, compare
 * @property {number} at seq of the selected thought; 0 for none
 * @property {string} line of the view compare
 * @property {string} other second line of the view compare
 * @property {string} q search
 * @property {string} project of the list of sessions; empty for all
 * @property {string} owner of the sessions; empty for those of who is signed in
 * @property {boolean} diff the pane shows what the thought has changed
 */

/** @returns {Place} the place that the path and the query of the URL say */
export function here() {
  const q = new URLSearchParams(location.search);
  let id = q.get('id') || '';
  if (location.pathname.startsWith('/ui/s/') && location.pathname.length > 6) {
    try { id = decodeURIComponent(location.pathname.slice(6)); } catch { /* not an id */ }
  }
  return placeIn(id, q);
}

/** @param {string} id @param {URLSearchParams} q @returns {Place} */
export function placeIn(id, q) {
  const view = q.get('view') || 'read';
  return {
    id, view: ['read', 'overview', 'compare'].includes(view) ? view : 'read', project: q.get('project') || '', owner: q.get('owner') || '',
    at: Math.max(0, Number(q.get('at') || location.hash.match(/^#t(\d+)$/)?.[1]) | 0), line: q.get('line') || '', other: q.get('other') || '', q: q.get('q') || '', diff: q.has('diff'),
  };
}

/** @param {Place} p @returns {string} path and query */
export function url(p) {
  const q = query(p);
  let path = '/ui/';
  // A path cannot have the segments "." and "..": browsers resolve them.
  if (p.id === '.' || p.id === '..') q.set('id', p.id);
  else if (p.id) path = '/ui/s/' + encodeURIComponent(p.id);
  return path + (q.size ? '?' + q : '');
}

/** @param {Place} p @returns {URLSearchParams} all but the id */
export function query(p) {
  const q = new URLSearchParams();
  if (p.view !== 'read') q.set('view', p.view);
  if (p.line) q.set('line', p.line);
  if (p.other) q.set('other', p.other);
  if (p.at) q.set('at', String(p.at));
  if (p.diff) q.set('diff', '');
  if (p.q) q.set('q', p.q);
  if (p.project) q.set('project', p.project);
  if (p.owner) q.set('owner', p.owner);
  return q;
}
