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

/** A request of HTTP that has come in. */
interface HttpRequestStart {
  readonly method: string;
  /** As it is written in the table of routes; empty: none. */
  readonly route: string;
  /** As it was asked for, with or without its query, of which nothing is shown. */
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Methods that are named; all others count as one, as in OpenTelemetry, because clients can make them up. */
export const knownMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Begins the span of a request, by OpenTelemetry's conventions for HTTP servers; `traceparent` is honoured. */
export function beginRequestSpan(tracing: SpanMaker, { method, route, url, headers }: HttpRequestStart): OpenSpan {
  const isKnown = knownMethods.has(method);
  return tracing.begin({
    name: `${isKnown ? method : "HTTP"} ${route}`.trim(),
    kind: "server",
    attributes: {
      "http.request.method": isKnown ? method : "_OTHER",
      "http.route": route === "" ? undefined : route,
      "url.scheme": "http",
      "url.path": url.split("?", 1)[0],
    },
    carrier: headers,
    parent: "ambient",
  });
}

/** Ends it with the status that was answered; what the client did wrong is no error of the server's. */
export function endRequestSpan(span: OpenSpan, status: number): void {
  span.end(status >= 500 ? String(status) : null, { "http.response.status_code": status });
}
