import type { Caller } from "../../sandbox/sandboxes.ts";
import type { SandboxPackages } from "./sandbox-packages.ts";
import type { SessionPackages } from "./session-packages.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

/** What a call needs from its session's sandbox, and how it is provided. */
export interface SandboxNeeds {
  /**
   * The packages that a sandbox must have, when those it has are not enough; null when they are. Undefined when only a
   * sandbox can tell.
   */
  missing(
    known: SessionPackages,
    live: SessionSandbox | null,
    caller: Caller,
  ): Promise<SessionPackages | null | undefined>;
  /** Gives the live sandbox these packages; false when only another one can have them. */
  grow(live: SessionSandbox, packages: SessionPackages, caller: Caller): Promise<boolean>;
  /** Prepares what the sandbox needs, while the previous one still lives. */
  prepare(packages: SessionPackages, caller: Caller): Promise<SandboxPackages>;
  /** Makes the sandbox. */
  open(packages: SandboxPackages, caller: Caller): Promise<SessionSandbox>;
}
