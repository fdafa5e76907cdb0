import type { Engine, PullProgress } from "../../engines/engine.ts";
import type { Packages } from "../../packages/packages.ts";
import type { WarmPool } from "../../sandbox/pool/warm-pool.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import type { CompileTypeScript } from "../program/compile/typescript-compiler.ts";
import type { FindImports } from "../program/find-imports.ts";
import type { OpenLargeScratch } from "../run/disk/open-large-scratch.ts";
import type { GuardedFolders } from "../run/folders/guard-folders.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { ExecuteSpec } from "./execute-spec.ts";

/** Where runs find sandboxes that were made before anybody asked. */
export interface WarmSandboxes {
  readonly pool: Pick<WarmPool, "take">;
  /** As `WarmPoolBounds.maxAgeMs`. */
  readonly maxAgeMs: number;
  /** Longest time that any run may ask for. */
  readonly maxTimeoutMs: number;
}

export interface ExecuteDependencies extends Omit<GuardedFolders, "mounts" | "diskBytes" | "words"> {
  readonly packages: Pick<Packages, "provide" | "installsFor" | "notOfImage">;
  readonly findImports: FindImports;
  readonly engine: Engine;
  /** Has the engine's image pulled or built where it is missing. */
  readonly provideImage: (image: string, imageDemanded: boolean) => Promise<void>;
  readonly sandboxes: Sandboxes;
  /** Sandboxes that wait for such runs; null: none do. */
  readonly warm: WarmSandboxes | null;
  /** Cap of each output stream in bytes (SPEC OU3). */
  readonly maxOutputBytes: number;
  readonly compileTypeScript: CompileTypeScript;
  readonly network: GrantNetwork;
  readonly openLargeScratch: OpenLargeScratch;
}

/** What an execution tells while it goes on. */
export interface ExecuteListener {
  readonly onSandbox: (sandboxId: string) => void;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  /** What goes on with packages, in words for people. */
  readonly onProgress: (message: string) => void;
  readonly onPull: (image: string, progress: PullProgress) => void;
}

/** One execution: what is asked for, by whom, and who is told. */
export interface Execution {
  readonly spec: ExecuteSpec;
  readonly dependencies: ExecuteDependencies;
  readonly caller: Caller;
  readonly listener: ExecuteListener;
}
