import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A span as it was sent. */
export interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number };
  readonly links: readonly { readonly spanId: string }[];
}

/** A point of a metric as it was sent. */
export interface SentMetric {
  readonly name: string;
  readonly count: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** What was sent to an OpenTelemetry collector, in JSON unless stated otherwise. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly bodies: readonly { readonly path: string; readonly type: string; readonly bytes: Buffer }[];
  /** Every point of every metric; `count`: how many values it was made from, or the sum if it is not a histogram. */
  metrics(): readonly SentMetric[];
  /** The spans, in the order in which they ended. */
  spans(): readonly SentSpan[];
}

type Attributes = readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
type Sent = Omit<SentSpan, "attributes" | "links"> & {
  readonly attributes: Attributes;
  readonly links?: SentSpan["links"];
};
interface Point {
  readonly attributes: Attributes;
  readonly count?: number;
  readonly asDouble?: number;
  readonly asInt?: number | string;
}
interface Points {
  readonly dataPoints: readonly Point[];
}
interface Metric {
  readonly name: string;
  readonly histogram?: Points;
  readonly sum?: Points;
}
interface Metrics {
  readonly resourceMetrics: readonly { readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[] }[];
}
interface Traces {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Sent[] }[] }[];
}

/** Listens on loopback; with `silent` it accepts everything and never answers. */
export async function receiveOtlp({ silent = false } = {}): Promise<OtlpReceiver> {
  const bodies: { path: string; type: string; bytes: Buffer }[] = [];
  const server = createServer((request, response) => {
    const { url: path = "", headers } = request;
    const take = (bytes: Buffer): void => {
      bodies.push({ path, type: headers["content-type"] ?? "", bytes });
      if (!silent) response.writeHead(200, { "content-type": "application/json" }).end("{}");
    };
    // An aborted request does not count as sent.
    void buffer(request).then(take, () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    spans: () =>
      bodies
        .filter(({ path }) => path === "/v1/traces")
        .flatMap(({ bytes }) => (JSON.parse(bytes.toString()) as Traces).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .map(({ attributes, links = [], ...span }) => ({
          ...span,
          links,
          attributes: plain(attributes),
        })),
    metrics: () =>
      bodies
        .filter(({ path }) => path === "/v1/metrics")
        .flatMap(({ bytes }) => (JSON.parse(bytes.toString()) as Metrics).resourceMetrics)
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
        .flatMap(({ name, histogram, sum }) =>
          (histogram ?? sum ?? { dataPoints: [] }).dataPoints.map(({ attributes, count, asDouble, asInt }) => ({
            name,
            count: Number(count ?? asDouble ?? asInt),
            attributes: plain(attributes),
          })),
        ),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function plain(attributes: Attributes): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
