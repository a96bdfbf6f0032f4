// The viewer: a list of sessions beside the page of one. The URL says what is shown.

import { el, fill, visible } from './dom.js';
import { empty } from './empty.js';
import { Server, Refused } from './api.js';
import { here, url } from './place.js';
import { List } from './list.js';
import { SessionPage } from './session.js';
import { linkDialog } from './links.js';
import { keys } from './keys.js';
import { narrow, screen, say, status } from './shell.js';
import { account, arrive, arriving, signIn } from './signin.js';

const server = new Server();
let place = here();
/** @type {SessionPage | null} */
let page = null;
let write = false, links = false;
/** @type {import('./api.js').About} */
let about;
const middle = el('div', { class: 'middle' }), side = el('div', { class: 'side' });

/**
 * Changes the URL. With push, back leads to what was shown before.
 * @param {Partial<import('./place.js').Place>} change
 * @param {boolean} [push]
 */
function go(change, push = false) {
  const before = place.id;
  place = { ...place, ...change };
  history[push ? 'pushState' : 'replaceState'](null, '', url(place));
  if (place.id !== before) show();
}

/** @param {string} id @param {number} [seq] */
function open(id, seq = 0) {
  if (id === place.id && page && id) {
    if (seq) page.jump(seq);
    return screen('session');
  }
  go({ id, at: seq, view: 'read', line: '', other: '', diff: false }, true);
}

const list = new List(server, {
  open, listed: home,
  searched: (q, hits) => { go({ q }); page?.mark(hits); },
  project: (project) => go({ project }),
  signedOut: (reason) => { if (!page) signIn(server, reason); },
  owner: (owner) => { location.href = url({ ...place, owner, id: '', at: 0, q: '', project: '' }); },
});

/** Shows what there is without a session in the URL: the latest one, in a narrow window the list, or how to get one. */
function home() {
  if (place.id || !list.loaded) return;
  const latest = list.sessions.find((s) => !s.labels?.demo) || list.sessions[0];
  if (!latest) {
    fill(middle, empty(about, list.widen()));
    screen('session');
  } else if (narrow.matches) {
    list.setAlone(true);
    screen('list');
  }
  else go({ id: latest.id });
}

/** Goes to the list. */
function sessions() {
  document.body.dataset.list = 'shown';
  if (narrow.matches) go({ id: '', at: 0, view: 'read', line: '', other: '', diff: false }, true);
  /** @type {HTMLElement | null} */ (list.body.querySelector('[aria-current]') || list.body.querySelector('li a'))?.focus();
}

/** Shows the session of the URL. */
function show() {
  page?.stop();
  page = null;
  list.setCurrent(place.id);
  list.setAlone(false);
  document.body.dataset.list = '';
  if (!place.id) {
    document.title = 'sequent';
    middle.replaceChildren();
    side.replaceChildren();
    return home();
  }
  page = new SessionPage(server, {
    id: place.id, place: () => place, go, screen, sessions, say, server, signIn: (reason) => signIn(server, reason), files: ['html', 'md', 'json', 'mermaid', 'print'], actions: write ? notes(place.id) : [],
    link: links ? (id) => linkDialog(server, id) : undefined,
  });
  fill(middle, page.element);
  fill(side, page.pane.element);
  page.start();
  screen('session');
}

/** Returns the notes that a person can write. @param {string} id @returns {import('./pane.js').Action[]} */
function notes(id) {
  const save = (/** @type {string} */ kind) => (/** @type {number} */ seq, /** @type {string} */ text) => server.note(id, seq, kind, text);
  return [
    { title: 'Note', key: 'n', hint: 'What should a reader know?', done: 'Save the note', save: save('remark') },
    { title: 'Wrong', key: 'w', hint: 'Why? (optional)', done: 'Mark as wrong', save: save('wrong') },
    { title: 'Approve', key: 'a', hint: 'Why? (optional)', done: 'Approve', save: save('approve') },
  ];
}

addEventListener('popstate', () => {
  const before = place;
  place = here();
  if (place.id !== before.id) show();
  else page?.moved();
});

async function start() {
  try {
    await server.enter();
    about = await server.about();
    if (arriving()) return arrive(server);
    if (place.owner !== (about.owner || '')) server.owner = place.owner;
    await server.sessions();
    if (server.signIn && !about.owner) about = await server.about(); // the sign-in was renewed
    write = about.write && !server.owner;
    links = about.links && !server.owner;
    if (about.scope === 'sequent:admin') list.offer(about.owner || '');
    if (about.owner && about.auth === 'token') list.element.append(account(server, about.owner));
  } catch (e) {
    const r = e instanceof Refused ? e : null;
    if (r && r.status === 401 && r.code !== 'key_required') return signIn(server, r.code === 'token_required' ? '' : r.message);
    return fill(document.body, el('main', { class: 'message' }, el('h1', {}, 'sequent'),
      el('p', {}, visible(r ? r.message : 'The server cannot be reached.')), r && r.fix ? el('p', { class: 'hint' }, visible(r.fix)) : null));
  }
  fill(document.body, list.element, middle, side, status);
  list.project = place.project;
  list.start();
  if (place.q) {
    list.input.value = place.q;
    list.current = place.id;
    list.typed();
  }
  show();
  addEventListener('keydown', (e) => keys(e, {
    page, list: list.element, screen, go, place: () => place, find: () => { if (narrow.matches) sessions(); list.input.focus(); list.input.select(); },
  }));
}

start();
