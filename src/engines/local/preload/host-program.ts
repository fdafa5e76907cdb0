/** A program of the host as it is to be started: guarded, or unguarded for a test. */
export interface HostProgram {
  readonly file: string;
  readonly arguments: readonly string[];
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the kernel may limit its private memory: Node reserves far more than it uses. */
  readonly boundsData: boolean;
}

/** What is known of a program when it is arranged. */
export interface ProgramRequest {
  /** As asked for: a name or path inside, and arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Real paths of the folders that it may write to, and nothing else. */
  readonly writable: readonly string[];
  /** Real paths of the folders that it may only read. */
  readonly readable: readonly string[];
  /** Real path of the folder with the guards' texts. */
  readonly guardFolder: string;
  /** Real path of the folder for temporary files. */
  readonly temporaryFolder: string;
  /** Real path of a folder inside, or the path as it is when it is none of the container's. */
  readonly folderOf: (path: string) => string;
  /** Most threads at once. */
  readonly threads: number;
  readonly memoryBytes: number;
}

/** Turns what was asked for into what runs on the host. @throws UNSUPPORTED for what cannot be guarded */
export type ArrangeProgram = (request: ProgramRequest) => HostProgram;
