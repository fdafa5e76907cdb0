import type { Capabilities } from "../../src/engines/capabilities.ts";
import type { UidRange } from "../../src/engines/container-users.ts";
import type { Engine } from "../../src/engines/engine.ts";
import type { Requirement } from "../helpers/require.ts";

/** What an engine can do, except for facts that are texts. */
export type CheckedCapabilities = Omit<Capabilities, "notes" | "limitsAdvice">;

/** One engine under test, and everything that the suite has to know about it. */
export interface Subject {
  /** Its name in reports; differs from the engine's name if one engine is tested with several runtimes. */
  readonly name: string;
  /** Name by which GLOVEBOX_TEST_REQUIRE asks for it. */
  readonly requirement: Requirement;
  /** OCI runtime of every container; default: the engine's own. */
  readonly ociRuntime?: string;
  /**
   * Whether programs have a kernel other than the host's, which does not show ambient capabilities and no-new-privileges
   * in a process's status, and says "No route to host" if there is no network.
   */
  readonly ownKernel?: true;
  /** Where the programs of each container have a user of their own, also as they see it: which they are. */
  readonly ownUsers?: UidRange;
  /** A small memory limit that the engine accepts, in MiB; default 64. */
  readonly smallMemoryMb?: number;
  /** The largest file, in bytes, that programs may make without filling it, where a limit holds for that; default: none does. */
  readonly maxSparseBytes?: number;
  /** How many times as long as usual a behaviour may take; default 1. */
  readonly patience?: number;
  /** A new adapter to the real engine; the suite closes it. */
  readonly make: () => Promise<Engine>;
  /** An adapter that looks for its engine at this socket. */
  readonly makeAt?: (socketPath: string) => Promise<Engine>;
  /** Removes an image from the engine; also resolves if there is none. */
  readonly removeImage?: (reference: string) => Promise<void>;
  /** Id of an image, whatever it is; left out: the engine commits no containers. */
  readonly imageId?: (reference: string) => Promise<string>;
  /** Makes an image of this context (a tar) where the engine itself builds none; disposal removes it. */
  readonly bringImage?: (reference: string, context: Buffer) => Promise<AsyncDisposable>;
  readonly images: SubjectImages;
  /** Environment variables that the engine itself sets. */
  readonly environmentNames: readonly string[];
  /** What the engine must declare where it is required; anything weaker would only turn tests into skips. */
  readonly mustDeclare: CheckedCapabilities;
  /**
   * Behaviours that it does not have, by id, each with the reason: a sentence without its full stop, shown by reports and
   * docs/engines.md. Each is tested and must fail: one that passes is no longer an exception.
   */
  readonly exceptions: Readonly<Record<string, string>>;
  /** Exceptions that are not tested, and why. */
  readonly untried: Readonly<Record<string, string>>;
}

export interface SubjectImages {
  /** Has `sh` and the usual small programs. */
  readonly minimal: string;
  /** Has `python3` besides. */
  readonly python: string;
}
