import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { Engine, PullProgress } from "../../engines/engine.ts";
import type { Packages } from "../../packages/packages.ts";
import type { WarmPool } from "../../sandbox/warm-pool.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import type { CompileTypeScript } from "../program/typescript-compiler.ts";
import type { FindImports } from "../program/find-imports.ts";
import type { OpenLargeScratch } from "../run/open-large-scratch.ts";
import type { GuardedFolders } from "../run/guard-folders.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { ExecuteSpec } from "./execute-spec.ts";

/** The sandboxes that were started ahead of requests. */
export interface WarmSandboxes {
  readonly pool: Pick<WarmPool, "take" | "foresees">;
  /** As `WarmPoolBounds.maxAgeMs`. */
  readonly maxAgeMs: number;
  /** Longest time limit that any run may request. */
  readonly maxTimeoutMs: number;
}

export interface ExecuteDependencies extends Omit<GuardedFolders, "mounts" | "diskBytes" | "words"> {
  readonly packages: Pick<Packages, "provide" | "installsFor" | "notOfImage">;
  readonly findImports: FindImports;
  readonly engine: Engine;
  /** Pulls or builds the engine's image if it is missing. */
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
  readonly sandboxes: Sandboxes;
  /** Sandboxes started ahead of such runs; null: there are none. */
  readonly warm: WarmSandboxes | null;
  /** Cap of each output stream in bytes (SPEC OU3). */
  readonly maxOutputBytes: number;
  readonly compileTypeScript: CompileTypeScript;
  readonly network: GrantNetwork;
  readonly openLargeScratch: OpenLargeScratch;
}

/** What an execution reports while it is in progress. */
export interface ExecuteListener {
  readonly onSandbox: (sandboxId: string) => void;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  /** Progress with packages, for people. */
  readonly onProgress: (message: string) => void;
  readonly onPull: (image: string, progress: PullProgress) => void;
}

/** One execution: the request, its principal, and who receives events. */
export interface Execution {
  readonly spec: ExecuteSpec;
  readonly dependencies: ExecuteDependencies;
  readonly caller: Caller;
  readonly listener: ExecuteListener;
}
