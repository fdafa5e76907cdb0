import { describe, expect, it } from "vitest";
import { defaultEnvironment } from "./preload-host.ts";

/** What Node fills in on Windows from the host's own environment, unless it is given. */
const filledIn = [
  ...["HOMEDRIVE", "HOMEPATH", "LOGONSERVER", "PATH", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERDOMAIN", "USERNAME"],
  ...["USERPROFILE", "WINDIR"],
];

describe("the environment that every program has", () => {
  it("holds on Windows what programs cannot start without, and nothing else of the host's", () => {
    const host = { SystemRoot: "D:\\Windows", SECRET: "x", PATH: "D:\\private", USERNAME: "ann" };
    expect(defaultEnvironment({ platform: "win32", host, temporaryFolder: "E:\\t\\1" })).toEqual({
      SystemRoot: "D:\\Windows",
      WINDIR: "D:\\Windows",
      SYSTEMDRIVE: "D:",
      PATH: "D:\\Windows\\System32",
      HOME: "E:\\t\\1",
      USERPROFILE: "E:\\t\\1",
      HOMEDRIVE: "E:",
      HOMEPATH: "\\t\\1",
      LOGONSERVER: "",
      USERDOMAIN: "",
      USERNAME: "glovebox",
      TEMP: "E:\\t\\1",
      TMP: "E:\\t\\1",
    });
  });

  it("leaves Node nothing to fill in on Windows", () => {
    const environment = defaultEnvironment({ platform: "win32", host: {}, temporaryFolder: "\\\\server\\share\\t" });
    expect(Object.keys(environment).map((name) => name.toUpperCase())).toEqual(expect.arrayContaining(filledIn));
    expect(environment).toMatchObject({ HOMEDRIVE: "\\\\server\\share", HOMEPATH: "\\t", SYSTEMDRIVE: "C:" });
  });

  it.each(["linux", "darwin"] as const)("is a path, a home and a folder for temporary files on %s", (platform) => {
    const environment = defaultEnvironment({ platform, host: { SECRET: "x" }, temporaryFolder: "/t" });
    expect(environment).toEqual({ PATH: "/usr/bin:/bin", HOME: "/t", TMPDIR: "/t" });
  });
});
