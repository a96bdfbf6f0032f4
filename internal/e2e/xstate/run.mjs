// Runs the plan machine with a model that follows a script, and tells what came
// of it.
//
//   node run.mjs SNAPSHOT stdio COMMAND ARGS…  < script.json
//   node run.mjs SNAPSHOT http URL             < script.json
//
// script.json has for each phase the thoughts that the model has in it, without
// their numbers; "fail" fails the model there and "die" kills this process, each
// once. SNAPSHOT is the file that has the machine's state: if it is there, the
// machine goes on from it.
import { createActor } from 'xstate';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { text as read } from 'node:stream/consumers';
import { planMachine, overHTTP, overStdio, phases, MockModel } from './plan.mjs';

const [file, transport, target, ...args] = process.argv.slice(2);
const script = JSON.parse(await read(process.stdin));
const saved = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { snapshot: undefined, did: [] };
const told = { protocols: [], sessions: [], steps: {}, offered: [], states: [] };

const connect = async () => {
  const client = await (transport === 'http' ? overHTTP(target) : overStdio(target, args));
  told.protocols.push(client.initializeResult?.protocolVersion);
  return client;
};
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const model = new MockModel({
  doGenerate: async ({ prompt, tools }) => {
    const last = prompt.findLastIndex((message) => message.role === 'user');
    const phase = Object.keys(phases).find((name) => phases[name].task === prompt[last].content[0].text);
    const done = prompt.slice(last).filter((message) => message.role === 'tool').length;
    told.offered = tools.map((tool) => tool.name);
    told.steps[phase] = done + 1;
    const thought = script[phase][done];
    if (thought === 'fail' || thought === 'die') {
      const once = `${thought} in ${phase}`;
      if (!saved.did.includes(once)) {
        saved.did.push(once);
        writeFileSync(file, JSON.stringify(saved));
        if (thought === 'die') process.kill(process.pid, 'SIGKILL');
        throw new Error('the model is out of order');
      }
    }
    if (done >= script[phase].length) {
      const content = [{ type: 'text', text: `${phase} is done.` }];
      return { content, finishReason: { unified: 'stop' }, usage, warnings: [] };
    }
    const input = {
      thought, thoughtNumber: done + 1, totalThoughts: script[phase].length,
      nextThoughtNeeded: phase !== 'design' || done + 1 < script[phase].length,
      sessionId: 'made up', // what the model says does not matter
    };
    const call = { type: 'tool-call', toolCallId: `${phase}-${done}`, toolName: 'sequentialthinking', input: JSON.stringify(input) };
    return { content: [call], finishReason: { unified: 'tool-calls' }, usage, warnings: [] };
  },
});

// #region run
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
// #endregion

function watch(state) {
  const name = JSON.stringify(state.value);
  if (told.states.at(-1) !== name) told.states.push(name);
  const { sessionId } = state.context;
  if (sessionId && told.sessions.at(-1) !== sessionId) told.sessions.push(sessionId);
  if (state.matches('failed')) {
    if (told.error) throw new Error(state.context.error); // once is what scripts ask for
    told.error = state.context.error;
    queueMicrotask(() => actor.send({ type: 'retry' }));
  }
  if (state.status === 'done') process.stdout.write(JSON.stringify(told));
}
