// Thinks with the npm package in the process or page that runs it, and returns what happened: the
// module of the package is imported from a URL.
export async function think(file) {
  const start = performance.now();
  const { createSequentialThinkingTool, getSession, getAllSessions, clearSession, clearAllSessions } = await import(file);
  const ready = performance.now() - start;
  const thought = (n, text) => ({ thought: text, thoughtNumber: n, totalThoughts: 20, nextThoughtNeeded: n < 20 });

  const one = createSequentialThinkingTool();
  const other = createSequentialThinkingTool();
  const { sessionId } = await one.execute(thought(1, 'Orders fail at noon.'));
  const beside = await other.execute({ ...thought(1, '日本語 👩‍👩‍👧‍👦'), branchId: 'b' });
  const refusal = await one.execute(thought(0, 'refused')).catch((error) => `${error.name} ${error.code} ${error.field}`);
  const sessions = getAllSessions();
  const report = {
    apart: sessionId !== beside.sessionId,
    refusal,
    // These answer at once.
    thoughts: getSession(sessionId)?.thoughts.length,
    texts: [...sessions.values()].map((session) => session.thoughts[0].thought),
    branches: getSession(beside.sessionId)?.branches.size,
    unknown: getSession('unknown') === undefined,
  };
  clearSession(sessionId);
  report.cleared = getSession(sessionId) === undefined && getAllSessions().size === 1;
  clearAllSessions();
  report.empty = getAllSessions().size === 0;

  // Sessions of 20 thoughts.
  const pinned = (i) => createSequentialThinkingTool({ sessionId: `session-${i}` });
  for (let i = 0; i < 30; i++) await pinned('warm').execute(thought(20, 'warm'));
  const begin = performance.now();
  for (let i = 0; i < 25; i++) {
    const tool = pinned(i);
    for (let n = 1; n <= 20; n++) report.history = (await tool.execute(thought(n, `Step ${n}`))).thoughtHistory.length;
  }
  return { ...report, ready, call: (performance.now() - begin) / 500 };
}
