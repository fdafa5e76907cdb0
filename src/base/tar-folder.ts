import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { tarEnd, tarHeader, tarPadding } from "./tar-encoder.ts";

/**
 * A folder of this machine, whose files nobody changes, as a tar archive, piece by piece; times and owners are left out,
 * and so is what is neither a file nor a folder.
 */
export async function* tarOfFolder(folder: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield* entriesOf(folder, "");
  yield tarEnd;
}

async function* entriesOf(folder: string, prefix: string): AsyncGenerator<Uint8Array, void, undefined> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    const { mode, size: sizeBytes } = await stat(place);
    const facts = { path: `${prefix}${entry.name}`, mode: mode & 0o777, modifiedAtMs: 0 };
    if (entry.isDirectory()) {
      yield tarHeader({ ...facts, kind: "folder" });
      yield* entriesOf(place, `${facts.path}/`);
    } else if (entry.isFile()) {
      yield tarHeader({ ...facts, kind: "file", sizeBytes });
      yield* createReadStream(place) as AsyncIterable<Buffer>;
      yield tarPadding(sizeBytes);
    }
  }
}
