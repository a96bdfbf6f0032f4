import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { replyOf, SequentialThinkingError, type Reply } from './errors.js';
import { findProgram } from './program.js';
import { request, type Wire } from './wire.js';

/** How often the program may end before it answers a call. */
const maxAttempts = 5;

/** Wait before the second start of the program, doubled with each further one. */
const restartWaitMs = 50;

/** How much of the program's standard error is kept for messages, in characters. */
const stderrLimit = 4096;

interface Call {
  line: string;
  attempts: number;
  resolve(reply: Reply): void;
  reject(reason: unknown): void;
}

interface Program {
  child: ChildProcess;
  answered: boolean;
  stderr: string;
}

/**
 * A wire to a program on this machine. It is started by the first call, ends with this
 * process, and is started again if it dies. It does not keep this process running between
 * calls.
 */
export class LocalWire implements Wire {
  #args: string[];
  #command: string | undefined;
  #program: Program | undefined;
  #starting: NodeJS.Timeout | undefined;
  #calls = new Map<number, Call>();
  #lastId = 0;

  constructor(options: { command?: string | undefined; store?: string | true | undefined; sessionTtlMs?: number | undefined }) {
    this.#command = options.command;
    this.#args = ['serve', '--dialect', 'native'];
    if (typeof options.store === 'string') this.#args.push('--store', options.store);
    if (options.sessionTtlMs !== undefined) {
      this.#args.push('--session-ttl', options.sessionTtlMs ? `${options.sessionTtlMs}ms` : '0');
    }
  }

  call(name: string, args: object, signal?: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const id = ++this.#lastId;
      const end = () => {
        signal?.removeEventListener('abort', cancel);
        this.#calls.delete(id);
        if (this.#calls.size === 0) this.#hold(false);
      };
      const cancel = () => {
        end();
        this.#write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }));
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', cancel);
      const call: Call = {
        line: request(id, name, args),
        attempts: 0,
        resolve: (reply) => { end(); resolve(reply); },
        reject: (reason) => { end(); reject(reason); },
      };
      this.#calls.set(id, call);
      if (this.#program) {
        this.#send(call);
        this.#hold(true);
      } else if (!this.#starting) {
        this.#start();
      }
    });
  }

  async close(): Promise<void> {
    const child = this.#program?.child;
    if (!child) return;
    child.ref();
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.stdin?.end(); // the program answers what it has read, then it ends
    await ended;
  }

  #start() {
    this.#starting = undefined;
    const [file, ...first] = findProgram(this.#command);
    // Windows opens no window for a program that talks through pipes.
    const child = spawn(file!, [...first, ...this.#args], { stdio: 'pipe', windowsHide: true });
    const program: Program = { child, answered: false, stderr: '' };
    this.#program = program;

    child.stdin.on('error', () => {}); // the program has ended, which the event close tells
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      program.stderr = (program.stderr + text).slice(-stderrLimit);
    });
    let parts: string[] = []; // of a line that is not complete
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = text.split('\n');
      for (const rest of lines.slice(0, -1)) {
        parts.push(rest);
        const line = parts.join('');
        parts = [];
        program.answered = true;
        this.#answer(line);
      }
      parts.push(lines.at(-1)!);
    });
    let failure: Error | undefined;
    child.on('error', (error) => (failure = error));
    child.on('close', (code) => this.#ended(program, code, failure));

    for (const call of this.#calls.values()) this.#send(call);
    this.#hold(this.#calls.size > 0);
  }

  #send(call: Call) {
    call.attempts++;
    this.#write(call.line);
  }

  #write(line: string) {
    this.#program?.child.stdin?.write(line + '\n');
  }

  #answer(line: string) {
    let response: { id?: number };
    try {
      response = JSON.parse(line);
    } catch {
      return; // another program's output; it will end without an answer
    }
    const call = this.#calls.get(response.id ?? 0);
    if (!call) return; // cancelled
    try {
      call.resolve(replyOf(response));
    } catch (error) {
      call.reject(error);
    }
  }

  /** Starts the program again if calls wait for it. */
  #ended(program: Program, code: number | null, failure?: Error) {
    this.#program = undefined;
    const said = program.stderr.trim();
    const why = failure ? `sequent cannot be started: ${failure.message}` : `sequent has ended${code === null ? '' : ` with code ${code}`}`;
    const fix = failure
      ? 'install @sequent-dev/sequent, or set SEQUENT_BIN or the option command to the path of the program'
      : said || 'sequent doctor may say why';
    // A program that ends with a code before its first answer would do so again.
    const permanent = failure || (code !== null && code !== 0 && !program.answered);
    let attempts = 0;
    for (const call of Array.from(this.#calls.values())) {
      if (permanent || call.attempts >= maxAttempts) {
        call.reject(new SequentialThinkingError(failure ? 'PROGRAM_NOT_FOUND' : 'PROGRAM_ENDED', `${why}; ${fix}`, undefined, { cause: failure }));
      } else {
        attempts = Math.max(attempts, call.attempts);
      }
    }
    if (this.#calls.size > 0) {
      this.#starting = setTimeout(() => this.#start(), attempts > 1 ? restartWaitMs << (attempts - 2) : 0);
    }
  }

  /** Says whether the program keeps this process running. */
  #hold(on: boolean) {
    const child = this.#program?.child;
    if (!child) return;
    for (const handle of [child, ...(child.stdio.slice(0, 3) as (Socket | null)[])]) {
      if (on) handle?.ref();
      else handle?.unref();
    }
  }
}
