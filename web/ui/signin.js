// Signing in and out: with a token, or through a provider.

import { el, fill, visible } from './dom.js';
import { Refused } from './api.js';

/** @typedef {import('./api.js').Server} Server */

const path = '/ui/signin'; // to which the provider returns
const backName = 'sequent.back';

/** Shows a screen of its own. @param {...import('./dom.js').Child} children */
function show(...children) {
  document.title = 'sequent';
  fill(document.body, el('main', { class: 'message' }, el('h1', {}, 'sequent'), ...children));
  /** @type {HTMLElement | null} */ (document.querySelector('.message input, .message button.main'))?.focus();
}

/** Shows why something cannot be done, and what to do. @param {unknown} e @param {...import('./dom.js').Child} actions */
function problem(e, ...actions) {
  const r = e instanceof Refused ? e : null;
  show(el('p', { role: 'alert' }, visible(sentence(r ? r.message : 'The server cannot be reached.'))), r?.fix ? el('p', { class: 'hint' }, visible(sentence(r.fix))) : null, ...actions);
}

/** Returns a text of the server as a sentence. @param {string} text */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? '' : '.');
}

/** @param {Server} server */
function begin(server) {
  return el('button', { class: 'main', onclick: async () => {
    try {
      // The way back stays in this tab. In a URL it could be another site's.
      const { page } = await server.send('POST', 'login/begin', {});
      if (location.pathname !== path) sessionStorage.setItem(backName, location.pathname + location.search);
      location.assign(page);
    } catch (e) {
      problem(e, begin(server));
    }
  } }, 'Sign in with ' + visible(server.signIn));
}

/** Returns the form for a token. @param {Server} server @param {boolean} main */
function withToken(server, main) {
  const input = el('input', { type: 'password', autocomplete: 'current-password', 'aria-label': 'Token', placeholder: 'Token', required: true });
  return el('form', { class: 'token', onsubmit: async (/** @type {Event} */ e) => {
    e.preventDefault();
    try {
      await server.send('POST', 'login', { token: input.value });
      location.reload();
    } catch (e) {
      signIn(server, e instanceof Refused ? e.message : '');
    }
  } }, input, ' ', el('button', { class: main ? 'main' : null }, main ? 'Sign in' : 'Sign in with a token'));
}

/**
 * Asks who the reader is.
 * @param {Server} server
 * @param {string} [reason]
 */
export function signIn(server, reason) {
  if (!server.signIn) return show(el('p', { role: reason ? 'alert' : null }, reason ? visible(sentence(reason)) : 'This server needs a token.'), withToken(server, true));
  show(el('p', {}, reason ? visible(sentence(reason)) : 'Sign in to read your sessions.'), begin(server),
    el('details', {}, el('summary', { class: 'hint' }, 'Use a token instead'), withToken(server, false)));
  // Another tab may sign in meanwhile.
  document.onvisibilitychange = async () => {
    if (!document.hidden && (await server.about().catch(() => null))?.owner) location.reload();
  };
}

/** Reports whether the page is the one to which the provider returns. */
export function arriving() { return location.pathname === path; }

/** Finishes a sign-in, and goes to where it was begun. @param {Server} server */
export async function arrive(server) {
  const answer = location.search.slice(1);
  history.replaceState(null, '', '/ui/'); // the code is for one use, and a reload is not
  if (!answer) return location.replace('/ui/');
  try {
    await server.send('POST', 'login/finish', { answer });
  } catch (e) {
    return problem(e, begin(server));
  }
  location.replace(back());
}

/** Returns the page on which the sign-in was begun. It is one of the viewer. */
function back() {
  const url = new URL(sessionStorage.getItem(backName) || '/ui/', location.origin);
  sessionStorage.removeItem(backName);
  return url.origin === location.origin && url.pathname.startsWith('/ui/') && url.pathname !== path ? url.pathname + url.search : '/ui/';
}

/** Signs out. @param {Server} server */
export async function signOut(server) {
  try {
    const { end } = await server.send('DELETE', 'login');
    history.replaceState(null, '', '/ui/');
    const whole = typeof end === 'string' && /^https?:/.test(end);
    show(el('p', {}, 'You are signed out of sequent.'),
      whole ? el('p', { class: 'hint' }, 'You may still be signed in to ', visible(server.signIn), ', which then lets you in again without asking. ', el('a', { class: 'link', href: end }, 'Sign out there, too')) : null,
      el('button', { class: 'main', onclick: () => location.reload() }, 'Sign in again'));
  } catch (e) {
    problem(e, el('button', { class: 'main', onclick: () => signOut(server) }, 'Try again'));
  }
}

/**
 * Returns a line that says who is signed in.
 * @param {Server} server
 * @param {string} owner
 */
export function account(server, owner) {
  return el('div', { class: 'account' }, el('bdi', { title: visible(owner) }, visible(owner)), el('button', { onclick: () => signOut(server) }, 'Sign out'));
}
