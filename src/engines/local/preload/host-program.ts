import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { wheelsOnlyPip } from "../../../policy/install-policy.ts";

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

/** Tools of the host that install packages; null for one that it has not. */
export interface InstallTools {
  /** Bun's executable. */
  readonly bun: string | null;
  /** Python's, whose module pip is. */
  readonly python: string | null;
}

/** Runs the tools that install packages, as they are; all other programs are as `guarded` arranges them. */
export function toolCommand({ bun, python }: InstallTools, guarded: ArrangeProgram): ArrangeProgram {
  return (request) => {
    const [name = "", ...values] = request.command;
    if (name === "bun") return tool(bun, values, request);
    if (name === "pip") return tool(python, ["-I", "-c", wheelsOnlyPip, ...values], request);
    return guarded(request);
  };
}

/** Programs of Linux that set limits and then become another program; null for those the host does not have. */
export interface BoundingTools {
  readonly prlimit: string | null;
  /** Only one that knows `--pdeathsig`, which BusyBox's does not. */
  readonly setpriv: string | null;
}

interface ProgramBounds {
  readonly openFiles: number;
  /** Largest file. */
  readonly fileBytes: number | null;
  /** Private memory; null where the program cannot run under a limit. */
  readonly dataBytes: number | null;
  /** User to become; null: stay who we are. */
  readonly hostUid: number | null;
}

/** What stands before a program's own command. */
export function launchPrefix({ prlimit, setpriv }: BoundingTools, bounds: ProgramBounds): readonly string[] {
  const { openFiles, fileBytes, dataBytes, hostUid } = bounds;
  const user =
    hostUid === null
      ? []
      : [`--reuid=${hostUid}`, `--regid=${hostUid}`, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
  return [
    // The program ends with us, and gains nothing from set-user-ID programs.
    ...(setpriv === null ? [] : [setpriv, ...user, "--no-new-privs", "--pdeathsig=KILL", "--"]),
    ...(prlimit === null
      ? []
      : [
          ...[prlimit, "--core=0:0", `--nofile=${openFiles}:${openFiles}`],
          ...(fileBytes === null ? [] : [`--fsize=${fileBytes}:${fileBytes}`]),
          ...(dataBytes === null ? [] : [`--data=${dataBytes}:${dataBytes}`]),
          "--",
        ]),
  ];
}

function tool(file: string | null, values: readonly string[], { command, environment }: ProgramRequest): HostProgram {
  if (file !== null) return { file, arguments: values, environment, boundsData: true };
  throw new GloveboxError("UNSUPPORTED", `This host has no ${command[0]}.`, {
    context: { engine: "local", missing: "interpreter" },
  });
}
