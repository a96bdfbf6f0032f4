// Runs the npm reference server many times in one process.
//
//   node driver.mjs path/to/@modelcontextprotocol/server-sequential-thinking/dist/index.js
//
// Each line of standard input is a JSON array of the messages that a client sends
// to one server. Each line of standard output is a JSON array of the server's
// replies. The driver waits for the reply to a request before it sends the next
// message.
//
// The driver imports the server's unmodified entry point again for each
// conversation, which creates a server with an empty history, and replaces the
// standard streams of the process.
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";

const entry = pathToFileURL(process.argv[2]).href;
const [input, output] = [process.stdin, process.stdout];

// Suppress the server's start-up message.
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
