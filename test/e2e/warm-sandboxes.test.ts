import { nearUids } from "../../src/engines/container-users.ts";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { engines, places, useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { runCommand } from "../helpers/run-command.ts";
import { serveGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";
import { useWarmGlovebox } from "../helpers/warm-glovebox.ts";
import type { ExecuteRequest, ExecuteResponse } from "../helpers/wire-glovebox.ts";
import { rareTag } from "../lanes/lanes.ts";
import { executeCases } from "./execute/execute-cases.ts";
import { worldPrograms } from "./execute/world-programs.ts";

const isOwnUser = (id: number): boolean => id >= nearUids.minimum && id < nearUids.maximum;

describe.each(places.filter(({ runtime }) => runtime.oci_runtime === undefined))(
  "a run in a sandbox that waited, on $name",
  (place) => {
    const warm = useWarmGlovebox(place);
    describe("is what it is in one of its own:", { tags: place.engine === "docker" ? [] : [rareTag] }, () => {
      executeCases(place.engine, (request, call) => warm().run(request, call));
    });

    const cold = useGlovebox(place.engine);
    it.each(Object.entries(worldPrograms))("sees the same world as in one of its own: %s", async (_, request) => {
      const told = ({ outcome, exit_code, stdout, stderr }: ExecuteResponse): unknown => ({
        ...{ outcome, exit_code, stderr },
        // Each sandbox has a user of its own.
        world: JSON.parse(stdout.replaceAll(/\b\d{5}\b/g, (id) => (isOwnUser(Number(id)) ? "0" : id))) as unknown,
      });
      expect(told(await warm().run(request))).toEqual(told(await cold().execute(request)));
    });

    it("has its own hash seed and addresses, and nothing of the previous run", async () => {
      const request: ExecuteRequest = {
        language: "python",
        code: "import os\nprint(hash('a'), id(object()), os.listdir('/work'), os.listdir('/tmp'))\nopen('/tmp/left', 'w')\nopen('left', 'w')",
      };
      const [one, other] = [await warm().run(request), await warm().run(request)];
      expect(one.stdout).toContain("['main.py'] []");
      expect(other.stdout).toContain("['main.py'] []");
      expect(one.stdout).not.toBe(other.stdout);
      expect(one.sandbox_id).not.toBe(other.sandbox_id);
    });
  },
);

describe.each(engines.filter((engine) => engine !== "local"))("glovebox serve on %s, as it is set up", (engine) => {
  useGlovebox(engine);
  const own = useOwnSandboxes();

  it("has one wait after a run, gives it to the next under that one's name, and leaves none when it is killed", async () => {
    const environment = { ...own.environment(), GLOVEBOX_WARM_POOL: "auto" };
    await using server = await serveGlovebox(environment, undefined, engine);
    const run = async (): Promise<unknown> => {
      const { body } = await server.call("POST", "/api/sandbox/execute", { language: "python", code: "print('ran')" });
      return body;
    };
    expect(await run()).toMatchObject({ outcome: "completed", stdout: "ran\n" });
    const waiting = async (): Promise<readonly string[]> =>
      (await own.on(engine)).filter(({ principal }) => principal === "").map(({ sandbox_id }) => sandbox_id);
    await until(async () => (await waiting()).length === 1);
    const [former] = await waiting();
    const second = (await run()) as { readonly stdout: string; readonly sandbox_id: string };
    expect(second.stdout).toBe("ran\n");
    expect(second.sandbox_id).not.toBe(former);
    await until(async () => (await waiting()).length === 1);
    expect(await waiting(), "that one has served").not.toContain(former);
    const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } });
    const counted = (await metrics.text()).split("\n");
    for (const line of [
      `glovebox_warm_sandboxes{engine="${engine}"} 1`,
      `glovebox_warm_sandbox_requests_total{engine="${engine}",result="hit"} 1`,
      `glovebox_warm_sandbox_requests_total{engine="${engine}",result="miss"} 1`,
    ]) {
      expect(counted).toContain(line);
    }

    server.child.kill("SIGKILL");
    await once(server.child, "exit");
    await runCommand(["prune", "--json"], { environment: own.environment() });
    expect(await own.on(engine)).toEqual([]);
  });
});
