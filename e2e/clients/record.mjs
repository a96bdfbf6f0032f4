// Records a chain of thoughts with the official TypeScript client, then kills the
// server with SIGKILL.
//
//   node record.mjs ERA SERVER ARGS…  < calls.json
//
// calls.json is a list of arguments, in which "$ID" is replaced by the session id of
// the first reply. The structured contents of the replies are printed as a JSON list.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [era, command, ...args] = process.argv.slice(2);
let input = '';
for await (const chunk of process.stdin) input += chunk;

const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
const client = new Client({ name: 'e2e', version: '1' }, { versionNegotiation: { mode } });
const transport = new StdioClientTransport({ command, args, stderr: 'inherit' });
await client.connect(transport);

const replies = [];
for (const call of JSON.parse(input)) {
  if (call.sessionId === '$ID') call.sessionId = replies[0].sessionId;
  const result = await client.callTool({ name: 'sequentialthinking', arguments: call });
  if (result.isError) throw new Error(result.content[0].text);
  replies.push(result.structuredContent);
}
process.kill(transport.pid, 'SIGKILL');
process.stdout.write(JSON.stringify(replies));
process.exit(0);
