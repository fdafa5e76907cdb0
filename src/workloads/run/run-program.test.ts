import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { unknownStats } from "../../engines/container-stats.ts";
import { OutputQueue } from "../../engines/output-queue.ts";
import { Redaction } from "../../policy/redaction/redaction.ts";
import { OutputJoint } from "../../sandbox/output-joint.ts";
import { noNetworkReport } from "./explain-network.ts";
import { runProgram } from "./run-program.ts";

it("takes the program's network away before what it left is read", async () => {
  const order: string[] = [];
  const output = new OutputQueue(() => undefined);
  output.end();
  const stats = () => Promise.resolve(unknownStats);
  const judged = await runProgram({
    sandbox: { output: new OutputJoint(), stats, measure: stats, state: "running" },
    record: { id: "run-1", policyDigest: "", end: ({ outcome }) => void order.push(`recorded ${outcome}`) },
    start: () =>
      Promise.resolve({
        process: {
          stdin: new PassThrough().resume(),
          output,
          exit: Promise.resolve({ exitCode: 0 }),
          kill: () => Promise.resolve(),
        },
        networkReport: () => Promise.resolve(noNetworkReport).finally(() => order.push("network asked")),
        [Symbol.dispose]: () => void order.push("network closed"),
      }),
    job: { main: "main.py", arguments: [], environment: {}, files: [], data: [], folder: "/work" },
    stdin: new PassThrough().end(),
    redaction: new Redaction([]),
    timeoutMs: 5_000,
    maxOutputBytes: 100,
    onOutput: () => undefined,
    monotonicMs: () => performance.now(),
    end: () => Promise.resolve(),
    isLost: () => order.push("results read") > 100,
  });
  expect(judged.outcome).toBe("completed");
  expect(order.slice(0, 4)).toEqual(["network asked", "network closed", "results read", "recorded completed"]);
});
