// This file is checked by the TypeScript compiler and never run: the tool fits both
// versions of the SDK, and the types of calls and replies are known.
import { generateText, type LanguageModel } from 'ai';
import { generateText as generateText6, type LanguageModel as LanguageModel6 } from 'ai-v6';
import {
  clearAllSessions, clearSession, createSequentialThinkingTool, getAllSessions, getSession, sequentialThinking, type Session,
} from '@sequent-dev/ai-sdk';

declare const model: LanguageModel;
declare const model6: LanguageModel6;

const { steps } = await generateText({ model, prompt: 'p', tools: { sequentialthinking: createSequentialThinkingTool({ sessionId: 's' }) } });
for (const result of steps[0].toolResults) {
  if (!result.dynamic) {
    const id: string = result.output.sessionId;
    const thought: string = result.input.thought;
    // @ts-expect-error: it is a string
    const number: number = result.output.sessionId;
    void [id, thought, number];
  }
}
await generateText6({ model: model6, prompt: 'p', tools: { sequentialthinking: sequentialThinking } });

const first = await sequentialThinking.execute({ thought: 'First', thoughtNumber: 1, totalThoughts: 3, nextThoughtNeeded: true });
const session: Session | undefined = await getSession(first.sessionId);
const all: Map<string, Session> = await getAllSessions();
const branches: number | undefined = session?.branches.size;
await clearSession(first.sessionId);
await clearAllSessions();
void [all, branches];
// @ts-expect-error: nextThoughtNeeded is missing
await sequentialThinking.execute({ thought: 'First', thoughtNumber: 1, totalThoughts: 3 });
