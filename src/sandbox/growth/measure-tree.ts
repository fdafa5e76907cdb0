import { fileURLToPath } from "node:url";
import { z } from "zod";
import { kibibyte, mebibyte } from "../../base/bytes.ts";
import { runLimitedChild } from "../../base/processes/limited-child.ts";
import type { TreeSize } from "../../policy/project-growth.ts";
import type { TreeWalk } from "./walk-tree.ts";

export interface MeasureTree extends Omit<TreeWalk, "maxFiles" | "maxDepth"> {
  /** Node's executable, as in `process.execPath`. */
  readonly executable: string;
}

/** A million files take 5 to 10 s. */
const timeLimitMs = 30_000;
/** Each level takes two descriptors. */
const bounds = { maxFiles: 5_000_000, maxDepth: 1_000 } as const;
const heapMegabytes = 512;
/** Address space; Node reserves about 1.5 GiB of it at the start. */
const addressSpaceBytes = 4096 * mebibyte;

/** It reads any folder, and needs to write or start nothing. */
const flags = [`--max-old-space-size=${heapMegabytes}`, "--no-warnings", "--permission", "--allow-fs-read=*"];

const count = z.number().nonnegative();
const answerSchema = z.strictObject({
  bytes: count,
  files: count,
  freshBytes: count,
  freshFiles: count,
  isWhole: z.boolean(),
});

const unknown: TreeSize = { bytes: 0, files: 0, freshBytes: 0, freshFiles: 0, isWhole: false };

/**
 * The size of a folder, walked in a separate process, so that nothing in the folder can block this one. The result is
 * incomplete if that process runs out of time or memory. @throws CANCELLED
 */
export async function measureTree({ executable, ...walk }: MeasureTree, signal: AbortSignal): Promise<TreeSize> {
  const result = await runLimitedChild(
    {
      name: "The measuring of a project",
      command: [executable, ...flags, script()],
      environment: {},
      platform: walk.platform,
      input: JSON.stringify({ ...walk, ...bounds } satisfies TreeWalk),
      timeLimitMs,
      memoryLimitBytes: addressSpaceBytes,
      maxOutputBytes: kibibyte,
    },
    signal,
  );
  if (result.exitCode !== 0) return unknown;
  const answer = answerSchema.safeParse(JSON.parse(Buffer.from(result.stdout).toString("utf8")));
  return answer.success ? answer.data : unknown;
}

function script(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? "./walk-main.ts" : "./walk-main.js", import.meta.url));
}
