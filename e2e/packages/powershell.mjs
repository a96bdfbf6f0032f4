// Prints what is no valid PowerShell in files, and exits with 1 if there is any.
//
//   node powershell.mjs FILE...
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Language, Parser } from 'web-tree-sitter';
const require = createRequire(import.meta.url);
await Parser.init();
const parser = new Parser();
parser.setLanguage(await Language.load(require.resolve('tree-sitter-powershell/tree-sitter-powershell.wasm')));
const walk = (node) => node.isError || node.isMissing ? [node] : node.children.flatMap(walk);
for (const file of process.argv.slice(2)) {
  for (const node of walk(parser.parse(readFileSync(file, 'utf8')).rootNode)) {
    console.log(`${file}:${node.startPosition.row + 1}: ${JSON.stringify(node.text.slice(0, 80))}`);
    process.exitCode = 1;
  }
}
