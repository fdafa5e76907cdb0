import type { Capabilities, EngineComponent, EngineSetup } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { Container } from "../engine.ts";
import type { BunTarget } from "../../base/bun-packages.ts";
import type { ArrangeProgram } from "./preload/host-program.ts";
import type { PreloadFolders } from "./preload/container-folder.ts";
import type { Kit } from "../../base/kit.ts";

/** Exit code of a process that SIGKILL ended, which is how every process ends that dies with its container. */
export const killedExitCode = 137;

/** A level of isolation (SPEC RT5) that this host supports, ready for containers. */
export interface Level {
  /** What it is based on, such as `bubblewrap 0.8.0`. */
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly components: readonly EngineComponent[];
  readonly setup: EngineSetup;
  /** Paths of the interpreters on the host; null for what it has not. */
  readonly interpreterPaths: readonly (string | null)[];
  /** Makes the lasting parts of one container; if anything goes wrong, nothing is left of it. */
  makeContainer(spec: ContainerSpec, options: MakeOptions): Promise<LevelContainer>;
  /** Gives back what it holds; its containers have been removed. Left out: nothing. */
  close?(): void;
}

interface MakeOptions {
  readonly signal: AbortSignal | undefined;
  /** Called when all of it is gone. */
  readonly onRemoved: () => void;
}

export interface LevelContainer {
  readonly container: Container;
  readonly isRunning: () => boolean;
}

/** How strongly the embedded engine is to seal programs. */
type LocalLevel = "auto" | "namespaces" | "preload";

/** What level `preload` runs in addition to guarded programs. */
interface PreloadOptions {
  /** Whether the tools that install packages run too, with no guard: for installers and nothing else. Default false. */
  readonly installs?: boolean | undefined;
  /** For tests: how programs are started. Default: guarded, and no other. */
  readonly arrange?: ArrangeProgram | undefined;
}

/** What the embedded engine needs to know about its surroundings, which only `config` reads. */
export interface LocalEngineOptions extends Pick<Kit, "now" | "platform"> {
  /** As Node names it: `x64` or `arm64`. */
  readonly architecture: string;
  /** Effective user id of this process, null where there are none; 0 lets each container have a host user of its own. */
  readonly uid: number | null;
  /** Handed to the host's own tools only, to find them and Python (PATH, HOME); nothing of it reaches a sandbox. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where a Bun that is downloaded is kept. */
  readonly bunFolder: string;
  /** The archive of Bun's package, its hash checked. @throws Error whose message is the reason */
  readonly fetchBun: (target: BunTarget) => Promise<Uint8Array>;
  /** A Python interpreter on the host; null for none; left out: /usr/bin/python3, else the PATH's. */
  readonly pythonPath?: string | null | undefined;
  /**
   * `auto`: `namespaces` where the host lets us make them, else `preload`, which says so in every result. The others
   * are what they say or an error. Default `auto`.
   */
  readonly level?: LocalLevel | undefined;
  /** Node's executable, for programs; null for none; left out, or where it is no Node: the PATH's. */
  readonly nodePath?: string | null | undefined;
  /** For level `preload`. */
  readonly preloadFolders: PreloadFolders;
  readonly preload?: PreloadOptions | undefined;
  /** Number of this process, by which what it left behind is found once it has gone; left out: it is not looked for. */
  readonly processId?: number | undefined;
  /** The seccomp filter as an array of `struct sock_filter`, compiled for `architecture`. */
  readonly seccompFilter: Uint8Array;
  /** A random integer, `minimum` included, `maximum` excluded. */
  readonly randomInteger: (minimum: number, maximum: number) => number;
}
