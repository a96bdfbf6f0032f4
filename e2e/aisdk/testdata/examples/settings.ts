// Design phase: allow up to 20 tool steps
const designPhase = { maxSteps: 20 };

// Research phase: allow up to 15 tool steps
const researchPhase = { maxSteps: 15 };

// Analyze code: single-shot
const singleShot = { maxSteps: 1 };

await generateText({
  model: zai("glm-4.7"),
  tools: { sequentialthinking: sequentialThinking },
  messages,
  maxSteps: designPhase.maxSteps,
});
