import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import type { ExecuteResponse } from "../helpers/wire-glovebox.ts";
import { connectMcp, gloveboxEnvironment, revisions } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { runCommand } from "../helpers/run-command.ts";
import { until } from "../helpers/until.ts";

const greedy = { language: "python", code: "b = b'x' * (512 * 1024 * 1024)", limits: { memory_mb: 64 } } as const;
const sandboxes = useOwnSandboxes();

describe("metrics and alerts at the doors", () => {
  useGlovebox("local");
  let server: ChildProcess;
  let url = "";
  let said = "";
  beforeAll(async () => {
    const argv = ["serve", "--port", "0", "--engine", "local", "--no-token"];
    const env = gloveboxEnvironment(sandboxes.environment());
    server = spawn(gloveboxCommand, argv, { env, stdio: ["ignore", "ignore", "pipe"] });
    server.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
    await until(() => (url = /serving at (\S+)/.exec(said)?.[1] ?? "") !== "");
  });
  afterAll(async () => {
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    await ended;
  });
  const ask = (route: string, body?: object): Promise<Response> =>
    fetch(`${url}${route}`, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      headers: { "content-type": "application/json" },
    });

  it("HTTP has the alerts in the result, in their list, and the server's own metrics", async () => {
    const result = (await (await ask("/api/sandbox/execute", greedy)).json()) as ExecuteResponse;
    expect(result).toMatchObject({
      outcome: "oom_killed",
      // One of its memory may come before.
      alerts: expect.arrayContaining([
        expect.objectContaining({ kind: "oom", state: "start" }),
        expect.objectContaining({ kind: "oom", state: "end" }),
      ]),
    });
    const listed = await (await ask(`/api/alerts?kind=oom&state=end&sandbox_id=${result.sandbox_id}`)).json();
    expect(listed).toMatchObject({ alerts: [{ container_id: result.sandbox_id, kind: "oom", state: "end" }] });
    const metrics = await ask(`/api/sandbox/${result.sandbox_id}/metrics`);
    expect(await metrics.json()).toMatchObject({ container_id: result.sandbox_id, engine: "local", running: false });
    expect((await ask("/api/sandbox/sbx-nobody/metrics")).status).toBe(404);
    expect((await ask("/api/alerts?kind=weather")).status).toBe(400);
    await ask("/made-up-by-a-stranger");
    const toMcp = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    for (const call of [
      { method: "tools/call", params: { name: "made-up", arguments: {} } },
      { method: "resources/read", params: { uri: "made-up:1" } },
      { method: "made-up/method" },
    ]) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: "made-up", ...call });
      await (await fetch(`${url}/mcp`, { method: "POST", headers: toMcp, body })).text();
    }

    const page = await ask("/metrics");
    expect(page.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await page.text();
    for (const line of [
      'glovebox_sandboxes_started_total{engine="local",kind="execute"} 1',
      'glovebox_sandboxes_removed_total{engine="local",kind="execute"} 1',
      'glovebox_sandboxes{engine="local",kind="execute"} 0',
      'glovebox_sandbox_start_duration_seconds_count{engine="local",kind="execute"} 1',
      'glovebox_runs_total{engine="local",kind="execute",outcome="oom_killed"} 1',
      'glovebox_run_duration_seconds_count{engine="local",kind="execute"} 1',
      'glovebox_operation_duration_seconds_count{operation="get_metrics",error_type="NOT_FOUND"} 1',
      'glovebox_alerts_total{kind="oom"} 1',
      "glovebox_requests_waiting 0",
      'glovebox_log_entries_dropped_total{at="pace"} 0',
      'glovebox_log_entries_dropped_total{at="store"} 0',
      'mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",gen_ai_tool_name="",',
      'http_server_request_duration_seconds_count{http_request_method="GET",http_route="/api/sandbox/{sandbox_id}/metrics",http_response_status_code="404"} 1',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toMatch(/^glovebox_samples_total\{result="taken"\} \d+$/m);
    for (const secret of ["made-up", "sbx-", "127.0.0.1"]) expect(text).not.toContain(secret);
  });

  it("alerts are entries of the log, and the store keeps them and samples", async () => {
    const result = (await (await ask("/api/sandbox/execute", greedy)).json()) as ExecuteResponse;
    const { entries } = (await (await ask(`/api/sandbox/${result.sandbox_id}/logs?stream=system`)).json()) as {
      readonly entries: readonly object[];
    };
    expect(entries).toContainEqual(
      expect.objectContaining({
        container_id: result.sandbox_id,
        stream: "system",
        alert: expect.objectContaining({ kind: "oom", state: "start", suggestion: expect.stringMatching(/memory/) }),
      }),
    );
    const lasting = "import time; time.sleep(2.5)";
    const { sandbox_id: sampled } = (await (
      await ask("/api/sandbox/execute", { language: "python", code: lasting })
    ).json()) as ExecuteResponse;
    const file = path.join(sandboxes.environment()["XDG_STATE_HOME"] ?? "", "glovebox/store.db");
    const database = new DatabaseSync(file, { readOnly: true });
    const rows = (table: string, sandbox: string): readonly object[] =>
      database.prepare(`select * from ${table} where sandbox = ?`).all(sandbox);
    await until(() => rows("metrics_samples", sampled).length > 0 && rows("alerts", result.sandbox_id).length > 1);
    expect(rows("alerts", result.sandbox_id)).toMatchObject([
      { principal: "local", kind: "oom", state: "start" },
      { principal: "local", kind: "oom", state: "end" },
    ]);
    expect(rows("metrics_samples", sampled)).toMatchObject([{ principal: "local", network_rx_bytes: 0 }]);
    database.close();
  });

  it("`glovebox stats` shows what another process of the user runs", async () => {
    const running = ask("/api/sandbox/execute", { language: "python", code: "import time; time.sleep(8)" });
    const environment = sandboxes.environment();
    let row: { readonly sample: unknown } | undefined;
    await until(async () => {
      const { stdout } = await runCommand(["stats", "--once", "--json"], { environment });
      [row] = (JSON.parse(stdout) as { sandboxes: { sample: unknown }[] }).sandboxes;
      return (row?.sample ?? null) !== null;
    });
    expect(row).toMatchObject({
      container_id: expect.stringMatching(/^sbx-/),
      engine: "local",
      kind: "execute",
      limits: { cpus: 1, memory_mb: 512 },
      sample: { timestamp: expect.any(String), network_rx_bytes: 0, uptime_seconds: expect.any(Number) },
    });
    const table = await runCommand(["stats", "--once"], { environment });
    expect(table).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("SANDBOX") });
    const missing = await runCommand(["stats", "sbx-nobody", "--once"], { environment });
    expect(missing).toMatchObject({ exitCode: 125, stderr: expect.stringContaining("sbx-nobody") });
    expect(await (await running).json()).toMatchObject({ outcome: "completed" });
  });

  it("MCP tells of an alert at once, in the result and by list_alerts", async () => {
    const connection = await connectMcp(revisions[0], ["--engine", "local", "--tools", "all"], sandboxes.environment());
    const heard: unknown[] = [];
    const { client } = connection;
    client.setNotificationHandler("notifications/message", ({ params }) => void heard.push(params));
    const result = await connection.call("execute_code", greedy);
    expect(result.structuredContent).toMatchObject({
      outcome: "oom_killed",
      // One of its memory may come before.
      alerts: expect.arrayContaining([
        expect.objectContaining({ kind: "oom", state: "start" }),
        expect.objectContaining({ kind: "oom", state: "end" }),
      ]),
    });
    expect(JSON.stringify(result.content)).toContain("alert (oom)");
    expect(heard).toContainEqual(
      expect.objectContaining({
        level: "warning",
        logger: "glovebox.alerts",
        data: expect.objectContaining({ kind: "oom", state: "start" }),
      }),
    );
    const { structuredContent } = await connection.call("list_alerts", { state: "end" });
    expect(structuredContent).toMatchObject({ alerts: [{ kind: "oom", state: "end" }] });
    const { sandbox_id: id } = result.structuredContent as { sandbox_id: string };
    expect((await connection.call("get_metrics", { sandbox_id: id })).structuredContent).toMatchObject({
      running: false,
    });
    await client.close();
  });
});
