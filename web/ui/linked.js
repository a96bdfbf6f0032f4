// The page of a session behind a link. The secret of the link is in the fragment
// of the URL, which no server sees, and is exchanged for a cookie.

import { el, fill, clock } from './dom.js';
import { Server, Refused } from './api.js';
import { placeIn, query } from './place.js';
import { single } from './single.js';

const base = '/ui/link';

/** Shows that there is nothing to read, or not any more. @param {string} title @param {string} text @param {boolean} [again] */
function say(title, text, again = false) {
  document.title = 'sequent';
  document.body.classList.remove('single');
  fill(document.body, el('main', { class: 'message' }, el('h1', {}, title), el('p', {}, text), again ? el('button', { onclick: () => location.reload() }, 'Try again') : null));
}

const ask = 'Ask the sender for a new one.';

/** @param {unknown} e */
function failed(e) {
  if (e instanceof Refused && e.status === 401) return say('This link does not work', 'It has expired, it was revoked, or a part of it is missing. ' + ask);
  say('The session could not be read', e instanceof Refused ? e.message : 'The server cannot be reached.', true);
}

/** Returns the id of the link. */
async function enter() {
  const secret = location.hash.slice(1);
  if (!secret) return location.pathname.slice(base.length + 1);
  history.replaceState(null, '', base); // before anything else: it is a secret
  const id = (await new Server().send('POST', 'linked', { secret })).link;
  history.replaceState(null, '', base + '/' + id);
  return id;
}

async function start() {
  const id = await enter();
  if (!/^[0-9a-f]+$/.test(id)) throw new Refused(401, {});
  const server = new Server('linked/' + id + '/');
  await server.session(id, { limit: 1 }); // before there is a page around it
  const shown = single(server, placeIn(id, new URLSearchParams(location.search)), {
    actions: [], files: ['print'], finds: false, linked: true,
    moved: (p) => { const q = query(p); history.replaceState(null, '', base + '/' + id + (q.size ? '?' + q : '')); },
    over: (at) => {
      shown.stop();
      if (at) say('This link has ended', 'It expired or was revoked at ' + clock(at) + '. ' + ask);
      else failed(new Refused(401, {}));
    },
  });
}

addEventListener('hashchange', () => { if (location.hash.length > 1) location.reload(); }); // another link in the same tab
start().catch(failed);
