import { randomBytes } from 'node:crypto';
import type { Reply } from './errors.js';
import { HttpWire } from './http.js';
import { LocalWire } from './local.js';
import type { ServerOptions } from './types.js';

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

const wires = new Map<string, Wire>();

/** Returns the wire to a server. Equal options have the same one. */
export function wireTo({ command, store, sessionTtlMs, url, token }: ServerOptions): Wire {
  const key = JSON.stringify(url ? [url, token] : [command, store, sessionTtlMs, null]);
  let wire = wires.get(key);
  if (!wire) {
    wire = url ? new HttpWire(url, token) : new LocalWire({ command, store, sessionTtlMs });
    wires.set(key, wire);
  }
  return wire;
}

/** Ends the programs and connections of all tools; see {@link Wire.close}. */
export async function close(): Promise<void> {
  await Promise.all(Array.from(wires.values(), (wire) => wire.close()));
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
  const raw = randomBytes(16);
  raw.writeUIntBE(Date.now(), 0, 6);
  raw[6] = (raw[6]! & 0x0f) | 0x70;
  raw[8] = (raw[8]! & 0x3f) | 0x80;
  return raw.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
