import type { Capabilities } from "../engines/capabilities.ts";
import type { Container, EngineName, CallOptions, ExecSpec, Process } from "../engines/engine.ts";
import type { FixedFolder, ImageMarks } from "./sandbox-plan.ts";
import type { SandboxObserver } from "./sandbox-observer.ts";
import type { Kit } from "../base/kit.ts";
import type { Duplex } from "node:stream";
import { settlesWithin } from "../base/abort.ts";
import { unknownStats, type ContainerStats } from "../engines/container-stats.ts";
import { keptImages, labels as ownLabels } from "../engines/labels.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { createId } from "../base/id.ts";
import type { HostPlace } from "./files/host-place.ts";
import { SandboxFiles } from "./files/sandbox-files.ts";
import { OutputJoint } from "./sandbox-output.ts";
import { runPolicy, type OpenRun, type RunFacts, type StartedRun } from "./run-record.ts";
import { endLeftBehind, endProcessAlone, endProcessTree, type TreeEnd } from "./process-tree.ts";

/** What a sandbox is made of; provided by `Sandboxes`. */
interface SandboxParts extends Pick<Kit, "logger" | "now" | "platform"> {
  readonly id: string;
  readonly engineName: EngineName;
  readonly capabilities: Capabilities;
  readonly container: Container;
  readonly kind: string;
  /** What its caller has marked it with. */
  readonly labels: Readonly<Record<string, string>>;
  /** Its caller's own word for it; null: none. */
  readonly givenName: string | null;
  /** Null where its engine has none. */
  readonly image: string | null;
  /** What its programs may do, except for what belongs to each run. */
  readonly policy: Readonly<Record<string, unknown>>;
  /** Told of its runs. */
  readonly observers: readonly SandboxObserver[];
  /** See `SandboxPlan`. */
  readonly programEnvironment: Readonly<Record<string, string>>;
  /** Folders of this machine that its programs may write to. */
  readonly writablePaths: readonly string[];
  /** Its scratch and what it may only read, by their paths inside. */
  readonly folders: readonly FixedFolder[];
  /** Labels that say whose an object is that may exist for this long from now. */
  readonly ownershipFor: (lifetimeMs: number) => Readonly<Record<string, string>>;
  /** Told what runs in it now. */
  readonly onWork: (work: string) => void;
  /** Told that it will end without anybody waiting for that: its place is on its way back. */
  readonly onLeaving: () => void;
  /** Gives the place back; told whether nothing of the sandbox is left. */
  readonly onRemoved: (isGone: boolean) => Promise<void>;
}

/** What its caller chooses of a sandbox, and what they may choose still when it runs already. */
export type SandboxIdentity = Pick<SandboxParts, "id" | "labels" | "givenName" | "programEnvironment">;

type SandboxState = "running" | "ending" | "removed";

/** How long reading a sandbox's last numbers may take before they are given up as unknown. */
const lastStatsMs = 2_000;

/** One isolated place that runs processes, from its start to its removal. */
export class Sandbox implements AsyncDisposable {
  /** The id by which its engine knows it. */
  readonly startedAs: string;
  readonly engineName: EngineName;
  readonly capabilities: Capabilities;
  readonly files: SandboxFiles;
  /** Its folders that are on this machine by another name. */
  readonly hostPlaces: readonly HostPlace[];
  /** What its programs write, for those that are not their callers. */
  readonly output: OutputJoint = new OutputJoint();
  #parts: SandboxParts;
  #state: SandboxState = "running";
  #outputBytes = 0;
  #removal: Promise<void> | undefined;
  #isLeft = false;

