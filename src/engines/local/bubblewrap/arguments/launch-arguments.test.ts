import { describe, expect, it } from "vitest";
import { enterArguments, launchArguments, type Launch } from "./launch-arguments.ts";

const launch: Launch = {
  tools: { bwrap: "/usr/bin/bwrap", nsenter: "/usr/bin/nsenter", setpriv: "/usr/bin/setpriv" },
  inUserNamespace: false,
  groupFiles: ["/groups/memory/x/cgroup.procs", "/groups/pids/x/cgroup.procs"],
  openFiles: 128,
  usedScratch: "/base/scratch",
  hostUid: 1_900_000_001,
  inherited: [],
};
const program = ["sh", "-c", "exit"];

describe("enterArguments", () => {
  it("enters the mount namespace by its descriptor", () => {
    expect(enterArguments(false)).toEqual(["--mount=/proc/self/fd/3", "--"]);
  });

  it("enters the user namespace too, without becoming its root by itself", () => {
    expect(enterArguments(true)).toEqual([
      "--mount=/proc/self/fd/3",
      "--user=/proc/self/fd/4",
      "--preserve-credentials",
      "--",
    ]);
  });
});

describe("launchArguments", () => {
  it("enters the container's network", () => {
    expect(launchArguments(launch, program).slice(0, 3)).toEqual([
      "--mount=/proc/self/fd/3",
      "--net=/proc/self/fd/9",
      "--",
    ]);
  });

  it("joins the groups and limits open files before it gives up root", () => {
    const words = launchArguments(launch, program);
    const script = words.indexOf("-c");
    expect(words.slice(script + 2, script + 8)).toEqual(["sh", "128", "/base/scratch", ...launch.groupFiles, "--"]);
    expect(words.indexOf("/usr/bin/setpriv")).toBe(script + 8);
  });

  it("becomes the container's own host user, in no other group", () => {
    const words = launchArguments(launch, program);
    const at = words.indexOf("/usr/bin/setpriv");
    expect(words.slice(at + 1, at + 8)).toEqual([
      "--reuid",
      "1900000001",
      "--regid",
      "1900000001",
      "--clear-groups",
      "--",
      "/usr/bin/bwrap",
    ]);
  });

  it("stays who we are when we are not root", () => {
    const words = launchArguments({ ...launch, hostUid: null, inUserNamespace: true }, program);
    expect(words).not.toContain("/usr/bin/setpriv");
    expect(words).toContain("--user=/proc/self/fd/4");
  });

  it("ends with the program, as it was given", () => {
    expect(launchArguments(launch, program).slice(-6)).toEqual(["--args", "7", "--", ...program]);
  });

  it("has bubblewrap close each inherited descriptor, after its real options", () => {
    const words = launchArguments({ ...launch, inherited: [12, 251] }, program);
    expect(words.slice(words.indexOf("/usr/bin/bwrap"))).toEqual([
      "/usr/bin/bwrap",
      ...["--args", "7", "--args", "12", "--args", "251", "--"],
      ...program,
    ]);
  });

  it("puts no data into the script", () => {
    const scriptOf = (words: readonly string[]): string | undefined => words[words.indexOf("-c") + 1];
    const other = { ...launch, groupFiles: ["/x"], openFiles: 7, inherited: [9] };
    expect(scriptOf(launchArguments(other, ["other"]))).toBe(scriptOf(launchArguments(launch, program)));
  });
});
