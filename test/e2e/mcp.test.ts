import type { CallToolResult, Progress, ProgressCallback } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectMcp, revisions, type McpConnection } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { until } from "../helpers/until.ts";

const sandboxes = useOwnSandboxes();

/** A program that reports when it runs, and sleeps in a process that the test can find. */
const sleeper = (seconds: string): Record<string, unknown> => ({
  language: "python",
  code: `import subprocess; print('up', flush=True); subprocess.run(['sleep', '${seconds}'])`,
  timeout_seconds: 300,
});

/** A part of a text resource. */
interface Part {
  readonly text: string;
  readonly _meta: Readonly<Record<string, string>>;
}

const cases = revisions.flatMap((revision) =>
  (["docker", "local"] as const).map((engine) => ({ ...revision, engine })),
);

/** A connection for each test, on which calls that take longer than `answerWithin` continue. */
function useAgent({ mode, engine }: (typeof cases)[number], answerWithin: string): () => McpConnection {
  let agent: McpConnection;
  beforeEach(async () => {
    const argv = ["--engine", engine, "--answer-within", answerWithin];
    agent = await connectMcp({ mode }, argv, sandboxes.environment());
  });
  afterEach(() => agent.client.close());
  return () => agent;
}

/** The final answer of a call, polled until it has ended. */
async function settled(
  agent: McpConnection,
  answer: CallToolResult,
  onprogress?: ProgressCallback,
): Promise<CallToolResult> {
  const { status, run_id } = answer.structuredContent as { status?: string; run_id?: string };
  if (status !== "running") return answer;
  return settled(agent, await agent.call("execute_code", { run_id }, onprogress ? { onprogress } : {}), onprogress);
}

describe.each([cases[0]!, cases[3]!])("an agent that speaks $revision, on $engine", (subject) => {
  const { engine } = subject;
  useGlovebox(engine);
  const agent = useAgent(subject, "50s");

  it("lists tools with schemas, annotations and words", async () => {
    const { tools } = await agent().client.listTools();
    const tool = tools.find(({ name }) => name === "execute_code");
    expect(tool).toMatchObject({
      title: "Run a program",
      inputSchema: { type: "object", additionalProperties: false },
      outputSchema: { type: "object" },
      annotations: { destructiveHint: false },
    });
    expect(tool?.inputSchema.properties).toHaveProperty("code");
    expect(agent().client.getInstructions()).toContain("execute_code");
  });

  it("runs a program", async () => {
    const result = await agent().call("execute_code", { language: "python", code: "print(6 * 7)" });
    expect(result).toMatchObject({ structuredContent: { outcome: "completed", exit_code: 0, stdout: "42\n", engine } });
    expect(result.isError ?? false).toBe(false);
    expect(result.content).toEqual([{ type: "text", text: expect.stringContaining("stdout:\n42") }]);
    expect(await sandboxes.on(engine)).toEqual([]);
  });

  it("gets a failing program as an answer, and a refusal as an error", async () => {
    const failed = await agent().call("execute_code", { language: "python", code: "print(1" });
    expect(failed).toMatchObject({ structuredContent: { outcome: "failed", error: { error_type: "SYNTAX_ERROR" } } });
    expect(failed.isError ?? false).toBe(false);
    const refused = await agent().call("execute_code", { language: "python", code: "1", limits: { memory_mb: 1e9 } });
    expect(refused).toMatchObject({
      isError: true,
      structuredContent: { error: { error_type: "INVALID_REQUEST", suggestion: expect.any(String) } },
    });
  });

  it("reads what was left out of a long answer", async () => {
    const code = "print('head'); print('x' * 200_000); print('tail')";
    const { structuredContent } = await agent().call("execute_code", { language: "python", code });
    const { stdout, shortened } = structuredContent as { stdout: string; shortened: { resource: string }[] };
    expect(stdout).toMatch(/^head\nx+\n\[\.\.\. \d+ characters left out \.\.\.\]\nx+\ntail\n$/);
    expect(stdout.length).toBeLessThan(10_000);
    const uri = shortened[0]?.resource ?? "";
    expect((await agent().client.listResources()).resources.map((resource) => resource.uri)).toEqual([uri]);
    let text = "";
    for (let next: string | undefined = uri; next !== undefined;) {
      const [part] = (await agent().client.readResource({ uri: next })).contents as unknown as Part[];
      text += part?.text ?? "";
      const { _meta: meta } = part ?? {};
      next = meta?.["glovebox/next"];
    }
    expect(text).toBe(`head\n${"x".repeat(200_000)}\ntail\n`);
  });

  it("meets the time limit as an answer", async () => {
    const result = await agent().call("execute_code", { ...sleeper(uniqueSeconds()), timeout_seconds: 1 });
    expect(result).toMatchObject({
      structuredContent: { outcome: "timed_out", error: { error_type: "TIMEOUT" } },
    });
  });
});

