/** A call that failed. The message says what is wrong and what to do. */
export class SequentialThinkingError extends Error {
  override name = 'SequentialThinkingError';

  constructor(
    /** A stable code, such as INVALID_ARGUMENT or LIMIT_EXCEEDED. */
    readonly code: string,
    message: string,
    /** The argument, if the call was refused because of one. */
    readonly field?: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${message}`, options);
  }
}

/** A refusal of the server, as it is in the structured content of a reply. */
interface Refusal {
  code?: string;
  field?: string;
  message?: string;
  fix?: string;
}

interface Response {
  result?: {
    isError?: boolean;
    structuredContent?: unknown;
    content?: { type: string; text?: string }[];
  };
  error?: { code: number; message: string; data?: unknown };
}

/** A reply of a tool: its structured content, and texts for the model beside it. */
export interface Reply {
  value: unknown;
  beside: string[];
}

/** Returns the reply in a response, or throws. */
export function replyOf(response: unknown): Reply {
  const { result, error } = response as Response;
  if (!result) {
    throw new SequentialThinkingError('PROTOCOL', error?.message ?? 'the server sent no result');
  }
  const texts = (result.content ?? []).flatMap((part) => (part.type === 'text' && part.text ? [part.text] : []));
  if (!result.isError) return { value: result.structuredContent, beside: texts.slice(1) };
  const refusal = (result.structuredContent as { error?: Refusal } | undefined)?.error;
  if (!refusal?.code) throw new SequentialThinkingError('REFUSED', texts.join('\n'));
  const words = [refusal.message, refusal.fix].filter(Boolean).join('; ');
  throw new SequentialThinkingError(refusal.code, words, refusal.field);
}
