import { NodeSDK, type NodeSDKConfiguration } from "@opentelemetry/sdk-node";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { forgetOpenTelemetry } from "../../test/helpers/forget-opentelemetry.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { maxSteps } from "./signals.ts";
import { Tracing } from "./tracing.ts";

type Processor = NonNullable<NodeSDKConfiguration["spanProcessors"]>[number];
type Ended = Parameters<Processor["onEnd"]>[0];

const ended: Ended[] = [];
const collect: Processor = {
  onStart: () => undefined,
  onEnd: (span) => void ended.push(span),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};
// What a program that uses the library has done before.
const sdk = new NodeSDK({
  spanProcessors: [collect],
  metricReaders: [],
  logRecordProcessors: [],
  resourceDetectors: [],
});
sdk.start();
afterAll(async () => {
  await sdk.shutdown();
  forgetOpenTelemetry();
});

const [traceId, clientSpan] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
const traceparent = `00-${traceId}-${clientSpan}-01`;
const operation = { name: "execute_tool run", kind: "internal", attributes: {} } as const;
const ignore = (): void => undefined;
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const tracing = new Tracing({
  environment: {},
  version: () => "1",
  startsSdk: false,
  stdoutIsTaken: true,
  monotonicMs: () => 0,
});
await tracing.open(silent);
beforeEach(() => void ended.splice(0));

const find = (name: string): Ended => {
  const span = ended.find((each) => each.name === name);
  if (span === undefined) throw new Error(`No span ${name} among ${ended.map((each) => each.name).join(", ")}`);
  return span;
};
const step = (name: string): Promise<void> => tracing.step(name, {}, () => Promise.resolve());

describe("the trace that a request continues", () => {
  it.each([
    ["a traceparent", { traceparent }, traceId],
    ["one that is sampled out", { traceparent: traceparent.replace(/01$/, "00") }, null],
  ])("is that of %s", async (_, carrier, expected) => {
    await tracing.inSpan({ ...operation, carrier }, () => step("inner"));
    expect(ended.map((span) => span.spanContext().traceId)).toEqual(expected === null ? [] : [expected, expected]);
  });

  it.each([
    ["no text", { traceparent: 7 }],
    ["several", { traceparent: [traceparent, traceparent] }],
    ["nothing", undefined],
    ["text alone", traceparent],
    ["zeros", { traceparent: `00-${"0".repeat(32)}-${clientSpan}-01` }],
    ["another version's form", { traceparent: `ff-${traceId}-${clientSpan}-01` }],
    ["too short an id", { traceparent: `00-${traceId.slice(1)}-${clientSpan}-01` }],
    ["too long a text", { traceparent: traceparent.padEnd(100_000, " ") }],
    ["an inherited one", Object.create({ traceparent }) as object],
  ])("is a new one for %s", async (_, carrier) => {
    await tracing.inSpan({ ...operation, carrier }, () => Promise.resolve());
    expect(find(operation.name).parentSpanContext).toBeUndefined();
    expect(find(operation.name).spanContext().traceId).not.toBe(traceId);
  });

  it("is a message's own, with a link to the request that carried it", async () => {
    await tracing.inSpan({ name: "POST /mcp", kind: "server", attributes: {} }, () =>
      tracing.inSpan({ name: "tools/call", kind: "server", attributes: {}, carrier: { traceparent } }, () =>
        tracing.inSpan(operation, () => Promise.resolve()),
      ),
    );
    const [message, request] = [find("tools/call"), find("POST /mcp")];
    expect(message.parentSpanContext).toMatchObject({ traceId, spanId: clientSpan });
    expect(message.links).toMatchObject([{ context: { spanId: request.spanContext().spanId } }]);
    expect(find(operation.name).parentSpanContext).toMatchObject({ traceId, spanId: message.spanContext().spanId });
  });

  it("is the host's own span of a request, where its instrumentation has begun one", async () => {
    await tracing.inSpan({ name: "the host's", kind: "server", attributes: {} }, () =>
      tracing.inSpan(
        { name: "ours", kind: "server", attributes: {}, carrier: { traceparent }, parent: "ambient" },
        () => Promise.resolve(),
      ),
    );
    expect(find("ours").parentSpanContext?.spanId).toBe(find("the host's").spanContext().spanId);
  });
});

it("operations of a request that has been answered are not traced", async () => {
  const request = tracing.begin({ name: "request", kind: "server", attributes: {} });
  await request.run(() => tracing.inSpan(operation, () => step("inner")));
  request.end(null);
  await request.run(() => tracing.inSpan(operation, () => step("inner")));
  expect(ended.map(({ name }) => name)).toEqual(["inner", operation.name, "request"]);
});

it("operations of a request are bounded with all their steps, however long it goes on", async () => {
  await tracing.inSpan({ name: "request", kind: "server", attributes: {} }, async () => {
    for (let page = 0; page < maxSteps; page += 1) await tracing.inSpan(operation, () => step("inner"));
  });
  expect(ended).toHaveLength(maxSteps + 1);
  expect(find("request").attributes).toEqual({ "glovebox.untraced_steps": maxSteps });
});

describe("steps", () => {
  it("are spans of the operation at work, and of nothing else", async () => {
    await step("of nothing");
    let late: Promise<void> | undefined;
    await tracing.inSpan(operation, async () => {
      await tracing.step("outer", {}, () => step("inner"));
      late = new Promise((resolve) => setTimeout(resolve, 20)).then(() => step("left behind"));
    });
    await late;
    expect(ended.map(({ name }) => name)).toEqual(["inner", "outer", operation.name]);
    expect(find("inner").parentSpanContext?.spanId).toBe(find("outer").spanContext().spanId);
    expect(find("outer").parentSpanContext?.spanId).toBe(find(operation.name).spanContext().spanId);
  });

  it("are bounded, whatever a program makes its operation do", async () => {
    await tracing.inSpan(operation, async () => {
      for (let done = 0; done < maxSteps + 9; done += 1) await tracing.step("outer", {}, () => step("inner"));
    });
    expect(ended).toHaveLength(maxSteps + 1);
    expect(find(operation.name).attributes).toEqual({ "glovebox.untraced_steps": maxSteps + 18 });
  });

  it("note the type of an error, and nothing that it says", async () => {
    const failing = (): Promise<never> => Promise.reject(new GloveboxError("CAPACITY", "the secret is swordfish"));
    const failed = tracing.inSpan(operation, () => tracing.step("fails", {}, failing));
    await expect(failed).rejects.toThrow("swordfish");
    await expect(tracing.inSpan(operation, () => Promise.reject(new Error("swordfish")))).rejects.toThrow("swordfish");
    expect(find("fails")).toMatchObject({ attributes: { "error.type": "CAPACITY" }, status: { code: 2 }, events: [] });
    expect(ended.at(-1)?.attributes).toEqual({ "error.type": "INTERNAL" });
    expect(JSON.stringify(ended.map(({ attributes, status, events }) => [attributes, status, events]))).not.toContain(
      "swordfish",
    );
  });
});

it("attributes are short, and log lines name the trace", async () => {
  const attributes = { long: "x".repeat(10_000), count: 3, left: undefined };
  const fields = await tracing.inSpan({ ...operation, attributes, carrier: { traceparent } }, () =>
    Promise.resolve(tracing.logFields()),
  );
  expect(find(operation.name).attributes).toEqual({ long: "x".repeat(256), count: 3 });
  expect(fields).toEqual({ trace_id: traceId, span_id: find(operation.name).spanContext().spanId });
  expect(tracing.logFields()).toEqual({});
});
