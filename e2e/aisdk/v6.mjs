// The same as v7.mjs for version 6; a test compares both files.
import { generateText, stepCountIs } from 'ai-v6';
import { createMCPClient } from '@ai-sdk/mcp-v6';
import { Experimental_StdioMCPTransport as StdioMCPTransport } from '@ai-sdk/mcp-v6/mcp-stdio';
export { MockLanguageModelV3 as MockModel } from 'ai-v6/test';

export function overStdio(command, args) {
  return createMCPClient({ transport: new StdioMCPTransport({ command, args }) });
}

export function overHTTP(url, token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  return createMCPClient({ transport: { type: 'http', url, headers } });
}

export async function think({ connect, model, prompt, sessionId }) {
  const client = await connect();
  try {
    const { text, steps } = await generateText({
      model,
      tools: await client.tools(),
      stopWhen: stepCountIs(20),
      system: sessionId && `Your earlier thoughts are in sessionId ${sessionId}: go on there.`,
      prompt,
    });
    for (const { output } of steps.flatMap((step) => step.toolResults)) {
      sessionId = output.structuredContent?.sessionId ?? sessionId;
    }
    return { text, sessionId, steps };
  } finally {
    await client.close();
  }
}
