// An agent of the Vercel AI SDK 7 that records its thoughts with sequent.

import { generateText, isStepCount } from 'ai';
import { createMCPClient } from '@ai-sdk/mcp';
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
export { MockLanguageModelV4 as MockModel } from 'ai/test';

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
      stopWhen: isStepCount(20),
      instructions: sessionId && `Your earlier thoughts are in sessionId ${sessionId}: go on there.`,
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
