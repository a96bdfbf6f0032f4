// The page of a chat. It reads the session by a tool of the server that the host calls for it.

import { el, fill, visible } from './dom.js';
import { Refused, parameters } from './api.js';
import { Bridge } from './bridge.js';
import { placeIn } from './place.js';
import { single } from './single.js';

/** Pauses in milliseconds between two questions for what is new. */
const shortest = 1000, longest = 15000;
/** Heights in pixels that the page asks for. */
const lowest = 420, highest = 600;

const bridge = new Bridge();

/** A Chat answers like the server, through the host. */
class Chat {
  /**
   * @param {string} document
   * @param {Record<string, any>} query
   * @returns {Promise<any>}
   */
  async read(document, query) {
    const r = await bridge.request('tools/call', { name: 'read_thinking', arguments: { document, query: String(parameters(query)) } });
    if (!r.isError) return r.structuredContent;
    const e = r.structuredContent?.error || {};
    throw new Refused(e.code === 'SESSION_NOT_FOUND' ? 404 : 400, { code: e.code, message: e.message || r.content?.[0]?.text, fix: e.fix });
  }

  /** @param {string} id @param {import('./api.js').Wanted} wanted */
  session(id, wanted) { return this.read('session', { id, ...wanted }); }
  /** @param {string} id @param {Record<string, any>} wanted */
  article(id, wanted) { return this.read('article', { id, ...wanted }); }
  /** @param {string} q @param {string} [id] */
  search(q, id) { return this.read('search', { q, id: id || '' }); }

  /**
   * Asks for what is new: often while something is, seldom while nothing is, and not while
   * the page is hidden.
   * @param {{id?: string, after?: string, on: (event: string, data: any) => void, state: (connected: boolean, e?: Refused) => void}} o
   */
  follow(o) {
    const id = o.id || '';
    let after = o.after || '', version = 0, pause = shortest, timer = 0, over = false;
    const ask = async () => {
      if (over || document.hidden) return;
      try {
        const d = await this.session(id, { after });
        if (over) return;
        o.state(true);
        if (after && d.position.split('.')[0] !== after.split('.')[0]) return stop(() => o.on('replaced', {}));
        const changed = d.rows.length > 0 || version !== 0 && d.session.version !== version;
        version = d.session.version;
        after = d.position;
        if (changed) o.on('session', d);
        pause = d.more ? 0 : changed ? shortest : Math.min(pause * 1.5 + 1, longest);
      } catch (e) {
        if (e instanceof Refused && e.status === 404) return stop(() => o.on('deleted', {}));
        o.state(false);
        pause = Math.min(pause * 2 + 1, longest);
      }
      timer = window.setTimeout(ask, pause);
    };
    const seen = () => {
      clearTimeout(timer);
      ask();
    };
    const stop = (/** @type {() => void} */ then) => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
      then();
    };
    document.addEventListener('visibilitychange', seen);
    timer = window.setTimeout(ask, shortest);
    return () => stop(() => {});
  }
}

/** @param {string} title @param {string} [text] */
function message(title, text = '') {
  fill(document.body, el('main', { class: 'message' }, el('p', {}, visible(title)), text ? el('p', { class: 'hint' }, visible(text)) : null));
  bridge.notify('ui/notifications/size-changed', { height: 160 });
}

/** @type {any} what the host has said of itself and of the frame */
let context = {};

/** Takes what the host says of the frame. @param {any} changed */
function adapt(changed) {
  context = { ...context, ...changed };
  document.documentElement.style.colorScheme = context.theme === 'dark' || context.theme === 'light' ? context.theme : '';
  const inset = context.safeAreaInsets;
  if (inset) document.body.style.padding = [inset.top, inset.right, inset.bottom, inset.left].map((n) => Number(n) + 'px').join(' ');
}

/** Asks for as much room as the session needs, within what the host allows. @param {number} thoughts */
function size(thoughts) {
  const room = context.containerDimensions || {};
  if (room.height || context.displayMode === 'fullscreen') return; // the host has decided
  bridge.notify('ui/notifications/size-changed', { height: Math.min(Math.max(lowest, 260 + thoughts * 28), highest, room.maxHeight || highest) });
}

let stop = () => {};

/**
 * @param {any} host
 * @param {string} id
 * @param {string} view
 */
function show(host, id, view) {
  stop();
  const shown = single(new Chat(), placeIn(id, new URLSearchParams({ view })), {
    files: [], short: true, moved: () => {},
    actions: host.hostCapabilities?.message ? [{
      title: 'Revise…', key: 'n', hint: 'What should change?', done: 'Ask for it',
      save: (seq, text) => bridge.request('ui/message', {
        role: 'user', content: [{ type: 'text', text: 'Revise thought ' + shown.page.model.name(seq) + ' of session ' + id + (text ? ': ' + text : '.') }],
      }),
    }] : [],
  });
  stop = shown.stop;
  size(10);
  shown.page.ready.then(() => size(shown.page.model.length), () => {});
  if (context.availableDisplayModes?.includes('fullscreen')) {
    shown.find.element.append(el('button', { onclick: async () => {
      const r = await bridge.request('ui/request-display-mode', { mode: context.displayMode === 'fullscreen' ? 'inline' : 'fullscreen' });
      adapt({ displayMode: r.mode });
    }, title: 'Use the whole window, or go back' }, '⤢'));
  }
}

async function start() {
  // Some hosts put the whole page into the body of their own, which is filled anew.
  document.head.append(...document.querySelectorAll('style'));
  let /** @type {any} */ input = {}, /** @type {any} */ host = null, /** @type {any} */ result = null;
  const ready = () => {
    if (!host || !result) return;
    const s = result.structuredContent || {}, id = s.sessionId || input.sessionId;
    if (result.isError || !id) return message('There is no session to show.', result.content?.[0]?.text);
    show(host, id, s.view || input.view || 'read');
  };
  bridge.on = {
    'ui/notifications/tool-input': (p) => { input = p.arguments || {}; },
    'ui/notifications/tool-result': (p) => { result = p; ready(); },
    'ui/notifications/tool-cancelled': () => message('The call was cancelled.'),
    'ui/notifications/host-context-changed': adapt,
    'ui/resource-teardown': () => stop(),
    ping: () => {},
  };
  host = await bridge.request('ui/initialize', {
    appInfo: { name: 'sequent', version: '1' }, appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] }, protocolVersion: '2026-01-26',
  });
  adapt(host.hostContext || {});
  bridge.notify('ui/notifications/initialized', {});
  ready();
}

start().catch((e) => message('The chat could not be reached.', e.message));
