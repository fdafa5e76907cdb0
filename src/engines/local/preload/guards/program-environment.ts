import { win32 } from "node:path";

export interface EnvironmentSources {
  readonly platform: NodeJS.Platform;
  /** Of the host; only what Windows programs cannot start without is taken from it. */
  readonly host: Readonly<Record<string, string | undefined>>;
  /** Real path of the folder for temporary files. */
  readonly temporaryFolder: string;
}

/** What every program has unless its container or itself is given another. */
export function defaultEnvironment({
  platform,
  host,
  temporaryFolder,
}: EnvironmentSources): Readonly<Record<string, string>> {
  if (platform !== "win32") return { PATH: "/usr/bin:/bin", HOME: temporaryFolder, TMPDIR: temporaryFolder };
  const systemRoot = host["SystemRoot"] ?? host["SYSTEMROOT"] ?? "C:\\Windows";
  return {
    SystemRoot: systemRoot,
    PATH: win32.join(systemRoot, "System32"),
    HOME: temporaryFolder,
    USERPROFILE: temporaryFolder,
    TEMP: temporaryFolder,
    TMP: temporaryFolder,
  };
}
