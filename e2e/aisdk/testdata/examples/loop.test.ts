import { describe, it, expect } from "vitest";
import { generateText } from "ai";
import { createZai } from "@ai-sdk/zai";
import { sequentialThinking } from "./sequential-thinking";

describe("sequentialThinking in agent loop", () => {
  it("completes multi-turn reasoning", async () => {
    const zai = createZai({ apiKey: process.env.ZAI_API_KEY });
    const messages: CoreMessage[] = [
      {
        role: "user",
        content: "Design a REST API for user management",
      },
    ];

    const result = await generateText({
      model: zai("glm-4.7"),
      tools: { sequentialthinking: sequentialThinking },
      messages,
      maxSteps: 20,
    });

    const sessionId = result.toolResults?.find(
      item => item.toolName === "sequentialthinking"
    )?.result?.sessionId;

    expect(sessionId).toBeDefined();
  });
});
