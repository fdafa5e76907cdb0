import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { GloveboxError } from "../../errors/glovebox-error.ts";

export interface SeccompFileOptions {
  /** A folder that nobody else can write to; made when it is missing. */
  readonly folder: string;
  readonly profile: object;
}

/**
 * Puts the profile into a file, for an engine that takes a path, and gives the path. Named by its content, so that
 * versions of Glovebox do not disturb each other; written anew when it holds anything else.
 * @throws UNSUPPORTED when it cannot be written
 */
export async function writeSeccompFile({ folder, profile }: SeccompFileOptions): Promise<string> {
  const text = JSON.stringify(profile);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 32);
  const file = path.join(folder, `${hash}.json`);
  let unfinished: string | undefined;
  try {
    if ((await readFile(file, "utf8").catch(() => null)) === text) return file;
    await mkdir(folder, { recursive: true, mode: 0o755 });
    unfinished = await mkdtemp(path.join(folder, ".new-"));
    // A service that runs as another user must be able to read it.
    await writeFile(path.join(unfinished, "profile"), text, { mode: 0o644 });
    await rename(path.join(unfinished, "profile"), file);
    return file;
  } catch (error) {
    throw new GloveboxError(
      "UNSUPPORTED",
      "Glovebox cannot write the seccomp profile for Podman to its state folder.",
      {
        suggestion: "Make the state folder writable (XDG_STATE_HOME), or choose another engine.",
        context: { engine: "podman", missing: "seccomp" },
        cause: error,
      },
    );
  } finally {
    if (unfinished !== undefined) await rm(unfinished, { recursive: true, force: true });
  }
}
