import './wasm_exec.js';
import { replyOf, type Reply } from './errors.js';

/** Go's loader, wasm_exec.js, which belongs to the Go version that has compiled the engine. */
declare const Go: new () => { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };

/** Calls a tool of the engine, and returns a response of MCP as JSON. */
type Call = (name: string, args: string) => string;

/** The engine in this process, with sessions in its memory. It is loaded with the module. */
const engine = await start();

/** Calls a tool of the dialect native, and returns its reply or throws. */
export function callEngine(name: string, args: object): Reply {
  return replyOf(JSON.parse(engine(name, JSON.stringify(args))));
}

async function start(): Promise<Call> {
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(await bytes(), go.importObject);
  return new Promise((resolve) => {
    const place = globalThis as { sequentStart?: (call: Call) => void };
    place.sequentStart = resolve;
    void go.run(instance); // it calls sequentStart at once, and then waits for calls
    delete place.sequentStart;
  });
}

async function bytes(): Promise<BufferSource> {
  const url = new URL('./engine.wasm', import.meta.url);
  if (url.protocol !== 'file:') return (await fetch(url)).arrayBuffer();
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}
