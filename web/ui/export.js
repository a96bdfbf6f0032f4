// Files of a session, which the server writes, and paper.

import { el, count } from './dom.js';

/** Formats, with what they are for. @type {Record<string, [string, string, string]>} */
const formats = {
  html: ['Web page', 'one file with the whole session, for any browser', 'html'],
  md: ['Markdown', 'to read and to quote', 'md'],
  json: ['JSON', 'all data; sequent store verify checks it', 'json'],
  mermaid: ['Mermaid', 'a diagram', 'mmd'],
  print: ['Paper', 'print every thought', ''],
};

/** Which of these the server writes, so that it can mask texts in them. */
const written = ['html', 'md', 'json', 'mermaid'];

/**
 * Asks for a format and saves the file.
 * @param {import('./session.js').SessionPage} page
 */
export function exportDialog(page) {
  const server = page.o.server;
  let format = page.o.files[0];
  const radios = page.o.files.map((f) => el('label', {}, el('input', { type: 'radio', name: 'format', value: f, checked: f === format, onchange: () => { format = f; shown(); } }),
    el('span', {}, formats[f][0], el('small', {}, formats[f][1]))));
  const secrets = el('input', { type: 'checkbox' }), mask = el('label', {}, secrets, el('span', {}, 'Mask keys, tokens and passwords'));
  const result = el('p', { role: 'status' }), save = el('button', { class: 'main' });
  const shown = () => {
    mask.hidden = !written.includes(format);
    save.textContent = format === 'print' ? 'Print' : 'Save';
    result.textContent = '';
  };
  const run = async () => {
    if (format === 'print') {
      d.close();
      return page.print();
    }
    const name = (page.id.replace(/[^\w.-]+/g, '_') || 'session') + '.' + formats[format][2];
    if (!server) return;
    const file = await server.file(page.id, format, secrets.checked);
    download(name, file.blob);
    if (secrets.checked) result.textContent = count(file.masked, 'text') + ' masked.';
  };
  const d = el('dialog', { class: 'dialog', 'aria-label': 'Export', onclose: () => d.remove() },
    el('form', { onsubmit: async (/** @type {Event} */ e) => {
      e.preventDefault();
      save.disabled = true;
      try { await run(); } catch (e) { result.textContent = /** @type {Error} */ (e).message; }
      save.disabled = false;
    } }, el('h2', {}, 'Export'), el('div', { class: 'formats', role: 'radiogroup', 'aria-label': 'Format' }, ...radios), mask, result,
    el('footer', {}, save, el('button', { type: 'button', onclick: () => d.close() }, 'Close'))));
  shown();
  document.body.append(d);
  d.showModal();
}

/** @param {string} name @param {Blob} blob */
function download(name, blob) {
  const a = el('a', { href: URL.createObjectURL(blob), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}
