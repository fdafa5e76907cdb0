import type { Capabilities } from "../../src/engines/capabilities.ts";
import type { Engine } from "../../src/engines/engine.ts";
import type { Requirement } from "../helpers/require.ts";

/** What an engine can do, in so far as it does not depend on words. */
export type CheckedCapabilities = Omit<Capabilities, "notes" | "limitsAdvice">;

/** One engine under test, and all that the suite has to know of it. */
export interface Subject {
  /** What reports call it; differs from the engine's name where one engine is tested with several runtimes. */
  readonly name: string;
  /** Name by which GLOVEBOX_TEST_REQUIRE asks for it. */
  readonly requirement: Requirement;
  /** OCI runtime of every container; default: the engine's own. */
  readonly ociRuntime?: string;
  /**
   * Whether programs have another kernel than the host's, one which does not show ambient capabilities and
   * no-new-privileges in a process's status, and says "No route to host" where there is no network.
   */
  readonly ownKernel?: true;
  /** A small memory limit that the engine takes, in MiB; default 64. */
  readonly smallMemoryMb?: number;
  /** How many times as long as usual a behaviour may take; default 1. */
  readonly patience?: number;
  /** A new adapter to the real engine; the suite closes it. */
  readonly make: () => Promise<Engine>;
  /** An adapter that is told to find its engine at this socket. */
  readonly makeAt?: (socketPath: string) => Promise<Engine>;
  /** Takes an image away from the engine; resolves also when it is not there. */
  readonly removeImage?: (reference: string) => Promise<void>;
  readonly images: SubjectImages;
  /** Environment variables that the engine sets by itself. */
  readonly environmentNames: readonly string[];
  /** What the engine must declare wherever it is required; a weaker one would only turn tests into skips. */
  readonly mustDeclare: CheckedCapabilities;
  /**
   * Behaviours it does not have: id of the behaviour and the reason, a sentence without its full stop that reports and
   * docs/engines.md show. Each is tried, and must fail: one that passes is no exception any more.
   */
  readonly exceptions: Readonly<Record<string, string>>;
  /** Of the exceptions those that are not tried, and why. */
  readonly untried: Readonly<Record<string, string>>;
}

export interface SubjectImages {
  /** Has `sh` and the usual small programs. */
  readonly minimal: string;
  /** Has `python3` besides. */
  readonly python: string;
}
