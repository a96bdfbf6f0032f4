// Uses a server over HTTP with the official TypeScript client.
//
//   node http.mjs ERA URL TOKEN
//
// It lists everything, records two thoughts, reads them as a resource and in a
// prompt, requests a completion, and prints the results as one JSON object.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [era, url, token] = process.argv.slice(2);
const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
const client = new Client({ name: 'e2e', version: '1' }, { versionNegotiation: { mode } });
await client.connect(new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
}));

const think = async (args) => {
  const result = await client.callTool({ name: 'sequentialthinking', arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
};
const names = (list) => list.map((x) => x.name);
const got = {
  version: client.getNegotiatedProtocolVersion(),
  tools: names((await client.listTools()).tools),
  resources: names((await client.listResources()).resources),
  templates: names((await client.listResourceTemplates()).resourceTemplates),
  prompts: names((await client.listPrompts()).prompts),
};
const { sessionId } = await think({ thought: 'Orders fail at noon.', thoughtNumber: 1, nextThoughtNeeded: true });
got.reply = await think({ thought: 'Reports run at noon.', nextThoughtNeeded: false, sessionId });
got.resource = (await client.readResource({ uri: `sequent://sessions/${sessionId}` })).contents[0].text;
got.prompt = (await client.getPrompt({ name: 'resume', arguments: { session: sessionId } })).messages[0].content.text;
got.completion = (await client.complete({
  ref: { type: 'ref/prompt', name: 'resume' }, argument: { name: 'session', value: sessionId.slice(0, 6) },
})).completion.values;
const refused = await client.callTool({ name: 'sequentialthinking', arguments: { thought: 'x', nextThoughtNeeded: true, sessionId: 'nosuch' } });
got.refused = refused.isError;
await client.close();
process.stdout.write(JSON.stringify(got));
process.exit(0);
