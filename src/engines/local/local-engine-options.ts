import type { BunTarget } from "../../base/bun-packages.ts";
import type { ArrangeProgram } from "./preload/host-program.ts";
import type { PreloadFolders } from "./preload/base-folder.ts";
import type { Kit } from "../../base/kit.ts";

/** How strongly the embedded engine is to seal programs. */
export type LocalLevel = "auto" | "namespaces" | "preload";

/** What level `preload` runs in addition to guarded programs. */
export interface PreloadOptions {
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
