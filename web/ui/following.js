// Following a session: thoughts as they are recorded and written, and the end of the connection.

import { el, fill, put, visible, clock } from './dom.js';

export class Following {
  /** @param {import('./session.js').SessionPage} page */
  constructor(page) {
    this.page = page;
    this.atEnd = true; // the reader sees what arrives
    this.unseen = 0; // thoughts that arrived below what the reader sees
    this.ended = false; // the session is not there any more, or not for this reader
    this.stop = () => {};
    this.writing = el('ul', { class: 'writing', 'aria-label': 'Being written', hidden: true });
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
      case 'session':
        this.changed(data);
        break;
      case 'writing':
        this.write(data);
        break;
      case 'deleted':
        this.end('This session was deleted at ' + clock(Date.now()) + '. What is shown is no longer stored.');
        break;
      case 'revoked':
        this.ended = true;
        page.o.over?.(Date.now());
        break;
      case 'replaced':
        if (page.o.linked) location.reload(); // a new thought shows that an earlier one has a secret
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
   * Shows thoughts that models are writing.
   * @param {{branch?: string, number?: number, text: string}[]} drafts
   */
  write(drafts) {
    const lines = drafts.map((d) => el('li', {}, el('small', {}, el('bdi', {}, visible(d.branch ? d.branch + '#' + d.number : String(d.number))), ' being written'),
      el('span', { class: 'text' }, visible(d.text))));
    fill(this.writing, ...lines);
    for (const line of lines) if (line.lastElementChild) line.lastElementChild.scrollTop = line.lastElementChild.scrollHeight;
    this.writing.hidden = drafts.length === 0;
  }

  /**
   * Shows what has changed.
   * @param {import('./api.js').Document} d
   */
  changed(d) {
    const page = this.page, wasEnd = this.atEnd && page.grid.atEnd, n = page.tell(d);
    if (n > 0) this.added(n, wasEnd);
    page.draw();
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
    this.write([]); // they are sent again if they last
    if (connected) {
      performance.mark('following');
      return page.showBanner('');
    }
    page.showBanner('Reconnecting; shown up to ' + page.model.name(page.model.length) + '.');
  }
}
