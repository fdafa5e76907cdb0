import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { RawMcp } from "../helpers/raw-mcp.ts";
import { runCommand } from "../helpers/run-command.ts";
import { StoppingProxy } from "../helpers/stopping-proxy.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

const endings = {
  "end of stdin": ({ child }: RawMcp) => void child.stdin.end(),
  SIGINT: ({ child }: RawMcp) => void child.kill("SIGINT"),
  SIGTERM: ({ child }: RawMcp) => void child.kill("SIGTERM"),
  "a client that is gone": ({ child }: RawMcp) => {
    child.stdout.destroy();
    child.stdin.destroy();
  },
};
const cases = (["docker", "local"] as const).flatMap((engine) =>
  (Object.keys(endings) as (keyof typeof endings)[]).map((ending) => ({ engine, ending })),
);

const sandboxes = useOwnSandboxes();

describe.each(["docker", "local"] as const)("glovebox mcp on %s", (engine) => {
  useGlovebox(engine);

  it.each(cases.filter((each) => each.engine === engine))(
    "ends its work at $ending, leaves nothing and exits with 0",
    async ({ ending }) => {
      const server = new RawMcp(["--engine", engine, "--answer-within", "1s"], sandboxes.environment());
      await server.initialize();
      const seconds = [uniqueSeconds(), uniqueSeconds()];
      for (const [index, each] of seconds.entries()) {
        const code = `import subprocess; subprocess.run(['sleep', '${each}'])`;
        const params = { name: "execute_code", arguments: { language: "python", code, timeout_seconds: 300 } };
        server.send({ jsonrpc: "2.0", id: index, method: "tools/call", params });
        await until(() => sleepersFor(each).length > 0);
      }
      // The first continues only under its run_id; the second may still be awaited.
      await server.answer(({ id }) => id === 0);
      endings[ending](server);
      expect(await server.ended).toBe(0);
      expect(seconds.flatMap(sleepersFor)).toEqual([]);
      expect(await sandboxes.on(engine)).toEqual([]);
    },
  );
});

describe("glovebox mcp whose engine stops answering", () => {
  useGlovebox("docker");

  /** A server with an idle session, an environment and a run in progress, all behind a socket that then stops answering. */
  async function stuckServer(proxy: StoppingProxy): Promise<{ server: RawMcp; log: () => string }> {
    const server = new RawMcp(["--engine", "docker"], {
      ...sandboxes.environment(),
      DOCKER_HOST: proxy.address,
      GLOVEBOX_IMAGE_SESSION: sessionImages.session,
    });
    let log = "";
    server.child.stderr.on("data", (text: Buffer) => (log += text.toString()));
    await server.initialize();
    const call = (name: string, args: object): unknown => ({ name, arguments: args });
    await server.request(1, "tools/call", call("run_code", { language: "python", code: "1", packages: [] }));
    await server.request(2, "tools/call", call("create_environment", { env_id: "env", image: sessionImages.python }));
    const seconds = uniqueSeconds();
    const code = `import os; os.system('sleep ${seconds}')`;
    server.send({
      jsonrpc: "2.0",
      id: 3,
      method: "tools/call",
      params: call("execute_code", { language: "python", code }),
    });
    await until(() => sleepersFor(seconds).length > 0);
    proxy.stop();
    return { server, log: () => log };
  }

  it.each(["end of stdin", "SIGTERM"] as const)(
    "ends all the same at %s, with 1, and names what the next start removes",
    { timeout: 60_000 },
    async (ending) => {
      await using proxy = await StoppingProxy.start();
      const { server, log } = await stuckServer(proxy);
      const left = await sandboxes.on("docker");
      expect(left).toHaveLength(3);
      endings[ending](server);
      // Far less than calls to an engine may take.
      expect(await Promise.race([server.ended, sleep(30_000, "late")])).toBe(1);
      expect(log()).toContain("not everything could be removed");
      for (const { sandbox_id: id } of left) expect(log()).toContain(id);
      expect(await runCommand(["prune"], { environment: sandboxes.environment() })).toMatchObject({ exitCode: 0 });
      expect(await sandboxes.on("docker")).toEqual([]);
    },
  );

  it("ends at once at a second SIGINT", async () => {
    await using proxy = await StoppingProxy.start();
    const { server } = await stuckServer(proxy);
    server.child.kill("SIGINT");
    // A signal right after the first one is its echo.
    server.child.kill("SIGINT");
    await sleep(1_000);
    server.child.kill("SIGINT");
    expect(await server.ended).toBe(130);
    await runCommand(["prune"], { environment: sandboxes.environment() });
    expect(await sandboxes.on("docker")).toEqual([]);
  });
});
