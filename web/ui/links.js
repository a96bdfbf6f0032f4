// The links with which others read a session: a new one, and the end of those that there are.

import { el, fill, visible } from './dom.js';

/** Lifetimes in seconds. @type {[string, number][]} */
const lifetimes = [['an hour', 3600], ['a day', 86400], ['7 days', 604800], ['30 days', 2592000], ['a year', 31536000]];

/** @param {string} time */
function until(time) {
  return new Date(time).toLocaleString(undefined, { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });
}

/**
 * Shows the links to a session, and makes new ones.
 * @param {import('./api.js').Server} server
 * @param {string} id
 */
export function linkDialog(server, id) {
  const lifetime = el('select', {}, ...lifetimes.map(([name, seconds]) => el('option', { value: seconds, selected: seconds === 604800 }, name)));
  const result = el('p', { role: 'status' }), list = el('ul', { class: 'links', 'aria-label': 'Links' }), fresh = el('div', { class: 'link', hidden: true });
  const attempt = async (/** @type {() => Promise<void>} */ f) => {
    result.textContent = '';
    try { await f(); } catch (e) { result.textContent = /** @type {Error} */ (e).message; }
  };
  const draw = async () => {
    const { links } = await server.links(id);
    fill(list, ...links.map((s) => el('li', {},
      el('span', {}, 'until ' + until(s.expires), el('small', {}, ' ', el('code', {}, s.id), s.token ? ' by token ' + visible(s.token) : '', s.ended ? ', ended with its token' : '')),
      el('button', { type: 'button', 'aria-label': 'Revoke the link ' + s.id, onclick: () => attempt(async () => {
        await server.revokeLink(s.id);
        if (fresh.dataset.link === s.id) fresh.hidden = true;
        await draw();
        result.textContent = 'The link does not work any more.';
      }) }, 'Revoke'))));
  };
  const make = el('button', { class: 'main' }, 'Make a link');
  const d = el('dialog', { class: 'dialog', 'aria-label': 'Share', onclose: () => d.remove() },
    el('form', { onsubmit: async (/** @type {Event} */ e) => {
      e.preventDefault();
      make.disabled = true;
      await attempt(async () => {
        const made = await server.makeLink(id, Number(lifetime.value)), url = made.url || location.origin + made.path;
        const text = el('input', { readonly: true, value: url, 'aria-label': 'Link', onfocus: () => text.select() });
        const copy = el('button', { type: 'button', onclick: () => attempt(async () => {
          await navigator.clipboard.writeText(url);
          copy.textContent = 'Copied';
        }) }, 'Copy');
        fresh.dataset.link = made.id;
        fill(fresh, text, copy, el('small', {}, 'It is shown only now.'));
        fresh.hidden = false;
        text.focus();
        await draw();
      });
      make.disabled = false;
    } }, el('h2', {}, 'Share'),
    el('p', {}, 'Whoever has a link reads this session, as it is and as it goes on, and nothing else. They need no account. Keys, tokens and passwords are masked.'),
    el('label', {}, 'The link works for ', lifetime), fresh, list, result,
    el('footer', {}, make, el('button', { type: 'button', onclick: () => d.close() }, 'Close'))));
  document.body.append(d);
  d.showModal();
  attempt(draw);
}
