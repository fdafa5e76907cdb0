import type { OpenSpan, SpanMaker } from "../span.ts";

/** A request of HTTP that has come in. */
export interface HttpRequestStart {
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
