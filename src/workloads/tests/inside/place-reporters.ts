import { readdir, readFile } from "node:fs/promises";
import { createId } from "../../../base/id.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import type { NewTreeEntry } from "../../../sandbox/files/file-facts.ts";
import type { SandboxFiles } from "../../../sandbox/files/sandbox-files.ts";
import { reportsFolder } from "./folders.ts";

const source = new URL("../../../../images/reporters/", import.meta.url);

/** Puts our reporters and a fresh seed into the sandbox; resolves to the seed (see `reportKeys`). */
export async function placeReporters(files: SandboxFiles, options: CallOptions): Promise<string> {
  const seed = `${createId("seed")}-${createId("seed")}`;
  const names = (await readdir(source, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(?:[cm]js|py)$/.test(entry.name))
    .map((entry) => (entry.name.endsWith(".py") ? `python/${entry.name}` : entry.name));
  const contents = await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, source))] as const));
  const entries: NewTreeEntry[] = [
    { kind: "folder", path: "python", mode: 0o755, modifiedAtMs: 0 },
    ...[...contents, ["seed", Buffer.from(seed)] as const].map(([path, content]) => fileOf(path, content)),
  ];
  await files.writeTree(reportsFolder, entries, options);
  return seed;
}

function fileOf(path: string, content: Uint8Array): NewTreeEntry {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield content;
  };
  return { kind: "file", path, mode: 0o644, modifiedAtMs: 0, sizeBytes: content.length, chunks: chunks() };
}
