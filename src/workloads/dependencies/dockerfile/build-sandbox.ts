import { RingOutput } from "../../../base/streams/collected-bytes.ts";
import type { EgressConnection } from "../../../egress/egress-connection.ts";
import type { NetworkGrant } from "../../../egress/network-access.ts";
import { Redaction } from "../../../policy/redaction.ts";
import { temporaryFolder } from "../../../policy/scratch.ts";
import { openNetwork } from "../../../sandbox/open-network.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import type { SandboxPlan } from "../../../sandbox/sandbox-plan.ts";
import type { Caller } from "../../../sandbox/sandboxes.ts";
import { rootWatch } from "../../run/root-watch.ts";
import { watchDisk, type DiskExcess } from "../../run/watch-disk.ts";
import { watchProcess } from "../../run/watch-process.ts";
import type { ImageBuildRequest } from "./build-request.ts";

/** Maximum files and folders that a build may create. */
const maxFiles = 1_000_000;
const keptBytes = 64 * 1024;
const drainMs = 1_000;

/** The result of a program of the build. */
export interface BuildStepEnd {
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
