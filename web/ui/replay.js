// The replay of a session: a bar whose ticks are branches, revisions and notes. Long gaps
// are compressed.

import { el, fill, clock } from './dom.js';

/** Times in milliseconds that a step takes at least and at most. */
const least = 90, most = 1500;

export class Replay {
  /**
   * @param {import('./model.js').Model} model
   * @param {{show: (upto: number) => void, close: () => void}} o
   */
  constructor(model, o) {
    this.model = model;
    this.o = o;
    this.at = model.length;
    this.timer = 0;
    this.bar = el('input', {
      type: 'range', min: 1, max: model.length, value: model.length, 'aria-label': 'Thoughts shown',
      oninput: () => { this.pause(); this.to(Number(this.bar.value)); },
    });
    this.button = el('button', { onclick: () => (this.timer ? this.pause() : this.play()) }, '▸ Play');
    this.text = el('output', {});
    this.ticks = el('div', { class: 'ticks', 'aria-hidden': 'true' });
    this.element = el('section', { class: 'replay', 'aria-label': 'Replay' }, this.button, el('div', { class: 'track' }, this.ticks, this.bar), this.text,
      el('button', { onclick: () => { this.pause(); this.o.close(); } }, 'Close'));
    this.mark();
    this.to(model.length);
  }

  mark() {
    const m = this.model, n = Math.max(1, m.length - 1);
    const marks = [...[...m.branches.values()].filter((b) => b.name).map((b) => b.first), ...m.arcs.map(([, b]) => b), ...m.notes.keys()];
    const step = Math.ceil(marks.length / 200);
    fill(this.ticks, ...marks.filter((_, i) => i % step === 0).map((seq) => {
      const tick = el('i');
      tick.style.insetInlineStart = ((seq - 1) / n) * 100 + '%';
      return tick;
    }));
  }

  /** @param {number} n */
  to(n) {
    this.at = Math.max(1, Math.min(n, this.model.length));
    this.bar.value = String(this.at);
    const r = this.model.at(this.at);
    this.text.textContent = this.at + ' of ' + this.model.length + (r ? ' · ' + clock(r.at) : '');
    this.o.show(this.at);
  }

  play() {
    if (this.at >= this.model.length) this.to(1);
    this.button.textContent = 'Pause';
    const step = () => {
      const now = this.model.at(this.at), next = this.model.at(this.at + 1);
      if (!now || !next) return this.pause();
      this.timer = window.setTimeout(() => { this.to(this.at + 1); step(); }, Math.max(least, Math.min(next.at - now.at, most)));
    };
    step();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.button.textContent = '▸ Play';
  }
}
