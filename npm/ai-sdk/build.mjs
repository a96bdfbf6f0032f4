// Builds the package into a folder, ./dist by default: the TypeScript, the engine as WebAssembly,
// and the loader that Go has for it, with Go's licence. It needs Go.
//
//   node build.mjs [FOLDER]
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = process.argv[2] ?? join(here, 'dist');
const run = (file, args, env = {}) =>
  execFileSync(file, args, { cwd: here, env: { ...process.env, ...env }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

mkdirSync(dist, { recursive: true });
const root = run('go', ['env', 'GOROOT']).trim();
copyFileSync(join(root, 'lib/wasm/wasm_exec.js'), join(dist, 'wasm_exec.js'));
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE-go'));
run('go', ['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w', '-o', join(dist, 'engine.wasm'), './engine'], { GOOS: 'js', GOARCH: 'wasm' });
run(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '--outDir', dist]);
