import { expect, it } from "vitest";
import { decideOutcome, type Ending, type Outcome } from "./outcome.ts";

const cases: [string, Ending, Outcome][] = [
  ["exit 0", { interruption: null, exitCode: 0, oomKills: 0 }, "completed"],
  ["exit 1", { interruption: null, exitCode: 1, oomKills: 0 }, "failed"],
  ["SIGKILL by itself", { interruption: null, exitCode: 137, oomKills: 0 }, "failed"],
  ["SIGKILL, kernel silent", { interruption: null, exitCode: 137, oomKills: null }, "failed"],
  ["killed for want of memory", { interruption: null, exitCode: 137, oomKills: 1 }, "oom_killed"],
  ["a child out of memory made it fail", { interruption: null, exitCode: 1, oomKills: 2 }, "oom_killed"],
  ["a child out of memory was handled", { interruption: null, exitCode: 0, oomKills: 1 }, "completed"],
  ["timeout, then exit 0 on SIGTERM", { interruption: "timeout", exitCode: 0, oomKills: 0 }, "timed_out"],
  [
    "timeout came first, memory ran out while it ended",
    { interruption: "timeout", exitCode: 137, oomKills: 1 },
    "timed_out",
  ],
  ["cancelled", { interruption: "cancel", exitCode: 143, oomKills: 0 }, "cancelled"],
  ["engine gone", { interruption: "lost", exitCode: null, oomKills: null }, "sandbox_lost"],
  ["the whole sandbox ended for want of memory", { interruption: "lost", exitCode: null, oomKills: 1 }, "oom_killed"],
  ["no exit code", { interruption: null, exitCode: null, oomKills: null }, "sandbox_lost"],
];

it.each(cases)("%s", (_, ending, expected) => {
  expect(decideOutcome(ending)).toBe(expected);
});
