import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { Demand } from "../../engines/assert-enforceable.ts";
import type { CheckedContextFile, CheckedDataFile } from "../../policy/request/context-files.ts";
import type { Glob } from "../../policy/glob.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { JavaScriptRuntime, Language } from "../../policy/language.ts";
import type { Limits } from "../../policy/limits.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import type { HostMount } from "../run/host-mount.ts";

/** A checked one-shot execution (SPEC EX1); every value is within the policy already. */
export interface ExecuteSpec {
  /** Id for its sandbox if the caller has already chosen one; undefined: a new one. */
  readonly sandboxId?: string | undefined;
  /** Its caller's own word for it; undefined: none. */
  readonly name?: string | undefined;
  /** What a list says of it; undefined: its language and first words. */
  readonly work?: string | undefined;
  /** Labels that its caller gave it. */
  readonly labels: Readonly<Record<string, string>>;
  readonly language: Language;
  /** Undefined: Node, if the engine has it. */
  readonly runtime: JavaScriptRuntime | undefined;
  readonly code: string;
  /** Name of the code's file, next to the context files. */
  readonly mainFile: string;
  readonly contextFiles: readonly CheckedContextFile[];
  /** Additional files, which are read while they are sent to the sandbox. */
  readonly dataFiles: readonly CheckedDataFile[];
  /** Folders and files of this machine, held open; programs then run as the owner of the first. */
  readonly mounts: readonly HostMount[];
  /** Variables of the request, and those of the host that the deployment passes on (SPEC EN1). */
  readonly environment: Readonly<Record<string, string>>;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  readonly secrets: readonly ProgramSecret[];
  readonly arguments: readonly string[];
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Globs of result files; empty for none. */
  readonly artifacts: readonly Glob[];
  /** From `checkPackages`, empty for none; `auto`: those that the code imports. */
  readonly packages: readonly string[] | "auto";
  readonly limits: Limits;
  /** Whether the size of its scratch was requested explicitly. */
  readonly isDiskNamed: boolean;
  readonly network: NetworkPolicy;
  /** Image for engines that have images. */
  readonly image: string;
  /** Engines without images refuse one that the request named. */
  readonly imageOrigin: ImageOrigin;
  /** Requested OCI runtime; undefined: the engine's default. */
  readonly ociRuntime: string | undefined;
  readonly minIsolation: Isolation;
  /** What was requested explicitly, so that an engine that cannot enforce it is refused and no substitute is silent. */
  readonly explicitDemands: readonly Demand[];
}
