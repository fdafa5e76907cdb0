import { describe, expect, it } from "vitest";
import {
  bwrapArguments,
  encodeOptions,
  enterArguments,
  launchArguments,
  type SandboxView,
  type Launch,
} from "./bwrap-arguments.ts";

const view: SandboxView = {
  root: {
    entries: [
      { path: "/bin", linkTarget: "usr/bin" },
      { path: "/lib", linkTarget: null },
    ],
    hasUsrLocal: true,
    etcPaths: ["/etc/ssl/certs"],
    coveredFiles: ["/proc/keys"],
    coveredFolders: ["/proc/acpi"],
    readOnlyFolders: ["/proc/sys"],
  },
  base: "/base",
  shared: null,
  scratchPaths: ["/work/deep", "/tmp", "/work"],
  mounts: [
    { target: "/data/in", readOnly: true },
    { target: "/work/deep/out", readOnly: false },
  ],
  canDisableUserNamespaces: true,
};

const shared: SandboxView = { ...view, shared: { uid: 1000, gid: 1001 } };

/** Where the words stand one after the other; -1 when they do not. */
function position(options: readonly string[], ...words: readonly string[]): number {
  return options.findIndex((_, at) => words.every((word, offset) => options[at + offset] === word));
}

function has(...words: readonly string[]): boolean {
  return position(bwrapArguments(view), ...words) >= 0;
}

describe("bwrapArguments", () => {
  it.each(["pid", "net", "ipc", "uts", "cgroup"])("makes a fresh %s namespace", (kind) => {
    expect(has(`--unshare-${kind}`)).toBe(true);
  });

  it("stays in the user namespace that was entered, which has two users", () => {
    expect(bwrapArguments(view).filter((option) => /^--(unshare-user|disable-userns|uid|gid)$/.test(option))).toEqual(
      [],
    );
  });

  it("makes one with a single user where the supervisor is its programs' user", () => {
    const options = bwrapArguments(shared);
    expect(options).toContain("--unshare-user");
    expect(position(options, "--uid", "1000", "--gid", "1001")).toBeGreaterThan(0);
  });

  it("forbids further user namespaces there where bubblewrap can", () => {
    expect(bwrapArguments(shared)).toContain("--disable-userns");
    expect(bwrapArguments({ ...shared, canDisableUserNamespaces: false })).not.toContain("--disable-userns");
  });

  it("ends with its parent, has no terminal and its own first process", () => {
    expect(["--die-with-parent", "--new-session", "--as-pid-1"].every((option) => has(option))).toBe(true);
  });

  it("drops all capabilities before it adds the supervisor's", () => {
    const added = ["CAP_KILL", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE"];
    expect(has("--cap-drop", "ALL", ...added.flatMap((name) => ["--cap-add", name]))).toBe(true);
    expect(bwrapArguments(view).filter((option) => option === "--cap-add")).toHaveLength(5);
    const options = bwrapArguments(shared);
    expect(options.filter((_, at) => options[at - 1] === "--cap-add")).toEqual(["CAP_SETPCAP"]);
  });

  it("runs under the filter that it is given", () => {
    expect(has("--seccomp", "5")).toBe(true);
  });

  it("shows the system read-only, with links where the host has links", () => {
    expect(has("--ro-bind", "/usr", "/usr")).toBe(true);
    expect(has("--symlink", "usr/bin", "/bin")).toBe(true);
    expect(has("--ro-bind", "/lib", "/lib")).toBe(true);
  });

  it("hides what the operator keeps in /usr/local, if there is one", () => {
    const options = bwrapArguments(view);
    expect(position(options, "--ro-bind", "/base/empty", "/usr/local")).toBeGreaterThan(
      position(options, "--ro-bind", "/usr", "/usr"),
    );
    expect(bwrapArguments({ ...view, root: { ...view.root, hasUsrLocal: false } })).not.toContain("/usr/local");
  });

  it("binds nothing of the host's /etc, but what was made for sandboxes", () => {
    expect(has("--ro-bind", "/base/etc", "/etc")).toBe(true);
    expect(bwrapArguments(view).filter((option) => option.startsWith("/etc/"))).toEqual([]);
  });

  it("covers the dangerous parts of a /proc of its own, after it is mounted", () => {
    const options = bwrapArguments(view);
    const proc = position(options, "--proc", "/proc");
    expect(proc).toBeGreaterThan(0);
    for (const words of [
      ["--ro-bind", "/dev/null", "/proc/keys"],
      ["--ro-bind", "/base/empty", "/proc/acpi"],
      ["--ro-bind", "/proc/sys", "/proc/sys"],
    ]) {
      expect(position(options, ...words)).toBeGreaterThan(proc);
    }
  });

  it("mounts each scratch place, the outer before the inner, from the folder of its own index", () => {
    const options = bwrapArguments(view);
    const work = position(options, "--bind", "/base/scratch/3", "/work");
    expect(work).toBeGreaterThan(0);
    expect(position(options, "--bind", "/base/scratch/1", "/work/deep")).toBeGreaterThan(work);
    expect(position(options, "--bind", "/base/scratch/2", "/tmp")).toBeGreaterThan(0);
    expect(position(options, "--bind", "/base/scratch/0", "/dev/shm")).toBeGreaterThan(
      position(options, "--dev", "/dev"),
    );
  });

  it("binds what the container is given of the host after the scratch that it stands in", () => {
    const options = bwrapArguments(view);
    expect(has("--ro-bind", "/base/mounts/0", "/data/in")).toBe(true);
    expect(position(options, "--bind", "/base/mounts/1", "/work/deep/out")).toBeGreaterThan(
      position(options, "--bind", "/base/scratch/1", "/work/deep"),
    );
  });

  it("binds nothing writable but scratch and writable mounts", () => {
    const options = bwrapArguments(view);
    const targets = options.filter((_, at) => options[at - 2] === "--bind");
    expect(targets.toSorted()).toEqual(["/dev/shm", "/tmp", "/work", "/work/deep", "/work/deep/out"]);
    expect(options.filter((option) => /^--(dev-bind|tmpfs|overlay|bind-try)/.test(option))).toEqual([]);
  });

  it("makes / and /dev read-only when everything has been mounted", () => {
    const options = bwrapArguments(view);
    const last = Math.max(...options.map((option, at) => (/^--(ro-)?bind$|^--dev$|^--proc$/.test(option) ? at : 0)));
    expect(position(options, "--remount-ro", "/")).toBeGreaterThan(last);
    expect(position(options, "--remount-ro", "/dev")).toBeGreaterThan(last);
  });

  it("makes the folders above each place first, open to everyone", () => {
    const options = bwrapArguments(view);
    expect(position(options, "--dir", "/opt", "--ro-bind", "/base/opt", "/opt/glovebox")).toBeGreaterThan(0);
    const inside = ["--dir", "/work", "--dir", "/work/deep", "--bind", "/base/mounts/1", "/work/deep/out"];
    expect(position(options, ...inside)).toBeGreaterThan(position(options, "--bind", "/base/scratch/1", "/work/deep"));
  });

  it("leaves no variable", () => {
    expect(bwrapArguments(view).at(-1)).toBe("--clearenv");
    expect(bwrapArguments(view)).not.toContain("--setenv");
  });
});

describe("encodeOptions", () => {
  it("ends each option with NUL, so that an empty or odd one stays one", () => {
    expect(encodeOptions(["--setenv", "A", "", "B\nC"])).toBe("--setenv\0A\0\0B\nC\0");
  });
});

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
