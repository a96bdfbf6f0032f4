import { generateText } from "ai";
import { createZai } from "@ai-sdk/zai";
import { createSequentialThinkingTool } from "./tools/sequential-thinking";

const zai = createZai({ apiKey: process.env.ZAI_API_KEY });

// Works with ANY agent system, no XState dependency
class MyCustomAgent {
  private sessionId?: string;

  async think(problem: string) {
    const result = await generateText({
      model: zai("glm-4.7"),
      tools: {
        sequentialthinking: createSequentialThinkingTool({ sessionId: this.sessionId }),
      },
      messages: [{ role: "user", content: problem }],
      maxSteps: 10,
    });

    const toolSessionId = result.toolResults?.find(
      item => item.toolName === "sequentialthinking"
    )?.result?.sessionId;
    this.sessionId = toolSessionId ?? this.sessionId;

    return result.text;
  }

  async continueThinking(thought: string) {
    const result = await generateText({
      model: zai("glm-4.7"),
      tools: {
        sequentialthinking: createSequentialThinkingTool({ sessionId: this.sessionId }),
      },
      messages: [{ role: "user", content: thought }],
      maxSteps: 10,
    });

    const toolSessionId = result.toolResults?.find(
      item => item.toolName === "sequentialthinking"
    )?.result?.sessionId;
    this.sessionId = toolSessionId ?? this.sessionId;

    return result.text;
  }
}
