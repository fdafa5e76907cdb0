/** The tool that installs a project's dependencies, chosen by the name of the lockfile. */
export type InstallerName = "bun" | "pnpm" | "yarn" | "npm" | "uv" | "poetry" | "requirements" | "pyproject";

/** Text of the files of a project that its installer reads, by path; missing ones are left out. */
export type InputFiles = Readonly<Record<string, string>>;

/** An installation that is fully determined by the files read for it, so that its result can be kept for later runs. */
export interface KeptInstallation {
  readonly ecosystem: "npm" | "python";
  readonly interpreter: "node" | "bun" | "python";
  /** The project's files that its own sandbox gets. */
  readonly files: InputFiles;
  readonly line: string;
  /** Files and folders to keep, relative to the working folder. */
  readonly kept: readonly string[];
  /** The shell line for the steps that need the rest of the project, run in its copy; null: none. */
  readonly after: string | null;
}

/** How dependencies are installed. */
export interface Installer {
  /** Paths of the files that determine what is installed, relative to the project. */
  readonly inputs: readonly string[];
  /** The shell line that installs everything in the project's copy; null: there is nothing to install. */
  readonly line: (files: InputFiles) => string | null;
  /** Whether tests may pass without it, as no lockfile says that they need it. Default false. */
  readonly isOptional?: boolean;
  /** Null if other files of the project may affect what is installed. */
  readonly keep: (files: InputFiles) => KeptInstallation | null;
}
