import { PassThrough, Readable } from "node:stream";
import { expect, it } from "vitest";
import type { Process } from "../../engines/engine.ts";
import { failureOf } from "../../../test/helpers/failure-of.ts";
import { FileProcess } from "./file-process.ts";

/** A script that ends with 126 and says nothing, as one does whose engine goes away. */
const ended = (): Process => ({
  stdin: new PassThrough().resume(),
  output: Readable.from([]),
  exit: Promise.resolve({ exitCode: 126 }),
  isGone: () => Promise.resolve(true),
  kill: () => Promise.resolve(),
});

it.each<[string, boolean, "INTERNAL" | "SANDBOX_LOST"]>([
  ["an error of ours in a sandbox that lives", true, "INTERNAL"],
  ["the sandbox's end in one that has ended", false, "SANDBOX_LOST"],
])("a failure without a known reason is %s", async (_, isAlive, errorType) => {
  const container = { exec: () => Promise.resolve(ended()), isAlive: () => Promise.resolve(isAlive) };
  const process = await FileProcess.start(container, "exit 126", ["/work/a"], {});
  expect((await failureOf(process.end(), errorType)).context).toEqual({ path: "/work/a" });
});
