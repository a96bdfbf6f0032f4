// Following a session: thoughts as they are recorded and written, and the end of the connection.

import { el, put, clock, count } from './dom.js';

export class Following {
  /** @param {import('./session.js').SessionPage} page */
  constructor(page) {
    this.page = page;
    this.unseen = 0; // thoughts that arrived below what the reader sees
    this.ended = false; // the session is not there any more, or not for this reader
    this.stop = () => {};
    this.first = 0; // seq of the first of them
    this.updated = Promise.resolve();
    this.more = el('button', { class: 'pill', hidden: true, onclick: () => this.toNew() });
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
        if (data.length > 0) page.article.write(data);
        else this.updated.then(() => page.article.write([]));
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

  /** Shows what has changed. @param {import('./api.js').Document} d */
  changed(d) {
    const page = this.page, { grid, reading } = page, wasEnd = grid.atEnd, n = page.tell(d);
    page.draw();
    // Rows wait for no text, which does not come while the server is away.
    if (n > 0 && !reading) {
      if (wasEnd) grid.toEnd();
      else this.miss(n, page.model.length - n + 1);
    }
    return this.updated = this.updated.then(() => this.update(n, reading)).catch(() => {}); // the next change brings it
  }

  /** Puts what is new into the article. Nothing that is read moves. @param {number} n @param {boolean} reading */
  async update(n, reading) {
    if (this.page.stopped) return;
    const page = this.page, before = page.article.thoughts, first = await page.article.update();
    const fresh = reading ? page.article.thoughts - before : n; // the article may be ahead of the rows
    if (fresh > 0) page.o.say(fresh === 1 ? 'New thought ' + page.model.name(page.model.length) : fresh + ' new thoughts');
    if (fresh > 0 && reading && first && first.getBoundingClientRect().bottom > innerHeight) this.miss(fresh, before + 1);
    if (this.first && page.reading) page.article.at(this.first)?.before(el('li', { class: 'new' }, 'New'));
  }

  /** Counts thoughts that the reader does not see. @param {number} n @param {number} first */
  miss(n, first) {
    this.unseen += n;
    this.first ||= first;
    this.showUnseen();
  }

  /** Takes note of where the reader is. */
  scrolled() {
    const page = this.page, at = page.article.at(this.first) || page.article.gap('after');
    if (this.unseen && (page.reading ? !at || at.getBoundingClientRect().top < innerHeight - 60 : page.grid.atEnd)) this.caughtUp();
  }

  caughtUp() {
    this.unseen = this.first = 0;
    this.showUnseen();
  }

  showUnseen() {
    this.more.hidden = this.unseen === 0;
    this.more.textContent = count(this.unseen, 'new thought');
    document.title = document.title.replace(/^(\(\d+\) )?/, this.unseen ? '(' + this.unseen + ') ' : '');
  }

  /** Goes to what is new. */
  toNew() {
    if (this.page.reading) this.page.jump(this.first);
    else this.toEnd();
    this.caughtUp();
  }

  toEnd() {
    const { page } = this, { grid } = page;
    if (page.reading) return page.jump(page.article.gap('after') ? page.article.thoughts : page.article.next(1e9, page.article.next(0, 0)));
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
    page.article.write([]); // they are sent again if they last
    if (connected) {
      performance.mark('following');
      return page.showBanner('');
    }
    page.showBanner('Reconnecting; shown up to ' + page.model.name(page.model.length) + '.');
  }
}
