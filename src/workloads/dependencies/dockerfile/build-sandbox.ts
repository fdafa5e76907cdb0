import type { ImageOrigin } from "../../../policy/image-reference.ts";
import type { Capabilities } from "../../../engines/capabilities.ts";
import type { Engine } from "../../../engines/engine.ts";
import type { Limits } from "../../../policy/limits.ts";
import type { Denial } from "../../../policy/network/denial.ts";
import type { NetworkPolicy } from "../../../policy/network/network.ts";
import type { Sandboxes, Caller } from "../../../sandbox/sandboxes.ts";
import type { ProjectSource } from "../../project/copy-project.ts";
import type { GrantNetwork } from "../../run/start-program.ts";
import type { Kit } from "../../../base/kit.ts";
import { RingOutput } from "../../../base/streams/collected-bytes.ts";
import type { EgressConnection } from "../../../egress/egress-connection.ts";
import type { NetworkGrant } from "../../../egress/network-access.ts";
import { Redaction } from "../../../policy/redaction.ts";
import { temporaryFolder } from "../../../policy/scratch.ts";
import { openNetwork } from "../../../sandbox/sandbox-network.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import type { SandboxPlan } from "../../../sandbox/sandbox-plan.ts";
import { rootWatch, watchDisk, type DiskExcess } from "../../run/watch-disk.ts";
import { watchProcess } from "../../run/watch-process.ts";

/** The image of a project's own Dockerfile, to be built or found. */
export interface ImageBuildRequest extends Omit<ProjectSource, "maxBytes">, Kit {
  readonly engine: Engine;
  readonly capabilities: Capabilities;
  /** Undefined: the engine's own. */
  readonly ociRuntime: string | undefined;
  readonly sandboxes: Pick<Sandboxes, "open">;
  /** Makes sure that the base image exists. */
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
  readonly network: GrantNetwork;
  /** The network for RUN. */
  readonly networkPolicy: NetworkPolicy;
  /** Limits of the build's sandbox; `diskBytes`: everything written on top of the base. */
  readonly limits: Limits;
  /** Of the whole build. */
  readonly timeoutMs: number;
  readonly onProgress: (message: string) => void;
  readonly onDenied: (denial: Denial) => void;
}

/** An image, and variables for its programs in addition to the image's own. */
export interface BuiltImage {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Maximum files and folders that a build may create. */
const maxFiles = 1_000_000;
const keptBytes = 64 * 1024;
const drainMs = 1_000;

/** The result of a program of the build. */
interface BuildStepEnd {
  readonly exitCode: number | null;
  /** The newest part of both streams. */
  readonly words: string;
}

export interface BuildProgram {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** Numbers, as the engine takes them. */
  readonly user: string;
}

/** The sandbox in which an image is built: what its programs write is counted, and exceeding the limit ends it. */
export class BuildSandbox implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly #request: ImageBuildRequest;
  readonly #over = new AbortController();
  #network: EgressConnection | null = null;
  #excess: DiskExcess | null = null;

  /** @throws what `Sandboxes.open` throws */
  static async open(request: ImageBuildRequest, image: string, caller: Caller): Promise<BuildSandbox> {
    const plan = planOf(request, image);
    return new BuildSandbox(request, await request.sandboxes.open(request.engine, plan, caller));
  }

  private constructor(request: ImageBuildRequest, sandbox: Sandbox) {
    this.sandbox = sandbox;
    this.#request = request;
    const { limits, logger } = request;
    void watchDisk({
      sandbox,
      limitBytes: limits.diskBytes,
      growth: null,
      watchRoot: rootWatch(request, maxFiles),
      isBusy: () => true,
      logger,
      signal: this.#over.signal,
      onExceeded: (excess) => {
        this.#excess = excess;
        logger.warn({ sandbox: sandbox.id, ...excess }, "build ended: its files passed their limit");
        sandbox.remove().catch(() => {
          // Already logged; the sandbox counts as removed, and a sweep tries again.
        });
      },
    });
  }

