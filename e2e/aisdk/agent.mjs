// Runs an agent with a scripted model and prints the results as JSON.
//
//   node agent.mjs v7|v6 stdio COMMAND ARGS…  < runs.json
//   node agent.mjs v7|v6 http URL [TOKEN]     < runs.json
//
// runs.json is a list of runs. A run is a list of thoughts: the arguments of the
// model's calls without sessionId. Like a real model, the script takes the sessionId
// from the tool's first reply or, in a later run, from its instructions. Each run has
// a new connection and, over stdio, a new server.
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
    protocol: client.initializeResult?.protocolVersion, // version 7 only
    text: run.text,
    sessionId,
    steps: run.steps.length,
    tools: model.doGenerateCalls[0].tools.filter((tool) => tool.description).map((tool) => tool.name),
    sent: results.map((result) => result.input.sessionId ?? ''),
    replies: results.map((result) => result.output.structuredContent),
  });
}
process.stdout.write(JSON.stringify(runs));

// next returns the model's next answer.
function next({ prompt }, thoughts) {
  const results = prompt.filter((message) => message.role === 'tool').flatMap((message) => message.content);
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  if (results.length === thoughts.length) {
    const content = [{ type: 'text', text: `Done after ${results.length} thoughts.` }];
    return { content, finishReason: { unified: 'stop' }, usage, warnings: [] };
  }
  const input = { ...thoughts[results.length], sessionId: known(prompt, results) };
  const call = { type: 'tool-call', toolCallId: `call-${results.length}`, toolName: 'sequentialthinking', input: JSON.stringify(input) };
  return { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
}

function known(prompt, results) {
  if (results.length > 0) {
    const [{ text }] = results[0].output.value;
    return JSON.parse(text).sessionId;
  }
  const system = prompt.find((message) => message.role === 'system');
  return system?.content.match(/sessionId (\S+):/)[1];
}
