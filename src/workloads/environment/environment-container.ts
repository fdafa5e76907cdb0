import type { AlertSink } from "../../base/alert-sink.ts";
import type { EgressConnection } from "../../egress/egress-connection.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import type { Engine, EngineName, OutputChunk, Process, CallOptions, ExecSpec } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { GrowthWatch } from "../../sandbox/growth-watch.ts";
import { readValue } from "../program/command-spec.ts";
import { assertNotNested } from "../../sandbox/mounts/assert-not-nested.ts";
import { openNetwork } from "../../sandbox/sandbox-network.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import { SetuidWatch, type ClearedFiles } from "../../sandbox/setuid-watch.ts";
import type { Project, EnvironmentSpec } from "./environment-spec.ts";
import { watchDisk, type DiskExcess } from "../run/watch-disk.ts";
import type { Kit } from "../../base/kit.ts";
import type { Redaction } from "../../policy/redaction.ts";
import type { ToolingLook } from "../../sandbox/look-at-tooling.ts";
import type { ToolingReport } from "../run/explain-tooling.ts";
import { settlesWithin, untilCancelled } from "../../base/abort.ts";
import { kibibyte } from "../../base/bytes.ts";
import { takeOpeningLine } from "../../engines/opening-line.ts";

export interface EnvironmentContainerParts extends Pick<Kit, "logger" | "monotonicMs"> {
  readonly engine: Engine;
  readonly sandboxes: Sandboxes;
  readonly plan: SandboxPlan;
  readonly project: Project | null;
  readonly diskBytes: number;
  /** Mounts that protect files of the project from changes; missing: none. */
  readonly lockTooling?: (() => Promise<readonly MountSpec[]>) | undefined;
  /** Watches the project's growth; null if nothing can be written to it. */
  readonly growth: GrowthWatch | null;
  /** Watches the folder of this machine that contains what is written to the container's root. */
  readonly watchRoot: (folder: string) => GrowthWatch;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
  readonly setuidAlerts: AlertSink<ClearedFiles>;
  readonly isBusy: () => boolean;
  readonly onDenied: (denial: Denial) => void;
  /** Removes secrets from the destinations that programs requested. */
  readonly redact: (text: string) => string;
}

/** The current container of an environment, with its network and its disk limit. */
export class EnvironmentContainer {
  readonly sandbox: Sandbox;
  /** What cannot be changed in the project. */
  readonly locks: readonly MountSpec[];
  readonly commands: WaitingCommand;
  readonly #parts: EnvironmentContainerParts;
  readonly #over = new AbortController();
  readonly #setuidWatch: SetuidWatch | null;
  #network: Promise<EgressConnection> | null = null;
  #overDisk: DiskExcess | null = null;

  /** @throws what `Sandboxes.open` throws, POLICY_DENIED if the project was or may have been swapped, NETWORK_ERROR */
  static async open(parts: EnvironmentContainerParts, caller: Caller): Promise<EnvironmentContainer> {
    await assertInPlace(parts.project);
    await parts.growth?.settle(caller.signal ?? new AbortController().signal);
    const locks = (await parts.lockTooling?.()) ?? [];
    const plan = { ...parts.plan, mounts: [...(parts.plan.mounts ?? []), ...locks] };
    const container = new EnvironmentContainer(
      { ...parts, locks },
      await parts.sandboxes.open(parts.engine, plan, caller),
    );
    try {
      await assertMounted(parts, container.sandbox, caller.signal);
      if (locks.length > 0 && !container.sandbox.mountsVerified) throw locksUnverified(parts.engine.name);
      await container.ensureNetwork(caller.signal);
      return container;
    } catch (error) {
      await container.remove();
      throw error;
    }
  }

  private constructor(parts: EnvironmentContainerParts & { readonly locks: readonly MountSpec[] }, sandbox: Sandbox) {
    this.#parts = parts;
    this.locks = parts.locks;
    this.sandbox = sandbox;
    this.commands = new WaitingCommand(sandbox);
    this.#setuidWatch = this.#watchSetuid();
    if (parts.plan.writableRoot === undefined && parts.growth === null) return;
    void watchDisk({
      sandbox,
      limitBytes: parts.diskBytes,
      growth: parts.growth,
      watchRoot: parts.watchRoot,
      isBusy: parts.isBusy,
      logger: parts.logger,
      signal: this.#over.signal,
      onExceeded: (excess) => {
        this.#overDisk = excess;
        parts.logger.warn({ sandbox: sandbox.id, ...excess }, "environment ended: its files passed their limit");
        this.remove().catch(() => {
          // In the log already; the sandbox counts as removed, and a sweep tries again.
        });
      },
    });
  }

  /** What it had written when it was ended for exceeding the limit; null if it was not. */
  get overDisk(): DiskExcess | null {
    return this.#overDisk;
  }

  /** Files of the project whose setuid bit was removed so far; none if a filter prevents such bits. */
  get setuidCount(): number {
    return this.#setuidWatch?.count ?? 0;
  }

  /** The same, after checking the whole project. */
  async clearSetuidBits(): Promise<number> {
    await this.#setuidWatch?.look();
    return this.setuidCount;
  }