describe.each([cases[0]!, cases[3]!])("a long call by $revision, on $engine", (subject) => {
  const { engine } = subject;
  useGlovebox(engine);
  const agent = useAgent(subject, "1s");

  it("receives progress, is answered in time, and polls", async () => {
    const heard: Progress[] = [];
    const code = "import time\nfor i in range(8): print('step', i, flush=True); time.sleep(0.5)";
    const first = await agent().call(
      "execute_code",
      { language: "python", code },
      { onprogress: (p) => heard.push(p) },
    );
    // A slow machine has printed nothing yet, and an empty tail is left out.
    expect(first).toMatchObject({ structuredContent: { status: "running", run_id: expect.stringMatching(/^run-/) } });
    const { run_id } = first.structuredContent as { run_id: string };
    const last = await settled(agent(), first, (p) => heard.push(p));
    expect(last).toMatchObject({ structuredContent: { outcome: "completed" } });
    expect((last.structuredContent as { stdout: string }).stdout.split("\n")).toHaveLength(9);
    // The answer stays available for clients that lost it.
    expect(await agent().call("execute_code", { run_id })).toMatchObject({
      structuredContent: { outcome: "completed" },
    });
    expect(heard[0]?.message).toMatch(/^(run|sbx)-\w+: /);
    // With eight lines in four seconds, every second brings something new.
    const told = heard.map(({ message }) => /step \d/.exec(message ?? "")?.[0]).filter((step) => step !== undefined);
    expect(new Set(told).size).toBeGreaterThan(3);
    expect(heard.map(({ progress }) => progress)).toEqual(
      heard.map(({ progress }) => progress).toSorted((a, b) => a - b),
    );
    expect(await agent().call("execute_code", { run_id: "run-other" })).toMatchObject({
      isError: true,
      structuredContent: { error: { error_type: "NOT_FOUND" } },
    });
  });

  it("ends a continuing run by its id", async () => {
    const seconds = uniqueSeconds();
    const { structuredContent } = await agent().call("execute_code", sleeper(seconds));
    const { run_id } = structuredContent as { run_id: string };
    await until(() => sleepersFor(seconds).length > 0);
    const ended = await settled(agent(), await agent().call("execute_code", { run_id, cancel: true }));
    expect(ended).toMatchObject({ structuredContent: { outcome: "cancelled", stdout: "up\n" } });
    expect(sleepersFor(seconds)).toEqual([]);
    expect(await sandboxes.on(engine)).toEqual([]);
  });
});

describe.each(cases)("cancellation by $revision, on $engine", (subject) => {
  const { engine } = subject;
  useGlovebox(engine);
  const agent = useAgent(subject, "50s");

  it("cancels a run, which leaves nothing behind", async () => {
    const seconds = uniqueSeconds();
    const giveUp = new AbortController();
    const call = agent().call("execute_code", sleeper(seconds), { signal: giveUp.signal });
    await until(() => sleepersFor(seconds).length > 0);
    giveUp.abort();
    await expect(call).rejects.toThrow(/abort/i);
    await until(() => sleepersFor(seconds).length === 0);
    await until(async () => (await sandboxes.on(engine)).length === 0);
    expect(await agent().call("execute_code", { language: "python", code: "print(1)" })).toMatchObject({
      structuredContent: { outcome: "completed" },
    });
  });
});
