// Exercises the npm package and prints what happened as JSON.
//
//   node native.mjs PACKAGE OPTIONS agent v6|v7      a model thinks with the tool
//   node native.mjs PACKAGE OPTIONS load N [PIDFILE] N calls; kills the process of PIDFILE often
//   node native.mjs PACKAGE OPTIONS grow N           the memory after N sessions
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const [file, json, what, arg, pidFile] = process.argv.slice(2);
const { createSequentialThinkingTool, getSession, getAllSessions, clearAllSessions } = await import(file);
const options = JSON.parse(json);

const scenarios = {
  // A model continues its session with the id of the first reply, and finds the thoughts
  // so far in each one.
  async agent(version) {
    const { generateText, stepCountIs, isStepCount } = await import(version === 'v6' ? 'ai-v6' : 'ai');
    const testing = await import(version === 'v6' ? 'ai-v6/test' : 'ai/test');
    const Model = testing.MockLanguageModelV4 ?? testing.MockLanguageModelV3;
    const thoughts = ['Orders fail at noon.', 'The database is slow.', 'It is idle; the pool is empty.', 'refused', 'Enlarge the pool.'];
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const refusals = [];
    const model = new Model({
      doGenerate: async ({ prompt, tools }) => {
        assert.deepEqual(tools[0].inputSchema.required, ['thought', 'nextThoughtNeeded', 'thoughtNumber', 'totalThoughts']);
        const results = prompt.filter((message) => message.role === 'tool').flatMap((message) => message.content);
        refusals.push(...results.filter((result) => result.output.type.startsWith('error')).map((result) => result.output.value));
        if (results.length === thoughts.length) {
          return { content: [{ type: 'text', text: 'Done.' }], finishReason: { unified: 'stop' }, usage, warnings: [] };
        }
        const n = results.length;
        const input = {
          thought: thoughts[n], thoughtNumber: thoughts[n] === 'refused' ? 0 : n + 1, totalThoughts: 5, nextThoughtNeeded: n < 4,
          ...(n > 0 ? { sessionId: results[0].output.value.sessionId } : {}), ...(n === 2 ? { isRevision: true, revisesThought: 2 } : {}),
        };
        const call = { type: 'tool-call', toolCallId: `call-${n}`, toolName: 'sequentialthinking', input: JSON.stringify(input) };
        return { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
      },
    });
    const result = await generateText({
      model, tools: { sequentialthinking: createSequentialThinkingTool(options) }, stopWhen: (stepCountIs ?? isStepCount)(20), prompt: 'Why do orders fail?',
    });
    const outputs = result.steps.flatMap((step) => step.toolResults).map((r) => r.output);
    const session = await getSession(outputs[0].sessionId, options);
    return { text: result.text, ids: new Set(outputs.map((o) => o.sessionId)).size, last: outputs.at(-1), refusals, stored: session.thoughts.map((t) => t.thought) };
  },

  // Each thought is recorded once, whatever happens to the server.
  async load(n) {
    let calls = 0, killed = 0;
    const answered = () => {
      if (++calls % 40 || !pidFile) return;
      process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
      killed++;
    };
    const alone = createSequentialThinkingTool(options);
    const first = await alone.execute({ thought: '1', thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: true });
    const pinned = createSequentialThinkingTool({ ...options, sessionId: first.sessionId });
    const begun = [];
    await Promise.all([
      (async () => {
        for (let i = 2; i <= n; i++) {
          const { thoughtHistoryLength } = await pinned.execute({ thought: `${i}`, thoughtNumber: i, totalThoughts: n, nextThoughtNeeded: i < n });
          assert.equal(thoughtHistoryLength, i);
          answered();
        }
      })(),
      ...Array.from({ length: 4 }, async (_, worker) => {
        for (let i = 0; i < n / 4; i++) {
          begun.push((await alone.execute({ thought: `begins ${worker} ${i}`, thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false })).sessionId);
          answered();
        }
      }),
    ]);
    const session = await getSession(first.sessionId, options);
    const all = await getAllSessions(options);
    for (const id of begun) assert.equal(all.get(id).thoughts.length, 1);
    return { thoughts: session.thoughts.map((t) => Number(t.thought)), sessions: all.size, begun: begun.length, killed };
  },

  // Neither memory nor handles grow with the number of sessions.
  async grow(n) {
    const tool = createSequentialThinkingTool(options);
    const think = (i) => tool.execute({ thought: `thought ${i}`, thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true });
    const measure = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      global.gc();
      return { heap: process.memoryUsage().heapUsed, handles: process.getActiveResourcesInfo().length };
    };
    for (let i = 0; i < 500; i++) await think(i);
    const before = await measure();
    for (let i = 0; i < n; i++) await think(i);
    const after = await measure();
    await clearAllSessions(options);
    return { sessions: n, heap: after.heap - before.heap, handles: after.handles - before.handles };
  },
};

process.stdout.write(JSON.stringify(await scenarios[what](what === 'agent' ? arg : Number(arg))));
