// What all pages have around their content: the screens of a narrow window, and what a screen
// reader is told.

import { el } from './dom.js';

/** In a narrow window the list and a session are two screens. */
export const narrow = matchMedia('(max-width: 899px)');

export const status = el('div', { class: 'sr', role: 'status', 'aria-live': 'polite' });

/** Shows one of the two screens of a narrow window. @param {string} name list or session */
export function screen(name) { document.body.dataset.screen = name; }

let timer = 0, next = '';

/** Tells a screen reader, at most every two seconds. @param {string} text */
export function say(text) {
  if (timer) return void (next = text);
  status.textContent = text;
  timer = window.setTimeout(() => {
    timer = 0;
    if (next) say(next);
    next = '';
  }, 2000);
}
