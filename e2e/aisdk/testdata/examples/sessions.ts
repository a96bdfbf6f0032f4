import { clearSession, clearAllSessions, getSession } from "./tools/sequential-thinking";

// Clear specific session
clearSession("abc-123-session-id");

// Clear all sessions (e.g., between tests)
clearAllSessions();

// Inspect session state
const session = getSession("abc-123-session-id");
console.log("Thoughts:", session?.thoughts.length);
console.log("Branches:", session?.branches.size);
