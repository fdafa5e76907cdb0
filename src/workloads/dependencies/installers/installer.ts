/** What installs a project's dependencies; the name of a lockfile decides. */
export type InstallerName = "bun" | "pnpm" | "yarn" | "npm" | "uv" | "poetry" | "requirements" | "pyproject";

/** Text of those files of a project that its installer reads, by path; what is not there is left out. */
export type InputFiles = Readonly<Record<string, string>>;

/** An installation that the files read for it decide alone, so that what it leaves can be kept for later runs. */
export interface KeptInstallation {
  readonly ecosystem: "npm" | "python";
  readonly interpreter: "node" | "bun" | "python";
  /** What its own sandbox has of the project. */
  readonly files: InputFiles;
  readonly line: string;
  /** Files and folders that are kept, relative to the work folder. */
  readonly kept: readonly string[];
  /** The shell line that does in the copy what needs the rest of the project; null: nothing does. */
  readonly after: string | null;
}

/** How dependencies are installed. */
export interface Installer {
  /** Paths of the files that decide what is installed, relative to the project. */
  readonly inputs: readonly string[];
  /** The shell line that installs all of it in the project's copy; null: there is nothing to install. */
  readonly line: (files: InputFiles) => string | null;
  /** Whether tests may pass without it: no lockfile says that they need it. Default false. */
  readonly isOptional?: boolean;
  /** Null where more of the project may decide what is installed. */
  readonly keep: (files: InputFiles) => KeptInstallation | null;
}
