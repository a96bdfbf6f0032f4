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
const session: Session | undefined = getSession(first.sessionId);
const all: Map<string, Session> = getAllSessions();
const branches: number | undefined = session?.branches.size;
clearSession(first.sessionId);
clearAllSessions();
void [all, branches];

// Outside of this process they return promises.
const stored: Session | undefined = await getSession(first.sessionId, { store: true });
const server = { url: 'http://127.0.0.1:8080', token: 'secret' };
const served: Promise<Map<string, Session>> = getAllSessions(server);
await clearSession(first.sessionId, server);
createSequentialThinkingTool({ store: 'sequent.db', sessionId: 's' });
void [stored, served];
// @ts-expect-error: without store or url there is no token
getSession(first.sessionId, { token: 'secret' }).then;
// @ts-expect-error: nextThoughtNeeded is missing
await sequentialThinking.execute({ thought: 'First', thoughtNumber: 1, totalThoughts: 3 });
