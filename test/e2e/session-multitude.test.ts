import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startHttpMcp, type HttpMcp } from "../helpers/http-mcp.ts";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { engines, useGlovebox, type TestedEngine } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { processesWith } from "../helpers/processes.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";
import { sessionImages } from "../helpers/test-images.ts";

const clientCount = 20;

/** What a client reports about its session. */
interface Told {
  readonly serverPid: number | null;
  readonly sandbox_id: string;
  readonly session_id: string;
  readonly stdout: string;
  readonly error?: object;
}

const sandboxes = useOwnSandboxes();
/** A temporary folder for the servers alone, so that it contains no other files. */
let temporary = "";
const clients: ChildProcess[] = [];
beforeEach(() => (temporary = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"))));
afterEach(async () => {
  for (const client of clients.splice(0)) await end(client);
  await runCommand(["prune"], { environment: sandboxes.environment() });
  rmSync(temporary, { recursive: true });
});

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

function environment(engine: TestedEngine): Record<string, string> {
  return {
    ...sandboxes.environment(),
    TMPDIR: temporary,
    MAX_CONTAINERS: "25",
    GLOVEBOX_IMAGE_SESSION: sessionImages.session,
    ...(engine === "local" ? {} : { EXECUTION_MODE: "container", CONTAINER_RUNTIME: engine }),
  };
}

/** Starts a client in a separate process, and resolves when its program has run. */
async function startClient(number: number, engine: TestedEngine, server: HttpMcp | null): Promise<Told> {
  const serverArgs = server === null ? [] : [server.url, server.headers["authorization"] ?? ""];
  const argv = ["test/fixtures/mcp-session-client.ts", String(number), ...serverArgs];
  const client = spawn(process.execPath, argv, {
    cwd: projectFolder,
    env: gloveboxEnvironment(environment(engine)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  clients.push(client);
  for await (const line of createInterface(client.stdout)) return JSON.parse(line) as Told;
  throw new Error(`Client ${number} has ended.`);
}

/** Everything on the engine and the machine that contains one of the ids. */
function traces(engine: TestedEngine, ids: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const naming = (texts: readonly string[]): string[] => texts.filter((text) => ids.some((id) => text.includes(id)));
  const lines = (...argv: readonly string[]): string[] =>
    execFileSync(argv[0] ?? "", argv.slice(1), { encoding: "utf8" }).split("\n");
  const isHelper = (program = ""): boolean => program.endsWith("conmon");
  const processes = processesWith(([program, ...argv]) => !isHelper(program) && naming(argv).length > 0);
  const onEngine = (...list: readonly string[]): string[] =>
    engine === "local" ? [] : naming(lines(engine, ...list, "--format", "{{.Name}}"));
  return {
    containers: engine === "local" ? [] : naming(lines(engine, "ps", "-a", "--format", "{{.Names}}")),
    networks: onEngine("network", "ls"),
    volumes: onEngine("volume", "ls"),
    processes: processes.map(String),
    groups: naming(lines("find", "/sys/fs/cgroup", "-type", "d")),
    mounts: naming(readFileSync("/proc/mounts", "utf8").split("\n")),
  };
}

describe.each(engines)(`${clientCount} MCP clients on %s`, (engine) => {
  useGlovebox(engine);

  it.each(["over stdio, with a server each", "over HTTP, of one server"] as const)(
    "%s, have a session each and leave nothing when all of them vanish",
    { timeout: 240_000 },
    async (way) => {
      const shared = way.startsWith("over HTTP") ? await startHttpMcp([], environment(engine)) : null;
      if (shared !== null) clients.push(shared.child);
      const numbers = Array.from({ length: clientCount }, (_, number) => number);
      const told = await Promise.all(numbers.map((number) => startClient(number, engine, shared)));
      expect(told.map(({ error, stdout }) => error ?? stdout)).toEqual(numbers.map((number) => `['mine'] ${number}\n`));
      const ids = told.map(({ sandbox_id: id }) => id);
      expect(new Set(ids).size).toBe(clientCount);
      expect(new Set(told.map(({ session_id: id }) => id)).size).toBe(clientCount);
      expect(await sandboxes.on(engine)).toHaveLength(clientCount);
      for (const { serverPid } of told) if (serverPid !== null) process.kill(serverPid, "SIGKILL");
      await Promise.all(clients.splice(0).map(end));
      await shared?.[Symbol.asyncDispose]();

      // The next start sweeps; this command also waits for the sweep.
      const swept = await runCommand(["prune", "--json"], { environment: sandboxes.environment() });
      expect(swept).toMatchObject({ exitCode: 0 });
      expect(await sandboxes.on(engine)).toEqual([]);
      const nothing = { containers: [], networks: [], volumes: [], processes: [], groups: [], mounts: [] };
      expect(traces(engine, ids)).toEqual(nothing);
      expect(readdirSync(temporary)).toEqual([]);
      const state = path.join(sandboxes.environment().XDG_STATE_HOME, "glovebox");
      expect(readdirSync(path.join(state, "sandboxes"))).toEqual([]);
    },
  );
});
