import path from "node:path";
import type { CallOptions } from "../../engines/engine.ts";
import type { CopyBudget } from "./copy-budget.ts";
import { modeOnHost } from "./host-facts.ts";
import { onHost } from "./on-host.ts";
import { findOnHost } from "./find-on-host.ts";
import { placeInside, wrongPlace, type InsideFilesToPlace, type NewTop } from "./place-inside.ts";
import { readHostFile, readHostTree } from "./read-host-tree.ts";

export interface HostSource {
  /**
   * Path of this machine on which no link is followed (see `findOnHost`); links below are copied as links. Ending in `/.`:
   * what is in the folder, without the folder.
   */
  readonly source: string;
  readonly budget: CopyBudget;
  readonly platform: NodeJS.Platform;
  /** Where relative paths of this machine start. */
  readonly workingDirectory: string;
}

export interface CopyIn extends HostSource {
  readonly files: InsideFilesToPlace;
  /** Absolute path inside. */
  readonly target: string;
}

/**
 * Copies a file or a folder into a sandbox, to the target that `docker cp` would choose; missing folders are created.
 * What was written before a failure stays. @throws what `SandboxFiles.write` and `writeTree` throw, and for what cannot
 * be read here
 */
export async function copyIn({ files, target, ...from }: CopyIn, options: CallOptions): Promise<void> {
  await withHostSource(from, (top) => placeInside(files, target, top, options));
}

/** Opens a file or a folder of this machine for the duration of the work. @throws for what cannot be read here */
export async function withHostSource<T>(from: HostSource, work: (top: NewTop) => Promise<T>): Promise<T> {
  const { source, budget, platform, workingDirectory } = from;
  const given = path.resolve(workingDirectory, source);
  await using found = await findOnHost(given, platform);
  const there = found.stat;
  const name = path.basename(given);
  if (there.isDirectory()) {
    await using folder = await onHost(source, found.parent.enter(found.name));
    const facts = { kind: "folder", path: "", mode: modeOnHost(there, platform), modifiedAtMs: there.mtimeMs } as const;
    const isContentOnly = /(?:^|[/\\])\.$/.test(source);
    return await work({ name, isContentOnly, first: facts, rest: readHostTree(folder, budget) });
  }
  if (!there.isFile()) throw wrongPlace(source, "is neither a file nor a folder");
  for await (const first of readHostFile({ folder: found.parent, name: found.name }, name, budget)) {
    return await work({ name, isContentOnly: false, first, rest: [] });
  }
  throw wrongPlace(source, "is neither a file nor a folder");
}
