// Runs portable.mjs with Node.js, Bun or Deno, and prints its report.
import { think } from './portable.mjs';

const report = await think(process.argv[2]);
console.log(JSON.stringify({ ...report, memory: process.memoryUsage().rss / 2 ** 20 }));