  /** What it had written when it was ended for exceeding the limit; null if it was not. */
  get excess(): DiskExcess | null {
    return this.#excess;
  }

  /** Opens the network for all programs from now on. @throws what `openNetwork` throws */
  async openNetwork(grant: NetworkGrant, signal: AbortSignal): Promise<void> {
    const { sandbox } = this;
    const { onDenied } = this.#request;
    this.#network = await openNetwork({ sandbox, grant, onDenied, redact: (text) => text, signal });
  }

  /** Runs a program to its end, and ends everything it left running. @throws CANCELLED, SANDBOX_LOST */
  async run(program: BuildProgram, signal: AbortSignal): Promise<BuildStepEnd> {
    const process = await this.sandbox.exec({ ...program }, { signal });
    process.stdin.end();
    const output = new RingOutput(keptBytes);
    const watched = watchProcess({
      process,
      sandbox: this.sandbox,
      redaction: new Redaction([]),
      // Only both together are kept.
      keep: () => new RingOutput(1),
      onOutput: ({ bytes }) => output.append(bytes),
    });
    const { monotonicMs, timeoutMs } = this.#request;
    const end = () => this.sandbox.remove();
    const { exitCode, interruption } = await watched.untilEnd({ timeoutMs, signal, drainMs, monotonicMs, end });
    if (interruption === null) await this.sandbox.endLeftBehind(process);
    return { exitCode: interruption === null ? exitCode : null, words: output.text() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    this.#network?.close();
    await this.sandbox.remove();
  }
}

/** Where the project's files are during the build; they are not part of the image. */
export const contextFolder = "/.glovebox-context";

/**
 * Copies what COPY names. Arguments: the target, which ends in a slash where it is a folder; the owner; the mode or nothing;
 * then patterns, which the shell expands and does not read otherwise. What they lead to is inside the sandbox.
 */
export const copyScript = String.raw`
target=$1; owner=$2; mode=$3; shift 3
IFS=
cd ${contextFolder} || exit
for pattern in "$@"; do
  for source in ./$pattern; do
    [ -e "$source" ] || [ -L "$source" ] || { echo "no such file in the project, or it is ignored: $pattern"; exit 1; }
    chown -hR "$owner" "$source" || exit
    [ -z "$mode" ] || chmod -R "$mode" "$source" || exit
    if [ -d "$source" ]; then mkdir -p "$target" && cp -a "$source/." "$target" || exit
    else
      case $target in */) mkdir -p "$target" ;; *) mkdir -p "$(dirname "$target")" ;; esac || exit
      cp -pL "$source" "$target" || exit
    fi
  done
done
`;

/** Prints user and group as numbers, for the one argument that USER has. */
export const userScript = String.raw`
user=\${1%%:*}; group=
case $1 in *:*) group=\${1#*:} ;; esac
case $user in
  *[!0-9]*) uid=$(id -u "$user") && gid=$(id -g "$user") || exit ;;
  *) uid=$user; gid=$(id -g "$user" 2>/dev/null || echo 0) ;;
esac
case $group in
  '') ;;
  *[!0-9]*) gid=$(sed -n "s/^$group:[^:]*:\([0-9][0-9]*\):.*/\1/p" /etc/group) ;;
  *) gid=$group ;;
esac
echo "$uid:$gid"
`.replaceAll("\\${", "${");

/** Root with the capabilities that installers need, as for an environment's setup, and nothing else. */
function planOf({ limits, ociRuntime, timeoutMs }: ImageBuildRequest, image: string): SandboxPlan {
  return {
    kind: "build",
    image,
    ociRuntime,
    limits,
    scratch: [],
    writableRoot: { folders: [temporaryFolder] },
    workingDirectory: "/",
    processUser: "0:0",
    rootCapabilities: ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID"],
    lifetimeMs: timeoutMs + 900_000,
  };
}
