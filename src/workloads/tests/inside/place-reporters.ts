import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createId } from "../../../base/id.ts";
import { readPackagedScript } from "../../../base/packaged-script.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import type { NewTreeEntry } from "../../../sandbox/files/file-facts.ts";
import type { SandboxFiles } from "../../../sandbox/files/sandbox-files.ts";
import { reportsFolder } from "./folders.ts";

const source = new URL("../../../../images/reporters/", import.meta.url);

/** What the keys of reports grow from (see `reportKeys` and `textKeys`). */
export interface ReporterSeeds {
  readonly reporters: string;
  readonly shell: string;
}

/** Puts our reporters and fresh seeds into the sandbox; resolves to the seeds. */
export async function placeReporters(files: SandboxFiles, options: CallOptions): Promise<ReporterSeeds> {
  const seeds = { reporters: newSeed(), shell: newSeed() };
  const found = (await readdir(source, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(?:[cm]js|py|sh)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(
    found.map(async (path) => {
      const text = await readPackagedScript(pathToFileURL(path));
      return [relative(fileURLToPath(source), path), Buffer.from(text)] as const;
    }),
  );
  const entries: NewTreeEntry[] = [
    ...["python", "shell"].map((path) => ({ kind: "folder", path, mode: 0o755, modifiedAtMs: 0 }) as const),
    ...contents.map(([path, content]) => fileOf(path.replaceAll("\\", "/"), content)),
    fileOf("seed", Buffer.from(seeds.reporters)),
    fileOf("shell-seed", Buffer.from(seeds.shell)),
  ];
  await files.writeTree(reportsFolder, entries, options);
  return seeds;
}

function newSeed(): string {
  return `${createId("seed")}-${createId("seed")}`;
}

function fileOf(path: string, content: Uint8Array): NewTreeEntry {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield content;
  };
  return {
    kind: "file",
    path,
    mode: path.endsWith(".sh") ? 0o755 : 0o644,
    modifiedAtMs: 0,
    sizeBytes: content.length,
    chunks: chunks(),
  };
}
