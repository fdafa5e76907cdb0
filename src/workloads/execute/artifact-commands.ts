import { listProgram, readProgram } from "./artifact-programs.ts";
import { listScript, readScript } from "./artifact-scripts.ts";

/** How the files of a working folder are listed and read inside a sandbox. */
export interface ArtifactCommands {
  readonly list: (folder: string) => readonly string[];
  /** `limits`: bytes of one file and of all. */
  readonly read: (folder: string, limits: readonly string[], paths: readonly string[]) => readonly string[];
}

/** For sandboxes with a shell and its tools. */
export const shellCommands: ArtifactCommands = {
  list: (folder) => ["sh", "-c", listScript, "sh", folder],
  read: (folder, limits, paths) => ["sh", "-c", readScript, "sh", folder, ...limits, ...paths],
};

/** For sandboxes in which interpreters only run. */
export const nodeCommands: ArtifactCommands = {
  list: (folder) => ["node", "-e", listProgram, folder],
  read: (folder, limits, paths) => ["node", "-e", readProgram, folder, ...limits, ...paths],
};
