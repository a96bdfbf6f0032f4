// The page of a file that holds a session. The fragment of the URL says what is shown.

import { placeIn, query } from './place.js';
import { Recording } from './recording.js';
import { single } from './single.js';

/** @type {import('./recording.js').Data} */
const data = JSON.parse(document.getElementById('data')?.textContent || '');

/** @returns {import('./place.js').Place} */
function here() { return placeIn(data.session.id, new URLSearchParams(location.hash.slice(1))); }

const shown = single(new Recording(data), here(), {
  actions: [], files: ['svg', 'print'], masked: data.masked || [],
  moved: (p) => history.replaceState(null, '', '#' + query(p)),
});
addEventListener('hashchange', () => shown.move(here()));
