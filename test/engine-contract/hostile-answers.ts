import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { mebibyte } from "../../src/base/bytes.ts";
import { GloveboxError } from "../../src/errors/glovebox-error.ts";
import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import { bytesOf } from "../helpers/bytes-of.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import { ResourceWatch } from "../helpers/resource-watch.ts";
import type { RunningProcess } from "../helpers/running-process.ts";
import type { Topic } from "./behaviour.ts";
import type { Scene } from "./scene.ts";

/** Each operation waits up to 30 s for the program that moves files, and up to 25 s for its end. */
const needs = { capability: "programs", timeoutMs: 300_000 } as const;
/** What a disturbed call may fail with, if it fails at all. */
const failures = [
  "TIMEOUT",
  "POLICY_DENIED",
  "SANDBOX_LOST",
  "ENGINE_UNAVAILABLE",
  "INTERNAL",
  "NOT_FOUND",
  "INVALID_REQUEST",
];

const work: Readonly<Record<string, (files: SandboxFiles) => Promise<unknown>>> = {
  // Leaves out the temporary name of a file that is being written at the same time.
  list: async (files) =>
    (await files.list("/work")).entries.map(({ path }) => path).filter((path) => !path.startsWith(".glovebox-")),
  read: async (files) => (await bytesOf((await files.read("/work/file")).chunks)).toString("latin1"),
  tree: async (files) => {
    let bytes = 0;
    for await (const entry of files.readTree("/work/file")) {
      if (entry.kind !== "file") continue;
      for await (const chunk of entry.chunks) {
        bytes += chunk.length;
        // As a copy with a limit does.
        if (bytes > mebibyte) throw new GloveboxError("POLICY_DENIED", "more than the limit");
      }
    }
    return bytes;
  },
  write: (files) => files.write("/work/file", Buffer.from("mine")),
  "write tree": (files) => files.writeTree("/work", []),
};
const undisturbed = { list: ["file"], read: "mine", tree: 4, write: undefined, "write tree": undefined };

/** An archive that breaks off within a file reports that to the reader of the file (see `copyOut`). */
function errorTypeOf(reason: unknown): string {
  return reason instanceof RangeError ? "POLICY_DENIED" : (reason as GloveboxError).errorType;
}

async function besides(scene: Scene, mode: string, names: readonly (keyof typeof undisturbed)[]): Promise<void> {
  const container = await scene.idle({ image: scene.subject.images.python });
  const files = new SandboxFiles(container, scene.capabilities);
  await files.write("/work/file", Buffer.from("mine"));
  const program = fixtureProgram("disturbs-newcomers.py", mode);
  const hostile: RunningProcess = await scene.exec(container, program);
  await hostile.until("stdout", "ready");
  const watch = new ResourceWatch();
  const ended = await Promise.allSettled(names.map(async (name) => work[name]?.(files)));
  const { memoryBytes, longestPauseMs } = watch.end();
  const whole = names.map((name) => ({ status: "fulfilled", value: undisturbed[name] }));
  // The program found what it disturbed first; its message may arrive after the answers.
  if (!isDeepStrictEqual(ended, whole)) await hostile.until("stdout", "found");
  for (const result of ended) {
    if (result.status === "rejected") expect(failures).toContain(errorTypeOf(result.reason));
  }
  // A fifth of what the program writes in that time; most of it is garbage that has not been collected yet.
  expect(memoryBytes, "memory that the server took").toBeLessThan(192 * mebibyte);
  expect(longestPauseMs, "the longest time in which the server did nothing else").toBeLessThan(5_000);
  // Another sandbox is not affected.
  const other = new SandboxFiles(await scene.idle(), scene.capabilities);
  await other.write("/work/file", Buffer.from("theirs"));
  expect(await bytesOf((await other.read("/work/file")).chunks)).toEqual(Buffer.from("theirs"));
  const isLost = ended.some(
    (result) => result.status === "rejected" && (result.reason as GloveboxError).errorType === "SANDBOX_LOST",
  );
  if (isLost) return;
  await hostile.process.kill("SIGKILL").catch(() => container.remove());
}

/** What answers inside is within reach of the sandbox's programs: they can falsify its answers but do nothing else. */
export const hostileAnswers: Topic = (behaviour) => {
  behaviour(
    "hostile-answers.stopped",
    "a program that stops every new process makes a caller wait no longer than the deadline",
    (scene) => besides(scene, "stop", ["read", "write"]),
    needs,
  );
  const floods = {
    line: "a first line without an end",
    content: "more content than the size says",
    huge: "a header of 8 GiB and content without an end",
  };
  for (const [mode, title] of Object.entries(floods)) {
    behaviour(
      `hostile-answers.${mode}`,
      `a program that writes ${title} into what answers costs the server neither memory nor time`,
      (scene) => besides(scene, mode, ["list", "read", "tree", "write", "write tree"]),
      needs,
    );
  }
  behaviour(
    "hostile-answers.in-place",
    "a program that answers in place of what it has ended falsifies only its own sandbox's answers",
    (scene) => besides(scene, "answer", ["list", "read", "tree"]),
    needs,
  );
};
