import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { git } from "../../../test/helpers/git.ts";
import { until } from "../../../test/helpers/until.ts";
import type { NewTreeEntry } from "../../sandbox/files/file-way.ts";
import { openPlace } from "../../sandbox/mounts/open-place.ts";
import { LiveCopy } from "./live-copy.ts";

let folder: string;
/** What the sandbox has: everything but folders. */
let inside: Set<string>;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  inside = new Set();
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** All at once, so that a change is inside whole or not at all. */
const take = async (
  entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
  gone: readonly string[],
): Promise<void> => {
  const taken: string[] = [];
  for await (const entry of entries) {
    if (entry.kind === "file") for await (const _ of entry.chunks);
    if (entry.kind !== "folder") taken.push(entry.path);
  }
  for (const name of taken) inside.add(name);
  for (const name of gone) inside.delete(name);
};

it("follows what git tracks as soon as its index is written, without looking through everything", async () => {
  for (const name of [".gitignore", "a", "build/b", "build/c"]) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), "build/\n");
  }
  git(folder, "init", "--quiet");
  git(folder, "add", "--force", "a", "build/b");
  await using project = await openPlace(folder, process.platform);
  if (project === null) throw new Error("The project was not opened.");
  const problems: string[] = [];
  await using _ = await LiveCopy.open({
    ...{ project, includeIgnored: false, maxBytes: 1_000_000, target: "/work/project", platform: process.platform },
    files: {
      writeTree: (_target, entries) => take(entries, []),
      update: (_target, { entries, gone }) => take(entries, gone),
    },
    // Time stands still, so that it is never time to look through everything.
    monotonicMs: () => 0,
    onProblem: ({ message }) => void problems.push(message),
    signal: new AbortController().signal,
  });
  expect([...inside].toSorted()).toEqual([".gitignore", "a", "build/b"]);
  // What comes after a change of the index is not inside before it.
  const settled = async (name: string): Promise<readonly string[]> => {
    writeFileSync(path.join(folder, name), "");
    await until(() => inside.has(name));
    return [...inside].toSorted();
  };
  git(folder, "add", "--force", "build/c");
  expect(await settled("x")).toEqual([".gitignore", "a", "build/b", "build/c", "x"]);
  git(folder, "rm", "--quiet", "--cached", "build/b");
  expect(await settled("y")).toEqual([".gitignore", "a", "build/c", "x", "y"]);
  expect(problems).toEqual([]);
});
