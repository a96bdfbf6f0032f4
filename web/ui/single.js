// A page that shows one session and no list: behind a link, and in a chat.

import { el, fill } from './dom.js';
import { SessionPage } from './session.js';
import { Find } from './find.js';
import { keys } from './keys.js';
import { screen, say, status } from './shell.js';

/** @typedef {import('./place.js').Place} Place */

/**
 * Shows a session.
 * @param {import('./api.js').Source} source
 * @param {Place} place
 * @param {Pick<import('./session.js').Options, 'actions' | 'files' | 'over' | 'linked' | 'short'> & {finds?: boolean, moved: (p: Place) => void}} o
 */
export function single(source, place, o) {
  const finds = o.finds !== false, find = new Find(source, place.id, (_, hits) => page.mark(hits));
  const page = new SessionPage(source, {
    id: place.id, place: () => place, screen, say, find: finds ? find.element : undefined, actions: o.actions, files: o.files, short: o.short, over: o.over, linked: o.linked,
    go: (change) => { place = { ...place, ...change }; o.moved(place); },
  });
  document.body.classList.add('single');
  fill(document.body, el('div', { class: 'middle' }, page.element), el('div', { class: 'side' }, page.pane.element), status);
  screen('session');
  const pressed = (/** @type {KeyboardEvent} */ e) => keys(e, {
    page, list: null, screen, go: page.o.go, place: () => place, find: () => { if (finds) { find.input.focus(); find.input.select(); } },
  });
  addEventListener('keydown', pressed);
  page.start();
  const stop = () => {
    page.stop();
    removeEventListener('keydown', pressed);
  };
  return { page, find, stop };
}
