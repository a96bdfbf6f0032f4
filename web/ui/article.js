// The article of a session as the server writes it: docs/reference/api.md.

import { el, put, visible } from './dom.js';

/** The only HTML that becomes a part of the page without being made by dom.js: the server has rendered and escaped it. */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('article', { createHTML: (/** @type {string} */ html) => html });

/** Returns the elements of HTML. @param {string} html */
function parsed(html) {
  const t = document.createElement('template');
  t.innerHTML = policy ? policy.createHTML(html) : html;
  const [begun, last] = t.content.querySelectorAll('.meta time'), state = t.content.querySelector('.meta .open');
  if (begun && last && state?.textContent === 'Unfinished' && Date.now() - Date.parse(/** @type {HTMLTimeElement} */ (last).dateTime) < quiet) state.textContent = 'Live';
  for (const time of t.content.querySelectorAll('time')) localize(/** @type {HTMLTimeElement} */ (time));
  return t.content;
}

/** Writes a time as it is where the reader is; the day only if it is not today, or said before it. @param {HTMLTimeElement} e */
function localize(e) {
  const at = new Date(e.dateTime), said = e.previousElementSibling instanceof HTMLTimeElement && e.previousElementSibling.dateTime;
  const today = at.toDateString() === (said ? new Date(said) : new Date()).toDateString();
  e.title = at.toLocaleString();
  e.textContent = (today ? '' : at.toLocaleDateString(undefined, { day: 'numeric', month: 'long', year: 'numeric' }) + ', ') + at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
}

/** quiet is after how many milliseconds without a change an unfinished session is not live. */
const quiet = 600000;

/** step is the maximum number of texts that are asked for at once. */
const step = 200;

/** near is how many pixels before its edge more is asked for; usual is the height of a thought. */
const near = 2000, usual = 108;

export class Article {
  /** @param {import('./session.js').SessionPage} page */
  constructor(page) {
    this.page = page;
    this.position = '';
    this.from = 0; // the thought around which a long session is in the page
    this.top = 0; // where the page was scrolled to
    this.turning = false;
    this.shown = ''; // as wants
    this.thoughts = 0;
    this.short = !!page.o.short;
    this.element = el('div', { class: 'reading' });
    /** @type {Set<number>} places in view whose texts are missing */
    this.wanted = new Set();
    this.loading = Promise.resolve();
    this.seen = new IntersectionObserver((all) => {
      for (const e of all) if (e.isIntersecting) this.wanted.add(seqOf(e.target));
      if (this.wanted.size > 0) this.loading = this.loading.then(() => this.texts()).catch(() => {}); // asked for again when it comes into view
    }, { rootMargin: '600px' });
  }

  /** @param {Record<string, any>} wanted */
  ask(wanted) { return this.page.server.article(this.page.id, wanted); }

  /**
   * Reads the article.
   * @param {number} at the thought around which a long one is read
   * @param {Element} [still] what stays where the reader sees it
   */
  async load(at, still) {
    const p = this.page.o.place(), compares = p.view === 'compare';
    const shown = this.shown = this.wants, focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const a = await this.ask(this.short ? { short: true } : compares ? { line: [p.line, p.other] } : { at: at || undefined });
    if (shown !== this.shown) return; // the reader has gone on
    this.position = a.position;
    this.thoughts = a.thoughts;
    this.from = at;
    const y = still?.getBoundingClientRect().top ?? 0;
    this.element.replaceChildren(parsed(a.html));
    this.hits();
    this.mark(this.page.o.place().at);
    document.title = (this.element.querySelector('h1')?.textContent || '') + ' · sequent';
    if (this.short) this.element.append(el('button', { class: 'whole', onclick: () => this.all() }, 'Read all of it'));
    if (compares) this.element.querySelector('.head')?.append(this.page.tabs.choice);
    if (this.page.tabs.choice.contains(focused)) focused?.focus({ preventScroll: true }); // it was out of the page for a moment
    this.watch();
    const now = still && this.element.querySelector('#' + still.id);
    if (now) {
      unfold(now);
      this.page.element.scrollTop += now.getBoundingClientRect().top - y;
    }
    performance.mark('article');
  }

  /** Returns what the URL says: the session, or two lines of it. */
  get wants() {
    const p = this.page.o.place();
    return p.view === 'compare' ? JSON.stringify([p.line, p.other]) : '';
  }

  /** Shows what the URL says. */
  async show() {
    if (this.shown === this.wants) return;
    await this.load(this.page.o.place().at);
    this.page.element.scrollTop = 0;
  }

