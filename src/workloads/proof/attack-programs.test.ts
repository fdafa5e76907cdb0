import { expect, it } from "vitest";
import { saidAlone } from "./attack-programs.ts";

it.each([
  ["what it said", "x\nESCAPED: 400 MB\n", "completed", false, "ESCAPED: 400 MB"],
  ["what ended it", "", "oom_killed", false, "BLOCKED: oom_killed"],
  ["that its output was cut", "x", "completed", true, "BLOCKED: its output was cut"],
  ["nothing where nothing ended it", "x", "completed", false, ""],
] as const)("an attack that ran by itself tells %s", (_, stdout, outcome, truncated, said) => {
  expect(saidAlone({ stdout, outcome, truncated })).toBe(said);
});
