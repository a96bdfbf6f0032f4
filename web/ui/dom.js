// Elements are made here and nowhere else. Text enters a page as text nodes only.

/** @typedef {string | number | Node | null | undefined | false} Child */

/**
 * Returns an element. Properties that begin with "on" are listeners; "class", "text" and
 * "data" have their usual meaning; true and false set and omit an attribute.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith('aria-')) e.setAttribute(name, String(value));
    else if (value === false) continue;
    else if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name === 'class') e.className = value;
    else e.setAttribute(name, value === true ? '' : String(value));
  }
  put(e, ...children);
  return e;
}

/**
 * Appends children to an element.
 * @param {Element} parent
 * @param {...Child} children
 */
export function put(parent, ...children) {
  for (const c of children) {
    if (c === null || c === undefined || c === false) continue;
    parent.append(c instanceof Node ? c : String(c));
  }
}

/**
 * Replaces the children of an element.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren();
  put(parent, ...children);
}

/**
 * Returns an SVG element.
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, String(value));
  return e;
}

// The characters that are hidden, and those beside which they are needed. Package printable has the same.
const hidden = /\r\n?|[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;
const emoji = /^(?:[©®]|(?=[\p{So}\p{Sm}\p{Sk}\p{Po}])[\u2030-\ufffc\u{10000}-\u{10ffff}])$/u;
const joining = new RegExp('^[' + ['Arabic', 'Bengali', 'Devanagari', 'Gujarati', 'Gurmukhi', 'Kannada', 'Khmer', 'Malayalam', 'Mongolian', 'Myanmar', 'Oriya',
  'Sinhala', 'Syriac', 'Tamil', 'Telugu'].map((s) => '\\p{Script=' + s + '}').join('') + ']$', 'u');

/** Reports whether writing needs a hidden character between two others. @param {string} before @param {string} c @param {string} after */
function written(before, c, after) {
  if (c === '\ufe0f' || c === '\ufe0e') return emoji.test(before) || /^[#*0-9]$/.test(before);
  if (/^\p{Variation_Selector}$/u.test(c)) return /^\p{Script=Han}$/u.test(before);
  if (c === '\u200d' && (emoji.test(before) || before === '\ufe0f')) return emoji.test(after);
  if (c !== '\u200d' && c !== '\u200c') return false;
  return joining.test(before) && (joining.test(after) || c === '\u200d' && after.replace(hidden, '') === after);
}

/**
 * Returns text in which hidden characters can be seen, so that what a terminal, a browser or an
 * editor would act upon is only read here.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(hidden, (c, /** @type {number} */ at) => {
    const n = /** @type {number} */ (c.codePointAt(0));
    if (c === '\n' || c === '\t') return c;
    if (c[0] === '\r' || n === 0x85 || n === 0x2028 || n === 0x2029) return '\n';
    if (written([...text.slice(Math.max(at - 2, 0), at)].at(-1) || '', c, [...text.slice(at + c.length, at + c.length + 2)][0] || '')) return c;
    if (n < 0x20) return String.fromCharCode(0x2400 + n);
    return n === 0x7f ? '␡' : '⟨U+' + n.toString(16).toUpperCase().padStart(4, '0') + '⟩';
  });
}

/**
 * Returns an element with text of unknown direction.
 * @param {string} text
 * @param {string} [className]
 */
export function said(text, className = '') {
  return el('bdi', { class: className || null, dir: 'auto' }, visible(text));
}

/** @param {number} ms duration in milliseconds */
export function duration(ms) {
  const s = Math.round(Math.abs(ms) / 1000);
  if (s < 60) return s + ' s';
  if (s < 3600) return Math.round(s / 60) + ' min';
  if (s < 86400) return Math.round(s / 3600) + ' h';
  return Math.round(s / 86400) + ' d';
}

/**
 * Returns how long ago a time was. A clock that differs from the server's gives "now".
 * @param {number} at
 */
export function ago(at) {
  const d = Date.now() - at;
  return d < 5000 ? 'now' : duration(d) + ' ago';
}

/** @param {number} at */
export function clock(at) {
  return new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}

/** @param {number} at */
export function hour(at) { return new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' }); }

/** @param {number} at */
export function day(at) {
  const d = new Date(at), today = new Date();
  const days = Math.round((new Date(today).setHours(0, 0, 0, 0) - new Date(d).setHours(0, 0, 0, 0)) / 864e5);
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return d.toLocaleDateString(undefined, { day: 'numeric', month: 'long', year: days > 300 ? 'numeric' : undefined });
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export function count(n, one, many = one + 's') {
  return n.toLocaleString() + ' ' + (n === 1 ? one : many);
}