  /**
   * The network connection, reopened if the proxy has ended; null without a network. @throws NETWORK_ERROR, UNSUPPORTED
   */
  async ensureNetwork(signal: AbortSignal | undefined): Promise<EgressConnection | null> {
    const { grant } = this.#parts;
    if (grant === null) return null;
    const asked = this.#network;
    const known = await asked?.catch(() => null);
    if (known?.isLost === false) return known;
    if (this.#network === asked) this.#network = this.#openNetwork(grant, signal);
    return this.#network;
  }

  async remove(): Promise<void> {
    this.#over.abort();
    (await this.#network?.catch(() => null))?.close();
    try {
      await this.sandbox.remove();
    } finally {
      try {
        await this.#setuidWatch?.close();
      } finally {
        this.#parts.setuidAlerts.ended(this.sandbox.id);
      }
    }
  }

  #watchSetuid(): SetuidWatch | null {
    const { project, plan, isBusy, logger, monotonicMs, redact, setuidAlerts } = this.#parts;
    const { capabilities, id } = this.sandbox;
    const isWritable = plan.mounts?.some(({ readOnly }) => !readOnly) ?? false;
    if (project === null || !isWritable || capabilities.setuidRefusal === "yes") return null;
    return new SetuidWatch({
      place: project.place,
      isBusy,
      monotonicMs,
      onCleared: ({ count, names }) => setuidAlerts.happened(id, { count, names: names.map(redact) }),
      onFailed: (reason) => {
        logger.error({ sandbox: id, err: reason }, "environment ended: setuid bits of its project cannot be cleared");
        this.remove().catch(() => {
          // In the log already; the sandbox counts as removed, and a sweep tries again.
        });
      },
    });
  }

  async #openNetwork(grant: NetworkGrant, signal: AbortSignal | undefined): Promise<EgressConnection> {
    const { onDenied, redact } = this.#parts;
    return openNetwork({ sandbox: this.sandbox, grant, onDenied, redact, signal });
  }
}

export interface EnvironmentParts
  extends
    Omit<EnvironmentContainerParts, "isBusy" | "onDenied" | "redact">,
    Pick<Kit, "logger" | "now" | "monotonicMs"> {
  readonly spec: EnvironmentSpec;
  readonly principal: string;
  /** Images that were created for it, each from the one before, and are removed with it. */
  readonly ownImages: readonly string[];
  /** Variables of every process: the deployment's, the network's and the environment's own. */
  readonly variables: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  /** Undefined: commands cannot change the project. */
  readonly lookAtTooling: (() => Promise<ToolingLook | null>) | undefined;
  readonly toolingAlerts: AlertSink<ToolingReport>;
  /** Called whenever it becomes active or idle. */
  readonly onActivity: (isBusy: boolean) => void;
}

