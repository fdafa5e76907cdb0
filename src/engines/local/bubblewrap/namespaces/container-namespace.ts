import { openSync } from "node:fs";
import type { MountSpec, ScratchSpec } from "../../../container-spec.ts";
import type { BaseNamespace } from "./base-namespace.ts";
import type { HostTools } from "./host-tools.ts";
import { enterArguments } from "../arguments/launch-arguments.ts";
import { setupEnd, withSetupProcess } from "./setup-process.ts";

export interface ContainerNamespaceOptions {
  readonly tools: Pick<HostTools, "nsenter" | "unshare">;
  readonly base: BaseNamespace;
  readonly sharedMemoryBytes: number;
  readonly scratch: readonly ScratchSpec[];
  readonly mounts: readonly MountSpec[];
  /** The host's user that owns the scratch; null: our own user. */
  readonly hostUid: number | null;
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

/**
 * A copy of the engine's namespace with the container's own sized scratch mounted; the descriptor returned is all that
 * keeps it, and with it the files of the container.
 * @throws Error with the tools' words, CANCELLED
 */
export async function openContainerNamespace(options: ContainerNamespaceOptions): Promise<number> {
  const { base, tools, hostUid, announcement, signal } = options;
  const sizes = [options.sharedMemoryBytes, ...options.scratch.map(({ sizeBytes }) => sizeBytes)];
  const owner = hostUid === null ? "" : `,uid=${hostUid},gid=${hostUid}`;
  const places = sizes.flatMap((bytes) => [String(bytes), String(inodesFor(bytes))]);
  const inUserNamespace = base.userDescriptor !== null;
  const args = [
    ...enterArguments(inUserNamespace),
    ...[tools.unshare, "--mount", "--propagation", "unchanged", "--"],
    ...["/bin/sh", "-c", script, "sh", base.folder, owner, announcement ?? ""],
    ...[...places, "--", ...options.mounts.map(({ source }) => source)],
  ];
  const descriptors = [base.mountDescriptor, base.userDescriptor ?? base.mountDescriptor];
  return withSetupProcess({ file: tools.nsenter, args, descriptors, signal }, (processId) =>
    openSync(`/proc/${processId}/ns/mnt`, "r"),
  );
}

/** One for each page, so that empty files cannot use more kernel memory than the scratch itself may. */
function inodesFor(bytes: number): number {
  return Math.max(minInodes, Math.floor(bytes / pageBytes));
}