  /** Reads what has changed, and returns the first new thought. @returns {Promise<Element | null>} */
  async update() {
    if (this.short || this.wants) {
      await this.load(0);
      return null;
    }
    const before = this.thoughts, a = await this.ask({ after: this.position, at: this.from || undefined });
    const now = parsed(a.html), log = this.element.querySelector('.log');
    const stale = [...now.querySelectorAll('.thought.later')].filter((li) => this.at(seqOf(li))?.matches(':not(.later)') && this.at(seqOf(li))?.dataset.state !== /** @type {HTMLElement} */ (li).dataset.state);
    await Promise.all(stale.slice(0, step).map(async (li) => {
      const text = parsed((await this.ask({ from: seqOf(li), to: seqOf(li) })).html).firstElementChild;
      if (text) li.replaceWith(text);
    }));
    for (const part of ['.head', '.abstract', '.foot']) {
      const to = now.querySelector(part), from = this.element.querySelector(part);
      if (to && from && to.outerHTML !== from.outerHTML) from.replaceWith(to);
    }
    for (const e of this.element.querySelectorAll('.growing, .new')) e.remove();
    if (log) merge(log, /** @type {Element} */ (now.querySelector('.log')));
    this.position = a.position;
    this.thoughts = a.thoughts;
    this.watch();
    return a.thoughts > before ? this.at(before + 1) || this.gap('after') : null;
  }

  /** @param {'before' | 'after'} where @returns {HTMLElement | null} what stands for the thoughts that are not in the page */
  gap(where) { return this.element.querySelector('.page > .log > .gap.' + where); }

  /** Watches the places whose texts are missing. */
  watch() {
    for (const where of /** @type {const} */ (['before', 'after'])) {
      const gap = this.gap(where);
      if (gap) gap.style.height = Number(gap.dataset.state) * usual + 'px';
    }
    this.seen.disconnect();
    for (const e of this.element.querySelectorAll('.later')) this.seen.observe(e);
  }

  /** Goes on in a long session when the reader comes near the edge of what is in the page. */
  async scrolled() {
    const main = this.page.element, down = main.scrollTop > this.top, gap = this.gap(down ? 'after' : 'before');
    this.top = main.scrollTop;
    if (!gap || this.turning) return;
    const { top, bottom, height } = gap.getBoundingClientRect(), n = Number(gap.dataset.state);
    if (down ? top > innerHeight + near : bottom < -near) return;
    const edge = [...this.element.querySelectorAll('.log .thought')].at(down ? -1 : 0), middle = innerHeight / 2;
    const far = down ? top < 0 : bottom > innerHeight; // the reader has jumped over what is in the page
    const at = !far && edge ? seqOf(edge) : Math.min(Math.max(1, (down ? this.thoughts - n : 0) + Math.ceil(n * (middle - top) / height)), this.thoughts);
    const open = [...this.element.querySelectorAll('.log :is(.thought, .branch)')].filter((e) => e.checkVisibility());
    const still = open.find((e) => e.matches('.thought') && e.getBoundingClientRect().bottom > 0) || open.at(-1);
    this.turning = true;
    try {
      await this.load(at, far ? undefined : still);
      if (far) this.at(at)?.scrollIntoView({ block: 'center' });
      this.top = main.scrollTop;
    } catch { /* asked for again with the next movement */ } finally { this.turning = false; }
  }

  async texts() {
    while (this.wanted.size > 0) {
      const all = [...this.wanted].sort((a, b) => a - b), from = all[0];
      const part = all.filter((seq) => seq < from + step);
      for (const seq of part) this.wanted.delete(seq);
      if (part.every((seq) => !this.at(seq)?.matches('.later'))) continue;
      await this.read(from, part[part.length - 1]);
    }
  }

  /** Puts the texts of thoughts where they belong. @param {number} from @param {number} to */
  async read(from, to) {
    for (const li of [...parsed((await this.ask({ from, to })).html).children]) {
      const place = this.at(seqOf(li));
      if (place?.matches('.later')) {
        this.seen.unobserve(place);
        li.classList.toggle('here', place.matches('.here'));
        if (!li.matches('.later')) place.replaceWith(li);
      }
    }
  }

  /** Reads every text, as a print needs it. */
  async whole() {
    if (this.short) await this.all();
    for (let li; (li = this.element.querySelector('.later'));) {
      await this.read(seqOf(li), seqOf(li) + step - 1);
      if (li.isConnected) return; // longer than what can be read
    }
  }

