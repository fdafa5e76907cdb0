import type { Duplex } from "node:stream";
import type { ContainerStats } from "../../container-stats.ts";
import type { CallOptions, ContainerState, EngineName, ExecSpec } from "../../engine.ts";
import type { ToldStart } from "../channel/hello.ts";
import type { NetworkTarget } from "./container-network.ts";
import { settlesWithin, Deadline } from "../../../base/abort.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { ChannelEnd, Loss } from "../channel/stream.ts";
import type { SupervisorChannel } from "../channel/channel.ts";
import { FolderFiles } from "../folder-files.ts";

/** What a start has found. */
export interface ContainerStart {
  /** As `Container.mountsVerified`. */
  readonly mountsVerified: boolean;
}

/**
 * What an engine does for one container whose first process is the supervisor. Nothing of it runs a program or looks inside: that
 * is the same for all engines.
 */
export interface EngineContainer {
  /** For messages. */
  readonly engine: { readonly name: EngineName; readonly title: string };
  readonly id: string;
  /** Variables that every program inside has, PATH among them: the image's. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Absolute folders that are made where they are missing and opened to every user (mode 1777) before anything else runs.
   * Left out: none.
   */
  readonly openFolders?: readonly string[] | undefined;
  /** Those of them that are whole new file systems: what making one leaves in it is removed. Left out: none. */
  readonly newFileSystems?: readonly string[] | undefined;
  /** As `Container.folderOf`. */
  folderOf?(path: string): string;
  /**
   * Asked before each program of an `exec`: provides what it needs that may not be there yet. Left out: everything is.
   * @throws what speaks against it
   */
  admit?(spec: ExecSpec, options: CallOptions): Promise<void>;
  /**
   * Starts it. Calls `open` once, before anything inside can run, with the stream to the supervisor's standard input and output,
   * bytes 0 to 255 as they are. @throws POLICY_DENIED when a mount is not what it must be
   */
  start(open: (stream: Duplex) => void, options: CallOptions): Promise<ContainerStart>;
  /**
   * Asked after each start, when the supervisor is what it must be and before anything else: shows that its network is what it must
   * be. `reach` says whether the sandbox connects to an address. Left out: there is nothing to show. @throws what speaks against it
   */
  prove?(reach: (target: NetworkTarget) => Promise<boolean>, options: CallOptions): Promise<void>;
  /**
   * Told after each start how the sandbox was started, where the terms of its supervisor ask for it; from then on `environment` is
   * what its programs have. @throws what speaks against running anything in it
   */
  learnStart?(start: ToldStart): void;
  /** SIGKILL to the supervisor from outside, and with it to everything; resolves also when it had ended. */
  kill(): Promise<void>;
  /** Resolves when it has ended, by the engine's own account, and at once when it is not there any more. */
  wait(options: CallOptions): Promise<void>;
  /** Its end as the engine saw it; asked only of one that does not run. */
  inspect(options: CallOptions): Promise<ContainerState>;
  /** As `Container.stats`: for what cannot be seen inside, and after its end. */
  stats(options: CallOptions): Promise<ContainerStats>;
  /** As `Container.writtenBytes`. */
  writtenBytes(options: CallOptions): Promise<number | null>;
  /** As `Container.writtenFolder`. */
  writtenFolder(options: CallOptions): Promise<string | null>;
  /** As `Container.commit`; may pause it meanwhile. */
  commit(labels: Readonly<Record<string, string>>, options: CallOptions): Promise<string>;
  /** As `Container.remove`. */
  remove(options: CallOptions): Promise<void>;
}

/** How long an engine may take to notice an end, and to bring one about. */
const endMs = 10_000;
/** How long a supervisor may take to end by itself when its stream has ended. */
const ownEndMs = 1_000;

/**
 * What became of a container whose channel is over: ends it, if it has not ended, and asks the engine once why. The place of a
 * sandbox is free only when the engine confirms its end.
 */
export async function containerLoss(place: EngineContainer, end: ChannelEnd, isEndedByUs: boolean): Promise<Loss> {
  const isGone = await confirmEnd(place);
  if (isEndedByUs) return { error: null, isGone };
  const state = await place.inspect({}).catch(() => null);
  return { error: lossError(place, end, state), isGone };
}

const openMode = 0o1777;
const rootMode = 0o755;
/** Who owns an image's folders; without any capability. */
const root = { user: 0, group: 0 };

/** Makes the folders that are missing, empties those that are new file systems, and opens all of them to every user. */
export async function openFolders(
  channel: SupervisorChannel,
  { openFolders: folders = [], newFileSystems = [] }: Pick<EngineContainer, "openFolders" | "newFileSystems">,
): Promise<void> {
  for (const folder of folders) {
    const itself = new FolderFiles(() => channel, { folder, ...root });
    if (newFileSystems.includes(folder)) {
      await itself.remove("lost+found").catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    }
    try {
      await itself.changeMode("", openMode);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await makeFolder(channel, folder);
      await itself.changeMode("", openMode);
    }
  }
}

async function makeFolder(channel: SupervisorChannel, folder: string): Promise<void> {
  const top = new FolderFiles(() => channel, { folder: "/", ...root });
  const make = (): Promise<void> => top.makeFolder(folder.slice(1), { makesFolders: true });
  try {
    await make();
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType !== "PERMISSION_DENIED") throw error;
    // Some engines make the root unwritable for its own owner.
    await top.changeMode("", rootMode);
    await make();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof GloveboxError && error.errorType === "NOT_FOUND";
}

/** Whether the engine says that nothing of it runs; if it does, it is killed. */
async function confirmEnd(place: EngineContainer): Promise<boolean> {
  using deadline = new Deadline(3 * endMs);
  const ended = place.wait({ signal: deadline.signal });
  const result = ended.then(
    () => true,
    () => false,
  );
  if (!(await settlesWithin(result, ownEndMs))) await settlesWithin(place.kill(), endMs);
  const isTold = await settlesWithin(result, endMs);
  return isTold && (await result);
}

function lossError({ engine }: EngineContainer, end: ChannelEnd, state: ContainerState | null): GloveboxError {
  const cause = new Error(`${end.reason}: ${end.detail}`);
  const context = { engine: engine.name, reason: end.reason };
  if (end.reason === "refused") {
    return new GloveboxError(
      "UNSUPPORTED",
      `The sandbox on ${engine.title} is not sealed as it must be (${end.detail}), so nothing was run in it.`,
      { suggestion: "Look into the engine's settings (`glovebox doctor`), or choose another engine.", context, cause },
    );
  }
  if (state?.oomKilled === true) {
    return new GloveboxError("OOM_KILLED", "The sandbox ran out of memory and was ended.", { context, cause });
  }
  return new GloveboxError("SANDBOX_LOST", `The container on ${engine.title} ended for a reason outside Glovebox.`, {
    context,
    cause,
  });
}
