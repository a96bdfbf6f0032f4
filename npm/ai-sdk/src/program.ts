import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Returns the command that starts sequent: a program and its first arguments. */
export function findProgram(command?: string): string[] {
  if (command) return [command];
  if (process.env.SEQUENT_BIN) return [process.env.SEQUENT_BIN];
  return installed() ?? ['sequent'];
}

/** Returns the command of the npm package, or undefined if it is not installed. */
function installed(): string[] | undefined {
  try {
    const file = createRequire(import.meta.url).resolve('@sequent-dev/sequent/package.json');
    const { bin } = JSON.parse(readFileSync(file, 'utf8')) as { bin?: string | Record<string, string> };
    const path = typeof bin === 'string' ? bin : bin?.sequent;
    if (!path) return undefined;
    const program = join(dirname(file), path);
    return /\.[cm]?js$/.test(program) ? [process.execPath, program] : [program];
  } catch {
    return undefined;
  }
}
