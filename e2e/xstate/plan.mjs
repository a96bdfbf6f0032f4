// A plan machine: XState owns the session and the phases, and an agent of the Vercel
// AI SDK 7 records its thoughts with sequent. docs/ai-sdk.md shows its parts.

import { assign, fromPromise, setup } from 'xstate';
import { generateText, isStepCount } from 'ai';
import { createMCPClient } from '@ai-sdk/mcp';
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
export { MockLanguageModelV4 as MockModel } from 'ai/test';

export function overStdio(command, args) {
  return createMCPClient({ transport: new StdioMCPTransport({ command, args }) });
}

export function overHTTP(url) {
  return createMCPClient({ transport: { type: 'http', url } });
}

export const phases = {
  analyze_code: { steps: 1, task: 'Say in one thought what the problem touches.' },
  research: { steps: 15, task: 'Find out what is known and what is not, a thought for each finding.' },
  design: { steps: 20, task: 'Design the remedy. Revise what turns out wrong, branch where there are alternatives, conclude.' },
};

// think runs one phase: an agent with a maximum of steps and its own connection.
function think({ model, connect }) {
  return fromPromise(async ({ input: { phase, sessionId, messages }, system, signal }) => {
    const client = await connect();
    try {
      const { sequentialthinking: tool } = await client.tools();
      const execute = async (args, options) => {
        const output = await tool.execute({ ...args, sessionId }, options);
        const { sessionId: used } = output.structuredContent ?? {};
        if (used && used !== sessionId) {
          sessionId = used;
          system.get('plan').send({ type: 'session', sessionId });
        }
        return output;
      };
      messages = [...messages, { role: 'user', content: phases[phase].task }];
      const { responseMessages } = await generateText({
        model,
        tools: { sequentialthinking: { ...tool, execute } },
        stopWhen: isStepCount(phases[phase].steps),
        messages,
        abortSignal: signal,
      });
      return [...messages, ...responseMessages];
    } finally {
      await client.close();
    }
  });
}

// planMachine returns a machine that plans the solution of the input's problem.
export function planMachine(config) {
  const phase = (name, next) => ({
    invoke: {
      src: 'think',
      input: ({ context: { sessionId, messages } }) => ({ phase: name, sessionId, messages }),
      onDone: { target: next, actions: assign({ messages: ({ event }) => event.output }) },
      onError: { target: '#plan.failed', actions: assign({ error: ({ event }) => String(event.error) }) },
    },
  });
  return setup({ actors: { think: think(config) } }).createMachine({
    id: 'plan',
    context: ({ input }) => ({
      sessionId: undefined,
      messages: [{ role: 'user', content: input.problem }],
      error: undefined,
    }),
    on: { session: { actions: assign({ sessionId: ({ event }) => event.sessionId }) } },
    initial: 'planning',
    states: {
      planning: {
        initial: 'analyze_code',
        states: {
          analyze_code: phase('analyze_code', 'research'),
          research: phase('research', 'design'),
          design: phase('design', '#plan.plan_complete'),
          again: { type: 'history' },
        },
      },
      failed: { on: { retry: { target: 'planning.again', actions: assign({ error: undefined }) } } },
      plan_complete: { type: 'final' },
    },
  });
}
