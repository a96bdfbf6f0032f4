/** The arguments of a call. Optional ones that are undefined count as absent. */
export interface SequentialThinkingInput {
  thought: string;
  nextThoughtNeeded: boolean;
  /** From 1. */
  thoughtNumber: number;
  /** From 1; may change with every call. */
  totalThoughts: number;
  /** The session to continue. If it is absent or unknown, a new session begins. */
  sessionId?: string | undefined;
  isRevision?: boolean | undefined;
  revisesThought?: number | undefined;
  branchFromThought?: number | undefined;
  /** Opens the branch, with or without an origin. */
  branchId?: string | undefined;
  needsMoreThoughts?: boolean | undefined;
  /** Deletes the session and begins a new one with this thought. */
  clearSession?: boolean | undefined;
}

/** The reply to a call. */
export interface SequentialThinkingOutput {
  /** The session, for the next call. */
  sessionId: string;
  thoughtNumber: number;
  totalThoughts: number;
  nextThoughtNeeded: boolean;
  /** All thoughts of the session, oldest first. */
  thoughtHistory: { thoughtNumber: number; thought: string; isRevision?: boolean }[];
  /** Position of the first thought in thoughtHistory, if a limit left out earlier ones. */
  historyFrom?: number;
  /** Names of the branches, in order of first use. */
  branches: string[];
  thoughtHistoryLength: number;
  /** With a thought that needs no next one. */
  summary?: string;
  /** Notes of people about earlier thoughts, if there are new ones. */
  notes?: string[];
}

/** A thought with the arguments of its call. */
export interface ThoughtEntry {
  thoughtNumber: number;
  thought: string;
  totalThoughts: number;
  nextThoughtNeeded: boolean;
  isRevision?: boolean;
  revisesThought?: number;
  branchFromThought?: number;
  branchId?: string;
  needsMoreThoughts?: boolean;
  /** Milliseconds since 1970. */
  timestamp: number;
}

/** A session as it was read. Changing it changes nothing in the store. */
export interface Session {
  id: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  thoughts: ThoughtEntry[];
  branches: Set<string>;
}

/**
 * Where sessions are recorded that outlive this process: by a program on this machine, which the
 * first call starts, or by a server. Calls with equal options share a program.
 */
export type Outside = Program | Server;

export interface Program {
  /**
   * The program's store: a file, a postgres:// URL, or true for the user's own store, where
   * `sequent show` finds the sessions.
   */
  store: string | true;
  /**
   * Path of the program sequent. By default it is SEQUENT_BIN of the environment, the package
   * @sequent-dev/sequent if it is installed, or sequent in PATH.
   */
  command?: string;
  /** Lifetime of a session after its last use; 0 means no limit. Default: 30 minutes. */
  sessionTtlMs?: number;
}

export interface Server {
  /** URL of a server, such as http://127.0.0.1:8080. */
  url: string;
  /** Its bearer token, if it runs with --auth. */
  token?: string;
}

/** All options of the two, of which none means in this process. */
export interface Place extends Partial<Program>, Partial<Server> {}
