import type { LanguageName, ChosenRuntimeName } from "../../languages/language-table.ts";
import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { Demand } from "../../engines/assert-enforceable.ts";
import type { Engine } from "../../engines/engine.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Limits } from "../../policy/limits.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";

/** A checked call of `run_code` (SPEC SE0); every value is within the policy already. */
export interface SessionCall {
  readonly language: LanguageName;
  /** Where its variables are; undefined: the context of its runtime. Only in a session that keeps variables. */
  readonly context: string | undefined;
  /** Undefined: Bun, where the engine has it. */
  readonly runtime: ChosenRuntimeName | undefined;
  readonly code: string;
  readonly arguments: readonly string[];
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly secrets: readonly ProgramSecret[];
  /** Environment variables of this call alone. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables of the host that the deployment lets through (SPEC EN1). */
  readonly hostEnvironment: Readonly<Record<string, string>>;
  /** Specifications, or those that the code imports (SPEC PK2). */
  readonly packages: readonly string[] | "auto";
  readonly network: NetworkPolicy;
  readonly timeoutMs: number;
  readonly minIsolation: Isolation;
  /** What was requested by name, so that an engine which cannot enforce it is refused and no substitute is silent. */
  readonly explicitDemands: readonly Demand[];
}

/** What a session's sandbox is made from, the same for its whole life. */
export interface SessionSettings {
  readonly engine: Engine;
  /** Image for engines that have images. */
  readonly image: string;
  readonly imageOrigin: ImageOrigin;
  readonly ociRuntime: string | undefined;
  /** The time limit is not the session's: each call has its own. */
  readonly limits: Limits;
  /** Whether the size of its scratch was requested by name. */
  readonly isDiskNamed: boolean;
  readonly minIsolation: Isolation;
  /** Whether an interpreter of each language lives with it, so that variables last from call to call (SPEC SE6). */
  readonly keepsVariables: boolean;
  /** Where its programs start, whose files are kept and which is their home; undefined: `/work`, and a home in `/tmp`. */
  readonly home?: string | undefined;
  /** Its caller's own word for it; undefined: none. */
  readonly name?: string | undefined;
  /** The labels that its caller gave it. */
  readonly labels: Readonly<Record<string, string>>;
}
