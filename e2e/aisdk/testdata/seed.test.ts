import { describe, it, expect, beforeEach } from "vitest";
import { sequentialThinking, clearAllSessions } from "./sequential-thinking";

describe("sequentialThinking tool", () => {
  beforeEach(() => {
    clearAllSessions(); // Isolate each test
  });

  it("creates new session on first call", async () => {
    const result = await sequentialThinking.execute({
      thought: "First thought",
      thoughtNumber: 1,
      totalThoughts: 5,
      nextThoughtNeeded: true,
    });

    expect(result.sessionId).toBeDefined();
    expect(result.thoughtHistoryLength).toBe(1);
  });

  it("continues session with existing sessionId", async () => {
    const first = await sequentialThinking.execute({
      thought: "First",
      thoughtNumber: 1,
      totalThoughts: 3,
      nextThoughtNeeded: true,
    });

    const second = await sequentialThinking.execute({
      thought: "Second",
      thoughtNumber: 2,
      totalThoughts: 3,
      nextThoughtNeeded: false,
      sessionId: first.sessionId,
    });

    expect(second.sessionId).toBe(first.sessionId);
    expect(second.thoughtHistoryLength).toBe(2);
  });

  it("supports revision", async () => {
    const first = await sequentialThinking.execute({
      thought: "Initial assumption",
      thoughtNumber: 1,
      totalThoughts: 3,
      nextThoughtNeeded: true,
    });

    const revision = await sequentialThinking.execute({
      thought: "Revised: Actually, the assumption was wrong",
      thoughtNumber: 2,
      totalThoughts: 3,
      nextThoughtNeeded: false,
      sessionId: first.sessionId,
      isRevision: true,
      revisesThought: 1,
    });

    expect(revision.thoughtHistory[1].isRevision).toBe(true);
  });

  it("clears session when requested", async () => {
    const first = await sequentialThinking.execute({
      thought: "First",
      thoughtNumber: 1,
      totalThoughts: 3,
      nextThoughtNeeded: true,
    });

    const cleared = await sequentialThinking.execute({
      thought: "Fresh start",
      thoughtNumber: 1,
      totalThoughts: 5,
      nextThoughtNeeded: true,
      sessionId: first.sessionId,
      clearSession: true,
    });

    expect(cleared.thoughtHistoryLength).toBe(1); // Reset
    expect(cleared.sessionId).not.toBe(first.sessionId); // New ID
  });
});
