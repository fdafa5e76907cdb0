import { spawn } from "node:child_process";
import { once } from "node:events";
import { GloveboxError } from "../../../errors/glovebox-error.ts";

/** Writes the files of a build's archive, which is ours, into an empty folder: the command builds from folders only. */
export async function unpackContext(
  archive: Uint8Array,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const child = spawn("tar", ["-x", "-f", "-", "-C", folder], {
    stdio: ["pipe", "ignore", "ignore"],
    ...(signal === undefined ? {} : { signal }),
  });
  child.stdin.on("error", () => {
    // Its exit code says that it did not read everything.
  });
  child.stdin.end(archive);
  const [exitCode] = (await once(child, "close")) as [number | null];
  if (exitCode !== 0) throw new GloveboxError("INTERNAL", "The files of an image's build could not be written.");
}
