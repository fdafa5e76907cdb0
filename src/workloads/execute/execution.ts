import type { LanguageName, ChosenRuntimeName } from "../../languages/language-table.ts";
import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { CheckedContextFile, CheckedDataFile } from "../../policy/request/context-files.ts";
import type { Glob } from "../../policy/glob.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import type { HostMount } from "../run/host-mount.ts";
import type { Settings } from "../run/settings.ts";
import type { Engine, PullProgress } from "../../engines/engine.ts";
import type { Packages } from "../../packages/packages.ts";
import type { WarmPool } from "../../sandbox/warm-pool.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import type { CompileTypeScript } from "../program/typescript-compiler.ts";
import type { FindImports } from "../program/provide-packages.ts";
import type { OpenLargeScratch } from "../run/watched-scratch.ts";
import type { GuardedFolders } from "../run/guard-folders.ts";
import type { GrantNetwork } from "../run/start-program.ts";
import type { ProgramResult } from "../run/program-result.ts";
import type { Artifact } from "./artifacts.ts";

/** A checked one-shot execution (SPEC EX1); every value is within the policy already. */
export interface ExecuteSpec extends Settings {
  /** What a list says of it; undefined: its language and first words. */
  readonly work?: string | undefined;
  readonly language: LanguageName;
  /** Undefined: Node, if the engine has it. */
  readonly runtime: ChosenRuntimeName | undefined;
  readonly code: string;
  /** Name of the code's file, next to the context files. */
  readonly mainFile: string;
  readonly contextFiles: readonly CheckedContextFile[];
  /** Additional files, which are read while they are sent to the sandbox. */
  readonly dataFiles: readonly CheckedDataFile[];
  /** Folders and files of this machine, held open; programs then run as the owner of the first. */
  readonly mounts: readonly HostMount[];
  readonly secrets: readonly ProgramSecret[];
  readonly arguments: readonly string[];
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Globs of result files; empty for none. */
  readonly artifacts: readonly Glob[];
  /** From `checkPackages`, empty for none; `auto`: those that the code imports. */
  readonly packages: readonly string[] | "auto";
  /** Whether the size of its scratch was requested explicitly. */
  readonly isDiskNamed: boolean;
  /** Image for engines that have images. */
  readonly image: string;
  /** Engines without images refuse one that the request named. */
  readonly imageOrigin: ImageOrigin;
}

/** The sandboxes that were started ahead of requests. */
interface WarmSandboxes {
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

/** The result of a one-shot execution. */
export interface ExecuteResult extends ProgramResult {
  /** The requested packages, in the versions that the program had. */
  readonly packages: readonly string[];
  readonly artifacts: readonly Artifact[];
}
