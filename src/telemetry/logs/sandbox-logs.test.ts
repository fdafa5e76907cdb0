import { expect, it } from "vitest";
import type { ObservedSandbox } from "../../sandbox/sandbox-observer.ts";
import { SandboxLogs } from "./sandbox-logs.ts";

it("loses the oldest of who holds most, and nothing of who holds less", () => {
  const logs = new SandboxLogs({ sinks: [], now: () => 0, monotonicMs: () => 0 });
  const run = (id: string, principal: string): void => {
    const sandbox = { id, output: { listen: () => undefined } };
    logs.sandboxOpened({ sandbox, kind: "execute", principal, engine: "local" } as unknown as ObservedSandbox);
    logs.sandboxRemoved(id);
  };
  run("small", "ann");
  // Logs of 1,000 ended sandboxes are held.
  for (let count = 0; count < 1_100; count += 1) run(`other-${count}`, "eve");
  expect(logs.find("small")).toBeDefined();
  expect(logs.find("other-0")).toBeUndefined();
  expect(logs.find("other-1099")).toBeDefined();
});
