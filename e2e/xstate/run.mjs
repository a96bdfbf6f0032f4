// Runs the plan machine with a scripted model and prints the result as JSON.
//
//   node run.mjs SNAPSHOT stdio COMMAND ARGS…  < script.json
//   node run.mjs SNAPSHOT http URL             < script.json
//
// script.json has the texts of the model's thoughts for each phase. At the thought
// "fail" the model fails once, and at "die" this process is killed once. SNAPSHOT is
// the file with the machine's state; the machine resumes from it if it exists.
import { createActor } from 'xstate';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { text as read } from 'node:stream/consumers';
import { planMachine, overHTTP, overStdio, phases, MockModel } from './plan.mjs';

const [file, transport, target, ...args] = process.argv.slice(2);
const script = JSON.parse(await read(process.stdin));
const saved = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { snapshot: undefined, did: [] };
const result = { protocols: [], sessions: [], steps: {}, offered: [], states: [] };

const connect = async () => {
  const client = await (transport === 'http' ? overHTTP(target) : overStdio(target, args));
  result.protocols.push(client.initializeResult?.protocolVersion);
  return client;
};
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const model = new MockModel({
  doGenerate: async ({ prompt, tools }) => {
    const last = prompt.findLastIndex((message) => message.role === 'user');
    const phase = Object.keys(phases).find((name) => phases[name].task === prompt[last].content[0].text);
    const done = prompt.slice(last).filter((message) => message.role === 'tool').length;
    result.offered = tools.map((tool) => tool.name);
    result.steps[phase] = done + 1;
    const thought = script[phase][done];
    if (thought === 'fail' || thought === 'die') {
      const once = `${thought} in ${phase}`;
      if (!saved.did.includes(once)) {
        saved.did.push(once);
        writeFileSync(file, JSON.stringify(saved));
        if (thought === 'die') process.kill(process.pid, 'SIGKILL');
        throw new Error('the model failed');
      }
    }
    if (done >= script[phase].length) {
      const content = [{ type: 'text', text: `${phase} is done.` }];
      return { content, finishReason: { unified: 'stop' }, usage, warnings: [] };
    }
    const input = {
      thought, thoughtNumber: done + 1, totalThoughts: script[phase].length,
      nextThoughtNeeded: phase !== 'design' || done + 1 < script[phase].length,
      sessionId: 'made up', // the machine replaces it
    };
    const call = { type: 'tool-call', toolCallId: `${phase}-${done}`, toolName: 'sequentialthinking', input: JSON.stringify(input) };
    return { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
  },
});

const actor = createActor(planMachine({ model, connect }), {
  systemId: 'plan',
  input: { problem: 'Why do orders fail at noon?' },
  snapshot: saved.snapshot,
});
actor.subscribe((state) => {
  saved.snapshot = actor.getPersistedSnapshot();
  writeFileSync(file, JSON.stringify(saved));
  watch(state);
});
actor.start();

function watch(state) {
  const name = JSON.stringify(state.value);
  if (result.states.at(-1) !== name) result.states.push(name);
  const { sessionId } = state.context;
  if (sessionId && result.sessions.at(-1) !== sessionId) result.sessions.push(sessionId);
  if (state.matches('failed')) {
    if (result.error) throw new Error(state.context.error); // scripts fail at most once
    result.error = state.context.error;
    queueMicrotask(() => actor.send({ type: 'retry' }));
  }
  if (state.status === 'done') process.stdout.write(JSON.stringify(result));
}
