import './wasm_exec.js';
import { replyOf, type Reply } from './errors.js';

/** Go's loader, wasm_exec.js, which belongs to the Go version that has compiled the engine. */
declare const Go: new () => { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };

/** Calls a tool of the engine, and returns a response of MCP as JSON. */
type Call = (name: string, args: string) => string;

/** What the engine exports; engine/main.go says how a call is made. */
interface Exports {
  mem: WebAssembly.Memory;
  room(bytes: number): number;
  call(nameBytes: number): number;
  at(): number;
}

/** The engine in this process, with sessions in its memory. It is loaded with the module. */
const engine = await start();

/** Calls a tool of the dialect native, and returns its reply or throws. */
export function callEngine(name: string, args: object): Reply {
  return replyOf(JSON.parse(engine(name, JSON.stringify(args))));
}

async function start(): Promise<Call> {
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(await bytes(), go.importObject);
  void go.run(instance); // it waits for calls
  const { mem, room, call, at } = instance.exports as unknown as Exports;
  const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
  const memory = (from: number, length: number) => new Uint8Array(mem.buffer, from >>> 0, length); // the buffer is another when memory has grown
  return (name, args) => {
    const text = encoder.encode(name + args);
    memory(room(text.length), text.length).set(text);
    const length = call(name.length);
    return decoder.decode(memory(at(), length));
  };
}

async function bytes(): Promise<BufferSource> {
  const url = new URL('./engine.wasm', import.meta.url);
  if (url.protocol !== 'file:') return (await fetch(url)).arrayBuffer();
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}
