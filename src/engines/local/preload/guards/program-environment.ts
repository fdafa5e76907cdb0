import { win32 } from "node:path";

export interface EnvironmentSources {
  readonly platform: NodeJS.Platform;
  /** Of the host; only what Windows programs cannot start without is taken from it. */
  readonly host: Readonly<Record<string, string | undefined>>;
  /** Real path of the folder for temporary files. */
  readonly temporaryFolder: string;
}

/**
 * What every program has unless its container or itself is given another. On Windows each variable is named that Node would
 * otherwise fill in from the host's own environment, the user's name and home among them.
 */
export function defaultEnvironment({
  platform,
  host,
  temporaryFolder,
}: EnvironmentSources): Readonly<Record<string, string>> {
  if (platform !== "win32") return { PATH: "/usr/bin:/bin", HOME: temporaryFolder, TMPDIR: temporaryFolder };
  const systemRoot = host["SystemRoot"] ?? host["SYSTEMROOT"] ?? "C:\\Windows";
  const homeDrive = driveOf(temporaryFolder);
  return {
    SystemRoot: systemRoot,
    WINDIR: systemRoot,
    SYSTEMDRIVE: driveOf(systemRoot),
    PATH: win32.join(systemRoot, "System32"),
    HOME: temporaryFolder,
    USERPROFILE: temporaryFolder,
    HOMEDRIVE: homeDrive,
    HOMEPATH: temporaryFolder.slice(homeDrive.length),
    LOGONSERVER: "",
    USERDOMAIN: "",
    USERNAME: "glovebox",
    TEMP: temporaryFolder,
    TMP: temporaryFolder,
  };
}

/** `C:`, or the share of a path on another machine. */
function driveOf(folder: string): string {
  return win32.parse(folder).root.replace(/\\$/, "");
}
