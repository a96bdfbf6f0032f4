// Makes random calls to the tool of the npm package and to the original tool, and compares
// the results. The differences that it allows are those of decision 0306.
//
//   node oracle.mjs PACKAGE SERVER-OPTIONS SEED SEQUENCES
//
// It prints the number of calls as JSON, or fails with the first difference.
import assert from 'node:assert/strict';
import * as seed from './testdata/seed.ts';

const [file, options, from, sequences] = process.argv.slice(2);
const ours = await import(file);
const server = JSON.parse(options);

// A generator of random numbers that a seed repeats (mulberry32).
let state = Number(from) >>> 0;
function random(n) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % n;
}
const pick = (list) => list[random(list.length)];

const texts = ['', ' ', 'Orders fail at noon.', 'a\nb\r\nc', '日本語', '👩‍👩‍👧‍👦', '\u2028\u2029', '<b>&"\\', 'null', '\u0000\u001b[31m', 'x'.repeat(2000)];
const names = ['a', 'b', 'branch-1', 'main', '0', '10', '-1', 'é', '😀', '__proto__', 'constructor', 'toString', ' ', 'a b', '..', '/', 'x'.repeat(128)];
const counts = { calls: 0, refused: 0 };

// ids has our id of each session by the original tool's.
let ids = new Map();
const stale = []; // pairs of ids of sessions that were cleared

function args(inSession) {
  return {
    thought: pick(texts),
    thoughtNumber: pick([1, 1, 2, 3, 7, 100, Number.MAX_SAFE_INTEGER]),
    totalThoughts: pick([1, 3, 5, 100]),
    nextThoughtNeeded: random(4) > 0,
    ...inSession,
    ...(random(3) ? {} : { isRevision: pick([true, false, undefined]) }),
    ...(random(4) ? {} : { revisesThought: 1 + random(9) }),
    ...(random(4) ? {} : { branchFromThought: 1 + random(9) }),
    ...(random(3) ? {} : { branchId: pick([...names, '', undefined]) }),
    ...(random(4) ? {} : { needsMoreThoughts: pick([true, false]) }),
    ...(random(8) ? {} : { clearSession: pick([true, true, false]) }),
  };
}

// The words of the summary are ours, its counts are compared.
const plain = (output) => JSON.parse(JSON.stringify({ ...output, sessionId: undefined, summary: output.summary?.match(/\d+/g) }));
const session = (s) => s && JSON.parse(JSON.stringify({
  thoughts: s.thoughts.map((thought) => ({ ...thought, timestamp: typeof thought.timestamp })),
  branches: [...s.branches], createdAt: typeof s.createdAt,
}));

async function call(pinned) {
  const known = [...ids];
  const [theirs, mine] = pinned ?? pick([...known, ...known, ['', ''], [undefined, undefined], pick([...stale, ['unknown', 'unknown']])]);
  const common = args({});
  const in1 = pinned ? common : { ...common, sessionId: theirs };
  const in2 = pinned ? common : { ...common, sessionId: mine };
  const a = await seed.createSequentialThinkingTool(pinned ? { sessionId: theirs } : {}).execute(in1);
  const b = await ours.createSequentialThinkingTool({ ...server, ...(pinned ? { sessionId: mine } : {}) }).execute(in2);
  counts.calls++;
  assert.deepEqual(plain(b), plain(a), `call ${JSON.stringify(in2)}`);
  if (ids.has(a.sessionId)) {
    assert.equal(b.sessionId, ids.get(a.sessionId), `the session of ${JSON.stringify(in2)}`);
    return;
  }
  // A new session. Ours keeps the id of a pinned one.
  assert.ok(![...ids.values()].includes(b.sessionId) || pinned, `${JSON.stringify(in2)} began no session`);
  if (common.clearSession && theirs) {
    ids.delete(theirs);
    if (!pinned) stale.push([theirs, mine]);
  }
  if (pinned) assert.equal(b.sessionId, mine);
  ids.set(a.sessionId, b.sessionId);
}

