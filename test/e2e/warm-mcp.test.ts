import { describe, expect, it } from "vitest";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { RawMcp } from "../helpers/raw-mcp.ts";
import { until } from "../helpers/until.ts";

describe.each(engines.filter((engine) => engine !== "local"))("glovebox mcp on %s, as it is set up", (engine) => {
  useGlovebox(engine);
  const own = useOwnSandboxes();
  const waiting = async (): Promise<readonly string[]> =>
    (await own.on(engine)).filter(({ principal }) => principal === "").map(({ sandbox_id }) => sandbox_id);

  it("has none before its first call, gives the next call one, and keeps none without calls or after its end", async () => {
    const environment = { ...own.environment(), GLOVEBOX_WARM_POOL: "auto", GLOVEBOX_WARM_POOL_IDLE_TIMEOUT: "6s" };
    const mcp = new RawMcp(["--engine", engine], environment);
    try {
      await mcp.initialize();
      let id = 0;
      const call = async (): Promise<void> => {
        const { result } = await mcp.request((id += 1), "tools/call", {
          name: "execute_code",
          arguments: { language: "python", code: "print('ran')" },
        });
        expect(result).toMatchObject({ structuredContent: { outcome: "completed", stdout: "ran\n" } });
      };
      expect(await own.on(engine)).toEqual([]);
      await call();
      await until(async () => (await waiting()).length === 1);
      const [former] = await waiting();
      await call();
      await until(async () => (await waiting()).length === 1);
      expect(await waiting(), "that one has served").not.toContain(former);
      // There are no calls for longer than the idle time.
      await until(async () => (await own.on(engine)).length === 0);
      await call();
      await until(async () => (await waiting()).length === 1);
      mcp.child.stdin.end();
      expect(await mcp.ended).toBe(0);
      expect(await own.on(engine)).toEqual([]);
    } finally {
      mcp.child.kill("SIGKILL");
    }
  });
});
