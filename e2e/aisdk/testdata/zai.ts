// The provider of the seed document's examples, with a model that thinks three times and answers.
import { MockLanguageModelV3 } from 'ai/test';

export const createZai = (_: { apiKey?: string }) => (_model: string) => new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as any;
    const results = prompt.filter((message) => message.role === 'tool').flatMap((message) => message.content);
    const last = results.at(-1) as any;
    if (results.length === 3) {
      return { content: [{ type: 'text', text: 'Done.' }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] };
    }
    const input = {
      thought: `Thought ${results.length + 1}`, thoughtNumber: results.length + 1, totalThoughts: 3, nextThoughtNeeded: results.length < 2,
      sessionId: last?.output.value.sessionId,
    };
    return {
      content: [{ type: 'tool-call', toolCallId: `call-${results.length}`, toolName: 'sequentialthinking', input: JSON.stringify(input) }],
      finishReason: { unified: 'tool-calls', raw: 'tool-calls' }, usage, warnings: [],
    };
  },
});
