import type { LanguageName, ChosenRuntimeName } from "../../languages/language-table.ts";
import type { ImageOrigin } from "../../policy/image-reference.ts";
import type { CheckedContextFile, CheckedDataFile } from "../../policy/request/context-files.ts";
import type { Glob } from "../../policy/glob.ts";
import type { ProgramSecret } from "../../sandbox/program-secret.ts";
import type { HostMount } from "../run/host-mount.ts";
import type { Settings } from "../run/settings.ts";

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
