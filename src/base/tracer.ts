/** What a span may carry: words, ids and numbers of ours, never what a program or its caller wrote. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** Tells what takes an operation's time, where somebody wants to know. */
export interface Tracer {
  /**
   * Does the work; as a step of the operation that is traced, where one is.
   * Of an error the type is noted, never the message.
   */
  step<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result>;
}

/** Traces nothing. */
export const noTracer: Tracer = { step: (_name, _attributes, work) => work() };
