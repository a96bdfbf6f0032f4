// The code of docs/ai-sdk.md for the npm package.

// #region imports
import { generateText, isStepCount } from 'ai';
import { createSequentialThinkingTool, getSession } from '@sequent-dev/ai-sdk';
// #endregion

// #region think
export async function think({ model, prompt, sessionId }) {
  const sequentialthinking = createSequentialThinkingTool({ sessionId });
  const { text, steps } = await generateText({
    model,
    tools: { sequentialthinking },
    stopWhen: isStepCount(20),
    prompt,
  });
  const replies = steps.flatMap((step) => step.toolResults).map((result) => result.output);
  return { text, sessionId: replies.at(-1)?.sessionId ?? sessionId };
}
// #endregion

// #region sessions
export async function report(sessionId) {
  const session = await getSession(sessionId);
  return `${session.thoughts.length} thoughts, ${session.branches.size} branches`;
}
// #endregion
