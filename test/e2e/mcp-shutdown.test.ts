import { describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { RawMcp } from "../helpers/raw-mcp.ts";
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
      // The first goes on by its run_id alone; the second may still be waited for.
      await server.answer(({ id }) => id === 0);
      endings[ending](server);
      expect(await server.ended).toBe(0);
      expect(seconds.flatMap(sleepersFor)).toEqual([]);
      expect(await sandboxes.on(engine)).toEqual([]);
    },
  );
});
