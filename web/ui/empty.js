// What a store without sessions shows: how to get one.

import { el } from './dom.js';

/**
 * Returns the page of a list without sessions.
 * @param {import('./api.js').About} about
 * @param {Element | null} widen the button that lists all projects, if the list is of one
 */
export function empty(about, widen) {
  const team = about.auth === 'token';
  const [demo, setup] = about.commands || ['sequent demo', team ? 'sequent setup --team ' + location.origin + '/mcp --token-env SEQUENT_TOKEN' : 'sequent setup'];
  const steps = [['See an example.', demo], ['Add the server to your editor or agent.', setup], ['Give the agent a problem and ask it to think in steps.']].slice(team ? 1 : 0);
  return el('main', {}, el('article', { class: 'page empty', 'aria-labelledby': 'title' },
    el('header', { class: 'head' }, el('h1', { id: 'title' }, widen ? 'No sessions in this project' : 'No sessions yet'), el('p', { class: 'meta' }, 'A session appears here with its first thought. ', widen)),
    el('ol', { class: 'log steps' }, ...steps.map(([does, command], i) => el('li', { class: 'thought' }, el('span', { class: 'n', 'aria-hidden': 'true' }, i + 1),
      el('div', { class: 'prose' }, el('p', {}, does), command ? el('figure', { class: 'code' }, el('pre', { tabindex: 0 }, el('code', {}, command))) : null))))));
}
