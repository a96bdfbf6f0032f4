// Following a session: thoughts as they are recorded and written, and the end of the connection.

import { el, put, visible, clock } from './dom.js';

/** The delays in milliseconds after which the standing of thoughts is read again, for most sessions and for long ones. */
const soon = 300, later = 2000;
/** longSession is the number of thoughts from which a session is long. */
const longSession = 2000;

export class Following {
  /** @param {import('./session.js').SessionPage} page */
  constructor(page) {
    this.page = page;
    this.atEnd = true; // the reader sees what arrives
    this.unseen = 0; // thoughts that arrived below what the reader sees
    this.ended = false; // the session is not there any more, or not for this reader
    this.timer = 0; // of later; 0 for none
    this.stop = () => {};
    this.writing = el('ul', { class: 'writing', 'aria-label': 'Being written', hidden: true });
    /** @type {Map<number, HTMLElement>} texts of thoughts that are being written */
    this.drafts = new Map();
    this.more = el('button', { class: 'more', hidden: true, onclick: () => this.toEnd() });
  }

  /** @param {string} after position of what the page has */
  start(after) {
    this.stop = this.page.server.follow({
      id: this.page.id, after, on: (event, data) => this.event(event, data), state: (connected, e) => this.connection(connected, e),
    });
  }

  /**
   * @param {string} event
   * @param {any} data
   */
  event(event, data) {
    const page = this.page;
    switch (event) {
      case 'session': {
        const changed = page.head && (page.head.state !== data.state || page.head.conclusion !== data.conclusion);
        page.head = data;
        page.heading.draw();
        if (changed) page.conclusion.draw();
        this.refresh();
        break;
      }
      case 'thoughts': {
        const wasEnd = this.atEnd && page.grid.atEnd, n = page.model.add(data);
        if (n > 0) this.added(n, wasEnd);
        break;
      }
      case 'writing':
        for (const d of data) this.write(d);
        break;
      case 'deleted':
        this.end('This session was deleted at ' + clock(Date.parse(data.at)) + '. What is shown is no longer stored.');
        break;
      case 'revoked':
        this.ended = true;
        page.o.over?.(Date.parse(data.at));
        break;
      case 'masked': // a new thought shows that an earlier one has a secret
        location.reload();
        break;
      case 'replaced':
        this.end('This session was begun again. ');
        put(page.banner, el('button', { onclick: () => location.reload() }, 'Read it again'));
        break;
    }
  }

  /** @param {string} why */
  end(why) {
    this.ended = true;
    this.page.showBanner(why, true);
  }

  /**
   * Shows what a model has added to a thought that it is writing.
   * @param {{id: number, branch?: string, number?: number, from: number, text?: string, over?: boolean}} d
   */
  write(d) {
    let text = this.drafts.get(d.id);
    if (d.over) {
      text?.parentElement?.remove();
      this.drafts.delete(d.id);
    } else {
      if (!text) {
        text = el('span', { class: 'text' });
        this.drafts.set(d.id, text);
        put(this.writing, el('li', {}, el('small', {}, el('bdi', {}, visible(d.branch ? d.branch + '#' + d.number : String(d.number))), ' being written'), text));
      }
      text.textContent = (d.from ? text.textContent : '') + visible(d.text || '');
      text.scrollTop = text.scrollHeight;
    }
    this.writing.hidden = this.drafts.size === 0;
  }

  /**
   * Shows rows that have arrived. Nothing moves under a reader who is not at the end.
   * @param {number} n
   * @param {boolean} wasEnd
   */
  added(n, wasEnd) {
    const page = this.page, m = page.model;
    if (page.o.place().view === 'log' && !page.tabs.fold) page.grid.extended();
    else page.tabs.show();
    if (wasEnd) {
      page.grid.render();
      page.grid.toEnd();
    } else this.unseen += n;
    this.showUnseen();
    page.o.say(n === 1 ? 'New thought ' + m.name(m.length) : n + ' new thoughts');
    this.refresh();
  }

  /** Has the page read the standing of thoughts again, soon and once for many changes. */
  refresh() {
    if (this.timer) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.page.refresh().catch(() => {}); // the next change tries again
    }, this.page.model.length > longSession ? later : soon);
  }

  /** Takes note of where the reader is. */
  scrolled() {
    if (this.page.grid.atEnd) this.caughtUp();
    else this.atEnd = false;
  }

  caughtUp() {
    this.atEnd = true;
    if (this.unseen) {
      this.unseen = 0;
      this.showUnseen();
    }
  }

  showUnseen() {
    this.more.hidden = this.unseen === 0;
    this.more.textContent = this.unseen + ' new ↓';
  }

  toEnd() {
    const grid = this.page.grid;
    grid.toEnd();
    grid.select(grid.length - 1);
    this.caughtUp();
  }

  /**
   * @param {boolean} connected
   * @param {import('./api.js').Refused} [e]
   */
  connection(connected, e) {
    const page = this.page;
    if (this.ended) return;
    if (e && e.status === 401 && page.o.over) return page.o.over(0);
    if (e && e.status === 401) return page.showBanner('You are signed out. Reload to sign in again.', true);
    if (e && e.status === 404) return page.showBanner('This session was deleted. What is shown is no longer stored.', true);
    for (const id of this.drafts.keys()) this.write({ id, from: 0, over: true }); // sent again if they last
    if (connected) {
      performance.mark('following');
      return page.showBanner('');
    }
    page.showBanner('Reconnecting; shown up to ' + page.model.name(page.model.length) + '.');
  }
}
