import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { MountIdentity } from "../../src/engines/container-spec.ts";
import { openPlace, type OpenPlace } from "../../src/sandbox/mounts/open-place.ts";

/** A folder on this machine with a file and a folder that everyone may write to. */
export class HostFolder implements AsyncDisposable {
  readonly path: string;
  readonly #held: OpenPlace[] = [];

  private constructor(folder: string) {
    this.path = folder;
  }

  static async make(): Promise<HostFolder> {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), "glovebox-mount-")));
    await writeFile(path.join(folder, "file"), "host\n");
    await mkdir(path.join(folder, "open"));
    await chmod(path.join(folder, "open"), 0o777);
    await chmod(path.join(folder, "file"), 0o666);
    await chmod(folder, 0o777);
    return new HostFolder(folder);
  }

  at(name: string): string {
    return path.join(this.path, name);
  }

  /** What a mount of a folder in it must be, which is held open as long as this is. */
  async identityOf(name: string): Promise<MountIdentity> {
    const place = await openPlace(this.at(name), "linux");
    if (place === null) throw new Error("The folder changed while it was opened.");
    this.#held.push(place);
    return place.identify();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const place of this.#held) await place[Symbol.asyncDispose]();
    await rm(this.path, { recursive: true, force: true });
  }
}
