import { createZai } from "@ai-sdk/zai";
import { createSequentialThinkingTool } from "./tools/sequential-thinking";

const zai = createZai({ apiKey: process.env.ZAI_API_KEY });

// Multiple agents, each with own session
const agents = {
  architect: createToolLoopAgent({
    name: "architect",
    model: zai("glm-4.7"),
    tools: { sequentialthinking: createSequentialThinkingTool() },
    maxSteps: 10,
  }),
  planner: createToolLoopAgent({
    name: "planner",
    model: zai("glm-4.7"),
    tools: { sequentialthinking: createSequentialThinkingTool() },
    maxSteps: 10,
  }),
  validator: createToolLoopAgent({
    name: "validator",
    model: zai("glm-4.7"),
    tools: { sequentialthinking: createSequentialThinkingTool() },
    maxSteps: 10,
  }),

  // Sessions don't interfere - complete isolation
};

// Each agent uses sequentialThinking independently
await Promise.all([
  agents.architect.run({ messages: [{ role: "user", content: "Design API..." }] }),
  agents.planner.run({ messages: [{ role: "user", content: "Plan tasks..." }] }),
  agents.validator.run({ messages: [{ role: "user", content: "Review PR..." }] }),
]);
