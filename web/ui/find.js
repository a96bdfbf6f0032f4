// The search in a page that shows one session.

import { el } from './dom.js';

export class Find {
  /**
   * @param {import('./api.js').Source} source
   * @param {string} id
   * @param {(q: string, hits: import('./api.js').Hit[]) => void} found
   */
  constructor(source, id, found) {
    this.wanted = 0;
    this.timer = 0;
    this.text = el('output', {});
    this.input = el('input', {
      type: 'search', placeholder: 'Search', 'aria-label': 'Search the thoughts', autocomplete: 'off', spellcheck: 'false',
      oninput: () => { clearTimeout(this.timer); this.timer = window.setTimeout(() => this.search(), 250); },
      onkeydown: (/** @type {KeyboardEvent} */ e) => {
        if (e.key === 'Escape') { this.input.value = ''; this.search(); }
        if (e.key === 'Escape' || e.key === 'Enter') { e.preventDefault(); this.input.blur(); }
      },
    });
    this.element = el('search', { class: 'finder' }, this.input, this.text);
    this.search = async () => {
      const q = this.input.value.trim(), mine = ++this.wanted;
      const hits = q ? (await source.search(q, id).catch(() => ({ hits: [] }))).hits : [];
      if (mine !== this.wanted) return;
      this.text.textContent = q ? String(hits.length) : '';
      found(q, hits);
    };
  }
}
