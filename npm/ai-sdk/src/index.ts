/**
 * The sequential thinking tool for the Vercel AI SDK. Sessions are in the memory of this process,
 * and those that shall outlive it in a store of the program sequent or on a server.
 */
import { description, inputSchema } from './contract.js';
import type { Reply } from './errors.js';
import type { Outside, Place, SequentialThinkingInput, SequentialThinkingOutput, Session, ThoughtEntry } from './types.js';
import { call, newId } from './wire.js';

export { SequentialThinkingError } from './errors.js';
export type { Outside, Place, Program, SequentialThinkingInput, SequentialThinkingOutput, Server, Session, ThoughtEntry } from './types.js';
export { close } from './wire.js';

/** getAllSessions and clearAllSessions are about the sessions that this process began. */
const thisProcess = newId();

/** The number of calls that were made, for their keys. */
let calls = 0;

/** The options of {@link createSequentialThinkingTool}. */
export interface ToolOptions extends Place {
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
    // The engine checks values, and its refusal tells the model what to correct.
    validate: (value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? { value: value as SequentialThinkingInput }
        : { issues: [{ message: 'the arguments must be an object' }] },
    jsonSchema: { input: () => structuredClone(inputSchema), output: () => structuredClone(inputSchema) },
  },
};

/** Returns a tool. */
export function createSequentialThinkingTool(options: ToolOptions = {}): SequentialThinkingTool {
  const { sessionId: pinned, ...place } = options;
  return {
    description,
    inputSchema: schema,
    async execute(args, { abortSignal } = {}) {
      const sessionId = pinned ?? args.sessionId;
      const given = (['branchId', 'needsMoreThoughts'] as const).filter((name) => args[name] === '' || args[name] === false);
      const { value, beside } = await call(place, 'think', {
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
        requestKey: `${thisProcess}/${++calls}`,
        process: thisProcess,
        given,
      }, abortSignal);
      const output = value as SequentialThinkingOutput;
      return beside.length > 0 ? { ...output, notes: beside } : output;
    },
  };
}

/** A tool in this process whose calls name their session. */
export const sequentialThinking: SequentialThinkingTool = createSequentialThinkingTool();

/** Deletes a session that the tool began; outside, also one that another process began. */
export function clearSession(sessionId: string): void;
export function clearSession(sessionId: string, options: Outside): Promise<void>;
export function clearSession(sessionId: string, options: Place): void | Promise<void>;
export function clearSession(sessionId: string, options: Place = {}): void | Promise<void> {
  return after(call(options, 'clear_session', { sessionId }), () => undefined);
}

/** Deletes all sessions that this process began. */
export function clearAllSessions(): void;
export function clearAllSessions(options: Outside): Promise<void>;
export function clearAllSessions(options: Place): void | Promise<void>;
export function clearAllSessions(options: Place = {}): void | Promise<void> {
  return after(call(options, 'clear_sessions', { process: thisProcess }), () => undefined);
}

/** Returns a session that the tool began; outside, also one that another process began. */
export function getSession(sessionId: string): Session | undefined;
export function getSession(sessionId: string, options: Outside): Promise<Session | undefined>;
export function getSession(sessionId: string, options: Place): Session | undefined | Promise<Session | undefined>;
export function getSession(sessionId: string, options: Place = {}): Session | undefined | Promise<Session | undefined> {
  return after(call(options, 'get_session', { sessionId }), sessionOf);
}

/** Returns all sessions that this process began, by id, oldest first. */
export function getAllSessions(): Map<string, Session>;
export function getAllSessions(options: Outside): Promise<Map<string, Session>>;
export function getAllSessions(options: Place): Map<string, Session> | Promise<Map<string, Session>>;
export function getAllSessions(options: Place = {}): Map<string, Session> | Promise<Map<string, Session>> {
  return after(newestFirst(options), (sessions) => new Map(sessions.reverse().map((session) => [session.id, session])));
}

/** Returns the sessions from a cursor on. Those of a page are read side by side. */
function newestFirst(options: Place, cursor?: string): Session[] | Promise<Session[]> {
  return after(call(options, 'list_sessions', { process: thisProcess, cursor }), ({ value }) => {
    const { ids, next } = value as { ids: string[]; next?: string };
    return after(all(ids.map((id) => getSession(id, options))), (page) => {
      const found = page.filter((session) => session !== undefined);
      return next ? after(newestFirst(options, next), (older) => [...found, ...older]) : found;
    });
  });
}

/** Returns the result of f on a value, or a promise of it. */
function after<T, R>(value: T | Promise<T>, f: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(f) : f(value);
}

/** Returns the values, or a promise of them if one is a promise. */
function all<T>(values: (T | Promise<T>)[]): T[] | Promise<T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[]);
}

function sessionOf({ value }: Reply): Session | undefined {
  const { session } = value as { session?: { id: string; createdAt: number; thoughts: ThoughtEntry[]; branches: string[] } };
  return session && { ...session, branches: new Set(session.branches) };
}
