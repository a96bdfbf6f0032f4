// The code of docs/ai-sdk.md for the npm package.

import { generateText, isStepCount } from 'ai';
import { createSequentialThinkingTool, getSession } from '@sequent-dev/ai-sdk';

export async function think({ model, prompt, ...options }) {
  const sequentialthinking = createSequentialThinkingTool(options);
  const { text, steps } = await generateText({
    model,
    tools: { sequentialthinking },
    stopWhen: isStepCount(20),
    prompt,
  });
  const replies = steps.flatMap((step) => step.toolResults).map((result) => result.output);
  return { text, sessionId: replies.at(-1)?.sessionId };
}

export function report(sessionId) {
  const session = getSession(sessionId);
  return `${session.thoughts.length} thoughts, ${session.branches.size} branches`;
}
