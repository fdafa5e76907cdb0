import type { Duplex } from "node:stream";
import type { ContainerStats } from "../../container-stats.ts";
import type { CallOptions, ContainerState, EngineName, ExecSpec } from "../../engine.ts";
import type { ToldStart } from "../channel/hello.ts";
import type { NetworkTarget } from "./reach-address.ts";

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