for (let n = 0; n < Number(sequences); n++) {
  seed.clearAllSessions();
  await ours.clearAllSessions(server);
  ids = new Map();
  for (let step = 0; step < 25; step++) {
    switch (random(12)) {
      case 0: { // a tool that is pinned to a session, until a call clears it
        if (ids.size > 0) await call(pick([...ids]));
        break;
      }
      case 1: {
        const [theirs, mine] = pick([...ids, ...stale, ['unknown', 'unknown']]);
        assert.deepEqual(session(await ours.getSession(mine, server)), session(seed.getSession(theirs)), `session ${mine}`);
        counts.calls++;
        break;
      }
      case 2: {
        const theirs = seed.getAllSessions();
        const mine = await ours.getAllSessions(server);
        // A pinned session that was cleared is listed at its new beginning in both.
        assert.deepEqual([...mine.keys()], [...theirs.keys()].map((id) => ids.get(id)), 'the ids of all sessions');
        for (const [id, s] of theirs) assert.deepEqual(session(mine.get(ids.get(id))), session(s), `session ${id}`);
        counts.calls++;
        break;
      }
      case 3: {
        if (random(3)) break;
        const [theirs, mine] = pick([...ids, ['unknown', 'unknown']]);
        seed.clearSession(theirs);
        await ours.clearSession(mine, server);
        if (ids.delete(theirs)) stale.push([theirs, mine]);
        counts.calls++;
        break;
      }
      default:
        await call();
    }
  }
}

// Arguments that the schema of one of the two refuses, with the verdicts of both.
const valid = { thought: 'a', thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true };
const faults = [
  [{ thought: undefined }, false, false], [{ thought: 7 }, false, false], [{ thoughtNumber: undefined }, false, false],
  [{ thoughtNumber: 0 }, false, false], [{ thoughtNumber: -1 }, false, false], [{ thoughtNumber: 1.5 }, false, false],
  [{ totalThoughts: 0 }, false, false], [{ totalThoughts: 'many' }, false, false], [{ nextThoughtNeeded: undefined }, false, false],
  [{ nextThoughtNeeded: 'maybe' }, false, false], [{ revisesThought: 0 }, false, false], [{ branchFromThought: 0 }, false, false],
  [{ branchId: 7 }, false, false], [{ isRevision: 1 }, false, false], [{ clearSession: 'perhaps' }, false, false],
  // Ours takes the spellings of arguments that models produce.
  [{ thoughtNumber: '1' }, false, true], [{ totalThoughts: '2' }, false, true], [{ nextThoughtNeeded: 'true' }, false, true],
  [{ isRevision: 'false' }, false, true], [{ branchId: null }, false, true], [{ revisesThought: null }, false, true],
  // Ours has limits and refuses names that cannot be printed.
  [{ thought: 'x'.repeat(64 * 1024 + 1) }, true, false], [{ branchId: 'x'.repeat(129) }, true, false], [{ branchId: 'a\u0000' }, true, false],
  [{ branchId: '\u202e' }, true, false], [{ thought: '\ud800' }, true, false], [{ thoughtNumber: 2 ** 53 }, false, false],
];
for (const [change, theirs, mine] of faults) {
  const input = { ...valid, ...change };
  const shown = JSON.stringify(input).slice(0, 200);
  assert.equal(seed.sequentialThinking.parameters.safeParse(input).success, theirs, `the original tool with ${shown}`);
  const before = (await ours.getAllSessions(server)).size;
  const error = await ours.createSequentialThinkingTool(server).execute(input).then(() => undefined, (e) => e);
  assert.equal(!error, mine, `our tool with ${shown}: ${error}`);
  if (error) {
    assert.equal(error.name, 'SequentialThinkingError', shown);
    assert.match(error.code, /^[A-Z_]+$/, shown);
    assert.equal((await ours.getAllSessions(server)).size, before, `a refused call began a session: ${shown}`);
    counts.refused++;
  }
}

process.stdout.write(JSON.stringify(counts));
await ours.close();
process.exit(0); // the original tool has a timer that runs for ever
