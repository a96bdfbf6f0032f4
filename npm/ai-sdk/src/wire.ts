import { callEngine } from './engine.js';
import { SequentialThinkingError, type Reply } from './errors.js';
import type { Place } from './types.js';

/** A Wire calls tools of the dialect native. */
export interface Wire {
  /**
   * Calls a tool and returns its reply. A call whose reply is lost is sent again, so calls
   * must be idempotent. When the signal is aborted, call rejects with its reason.
   */
  call(name: string, args: object, signal?: AbortSignal): Promise<Reply>;
  /** Ends the connection after the calls that are running. A later call opens it again. */
  close(): Promise<void>;
}

const wires = new Map<string, Promise<Wire>>();

/** Calls a tool in this process, which answers at once, or outside of it. */
export function call(options: Place, name: string, args: object, signal?: AbortSignal): Reply | Promise<Reply> {
  if (options.store || options.url) return wireTo(options).then((wire) => wire.call(name, args, signal));
  if (options.command !== undefined || options.sessionTtlMs !== undefined || options.token !== undefined) {
    throw new SequentialThinkingError('INVALID_ARGUMENT', 'command, sessionTtlMs and token are about sessions outside of this process; add store or url');
  }
  signal?.throwIfAborted();
  return callEngine(name, args);
}

/** Returns the wire to a server or a program. Equal options have the same one. */
function wireTo({ command, store, sessionTtlMs, url, token }: Place): Promise<Wire> {
  const key = JSON.stringify(url ? [url, token] : [command, store, sessionTtlMs, null]);
  let wire = wires.get(key);
  if (!wire) {
    wire = url
      ? import('./http.js').then(({ HttpWire }) => new HttpWire(url, token))
      : import('./local.js').then(({ LocalWire }) => new LocalWire({ command, store, sessionTtlMs }));
    wires.set(key, wire);
  }
  return wire;
}

/** Ends the programs and connections of all tools; see {@link Wire.close}. */
export async function close(): Promise<void> {
  await Promise.all(Array.from(wires.values(), async (wire) => (await wire).close()));
}

/** The parts of a request of MCP 2026-07-28 that are the same in all calls. */
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'sequent-ai-sdk', version: '0.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Returns the request of a call as JSON. */
export function request(id: number, name: string, args: object): string {
  return JSON.stringify({
    jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta: meta },
  });
}

/** Returns a new id: a UUID of version 7, which begins with the time in milliseconds. */
export function newId(): string {
  const raw = crypto.getRandomValues(new Uint8Array(16));
  raw[6] = (raw[6]! & 0x0f) | 0x70;
  raw[8] = (raw[8]! & 0x3f) | 0x80;
  const hex = Date.now().toString(16).padStart(12, '0') + Array.from(raw.subarray(6), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
