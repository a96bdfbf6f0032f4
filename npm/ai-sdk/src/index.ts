/**
 * The sequential thinking tool for the Vercel AI SDK. Sessions are recorded by the program
 * sequent, on this machine or on a server, and outlive this process.
 */
import { randomUUID } from 'node:crypto';
import { description, inputSchema } from './contract.js';
import type { Reply } from './errors.js';
import type { SequentialThinkingInput, SequentialThinkingOutput, ServerOptions, Session, ThoughtEntry } from './types.js';
import { newId, wireTo } from './wire.js';

export { SequentialThinkingError } from './errors.js';
export type { SequentialThinkingInput, SequentialThinkingOutput, ServerOptions, Session, ThoughtEntry } from './types.js';
export { close } from './wire.js';

/** How many sessions getAllSessions reads at a time. */
const concurrentReads = 16;

/** getAllSessions and clearAllSessions are about the sessions that this process began. */
const thisProcess = randomUUID();

/** The options of {@link createSequentialThinkingTool}. */
export interface ToolOptions extends ServerOptions {
  /**
   * The session of all calls. It begins with the first call if it does not exist, and keeps
   * its id when a call clears it. Without it each call names its session.
   */
  sessionId?: string | undefined;
}

/** A Standard Schema of the arguments. */
export interface ArgumentsSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: SequentialThinkingInput } | undefined;
    readonly validate: (value: unknown) =>
      | { readonly value: SequentialThinkingInput; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string }[] };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** A tool for generateText, streamText and agents of the AI SDK, versions 6 and 7. */
export interface SequentialThinkingTool {
  description: string;
  inputSchema: ArgumentsSchema;
  /**
   * Records a thought and returns the session so far. It rejects with a
   * {@link SequentialThinkingError} if the call is refused; then nothing has changed.
   */
  execute(args: SequentialThinkingInput, options?: { abortSignal?: AbortSignal | undefined }): Promise<SequentialThinkingOutput>;
}

/** The arguments as a Standard Schema with a JSON Schema, which the AI SDK reads. */
const schema: ArgumentsSchema = {
  '~standard': {
    version: 1,
    vendor: 'sequent',
    // The program checks values, and its refusal tells the model what to correct.
    validate: (value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? { value: value as SequentialThinkingInput }
        : { issues: [{ message: 'the arguments must be an object' }] },
    jsonSchema: { input: () => structuredClone(inputSchema), output: () => structuredClone(inputSchema) },
  },
};

/** Returns a tool. Nothing is started before its first call. */
export function createSequentialThinkingTool(options: ToolOptions = {}): SequentialThinkingTool {
  const { sessionId: pinned, ...server } = options;
  return {
    description,
    inputSchema: schema,
    async execute(args, { abortSignal } = {}) {
      const sessionId = pinned ?? args.sessionId;
      const given = (['branchId', 'needsMoreThoughts'] as const).filter((name) => args[name] === '' || args[name] === false);
      const { value, beside } = await wireTo(server).call('think', {
        thought: args.thought,
        nextThoughtNeeded: args.nextThoughtNeeded,
        thoughtNumber: args.thoughtNumber,
        totalThoughts: args.totalThoughts,
        isRevision: args.isRevision,
        revisesThought: args.revisesThought,
        branchFromThought: args.branchFromThought,
        branchId: args.branchId,
        needsMoreThoughts: args.needsMoreThoughts,
        clearSession: args.clearSession,
        sessionId: sessionId || undefined,
        newId: pinned || newId(),
        requestKey: newId(),
        process: thisProcess,
        given,
      }, abortSignal);
      const output = value as SequentialThinkingOutput;
      return beside.length > 0 ? { ...output, notes: beside } : output;
    },
  };
}

/** A tool whose calls name their session. */
export const sequentialThinking: SequentialThinkingTool = createSequentialThinkingTool();

/** Deletes a session that the tool began, in this process or another. */
export async function clearSession(sessionId: string, options: ServerOptions = {}): Promise<void> {
  await wireTo(options).call('clear_session', { sessionId });
}

/** Deletes all sessions that this process began. */
export async function clearAllSessions(options: ServerOptions = {}): Promise<void> {
  await wireTo(options).call('clear_sessions', { process: thisProcess });
}

/** Returns a session that the tool began, in this process or another. */
export async function getSession(sessionId: string, options: ServerOptions = {}): Promise<Session | undefined> {
  const reply = await wireTo(options).call('get_session', { sessionId });
  return sessionOf(reply);
}

/** Returns all sessions that this process began, by id, oldest first. */
export async function getAllSessions(options: ServerOptions = {}): Promise<Map<string, Session>> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const { value } = await wireTo(options).call('list_sessions', { process: thisProcess, cursor });
    const page = value as { ids: string[]; next?: string };
    ids.push(...page.ids);
    cursor = page.next;
  } while (cursor);
  ids.reverse(); // they are listed newest first
  const sessions = new Map<string, Session>();
  for (let i = 0; i < ids.length; i += concurrentReads) {
    const some = await Promise.all(ids.slice(i, i + concurrentReads).map((id) => getSession(id, options)));
    for (const session of some) {
      if (session) sessions.set(session.id, session);
    }
  }
  return sessions;
}

function sessionOf({ value }: Reply): Session | undefined {
  const { session } = value as { session?: { id: string; createdAt: number; thoughts: ThoughtEntry[]; branches: string[] } };
  return session && { ...session, branches: new Set(session.branches) };
}
