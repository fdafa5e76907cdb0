import type { Demand } from "../../engines/enforcement/assert-enforceable.ts";
import type { CheckedContextFile, CheckedDataFile } from "../../policy/request/context-files.ts";
import type { Glob } from "../../policy/patterns/glob.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { JavaScriptRuntime, Language } from "../../policy/language.ts";
import type { Limits } from "../../policy/limits/limits.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { ProgramSecret } from "../../sandbox/secrets/program-secret.ts";
import type { HostMount } from "../run/folders/host-mount.ts";

/** A checked one-shot execution (SPEC EX1); every value is within the policy already. */
export interface ExecuteSpec {
  /** Id of its sandbox where the caller knows it already; undefined: a new one. */
  readonly sandboxId?: string | undefined;
  /** What its caller has marked it with. */
  readonly labels: Readonly<Record<string, string>>;
  readonly language: Language;
  /** Undefined: Node, where the engine has it. */
  readonly runtime: JavaScriptRuntime | undefined;
  readonly code: string;
  /** Name of the code's file beside the context files. */
  readonly mainFile: string;
  readonly contextFiles: readonly CheckedContextFile[];
  /** Files beside those that are read while they are sent to the sandbox. */
  readonly dataFiles: readonly CheckedDataFile[];
  /** Folders and files of this machine, held open; its programs then run as the owner of the first. */
  readonly mounts: readonly HostMount[];
  /** Variables of the request, and those of the host that the deployment lets through (SPEC EN1). */
  readonly environment: Readonly<Record<string, string>>;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  readonly secrets: readonly ProgramSecret[];
  readonly arguments: readonly string[];
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Globs of result files; empty for none. */
  readonly artifacts: readonly Glob[];
  /** As `checkPackages` gives them, empty for none; `auto`: those that the code imports. */
  readonly packages: readonly string[] | "auto";
  readonly limits: Limits;
  /** Whether the size of its scratch was asked for by name. */
  readonly isDiskNamed: boolean;
  readonly network: NetworkPolicy;
  /** Image for engines that have images. */
  readonly image: string;
  /** Whether the image was asked for by this request, so that an engine without images must refuse. */
  readonly imageDemanded: boolean;
  /** OCI runtime that was asked for; undefined: the engine's own. */
  readonly ociRuntime: string | undefined;
  readonly minIsolation: Isolation;
  /** What was asked for by name, so that an engine which cannot enforce it is refused and no substitute is silent. */
  readonly explicitDemands: readonly Demand[];
}
