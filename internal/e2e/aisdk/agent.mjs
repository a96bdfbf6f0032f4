// Runs an agent whose model follows a script, and tells what came of it.
//
//   node agent.mjs v7|v6 stdio COMMAND ARGS…  < runs.json
//   node agent.mjs v7|v6 http URL [TOKEN]     < runs.json
//
// runs.json is a list of runs, each a list of thoughts: what the model gives the
// tool, but for sessionId, which it takes from where a model would: from the first
// reply of the tool or, in a later run, from its instructions. Each run has a
// connection, and over stdio a server, of its own.
import { text as read } from 'node:stream/consumers';

const [version, transport, target, ...args] = process.argv.slice(2);
const sdk = await import(`./${version}.mjs`);

const runs = [];
let sessionId;
for (const thoughts of JSON.parse(await read(process.stdin))) {
  let client;
  const connect = async () => {
    client = await (transport === 'http' ? sdk.overHTTP(target, ...args) : sdk.overStdio(target, args));
    return client;
  };
  const model = new sdk.MockModel({ doGenerate: async (call) => next(call, thoughts) });
  const run = await sdk.think({ connect, model, prompt: 'Why do orders fail at noon?', sessionId });
  sessionId = run.sessionId;
  const results = run.steps.flatMap((step) => step.toolResults);
  const refused = results.find((result) => result.output.isError);
  if (refused) throw new Error(JSON.stringify(refused));
  runs.push({
    protocol: client.initializeResult?.protocolVersion, // 7 tells it
    text: run.text,
    sessionId,
    steps: run.steps.length,
    tools: model.doGenerateCalls[0].tools.filter((tool) => tool.description).map((tool) => tool.name),
    sent: results.map((result) => result.input.sessionId ?? ''),
    replies: results.map((result) => result.output.structuredContent),
  });
}
process.stdout.write(JSON.stringify(runs));

// next is what the model says after what it was told so far.
function next({ prompt }, thoughts) {
  const told = prompt.filter((message) => message.role === 'tool').flatMap((message) => message.content);
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  if (told.length === thoughts.length) {
    const content = [{ type: 'text', text: `Done after ${told.length} thoughts.` }];
    return { content, finishReason: { unified: 'stop' }, usage, warnings: [] };
  }
  const input = { ...thoughts[told.length], sessionId: known(prompt, told) };
  const call = { type: 'tool-call', toolCallId: `call-${told.length}`, toolName: 'sequentialthinking', input: JSON.stringify(input) };
  return { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
}

function known(prompt, told) {
  if (told.length > 0) {
    const [{ text }] = told[0].output.value;
    return JSON.parse(text).sessionId;
  }
  const system = prompt.find((message) => message.role === 'system');
  return system?.content.match(/sessionId (\S+):/)[1];
}