  /** Shows the whole session instead of its end. */
  all() {
    this.short = false;
    return this.load(0);
  }

  /** @param {number} seq @returns {HTMLElement | null} */
  at(seq) { return this.element.querySelector('#t' + seq); }

  /** Returns the thoughts that can be seen without opening anything. @returns {HTMLElement[]} */
  get open() { return /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll('.thought')].filter((e) => e.checkVisibility())); }

  /** Marks what a search has found. */
  hits() {
    for (const e of this.element.querySelectorAll('.thought')) e.classList.toggle('hit', this.page.hits.has(seqOf(e)));
  }

  /** Marks a thought as the selected one. @param {number} seq */
  mark(seq) {
    this.element.querySelector('.here')?.classList.remove('here');
    this.at(seq)?.classList.add('here');
  }

  /** Goes to a thought. @param {number} seq @param {boolean} [quiet] the focus stays where it is */
  async go(seq, quiet = false) {
    if (!this.at(seq) && this.wants) return; // it is on neither line
    if (!this.at(seq)) await (this.short ? this.all() : this.load(seq));
    const place = this.at(seq);
    if (place?.matches('.later')) await this.read(Math.max(1, seq - 20), seq + 20);
    const li = this.at(seq);
    if (!li) return;
    unfold(li);
    this.mark(seq);
    li.scrollIntoView({ block: quiet ? 'start' : 'nearest' });
    if (!quiet) /** @type {HTMLElement | null} */ (li.querySelector('.n a'))?.focus({ preventScroll: true });
  }

  /** Returns the thought that is by so many after the selected one. @param {number} by @param {number} from its seq, or 0 */
  next(by, from) {
    const all = this.open, at = all.findIndex((e) => seqOf(e) === from);
    if (at < 0) return seqOf(all.find((e) => e.getBoundingClientRect().bottom > 100) || all[0]);
    return seqOf(all[Math.max(0, Math.min(at + by, all.length - 1))]);
  }

  /** Opens everything that is folded, or folds again what was. */
  fold() {
    const all = /** @type {HTMLDetailsElement[]} */ ([...this.element.querySelectorAll('.log details')]), open = all.some((d) => !d.open);
    for (const d of all) d.open = open || d.parentElement?.matches('.branch:not(.rejected)') || false;
  }

  /**
   * Shows thoughts that models are writing, as far as they are.
   * @param {{branch?: string, number?: number, text: string}[]} drafts
   */
  write(drafts) {
    const log = this.element.querySelector('.log');
    for (const e of this.element.querySelectorAll('.growing')) e.remove();
    if (log && !this.gap('after')) put(log, ...drafts.map((d) => el('li', { class: 'thought growing', 'aria-busy': 'true' }, el('h3', { class: 'n' }, el('span', { class: 'sr' }, 'Being written: thought ' + visible(d.branch || '') + ' '), d.number || ''),
      el('div', { class: 'prose', dir: 'auto' }, el('p', { class: 'plain' }, visible(d.text))))));
  }
}

/** Opens the branches around a thought. @param {Element} li */
function unfold(li) {
  for (let d = li.parentElement?.closest('details'); d; d = d.parentElement?.closest('details')) d.open = true;
}

/** @param {Element} e */
export const seqOf = (e) => Number(e.id.slice(1));

/** Makes a list of thoughts and branches that of another one. What is the same stays. @param {Element} old @param {Element} now */
function merge(old, now) {
  const have = new Map([...old.children].map((e) => [e.id || e.className, /** @type {HTMLElement} */ (e)]));
  let at = old.firstElementChild;
  for (const n of /** @type {HTMLElement[]} */ ([...now.children])) {
    const key = n.id || n.className, o = have.get(key), [from, to] = [o?.querySelector('.log'), n.querySelector('.log')];
    let e = n;
    if (o && from && to) {
      const [was, is] = [o.querySelector('summary'), n.querySelector('summary')];
      o.className = n.className;
      if (was && is && was.outerHTML !== is.outerHTML) was.replaceWith(is);
      merge(from, to);
      e = o;
    } else if (o && o.dataset.state === n.dataset.state && !(o.matches('.later') && !n.matches('.later'))) e = o;
    else if (o) {
      n.classList.toggle('here', o.matches('.here'));
      if (o === at) at = n;
      o.replaceWith(n);
    }
    have.delete(key);
    if (e === at) at = at.nextElementSibling;
    else old.insertBefore(e, at);
  }
  for (const e of have.values()) e.remove();
}
