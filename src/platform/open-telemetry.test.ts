import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { Logger } from "../base/logger.ts";
import type { LogLevel } from "../config/config.ts";
import { stderrLogger } from "./open-telemetry.ts";

const program = (least: LogLevel): string => `
  import { createRequire } from "node:module";
  import { stderrLogger } from ${JSON.stringify(new URL("open-telemetry.ts", import.meta.url).href)};
  const logger = stderrLogger({ least: ${JSON.stringify(least)}, fieldsOfCall: () => ({ trace_id: "t1" }) });
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

  it("hands them to what was given instead, made for the first", () => {
    const told: string[] = [];
    let made = 0;
    const log = (fields: object, message: string): void => void told.push(`${message} ${JSON.stringify(fields)}`);
    const openLog = (): Logger => {
      made += 1;
      return { debug: log, info: log, warn: log, error: log };
    };
    const logger = stderrLogger({ least: "warn", fieldsOfCall: () => ({ trace_id: "t1" }), openLog });
    logger.info({}, "fine");
    expect(made).toBe(0);
    logger.warn({}, "odd");
    logger.error({ n: 1 }, "bad");
    expect([made, told]).toEqual([1, ['odd {"trace_id":"t1"}', 'bad {"trace_id":"t1","n":1}']]);
  });
});
