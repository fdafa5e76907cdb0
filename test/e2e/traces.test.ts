import { describe, expect, it } from "vitest";
import { connectMcp, revisions } from "../helpers/mcp-client.ts";
import { startHttpServer } from "../helpers/http-server.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { receiveOtlp, type OtlpReceiver, type SentSpan } from "../helpers/otlp-receiver.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";

const sandboxes = useOwnSandboxes();
const traceOf = (digit: string): string => digit.repeat(32);
const clientSpan = "b7ad6b7169203331";
const traceparent = (digit: string, flags = "01"): string => `00-${traceOf(digit)}-${clientSpan}-${flags}`;
const local = ["--engine", "local"];
const secret = "swordfish";
const program = {
  language: "python",
  code: `print("${secret}")`,
  args: [secret],
  environment: { WORD: secret },
} as const;

/** Sent only at the end, so that a test does not have to wait for anything else. */
function environment({ url }: OtlpReceiver): Record<string, string> {
  return {
    ...sandboxes.environment(),
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "600000",
    OTEL_METRIC_EXPORT_INTERVAL: "600000",
    GLOVEBOX_LOG_LEVEL: "info",
  };
}

/** Node calls it for every module that is requested. */
function watchModules(body: string): Readonly<Record<string, string>> {
  const hook = `import { registerHooks } from "node:module"; registerHooks({ resolve(name, context, next) { ${body} return next(name, context); } });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
}
/** Reports which parts of OpenTelemetry are loaded; the package that counts for Prometheus has its own copy of the interface. */
const watchedModules = watchModules(
  'if (name.startsWith("@opentelemetry/") && !context.parentURL?.includes("prom-client")) process.stderr.write(`asked for ${name}\\n`);',
);

const named = (spans: readonly SentSpan[], name: string): SentSpan => {
  const span = spans.find((each) => each.name === name);
  if (span === undefined) throw new Error(`No span ${name} among ${spans.map((each) => each.name).join(", ")}`);
  return span;
};

describe("traces", () => {
  useGlovebox("local");

  it("lead from a request to the calls of the engine, and are sent at the end", async () => {
    await using collector = await receiveOtlp();
    await using server = await startHttpServer(local, environment(collector));
    const mcp = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };
    const call = {
      ...{ jsonrpc: "2.0", id: 7, method: "tools/call" },
      params: { name: "execute_code", arguments: program, _meta: { traceparent: traceparent("2") } },
    };
    const answered = await server.ask("POST /api/sandbox/execute", program, { traceparent: traceparent("1") });
    const result = (await answered.json()) as { readonly sandbox_id: string };
    expect(result).toMatchObject({ outcome: "completed", stdout: `${secret}\n` });
    expect((await server.ask("POST /mcp", call, mcp)).status).toBe(200);
    await (await server.ask("GET /api/sandbox/sbx-nobody", undefined, { traceparent: "00-nonsense-01" })).text();
    await (await server.ask("GET /api/sandbox", undefined, { traceparent: traceparent("3", "00") })).text();
    const asStranger = { headers: { traceparent: traceparent("4") } };
    expect((await fetch(`${server.url}/api/sandbox`, asStranger)).status).toBe(401);
    await fetch(`${server.url}/healthz`, asStranger);
    expect(collector.bodies).toEqual([]);
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);

    const spans = collector.spans();
    const ofTrace = (digit: string): readonly SentSpan[] => spans.filter(({ traceId }) => traceId === traceOf(digit));
    const path = (from: readonly SentSpan[], span: SentSpan): readonly string[] => {
      const parent = from.find(({ spanId }) => spanId === span.parentSpanId);
      return [...(parent === undefined ? [span.parentSpanId ?? "none"] : path(from, parent)), span.name];
    };
    const http = ofTrace("1");
    const root = [clientSpan, "POST /api/sandbox/execute", "execute_tool execute_code"];
    expect(http.map((span) => path(http, span))).toEqual(
      expect.arrayContaining([
        root,
        [...root, "wait for a place"],
        [...root, "start sandbox", "local create"],
        [...root, "start sandbox", "local start"],
        [...root, "local exec"],
        [...root, "run execute"],
        [...root, "local remove"],
      ]),
    );
    expect(named(http, "POST /api/sandbox/execute")).toMatchObject({
      kind: 2,
      attributes: { "http.route": "/api/sandbox/execute", "http.response.status_code": 200 },
    });
    expect(named(http, "run execute").attributes).toMatchObject({
      "glovebox.sandbox.id": result.sandbox_id,
      "glovebox.run.outcome": "completed",
    });

    const overMcp = ofTrace("2");
    const tool = [clientSpan, "tools/call execute_code", "execute_tool execute_code"];
    expect(path(overMcp, named(overMcp, "local create"))).toEqual([...tool, "start sandbox", "local create"]);
    expect(named(overMcp, "tools/call execute_code")).toMatchObject({
      attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": "execute_code", "jsonrpc.request.id": "7" },
      links: [{ spanId: named(spans, "POST /mcp").spanId }],
    });

    const lost = named(spans, "GET /api/sandbox/{id}");
    expect(lost.parentSpanId ?? "").toBe("");
    expect(lost.attributes["error.type"]).toBeUndefined();
    expect([...ofTrace("3"), ...ofTrace("4")]).toEqual([]);
    expect(spans.some(({ name }) => /healthz|sbx-/.test(name))).toBe(false);
    const counted = collector.metrics();
    expect([...new Set(counted.map(({ name }) => name))].toSorted()).toEqual([
      "gen_ai.execute_tool.duration",
      "glovebox.operation.duration",
      "glovebox.run.duration",
      "glovebox.sandbox.start.duration",
      "glovebox.sandboxes",
      "http.server.request.duration",
      "mcp.server.operation.duration",
    ]);
    const execution = { "http.route": "/api/sandbox/execute", "http.response.status_code": 200 };
    const toolCall = { "mcp.method.name": "tools/call", "gen_ai.tool.name": "execute_code" };
    const places = { "glovebox.engine.name": "local", "glovebox.sandbox.kind": "execute" };
    expect(counted).toEqual(
      expect.arrayContaining([
        { name: "http.server.request.duration", count: 1, attributes: expect.objectContaining(execution) },
        { name: "mcp.server.operation.duration", count: 1, attributes: expect.objectContaining(toolCall) },
        { name: "gen_ai.execute_tool.duration", count: 2, attributes: { "gen_ai.tool.name": "execute_code" } },
        { name: "glovebox.sandboxes", count: 0, attributes: places },
      ]),
    );
    const sent = collector.bodies.map(({ bytes }) => bytes.toString()).join("");
    for (const hidden of [secret, server.headers["authorization"]?.slice(7), "host.name", "command"]) {
      expect(sent).not.toContain(hidden);
    }
    const started = server
      .notice()
      .split("\n")
      .find((line) => line.includes("sandbox started"));
    expect(JSON.parse(started ?? "{}")).toMatchObject({ trace_id: traceOf("1"), span_id: expect.any(String) });
  });

  it("harm no run and hold no end up when the collector takes everything and answers nothing", async () => {
    await using collector = await receiveOtlp({ silent: true });
    await using server = await startHttpServer(local, {
      ...environment(collector),
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_BSP_SCHEDULE_DELAY: "1",
      ...watchedModules,
    });
    expect(server.notice()).toContain("asked for @opentelemetry/sdk-node");
    for (let run = 0; run < 3; run += 1) {
      const result = await (await server.ask("POST /api/sandbox/execute", program)).json();
      expect(result).toMatchObject({ outcome: "completed" });
    }
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    const [first] = collector.bodies;
    expect(first).toMatchObject({ path: "/v1/traces", type: "application/x-protobuf" });
  });

  it("are off, and none of their modules is loaded, unless requested", async () => {
    await using server = await startHttpServer(local, { ...sandboxes.environment(), ...watchedModules });
    expect(await (await server.ask("POST /api/sandbox/execute", program)).json()).toMatchObject({ exit_code: 0 });
    expect(server.notice()).not.toContain("asked for");
  });

  it("need a package of their own: without it the server says so and serves", async () => {
    const without = watchModules(
      'if (name === "@opentelemetry/sdk-node") throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });',
    );
    await using collector = await receiveOtlp();
    await using server = await startHttpServer(local, { ...environment(collector), ...without });
    expect(server.notice()).toContain("npm install @opentelemetry/sdk-node");
    expect(await (await server.ask("POST /api/sandbox/execute", program)).json()).toMatchObject({ exit_code: 0 });
  });

  it("over stdio continue the trace of `_meta`", async () => {
    await using collector = await receiveOtlp();
    const connection = await connectMcp(revisions[1], local, environment(collector));
    const params = { name: "execute_code", arguments: program, _meta: { traceparent: traceparent("5") } };
    expect(await connection.client.callTool(params)).toMatchObject({ structuredContent: { exit_code: 0 } });
    await connection.client.close();
    const spans = collector.spans().filter(({ traceId }) => traceId === traceOf("5"));
    expect(named(spans, "tools/call execute_code").parentSpanId).toBe(clientSpan);
    expect(named(spans, "local create").attributes).toMatchObject({ "glovebox.engine.name": "local" });
  });
});
