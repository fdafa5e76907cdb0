import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { OutputQueue } from "../../engines/output-queue.ts";
import { Redaction } from "../../policy/redaction.ts";
import { OutputJoint } from "../../sandbox/sandbox-output.ts";
import { BackgroundProcess } from "./background-processes.ts";
import { PortRelays } from "./program-ports.ts";

const text = "x".repeat(1_000_000);

async function start(): Promise<{ readonly stdin: PassThrough; readonly process: BackgroundProcess }> {
  const stdin = new PassThrough();
  const output = new OutputQueue(() => undefined);
  const process = new BackgroundProcess({
    id: "proc-1",
    command: ["true"],
    startedAtMs: 0,
    process: { stdin, output, exit: new Promise(() => undefined), kill: () => Promise.resolve() },
    redaction: new Redaction([]),
    sandbox: {
      state: "running",
      output: new OutputJoint(),
      endProcessAlone: () => Promise.resolve("clean"),
      endLeftBehind: () => Promise.resolve("clean"),
    },
    relays: await PortRelays.open([], () => Promise.reject(new Error("no ports"))),
    onEnded: () => undefined,
  });
  return { stdin, process };
}

it("takes no more than one text of what a process does not read, however many come at once", async () => {
  const { stdin, process } = await start();
  const writes = Array.from({ length: 20 }, () => process.write(text, false).catch((error: unknown) => error as Error));
  const told = await Promise.all(writes);
  expect(stdin.writableLength).toBeLessThanOrEqual(text.length);
  expect(told.every((error) => error?.message.includes(`${stdin.writableLength} bytes wait`))).toBe(true);
  expect(told.filter((error) => error?.message.includes("nothing of this was taken"))).toHaveLength(19);
}, 20_000);

it("takes texts one after another when the process reads", async () => {
  const { stdin, process } = await start();
  let bytes = 0;
  stdin.on("data", (piece: Buffer) => void (bytes += piece.length));
  await Promise.all(Array.from({ length: 5 }, () => process.write(text, false)));
  await process.write("end", true);
  await new Promise((resolve) => void stdin.once("end", resolve));
  expect(bytes).toBe(5 * text.length + 3);
});