export interface RunOptions {
  /** Its id if the caller has already chosen one; default: a new one. */
  readonly runId?: string | undefined;
  readonly timeoutMs: number;
  /** Standard input of the command; missing: empty. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Newest bytes of each stream that the result has; default 64 KiB. */
  readonly keptBytes?: number | undefined;
  readonly onOutput: (chunk: OutputChunk) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  /** Receives the id of the sandbox in which the command begins, before any output. */
  readonly onSandbox?: ((sandboxId: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A process that was started, and where. */
export interface Started {
  readonly process: Process;
  /** The redactor of its output. */
  readonly redaction: Redaction;
  readonly container: EnvironmentContainer;
  /** Processes of the container that had been killed for lack of memory before; null: unknown. */
  readonly oomKillsBefore: number | null;
}

/** A command as `Sandbox.exec` takes it, which runs beside others. */
export interface ConcurrentCommand extends Pick<ExecSpec, "command" | "workingDirectory"> {
  readonly environment: Readonly<Record<string, string>>;
}

/** How long a shell may take to read a command: it needs some milliseconds. */
const answerMs = 2_000;
/** A shell reads byte by byte: for longer commands a new process is faster. */
const maxJobBytes = 16 * kibibyte;
/** What it writes when it is about to become the command. */
const becomes = 1;
/** Variables of the shell itself, or that cannot be set in every shell. */
const shellsOwn =
  /^(?:_|IFS|PWD|OLDPWD|SHLVL|UID|EUID|GID|EGID|PPID|OPTIND|OPTARG|LINENO|RANDOM|SECONDS|ENV|PS\d|BASH.*|SHELLOPTS|_glovebox.*)$/;

/**
 * Reads words until an empty line, then becomes the command that they are. For each word: what it is and how many lines it
 * has, then those lines. `.` is the folder, `-` a part of the command, any other the value of a variable of that name. A
 * shell's `read` takes no byte too many. Ends when nothing comes, and when the folder is none.
 */
const script = `
while IFS=' ' read -r _glovebox_name _glovebox_lines || exit 0; do
  [ -n "$_glovebox_lines" ] || break${readValue}
  case $_glovebox_name in
    .) cd -- "$_glovebox_value" 2>/dev/null || exit 0; unset PWD OLDPWD ;;
    -) set -- "$@" "$_glovebox_value" ;;
    *) export "$_glovebox_name=$_glovebox_value" ;;
  esac
done
unset _glovebox_name _glovebox_lines _glovebox_value _glovebox_line
echo ${becomes}
exec "$@"`;

/**
 * Starts commands in one sandbox, and keeps at most one shell that waits to become the next: it was started when nothing
 * else ran, knows nothing of the command and is used once. Where it does not answer it is ended, and the command is
 * started as if there had been none.
 */
export class WaitingCommand {
  readonly #sandbox: Pick<Sandbox, "exec" | "endLeftBehind" | "remove" | "state">;
  #waiting: Promise<Process> | null = null;

  constructor(sandbox: Pick<Sandbox, "exec" | "endLeftBehind" | "remove" | "state">) {
    this.#sandbox = sandbox;
  }

  /** Starts the command; no shell waits beside it. @throws what `Sandbox.exec` throws */
  async start(command: ConcurrentCommand, options: CallOptions): Promise<Process> {
    const waiting = this.#waiting;
    this.#waiting = null;
    const process = await waiting?.catch(() => null);
    const taken = process && (await this.#hand(process, command, options));
    return taken ?? this.#sandbox.exec({ ...command }, options);
  }

  /** Starts the shell of the next command in the background: only when nothing else runs in the sandbox. */
  prepare(): void {
    if (this.#waiting !== null || this.#sandbox.state !== "running") return;
    const waiting = this.#sandbox.exec({ command: ["sh", "-c", script, "sh"] });
    this.#waiting = waiting;
    const forget = (): void => {
      if (this.#waiting === waiting) this.#waiting = null;
    };
    waiting.then(({ exit }) => exit).then(forget, forget);
  }

  /** Null: it has not become the command, and has ended. @throws CANCELLED, SANDBOX_LOST when it may not have ended */
  async #hand(process: Process, command: ConcurrentCommand, { signal }: CallOptions): Promise<Process | null> {
    const opening = takeOpeningLine(process.output);
    const job = jobOf(command);
    try {
      if (job !== null) {
        process.stdin.write(job);
        const isTold = await untilCancelled(settlesWithin(opening.number, answerMs), signal);
        if (isTold && (await opening.number) === becomes) return asCommand(process, opening.output);
      }
    } catch (error) {
      await this.#end(process);
      throw error;
    }
    await this.#end(process);
    return null;
  }

  async #end(process: Process): Promise<void> {
    process.stdin.end();
    if ((await this.#sandbox.endLeftBehind(process)) === "clean") return;
    await this.#sandbox.remove();
    throw new GloveboxError("SANDBOX_LOST", "A shell that waited for a command may not have ended.");
  }
}

/** A program of another environment could have replaced a file with a link to any file of the host. */
function locksUnverified(engine: EngineName): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    `tooling_files: "locked" needs mounts that can be verified, and engine ${engine} shows none here.`,
    {
      suggestion: 'Use tooling_files "named", or an engine and an OCI runtime that run on this machine\'s own kernel.',
      context: { engine, field: "tooling_files" },
    },
  );
}

/** What was mounted is what was checked: the engine has compared them, or nobody can have swapped the folder. */
async function assertMounted(
  { project, engine, sandboxes }: EnvironmentContainerParts,
  { mountsVerified }: Sandbox,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (project === null || mountsVerified) return;
  await assertInPlace(project);
  await assertNotNested({ engine, sandboxes, source: project.place.realPath, signal });
}

async function assertInPlace(project: Project | null): Promise<void> {
  if (project === null || (await project.place.isStillThere())) return;
  throw new GloveboxError("POLICY_DENIED", "project_root: It was moved or replaced after it had been checked.", {
    suggestion: "Leave the folder in its place, destroy the environment and create it again.",
    context: { field: "project_root", rule: "changed" },
  });
}

/** The same process without the line that it wrote for us. */
function asCommand(process: Process, output: Process["output"]): Process {
  return {
    stdin: process.stdin,
    output,
    exit: process.exit,
    kill: (name) => process.kill(name),
    ...(process.isGone === undefined ? {} : { isGone: () => process.isGone?.() ?? Promise.resolve(true) }),
    ...(process.signal === undefined ? {} : { signal: (name) => process.signal?.(name) ?? Promise.resolve() }),
  };
}

/** Null for a command that a shell cannot be given, or not quickly. */
function jobOf({ command, environment, workingDirectory }: ConcurrentCommand): Buffer | null {
  const names = Object.keys(environment);
  if (names.some((name) => !/^[A-Za-z_]\w*$/.test(name) || shellsOwn.test(name))) return null;
  const words = [
    ...Object.entries(environment),
    ...(workingDirectory === undefined ? [] : [[".", workingDirectory] as const]),
    ...command.map((part) => ["-", part] as const),
  ];
  const job = Buffer.from(`${words.map(([what, text]) => `${what} ${text.split("\n").length}\n${text}\n`).join("")}\n`);
  return job.length > maxJobBytes ? null : job;
}
