import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createId } from "../../src/base/id.ts";
import type { Engine } from "../../src/engines/engine.ts";

/** What replaces the image's own tools. */
export interface HostileTools {
  /** Shell programs by name; they are found before those of the image. */
  readonly programs: Readonly<Record<string, string>>;
}

/** An image that adds somebody's own tools to another image; removed with `remove`. */
export async function buildHostileImage(
  engine: Engine,
  base: string,
  { programs }: HostileTools,
): Promise<{ readonly reference: string; readonly remove: () => Promise<void> }> {
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-hostile-"));
  try {
    const names = Object.keys(programs);
    // It comes before all other folders of the PATH.
    const copies = names.map((name) => `COPY ${name} /usr/local/sbin/${name}`);
    writeFileSync(path.join(folder, "Dockerfile"), [`FROM ${base}`, ...copies, ""].join("\n"));
    for (const [name, text] of Object.entries(programs))
      writeFileSync(path.join(folder, name), `#!/bin/sh\n${text}`, { mode: 0o755 });
    const context = execFileSync("tar", ["-cf", "-", "-C", folder, "Dockerfile", ...names]);
    const reference = `localhost/glovebox-test/hostile:${createId("image").replace("_", "-")}`;
    await engine.images.build({ reference, context, arguments: {}, labels: {} });
    return { reference, remove: () => engine.images.remove(reference) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
