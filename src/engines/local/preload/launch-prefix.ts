/** Programs of Linux that set limits and then become another program; null for those the host does not have. */
export interface BoundingTools {
  readonly prlimit: string | null;
  /** Only one that knows `--pdeathsig`, which BusyBox's does not. */
  readonly setpriv: string | null;
}

export interface ProgramBounds {
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
