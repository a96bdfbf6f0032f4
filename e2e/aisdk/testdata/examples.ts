// Runs the examples of the seed document and prints what they came to as JSON. Beside it are the
// examples, and what they import: see examples_test.go.
import { generateText, jsonSchema, stepCountIs, type ModelMessage, type ToolSet } from 'ai';
import { createZai } from '@ai-sdk/zai';
import { getAllSessions, clearAllSessions, sequentialThinking } from './tools/sequential-thinking';

// What the examples use and do not import.
const messages: ModelMessage[] = [{ role: 'user', content: 'Why do orders fail at noon?' }];
const search = { description: 'search', inputSchema: jsonSchema({ type: 'object' }), execute: async () => '' };
Object.assign(globalThis, {
  codeSearch: search, grep: search, readFile: search, messages, sequentialThinking, generateText,
  zai: createZai({}),
  createToolLoopAgent: ({ model, tools, maxSteps }: { model: any; tools: ToolSet; maxSteps: number }) => ({
    run: ({ messages }: { messages: ModelMessage[] }) => generateText({ model, tools, messages, stopWhen: stepCountIs(maxSteps) }),
  }),
});

// lengths returns the number of thoughts of each session, and forgets the sessions.
function lengths() {
  const all = [...getAllSessions().values()].map((session) => session.thoughts.length);
  clearAllSessions();
  return all;
}

const { designPhase } = await import('./plan');
const context = { messages, phase: 'design' as const, sessionId: undefined };
await designPhase.invoke.src(context);
const plan = { known: getAllSessions().has(context.sessionId!), thoughts: lengths() };

const { exploreAgent } = await import('./explore');
await exploreAgent('the order service');
const explore = { thoughts: lengths() };

const { MyCustomAgent } = await import('./external');
const agent = new MyCustomAgent();
const text = await agent.think('Why do orders fail at noon?');
await agent.continueThinking('Look at the pool.');
const external = { text, thoughts: lengths() };

await import('./multi');
const multi = { thoughts: lengths() };

await import('./settings');
const settings = { thoughts: lengths() };

await sequentialThinking.execute({ thought: 'a', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: true });
await import('./sessions'); // it prints, and clears all sessions
const sessions = { thoughts: lengths() };

console.log(JSON.stringify({ plan, explore, external, multi, settings, sessions }));
