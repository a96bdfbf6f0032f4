// Runs the plan machine of the first seed with the npm package: the machine owns the
// session, and each phase gets a tool that is pinned to it. The model is scripted.
//
//   node native.mjs PACKAGE OPTIONS SNAPSHOT [die]
//
// With die the process is killed in the phase research. SNAPSHOT is the file of the
// machine's state; the machine resumes from it if it exists. The result is printed as JSON.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { assign, createActor, fromPromise, setup } from 'xstate';
import { generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';

const [packageFile, json, file, die] = process.argv.slice(2);
const { createSequentialThinkingTool, getSession } = await import(packageFile);
const options = JSON.parse(json);
const steps = { analyze_code: 1, research: 15, design: 20 };
const wanted = { analyze_code: 3, research: 40, design: 4 }; // thoughts that the model would record
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

const model = (phase) => new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const done = prompt.filter((message) => message.role === 'tool').length;
    if (die && phase === 'research' && done === 5) process.kill(process.pid, 'SIGKILL');
    if (done >= wanted[phase]) {
      return { content: [{ type: 'text', text: `${phase} is done.` }], finishReason: { unified: 'stop' }, usage, warnings: [] };
    }
    const input = { thought: `${phase} ${done + 1}`, thoughtNumber: done + 1, totalThoughts: wanted[phase], nextThoughtNeeded: phase !== 'design' || done < 3 };
    return {
      content: [{ type: 'tool-call', toolCallId: `${phase}-${done}`, toolName: 'sequentialthinking', input: JSON.stringify(input) }],
      finishReason: { unified: 'tool-calls' }, usage, warnings: [],
    };
  },
});

const think = fromPromise(async ({ input: { phase, sessionId } }) => {
  await generateText({
    model: model(phase),
    tools: { sequentialthinking: createSequentialThinkingTool({ ...options, sessionId }) },
    stopWhen: isStepCount(steps[phase]),
    prompt: `Phase ${phase}: why do orders fail?`,
  });
});

const phase = (name, next) => ({
  invoke: { src: 'think', input: ({ context }) => ({ phase: name, sessionId: context.sessionId }), onDone: next },
});

const machine = setup({ actors: { think } }).createMachine({
  id: 'plan',
  context: () => ({ sessionId: randomUUID() }),
  initial: 'analyze_code',
  states: {
    analyze_code: phase('analyze_code', 'research'),
    research: phase('research', 'design'),
    design: phase('design', 'plan_complete'),
    plan_complete: { type: 'final' },
  },
});

const actor = createActor(machine, { snapshot: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined });
actor.subscribe({
  next: (state) => {
    writeFileSync(file, JSON.stringify(actor.getPersistedSnapshot()));
    if (state.status === 'done') {
      void getSession(state.context.sessionId, options).then(({ id, thoughts }) => {
        process.stdout.write(JSON.stringify({ owned: id === state.context.sessionId, thoughts: thoughts.map((t) => t.thought) }));
      });
    }
  },
  error: (error) => { throw error; },
});
actor.start();
