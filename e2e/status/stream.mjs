// Prints a thought while a model writes it: node stream.mjs QUESTION. docs/providers.md shows it.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const client = new Client({ name: 'stream', version: '1' });
await client.connect(new StdioClientTransport({ command: 'sequent', args: ['serve', '--dialect', 'status'], env: process.env }));
const step = { thought: process.argv[2], thought_number: 1, total_thoughts: 1, next_thought_needed: false };
let shown = 0;
const show = (text) => { process.stdout.write(text); shown += text.length; };
const onprogress = ({ message, _meta }) => _meta?.['dev.sequent/text'] && show(message);
const reply = await client.callTool({ name: 'sequential_thinking_external', arguments: step }, { onprogress, resetTimeoutOnProgress: true });
show(JSON.parse(reply.content[0].text).thought_content.slice(shown)); // the SDK drops pieces that arrive together with the reply
await client.close();
