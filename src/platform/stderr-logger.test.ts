import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { LogLevel } from "../config/config.ts";

const program = (least: LogLevel): string => `
  import { createRequire } from "node:module";
  import { stderrLogger } from ${JSON.stringify(new URL("stderr-logger.ts", import.meta.url).href)};
  const logger = stderrLogger(${JSON.stringify(least)}, () => ({ trace_id: "t1" }));
  const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => /[/\\\\]pino[/\\\\]/.test(path));
  logger.debug({ n: 1 }, "fine");
  console.log(loaded());
  logger.error({ n: 2, err: new Error("broken") }, "bad");
  console.log(loaded());
`;

function log(least: LogLevel): { readonly lines: readonly Record<string, unknown>[]; readonly loaded: string } {
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program(least)], {
    encoding: "utf8",
  });
  const lines = stderr.trim().split("\n").filter(Boolean);
  return { lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>), loaded: stdout };
}

describe("stderrLogger", () => {
  it("writes lines of its level and above, with the fields of the call, and loads its library with the first", () => {
    const { lines, loaded } = log("warn");
    expect(lines).toMatchObject([
      { name: "glovebox", level: 50, n: 2, trace_id: "t1", msg: "bad", err: { message: "broken" } },
    ]);
    expect(loaded).toBe("false\ntrue\n");
  });

  it("writes everything at the levels below, and nothing when it is silent or keeps fatal entries alone", () => {
    expect(log("trace").lines).toMatchObject([{ msg: "fine" }, { msg: "bad" }]);
    expect(log("debug").lines).toMatchObject([{ msg: "fine" }, { msg: "bad" }]);
    for (const least of ["silent", "fatal"] as const)
      expect(log(least)).toEqual({ lines: [], loaded: "false\nfalse\n" });
  });
});
