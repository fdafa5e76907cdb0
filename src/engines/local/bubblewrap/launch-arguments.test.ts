import { describe, expect, it } from "vitest";
import { enterArguments, launchArguments, type Launch } from "./launch-arguments.ts";

const launch: Launch = {
  tools: {
    bwrap: "/usr/bin/bwrap",
    nsenter: "/usr/bin/nsenter",
    prlimit: "/usr/bin/prlimit",
    setpriv: "/usr/bin/setpriv",
  },
  userNamespace: "container",
  groupFiles: ["/groups/memory/x/cgroup.procs", "/groups/pids/x/cgroup.procs"],
  openFiles: 128,
  limits: { dataBytes: null, processes: null, ofUser: [] },
};
const supervisor = "/opt/glovebox/first/supervisor";

/** The words from the first one that is this on. */
function from(words: readonly string[], word: string): readonly string[] {
  expect(words).toContain(word);
  return words.slice(words.indexOf(word));
}

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
  it("joins the groups and limits open files before it gives up root", () => {
    const words = launchArguments(launch);
    const script = words.indexOf("-c");
    expect(words.slice(script + 2, script + 7)).toEqual(["sh", "128", ...launch.groupFiles, "--"]);
    expect(words.indexOf("/usr/bin/nsenter")).toBe(script + 7);
  });

  it("becomes root of the container's own user namespace", () => {
    expect(from(launchArguments(launch), "/usr/bin/nsenter").slice(1, 8)).toEqual([
      "--user=/proc/self/fd/4",
      "--setuid",
      "0",
      "--setgid",
      "0",
      "--",
      "/usr/bin/bwrap",
    ]);
  });

  it("stays who we are when we are not root", () => {
    const words = launchArguments({ ...launch, userNamespace: "engine" });
    expect(words).not.toContain("/usr/bin/nsenter");
    expect(words.slice(0, 4)).toEqual(enterArguments(true));
  });

  it("has the supervisor keep its capabilities, and no other in its bounding set", () => {
    const kept = "-all,+kill,+setgid,+setuid,+setpcap,+net_bind_service";
    expect(from(launchArguments(launch), "/usr/bin/setpriv")).toEqual([
      "/usr/bin/setpriv",
      `--ambient-caps=${kept}`,
      `--inh-caps=${kept}`,
      `--bounding-set=${kept}`,
      "--no-new-privs",
      "--",
      supervisor,
    ]);
  });

  it("leaves it none where it is its programs' user", () => {
    const words = launchArguments({ ...launch, userNamespace: "engine" });
    expect(words).toContain("--bounding-set=-all");
    expect(words.join(" ")).not.toContain("+");
  });

  it("sets the kernel's limits inside, where only the sandbox's processes count", () => {
    const words = launchArguments({
      ...launch,
      limits: {
        dataBytes: 1000,
        processes: 35,
        ofUser: [{ name: "sigpending", title: "Max pending signals", value: 256 }],
      },
    });
    expect(from(words, "/usr/bin/bwrap").slice(3, 8)).toEqual([
      "--",
      "/usr/bin/prlimit",
      "--data=1000:1000",
      "--nproc=35:35",
      "--sigpending=256:256",
    ]);
    expect(launchArguments(launch)).not.toContain("/usr/bin/prlimit");
  });

  it("puts no data into the script, which makes the stream the supervisor's input and output", () => {
    const scriptOf = (words: readonly string[]): string | undefined => words[words.indexOf("-c") + 1];
    const other = { ...launch, groupFiles: ["/x"], openFiles: 7 };
    expect(scriptOf(launchArguments(other))).toBe(scriptOf(launchArguments(launch)));
    expect(scriptOf(launchArguments(launch))).toContain('exec "$@" <&6 >&6 6>&-');
  });
});
