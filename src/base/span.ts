import type { SpanAttributes } from "./tracer.ts";

/** A span that begins now. */
export interface SpanStart {
  /** Of few words in all: no id and nothing that a request chose. */
  readonly name: string;
  /** `server` for what a client asked for; `internal` for what that led to. */
  readonly kind: "server" | "internal";
  readonly attributes: SpanAttributes;
  /** What may say which trace it continues: headers, or a message's `_meta`. Untrusted; what is not valid is ignored. */
  readonly carrier?: unknown;
  /**
   * Which goes first where the carrier names one span and another is at work here already: a message's own does, while
   * for a request the span that the host's instrumentation has begun for it does. Default: `carrier`.
   */
  readonly parent?: "carrier" | "ambient" | undefined;
}

/** A span until its end; ending it twice does no harm. */
export interface OpenSpan {
  /** Does the work as a part of it. */
  run<Result>(work: () => Result): Result;
  /** `errorType`: what went wrong, a word of few; null: nothing. */
  end(errorType: string | null, attributes?: SpanAttributes): void;
}

/** Begins spans of requests. */
export interface SpanMaker {
  begin(start: SpanStart): OpenSpan;
}

/** Where nothing is traced. */
export const noSpan: OpenSpan = { run: (work) => work(), end: () => undefined };
