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

/** What a collector of OpenTelemetry was sent, in JSON unless it says otherwise. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly bodies: readonly { readonly path: string; readonly type: string; readonly bytes: Buffer }[];
  /** The spans in the order of their ends. */
  spans(): readonly SentSpan[];
}

type Sent = Omit<SentSpan, "attributes" | "links"> & {
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links?: SentSpan["links"];
};
interface Traces {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Sent[] }[] }[];
}

/** Listens on loopback; with `silent` it takes everything and answers nothing. */
export async function receiveOtlp({ silent = false } = {}): Promise<OtlpReceiver> {
  const bodies: { path: string; type: string; bytes: Buffer }[] = [];
  const server = createServer((request, response) => {
    const { url: path = "", headers } = request;
    void buffer(request).then((bytes) => {
      bodies.push({ path, type: headers["content-type"] ?? "", bytes });
      if (!silent) response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
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
          attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
        })),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
