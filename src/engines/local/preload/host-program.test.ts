import { describe, expect, it } from "vitest";
import { launchPrefix } from "./host-program.ts";

const tools = { prlimit: "/usr/bin/prlimit", setpriv: "/usr/bin/setpriv" };

describe("launchPrefix", () => {
  it("bounds a program that stays our own user", () => {
    const bounds = { openFiles: 64, fileBytes: 1000, dataBytes: null, hostUid: null };
    expect(launchPrefix(tools, bounds)).toEqual([
      ...["/usr/bin/setpriv", "--no-new-privs", "--pdeathsig=KILL", "--"],
      ...["/usr/bin/prlimit", "--core=0:0", "--nofile=64:64", "--fsize=1000:1000", "--"],
    ]);
  });

  it("makes it a user without any privilege where we are root", () => {
    const prefix = launchPrefix(tools, { openFiles: 64, fileBytes: null, dataBytes: 5000, hostUid: 1_900_000_001 });
    expect(prefix.slice(0, 6)).toEqual([
      "/usr/bin/setpriv",
      "--reuid=1900000001",
      "--regid=1900000001",
      "--clear-groups",
      "--inh-caps=-all",
      "--bounding-set=-all",
    ]);
    expect(prefix).toContain("--data=5000:5000");
  });

  it("is nothing where the tools are missing", () => {
    const none = { prlimit: null, setpriv: null };
    expect(launchPrefix(none, { openFiles: 64, fileBytes: 1, dataBytes: 1, hostUid: null })).toEqual([]);
  });
});