  constructor(parts: SandboxParts) {
    this.startedAs = parts.id;
    this.engineName = parts.engineName;
    this.capabilities = parts.capabilities;
    this.hostPlaces = placesOf(parts);
    this.files = new SandboxFiles(parts.container, parts.capabilities, {
      places: this.hostPlaces,
      platform: parts.platform,
      assertLiving: () => this.#assertLiving(),
    });
    this.#parts = parts;
    this.output.listen(({ bytes }) => void (this.#outputBytes += bytes.length));
  }

  get id(): string {
    return this.#parts.id;
  }

  /** What its caller has marked it with. */
  get labels(): Readonly<Record<string, string>> {
    return this.#parts.labels;
  }

  /** Its caller's own word for it; null: none. */
  get givenName(): string | null {
    return this.#parts.givenName;
  }

  /** Its container's image; null where its engine has none. */
  get image(): string | null {
    return this.#parts.image;
  }

  /** Makes it its caller's own, before its first run and before anybody is told about it. */
  assign(identity: Partial<SandboxIdentity>): void {
    this.#parts = { ...this.#parts, ...identity };
  }

  /** The engine's own id of it. */
  get containerId(): string {
    return this.#parts.container.id;
  }

  get state(): SandboxState {
    return this.#state;
  }

  /** Variables of its own programs. */
  get programEnvironment(): Readonly<Record<string, string>> {
    return this.#parts.programEnvironment;
  }

  /** Folders of this machine that its programs may write to. */
  get writablePaths(): readonly string[] {
    return this.#parts.writablePaths;
  }

  /** As `Container.mountsVerified`. */
  get mountsVerified(): boolean {
    return this.#parts.container.mountsVerified ?? false;
  }

  /** Where a folder of the sandbox really is: programs know it by that path. */
  folderOf(path: string): string {
    return this.#parts.container.folderOf?.(path) ?? path;
  }

  exec(spec: ExecSpec, options?: CallOptions): Promise<Process> {
    return this.#parts.container.exec(spec, options);
  }

  /** As `Container.connect`. */
  connect(port: number, options?: CallOptions): Promise<Duplex> {
    return this.#parts.container.connect(port, options);
  }

  /** As `Container.listen`. */
  get listen(): Container["listen"] {
    const { container } = this.#parts;
    return container.listen?.bind(container);
  }

  /** As `Container.hearNames`. */
  get hearNames(): Container["hearNames"] {
    const { container } = this.#parts;
    return container.hearNames?.bind(container);
  }

  /** As `Container.execInTerminal`. */
  get execInTerminal(): Container["execInTerminal"] {
    const { container } = this.#parts;
    return container.execInTerminal?.bind(container);
  }

  /** As `Container.placeFile`. */
  get placeFile(): Container["placeFile"] {
    const { container } = this.#parts;
    return container.placeFile?.bind(container);
  }

  /** A run begins here, which is recorded with the policy that governs it. */
  beginRun(facts: RunFacts): OpenRun {
    const { observers, now, kind, labels, givenName, image, policy, onWork } = this.#parts;
    const { id = createId("run"), principal, session, environment, work, network, timeoutMs } = facts;
    onWork(work);
    const run: StartedRun = {
      id,
      sandbox: this.id,
      engine: this.engineName,
      kind,
      principal,
      session: session ?? null,
      environment: environment ?? null,
      labels,
      name: givenName,
      work,
      image,
      startedAtMs: now(),
      policy: runPolicy({ ...policy, network, timeout_seconds: timeoutMs / 1_000 }),
    };
    for (const observer of observers) observer.runStarted?.(run);
    let isOpen = true;
    const end: OpenRun["end"] = (ending) => {
      if (!isOpen) return;
      isOpen = false;
      for (const observer of observers) observer.runEnded?.(run, { ...ending, endedAtMs: now() });
    };
    return { id: run.id, policyDigest: run.policy.digest, end };
  }

  /** Resources used so far; all null when the sandbox cannot be asked any more. */
  async stats(): Promise<ContainerStats> {
    const asked = this.#parts.container.stats().catch((error: unknown) => {
      this.#parts.logger.debug({ sandbox: this.id, err: error }, "no statistics");
      return unknownStats;
    });
    const stats = (await settlesWithin(asked, lastStatsMs)) ? await asked : unknownStats;
    for (const observer of this.#parts.observers) observer.statsRead?.(this.id, stats);
    return stats;
  }

  /** As `Container.stats`. */
  measure(options?: CallOptions): Promise<ContainerStats> {
    return this.#parts.container.stats(options);
  }

  /** As `Container.watchStats`. */
  watchStats(listener: (stats: ContainerStats) => void): boolean {
    return this.#parts.container.watchStats?.(listener) ?? false;
  }

  /** Bytes of the files written to its root; null where that is unknown. */
  writtenBytes(options?: CallOptions): Promise<number | null> {
    return this.#parts.container.writtenBytes(options);
  }

  /** The folder of this machine that holds those files; null where it is not known. */
  writtenFolder(options?: CallOptions): Promise<string | null> {
    return this.#parts.container.writtenFolder(options);
  }

  /** Resources used so far, which proves that it runs; null when it has ended, whoever ended it. */
  check(options?: CallOptions): Promise<ContainerStats | null> {
    return this.#unlessEnded(options, async (container) => {
      const stats = await container.stats(options);
      // Where nothing of ours runs between programs, only the container itself can tell.
      return stats.memoryBytes !== null || (await container.inspect(options)).running ? stats : null;
    });
  }

  /** Whether it runs: a quicker question than `check`, for which some engines need a second. */
  async isAlive(options?: CallOptions): Promise<boolean> {
    return (await this.#unlessEnded(options, (container) => container.isAlive(options))) === true;
  }

  /** Null when the container has ended, or cannot be asked. @throws CANCELLED */
  async #unlessEnded<T>(options: CallOptions | undefined, ask: (of: Container) => Promise<T>): Promise<T | null> {
    if (this.#state !== "running") return null;
    try {
      return await ask(this.#parts.container);
    } catch (error) {
      if (options?.signal?.aborted) throw error;
      this.#parts.logger.info({ sandbox: this.id, err: error }, "sandbox has ended");
      return null;
    }
  }

  /** Makes an image of its files, which the sweep removes when its owner is gone; resolves to the image's id. */
  commit({ labels, lifetimeMs, isKept = false }: ImageMarks, options?: CallOptions): Promise<string> {
    // Images hand labels down: none that is not kept may be taken for one that is.
    const kept = isKept ? keptImages : { [ownLabels.kept]: "none" };
    return this.#parts.container.commit({ ...labels, ...this.#parts.ownershipFor(lifetimeMs), ...kept }, options);
  }

  /** Ends the process and everything it started: SIGTERM, then SIGKILL to the whole sandbox (SPEC LI3). */
  async endProcess(process: Process): Promise<void> {
    await endProcessTree(this.#parts.container, process);
  }

  /** Ends the process and everything it started, and nothing else: see `endProcessAlone`. */
  endProcessAlone(process: Process): Promise<TreeEnd> {
    return endProcessAlone({ process, onUnclean: this.#onUnclean });
  }

  /** Ends what a process that has ended left running: see `endLeftBehind`. */
  endLeftBehind(process: Process): Promise<TreeEnd> {
    return endLeftBehind({ process, onUnclean: this.#onUnclean });
  }

  /** A removal ends every process, so that a single end that fails meanwhile leaves nothing. */
  readonly #onUnclean = (reason: unknown): void =>
    this.#parts.logger[this.#removal === undefined ? "warn" : "debug"](
      { sandbox: this.id, err: reason },
      "a process may not have ended",
    );

  /** Ends and removes the sandbox; calling it again waits for the same removal. */
  remove(): Promise<void> {
    this.#removal ??= this.#remove();
    return this.#removal;
  }

  /**
   * Begins the removal, for which neither the caller nor the end of its scope waits: whoever closes the sandboxes does. The
   * place is held until it is gone. What is mounted in it must outlive it, so this is for sandboxes without.
   */
  leave(): void {
    this.#isLeft = true;
    this.#parts.onLeaving();
    // A removal that fails is in the log, and what is left is known to the sandboxes.
    this.remove().catch(() => undefined);
  }

  async #assertLiving(): Promise<void> {
    const { running } = await this.#parts.container.inspect();
    if (!running || this.#state !== "running") throw new GloveboxError("SANDBOX_LOST", "The sandbox has ended.");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isLeft) await this.remove();
  }

  async #remove(): Promise<void> {
    this.#state = "ending";
    const { container, logger, onRemoved } = this.#parts;
    let isGone = false;
    try {
      await container.remove();
      isGone = true;
      logger.info({ sandbox: this.id, outputBytes: this.#outputBytes }, "sandbox removed");
    } catch (error) {
      logger.error({ sandbox: this.id, err: error }, "sandbox could not be removed");
      throw error;
    } finally {
      this.#state = "removed";
      await onRemoved(isGone);
    }
  }
}

/** Its folders on this machine, where they are other paths than inside. */
function placesOf({ container, folders }: SandboxParts): readonly HostPlace[] {
  return folders.flatMap(({ path, readOnly }) => {
    const here = container.folderOf?.(path) ?? path;
    return here === path ? [] : [{ inside: path, here, readOnly }];
  });
}
