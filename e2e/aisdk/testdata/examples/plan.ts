import { generateText } from "ai";
import type { CoreMessage } from "ai";
import type { CoreMessage } from "ai";
import { createZai } from "@ai-sdk/zai";
import { createToolLoopAgent } from "./agents/tool-loop-agent";
import { createSequentialThinkingTool } from "./tools/sequential-thinking";

const zai = createZai({ apiKey: process.env.ZAI_API_KEY });
const sequentialThinking = createSequentialThinkingTool();

// XState context
interface PlanAgentContext {
  sessionId?: string;
  messages: CoreMessage[];
  phase: "analyze_code" | "research" | "design";
}

// Design phase state
const designPhase = {
  invoke: {
    src: async (ctx: PlanAgentContext) => {
      const result = await generateText({
        model: zai("glm-4.7"),
        tools: { sequentialthinking: sequentialThinking /* ...other tools */ },
        messages: ctx.messages,
        maxSteps: 20,
      });

      const toolSessionId = result.toolResults?.find(
        item => item.toolName === "sequentialthinking"
      )?.result?.sessionId;
      ctx.sessionId = toolSessionId ?? ctx.sessionId;

      return result;
    },
    onDone: "transition_to_build",
    onError: "handle_error",
  },
};
