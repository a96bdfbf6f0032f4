import { generateText } from "ai";
import { createZai } from "@ai-sdk/zai";
import { createSequentialThinkingTool } from "./tools/sequential-thinking";

const zai = createZai({ apiKey: process.env.ZAI_API_KEY });

// Sub-agent creates its own session, no parent context needed
const exploreAgent = async (query: string) => {
  return await generateText({
    model: zai("glm-4.7"),
    tools: {
      sequentialthinking: createSequentialThinkingTool(), // Gets its own sessionId
      code_search: codeSearch,
      grep,
      file_read: readFile,
    },
    messages: [{ role: "user", content: `Analyze: ${query}` }],
    maxSteps: 5,
  });

  // No sessionId tracking needed - agent owns it
};
