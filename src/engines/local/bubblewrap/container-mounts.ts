import { chmodSync, closeSync, openSync } from "node:fs";
import type { MountSpec, ScratchSpec } from "../../container-spec.ts";
import { openPathOnly, type BaseNamespace } from "./base-namespace.ts";
import { scratchRoot } from "./sandbox-view.ts";
import type { HostTools } from "./host-tools.ts";
import { enterArguments } from "./launch-arguments.ts";
import { setupEnd, withSetupProcess } from "./setup-process.ts";

export interface ContainerNamespaceOptions {
  readonly tools: Pick<HostTools, "nsenter" | "unshare">;
  readonly base: BaseNamespace;
  readonly sharedMemoryBytes: number;
  readonly scratch: readonly ScratchSpec[];
  readonly mounts: readonly MountSpec[];
  /** The host's user that owns the scratch, who is no program; null: our own, who is. */
  readonly owner: number | null;
  /** As `Cgroups.announcement`: the container's first program joins its groups next. */
  readonly announcement: string | null;
  readonly signal?: AbortSignal | undefined;
}

/**
 * $1 the base, $2 further mount options, $3 a file to write 0 to or nothing, then size and number of inodes of each place in order, \`--\`, and the sources
 * of what is mounted besides. Those are bound here because the sandbox's own user may not be able to reach them.
 */
const script = `
set -e
cd "$1/scratch"
owner=$2
[ -z "$3" ] || (echo 0 >"$3") >/dev/null 2>&1 &
shift 3
place=0
while [ "$1" != -- ]; do
  [ -d "$place" ] || mkdir -p "$place"
  mount -n -t tmpfs -o "size=$1,nr_inodes=$2,mode=1777$owner" glovebox "$place"
  place=$((place + 1))
  shift 2
done
shift
cd ../mounts
[ $# -eq 0 ] || mount -n -t tmpfs -o size=64k,mode=755 glovebox .
cd ../mounts
place=0
for source in "$@"; do
  if [ -d "$source" ]; then mkdir "$place"; else : >"$place"; fi
  mount -n --rbind "$source" "$place"
  place=$((place + 1))
done
${setupEnd}`;

const pageBytes = 4096;
const minInodes = 1024;

/** The mounts of one container. Its descriptors are all that keeps them, and with them the container's files. */
export class ContainerMounts {
  readonly descriptor: number;
  readonly #scratch: readonly number[];

  constructor(descriptor: number, scratch: readonly number[]) {
    this.descriptor = descriptor;
    this.#scratch = scratch;
  }

  /** Opens the scratch places to everybody again, which a program may have closed to the next one where they are its own. */
  openScratch(): void {
    for (const place of this.#scratch) chmodSync(`/proc/self/fd/${place}`, 0o1777);
  }

  close(): void {
    for (const descriptor of [this.descriptor, ...this.#scratch]) closeSync(descriptor);
  }
}

/**
 * A copy of the engine's namespace with the container's own sized scratch mounted.
 * @throws Error with the tools' words, CANCELLED
 */
export async function openContainerMounts(options: ContainerNamespaceOptions): Promise<ContainerMounts> {
  const { base, tools, owner, announcement, signal } = options;
  const sizes = [options.sharedMemoryBytes, ...options.scratch.map(({ sizeBytes }) => sizeBytes)];
  const owned = owner === null ? "" : `,uid=${owner},gid=${owner}`;
  const places = sizes.flatMap((bytes) => [String(bytes), String(inodesFor(bytes))]);
  const inUserNamespace = base.userDescriptor !== null;
  const args = [
    ...enterArguments(inUserNamespace),
    ...[tools.unshare, "--mount", "--propagation", "unchanged", "--"],
    ...["/bin/sh", "-c", script, "sh", base.folder, owned, announcement ?? ""],
    ...[...places, "--", ...options.mounts.map(({ source }) => source)],
  ];
  const descriptors = [base.mountDescriptor, base.userDescriptor ?? base.mountDescriptor];
  return withSetupProcess({ file: tools.nsenter, args, descriptors, signal }, (processId) => {
    const inside = `/proc/${processId}/root${scratchRoot(base.folder)}`;
    const named = owner === null ? sizes.map((_, place) => openSync(`${inside}/${place}`, openPathOnly)) : [];
    return new ContainerMounts(openSync(`/proc/${processId}/ns/mnt`, "r"), named);
  });
}

/** One for each page, so that empty files cannot use more kernel memory than the scratch itself may. */
function inodesFor(bytes: number): number {
  return Math.max(minInodes, Math.floor(bytes / pageBytes));
}
