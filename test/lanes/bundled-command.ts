import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundleSources, sources } from "../../scripts/bundle/bundle-sources.ts";

const root = join(import.meta.dirname, "../..");
const cache = join(root, "node_modules/.cache/glovebox-command");
const keptMs = 24 * 3_600_000;

/**
 * Vitest calls it once before tests with engines. They start `glovebox` some thousand times: the bundle, in the form that
 * is published, needs half the work that reading the sources one by one takes. Its modules believe that they are those of
 * the checkout. A checkout of another user is not written to: there, tests start the sources.
 */
export async function setup(): Promise<void> {
  if (!isWritable(join(root, "node_modules"))) return;
  const { files } = await bundleSources({
    entries: ["cli/main.ts"],
    apart: [],
    urlOf: (source) => JSON.stringify(pathToFileURL(`${sources}${source}`).href),
  });
  const hash = createHash("sha256");
  for (const { path, text } of files) hash.update(`${path}\0${text}\0`);
  const folder = join(cache, hash.digest("hex").slice(0, 16));
  if (!existsSync(folder)) {
    const made = `${folder}-${process.pid}`;
    for (const { path, text } of files) {
      mkdirSync(dirname(join(made, path)), { recursive: true });
      writeFileSync(join(made, path), text);
    }
    const command = join(made, "glovebox");
    const node = join(root, "node_modules/.bin/node");
    writeFileSync(command, `#!/bin/sh\nexec '${node}' "\${0%/*}/cli/main.js" "$@"\n`);
    chmodSync(command, 0o755);
    // If two runs begin together, one of them is first; both make the same bundle.
    if (existsSync(folder)) rmSync(made, { recursive: true });
    else renameSync(made, folder);
  }
  utimesSync(folder, new Date(), new Date());
  removeOld();
  process.env["GLOVEBOX_TEST_COMMAND"] = join(folder, "glovebox");
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function removeOld(): void {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name);
    if (Date.now() - statSync(folder).mtimeMs > keptMs) rmSync(folder, { recursive: true, force: true });
  }
}
