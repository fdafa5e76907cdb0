import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createId } from "../../src/base/id.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

const sandboxes = useOwnSandboxes();
const prune = () => runCommand(["prune", "--json"], { environment: sandboxes.environment() });

/** Starts a fixture's server and waits until it is up; it always ends with the test. */
async function startServer(fixture: string, ...argv: readonly string[]): Promise<AsyncDisposable & ChildProcess> {
  const server = spawn(process.execPath, [path.join(projectFolder, "test/fixtures", fixture), ...argv], {
    env: { ...process.env, ...sandboxes.environment() },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const end = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGKILL");
    await once(server, "exit");
  };
  await Promise.race([
    once(server.stdout, "data"),
    once(server, "exit").then(() => Promise.reject(new Error("ended"))),
  ]);
  return Object.assign(server, { [Symbol.asyncDispose]: end });
}

describe.each(engines)("a server with a session on %s", (engine) => {
  useGlovebox(engine);

  it("leaves nothing after kill -9 and a sweep", async () => {
    await using server = await startServer("idle-session.ts", engine);
    expect(await sandboxes.on(engine)).toMatchObject([{ kind: "session", owner: "living" }]);
    server.kill("SIGKILL");
    await once(server, "exit");
    await prune();
    expect(await sandboxes.on(engine)).toEqual([]);
  });
});

describe.each(["docker", "podman"] as const)("a server with an environment that was set up on %s", (engine) => {
  useGlovebox(engine);

  it("leaves neither container nor image after kill -9 and a sweep, which a living one keeps", async () => {
    const id = createId("env");
    const images = (): string =>
      execFileSync(engine, ["images", "-aq", "--filter", `label=glovebox.environment=${id}`], { encoding: "utf8" });
    await using server = await startServer("idle-environment.ts", engine, id);
    await prune();
    expect(images()).not.toBe("");
    expect(await sandboxes.on(engine)).toMatchObject([{ kind: "environment", owner: "living" }]);
    server.kill("SIGKILL");
    await once(server, "exit");
    await prune();
    expect(images()).toBe("");
    expect(await sandboxes.on(engine)).toEqual([]);
  });
});
