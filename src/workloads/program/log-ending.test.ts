import { expect, it } from "vitest";
import type { Logger } from "../../base/logger.ts";
import { denial } from "../../policy/network/denial.ts";
import { noNetworkReport } from "./explain-network.ts";
import { logEnding } from "./log-ending.ts";

it("logs the end of a run in one line, with the first refusals and the count of all", () => {
  const lines: unknown[] = [];
  const log = (fields: unknown, message: string): number => lines.push([fields, message]);
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const ending = { sandboxId: "sbx-1", outcome: "failed", end: { exitCode: 1, durationMs: 5 } } as const;
  logEnding(logger, { ...ending, networkReport: noNetworkReport });
  const denials = [denial("port", "a.test:1", "Why.", "What.")];
  logEnding(logger, { ...ending, networkReport: { denials, denialCount: 7, isLost: false } });
  const fields = { sandbox: "sbx-1", outcome: "failed", exitCode: 1, durationMs: 5 };
  expect(lines).toEqual([
    [fields, "run ended"],
    [{ ...fields, refusedCount: 7, refused: [{ rule: "port", target: "a.test:1" }] }, "run ended"],
  ]);
});
