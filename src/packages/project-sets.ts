import type { RuntimeName } from "../languages/language-table.ts";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import type { Logger } from "../base/logger.ts";
import type { Engine } from "../engines/engine.ts";
import type { Ecosystem } from "../policy/install-policy.ts";
import type { Caller, Sandboxes } from "../sandbox/sandboxes.ts";
import { diskBytesOf } from "./set-folder.ts";
import type { PackageCache } from "./package-cache.ts";
import type { PackageSetKey, ProjectManager } from "./package-set.ts";
import type { FindInstaller } from "./find-installer.ts";

export interface ProjectSetsOptions {
  readonly cache: PackageCache;
  readonly installers: FindInstaller;
  /** Those of installers, which take no place of a run's. */
  readonly sandboxes: Sandboxes;
  /** Makes room after a set was added. */
  readonly prune: () => Promise<unknown>;
  readonly logger: Logger;
}

/** Dependencies that an image's tools install from files of a project. */
export interface ProjectSetRequest {
  readonly engine: Engine;
  /** The image that will use them: it installs them, too. */
  readonly image: string;
  readonly ociRuntime: string | undefined;
  /** What they are for. */
  readonly interpreter: RuntimeName;
  readonly ecosystem: Ecosystem;
  readonly manager: ProjectManager;
  /** All that decides what is installed beside the image: names for people, and a digest. */
  readonly inputs: readonly string[];
}

export interface ProjectSetMaking {
  /** Installs them in a sandbox of `sandboxes` and gives an archive, whose bytes it bounds. */
  readonly make: (sandboxes: Sandboxes, image: string) => AsyncIterable<Uint8Array>;
  /** Called once when another run is installing the same. */
  readonly onWait: () => void;
}

/** Dependencies that stay as long as this is held. */
export interface ProjectSet extends AsyncDisposable {
  /** Bytes that only a sandbox ever unpacks. */
  archive(): AsyncIterable<Uint8Array>;
}

const archiveName = "dependencies.tar";
/** Its folders and its record. */
const ownEntries = 4;

/**
 * Installed dependencies of projects in the package cache, each set one archive that no program can change and that this
 * machine never unpacks. A set is its principal's alone: what installs it runs code of strangers.
 */
export class ProjectSets {
  readonly #options: ProjectSetsOptions;

  constructor(options: ProjectSetsOptions) {
    this.#options = options;
  }

  /** @throws what `make` throws, CANCELLED, and what asking the image for its platform throws */
  async provide(request: ProjectSetRequest, caller: Caller, { make, onWait }: ProjectSetMaking): Promise<ProjectSet> {
    const { cache, installers, sandboxes, prune, logger } = this.#options;
    const { engine, ecosystem, manager, inputs } = request;
    const image = await engine.images.identity(request.image, { signal: caller.signal });
    const { platform } = await installers.find({ ...request, image, onHost: false }, caller);
    const origin = { engine: engine.name, image, onHost: false, principal: caller.principal };
    const key: PackageSetKey = { ecosystem, manager, platform, origin, requested: inputs };
    let lease = await cache.find(key);
    if (lease === null) {
      lease = await cache.install(key, (folder) => save(folder, make(sandboxes, image)), {
        signal: caller.signal,
        onWait,
      });
      await prune().catch((error: unknown) => logger.warn({ err: error }, "the package cache could not be pruned"));
    }
    const { folder, [Symbol.asyncDispose]: release } = lease;
    const archive = (): AsyncIterable<Uint8Array> => createReadStream(path.join(folder, archiveName));
    return { archive, [Symbol.asyncDispose]: release };
  }
}

async function save(folder: string, archive: AsyncIterable<Uint8Array>) {
  await using file = await open(path.join(folder, archiveName), "wx", 0o600);
  let size = 0;
  for await (const piece of archive) {
    size += piece.length;
    await file.writeFile(piece);
  }
  await file.chmod(0o400);
  const bytes = diskBytesOf(size) + ownEntries * diskBytesOf(0);
  return { packages: [], files: 1, folders: 0, bytes };
}
