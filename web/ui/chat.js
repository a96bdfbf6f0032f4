// The page of a chat.

import { el } from './dom.js';

el('p');
