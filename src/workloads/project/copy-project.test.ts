import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { NewTreeEntry } from "../../sandbox/files/file-way.ts";
import { openPlace } from "../../sandbox/mounts/open-place.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";
import { copyProject } from "./copy-project.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const put = (name: string, text = ""): void => {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  writeFileSync(path.join(folder, name), text);
};

async function copy(
  includeIgnored: boolean,
): Promise<{ readonly names: string[]; readonly warnings: readonly string[] }> {
  await using project = await openPlace(folder, process.platform);
  if (project === null) throw new Error("The project was not opened.");
  const names: string[] = [];
  const writeTree = async (_: string, entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>): Promise<void> => {
    for await (const entry of entries) if (entry.kind !== "folder") names.push(entry.path);
  };
  const files = { writeTree } as Partial<SandboxFiles> as SandboxFiles;
  const source = { project, includeIgnored, maxBytes: 1_000_000 };
  return { names, warnings: await copyProject(source, { files }, { platform: process.platform }) };
}

it.skipIf(process.platform === "win32")(
  "names what is left out for its kind and its name, and where git's index is not read",
  async () => {
    for (const name of ["a", "node_modules/x/y", "src/__pycache__/z", "b.log"]) put(name);
    put(".gitignore", "*.log\n");
    put(".git/HEAD");
    put(".git/index", "no index");
    execFileSync("mkfifo", [path.join(folder, "pipe")]);
    expect(await copy(false)).toEqual({
      names: [".gitignore", "a"],
      warnings: [
        'Left out, since tools make it anew: "node_modules", "src/__pycache__".',
        'Left out, neither a file, a folder nor a link: "pipe".',
        '".git" has an index that is not understood, so what git tracks there is not known: what .gitignore names is left out, tracked files too.',
      ],
    });
    const all = await copy(true);
    expect(all.names).toContain("node_modules/x/y");
    expect(all.warnings).toEqual(['Left out, neither a file, a folder nor a link: "pipe".']);
  },
);
