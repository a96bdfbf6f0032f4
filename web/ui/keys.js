// The keys. Everything that a mouse can do can be done with them.

import { el } from './dom.js';
import { narrow } from './shell.js';

/**
 * @typedef {object} Context
 * @property {import('./session.js').SessionPage | null} page
 * @property {Element | null} list of sessions
 * @property {() => void} find goes to the search
 * @property {(name: string) => void} screen
 * @property {(change: Partial<import('./place.js').Place>, push?: boolean) => void} go
 * @property {() => import('./place.js').Place} place
 */

/** What the keys do, as the help shows it. @type {[string, string][]} */
const help = [
  ['j k', 'next and previous thought'], ['h l', 'in the overview, to the line on the left and on the right'], ['g G', 'first and last thought'],
  ['Enter', 'what can be done about the thought; in the overview, read it'], ['/', 'filter and search'], ['. ,', 'next and previous hit'],
  ['z', 'in the article, open and fold what is folded'], ['r', 'replay'], ['c', 'compare with another line'], ['1 2 3', 'read, overview, compare'],
  ['n w a', 'note: remark, wrong, approve'], ['[ ]', 'earlier and later version'], ['d', 'what a revision has changed'], ['e p', 'export, and print every thought'], ['s', 'to the sessions'], ['Escape', 'back'], ['?', 'this help'],
];

/**
 * @param {KeyboardEvent} e
 * @param {Context} c
 */
export function keys(e, c) {
  if ((e.ctrlKey || e.metaKey) && e.key === 'p' && c.page?.o.files.includes('print')) { // a page that is not whole cannot print itself
    e.preventDefault();
    return void c.page.print();
  }
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  const target = /** @type {HTMLElement} */ (e.target);
  if (target.matches('input, textarea, select') || document.querySelector('dialog[open]')) return;
  const button = target.matches('button, a, summary'), page = c.page, grid = page?.grid;
  const moves = /** @type {Record<string, () => void>} */ ({
    '?': showHelp,
    '/': c.find,
  });
  if (page && grid) {
    const rows = Math.max(1, Math.floor(grid.element.clientHeight / grid.height) - 2);
    Object.assign(moves, {
      j: () => page.step(1), k: () => page.step(-1),
      g: () => page.reading && page.article.gap('before') ? page.jump(1) : page.step(-1e9), G: () => page.following.toEnd(),
      '.': () => hit(page, 1), ',': () => hit(page, -1),
      '[': () => version(page, -1), ']': () => version(page, 1),
      d: () => { c.go({ diff: !c.place().diff }); page.showPane(true); },
      z: () => { if (page.reading) page.article.fold(); }, r: () => page.tabs.toggleReplay(), c: () => page.tabs.open('compare'),
      1: () => page.tabs.open('read'), 2: () => page.tabs.open('overview'), 3: () => page.tabs.open('compare'),
      e: () => page.export(), p: () => { if (page.o.files.includes('print')) page.print(); },
      s: () => page.o.sessions?.(),
      ...Object.fromEntries(page.o.actions.map((a) => [a.key, () => { page.showPane(true); page.pane.write(a.key); }])),
      Escape: () => { if (page.pane.shown) page.pane.hide(); else if (narrow.matches) page.o.sessions?.(); },
    });
    if (!page.reading) Object.assign(moves, {
      ArrowDown: moves.j, ArrowUp: moves.k, PageDown: () => page.step(rows), PageUp: () => page.step(-rows), Home: moves.g, End: moves.G,
      h: () => lane(page, -1), ArrowLeft: () => lane(page, -1), l: () => lane(page, 1), ArrowRight: () => lane(page, 1),
    });
    if (!button) moves.Enter = () => page.reading ? page.showPane(!page.pane.shown) : page.read(grid.selected + 1);
  }
  if (c.list?.contains(target) && ['ArrowDown', 'ArrowUp'].includes(e.key)) {
    const links = /** @type {HTMLElement[]} */ ([...c.list.querySelectorAll('.sessions a')]);
    const i = links.indexOf(target) + (e.key === 'ArrowDown' ? 1 : -1);
    if (links[i]) links[i].focus();
    else c.find();
    return e.preventDefault();
  }
  const move = moves[e.key];
  if (!move) return;
  e.preventDefault();
  move();
}

/**
 * Goes to the nearest thought on another lane.
 * @param {import('./session.js').SessionPage} page
 * @param {number} by
 */
function lane(page, by) {
  const m = page.model, g = page.grid, now = m.laneOf(g.selected + 1);
  for (let d = 1; d < g.length; d++) {
    for (const i of [g.selected + d, g.selected - d]) {
      if (i < 0 || i >= g.length) continue;
      const other = m.laneOf(i + 1);
      if (by < 0 ? other < now : other > now) return g.select(i);
    }
  }
}

/**
 * @param {import('./session.js').SessionPage} page
 * @param {number} by
 */
function hit(page, by) {
  const at = page.o.place().at, seqs = [...page.hits].sort((a, b) => a - b);
  const next = by > 0 ? seqs.find((s) => s > at) ?? seqs[0] : seqs.reverse().find((s) => s < at) ?? seqs[0];
  if (next) page.jump(next);
}

/**
 * @param {import('./session.js').SessionPage} page
 * @param {number} by
 */
function version(page, by) {
  const seq = page.o.place().at, list = page.model.versions(seq), next = list[list.indexOf(seq) + by];
  if (next) page.jump(next);
}

export function showHelp() {
  const d = el('dialog', { class: 'help', 'aria-label': 'Keys', onclose: () => d.remove() },
    el('h2', {}, 'Keys'),
    el('dl', {}, ...help.flatMap(([k, what]) => [el('dt', {}, ...k.split(' ').flatMap((key) => [el('kbd', {}, key), ' '])), el('dd', {}, what)])),
    el('form', { method: 'dialog' }, el('button', { autofocus: true }, 'Close')));
  document.body.append(d);
  d.showModal();
}
