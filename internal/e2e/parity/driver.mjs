// Runs the npm reference server many times in one process.
//
//   node driver.mjs path/to/@modelcontextprotocol/server-sequential-thinking/dist/index.js
//
// Each line of standard input is a JSON array of strings, the lines that a client
// sends to one server. It is answered with a line that holds the server's lines.
// A message with an id is answered before the next one is sent.
//
// The server's own entry point is what runs, unchanged: it is imported anew for
// each conversation, which makes a new server with an empty history, and finds
// streams of ours as the standard input and output of its process.
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";

const entry = pathToFileURL(process.argv[2]).href;
const [input, output] = [process.stdin, process.stdout];

// A server's start-up message is no use to anybody here.
console.error = () => {};

async function converse(lines, serial) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  Object.defineProperty(process, "stdin", { value: stdin, configurable: true });
  Object.defineProperty(process, "stdout", { value: stdout, configurable: true });
  const answers = createInterface({ input: stdout })[Symbol.asyncIterator]();
  await import(`${entry}?${serial}`);
  const replies = [];
  for (const line of lines) {
    stdin.write(line + "\n");
    if (JSON.parse(line).id !== undefined) {
      replies.push((await answers.next()).value);
    }
  }
  stdin.end();
  stdout.end();
  return replies;
}

let serial = 0;
for await (const line of createInterface({ input })) {
  output.write(JSON.stringify(await converse(JSON.parse(line), ++serial)) + "\n");
}
