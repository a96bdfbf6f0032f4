// What a reader copies of an article: thoughts as Markdown, as they were written, and a link for a number.

import { placeIn, url } from './place.js';
import { seqOf } from './article.js';

/**
 * Puts the selected thoughts on the clipboard. A selection within one text is the browser's.
 * @param {ClipboardEvent} e
 * @param {import('./session.js').SessionPage} page
 */
export function copied(e, page) {
  const chosen = getSelection();
  if (!chosen || chosen.isCollapsed || !e.clipboardData) return;
  const parts = [];
  let texts = 0, whole = false;
  for (const li of page.article.element.querySelectorAll('.thought')) {
    if (!chosen.containsNode(li, true)) continue;
    const row = page.model.at(seqOf(li)), text = li.querySelector('.prose');
    if (!row) return; // it is not read yet
    const has = !!text && chosen.containsNode(text, true);
    if (has) texts++;
    if (has && chosen.containsNode(text)) whole = true;
    const p = page.o.place(), link = url({ ...placeIn('', new URLSearchParams()), id: p.id, owner: p.owner, at: row.seq });
    const name = location.pathname.startsWith('/ui/link') || !location.host ? page.model.name(row.seq) : '[' + page.model.name(row.seq) + '](' + location.origin + link + ')';
    parts.push(has ? name + '\n\n' + row.text : name);
  }
  if (parts.length === 0 || texts === 1 && !whole && parts.length === 1) return;
  e.clipboardData.setData('text/plain', parts.join('\n\n'));
  e.preventDefault();
}
