import { describe, expect, it } from "vitest";
import { startHttpServer, type HttpServerProcess } from "../helpers/http-server.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { until } from "../helpers/until.ts";

const sandboxes = useOwnSandboxes();
const start = (...argv: string[]): Promise<HttpServerProcess> =>
  startHttpServer(["--engine", "local", ...argv], sandboxes.environment());
const execute = "POST /api/sandbox/execute";
const python = (code: string): object => ({ language: "python", code, timeout_seconds: 300 });

describe("a server that is asked to end", () => {
  it("lets its work end, and begins no other", async () => {
    await using server = await start();
    const running = server.ask(execute, python("import time; time.sleep(1.5); print('whole')"));
    await until(async () => (await (await server.ask("GET /api/sandbox")).text()).includes("running"));
    server.child.kill("SIGTERM");
    await until(async () => (await server.ask("GET /readyz")).status === 503);
    const refused = await server.ask(execute, python("print(1)"));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    expect(await refused.json()).toMatchObject({ error_type: "CAPACITY" });
    expect((await server.ask("POST /mcp", {})).status).toBe(429);
    expect(await (await running).json()).toMatchObject({ outcome: "completed", stdout: "whole\n" });
    expect(await server.ended).toBe(0);
  });

  it("ends what takes longer than it waits, tells the client, and removes everything", async () => {
    await using server = await start("--drain-timeout", "1s");
    const seconds = uniqueSeconds();
    const code = `import subprocess; print('up', flush=True); subprocess.run(['sleep', '${seconds}'])`;
    const running = server.ask(execute, python(code));
    const streamed = await server.ask(execute, python(code), { accept: "application/x-ndjson" });
    await until(() => sleepersFor(seconds).length === 2);
    server.child.kill("SIGINT");
    expect(await (await running).json()).toMatchObject({ outcome: "cancelled", stdout: "up\n" });
    expect((await streamed.text()).trimEnd().split("\n").at(-1)).toMatch(/"event":"result".*"outcome":"cancelled"/);
    expect(await server.ended).toBe(0);
    expect(sleepersFor(seconds)).toEqual([]);
  });
});

describe("a reader that does not read", () => {
  it("holds the program up and not the server, and gets every byte when it reads", async () => {
    await using server = await start();
    const bytes = 32 * 1024 * 1024;
    const body = {
      language: "python",
      code: `import sys\nfor _ in range(${bytes / 65536}): sys.stdout.write('x' * 65535 + '\\n')\nsys.stdout.flush()\nprint('end', file=sys.stderr)`,
      timeout_seconds: 60,
    };
    const response = await server.ask(execute, body, { accept: "application/x-ndjson" });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const state = (await (await server.ask("GET /api/sandbox")).json()) as { sandboxes: { state: string }[] };
    expect(state.sandboxes).toMatchObject([{ state: "running" }]);
    let characters = 0;
    let last = "";
    for (const line of (await response.text()).trimEnd().split("\n")) {
      const event = JSON.parse(line) as { event: string; stream?: string; text?: string };
      if (event.event === "output" && event.stream === "stdout") characters += event.text?.length ?? 0;
      last = event.event;
    }
    expect([characters, last]).toEqual([bytes, "result"]);
  });
});
