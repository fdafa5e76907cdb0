import type { CheckedCapabilities } from "./subject.ts";

/** A property of an engine, and the tests that prove it. */
export interface Guarantee {
  readonly title: string;
  /** Ids of its behaviours; those of a whole topic: `topic.*`. */
  readonly behaviours: readonly string[];
}

/** A fact that an engine declares; the suite compares it with what the engine must declare. */
export interface DeclaredFact {
  readonly title: string;
  readonly capability: "isolation" | "scratch" | "execNetwork";
  /** A test that shows it in use. */
  readonly test: string;
}

/** Guarantees that belong together. */
export interface GuaranteeGroup {
  readonly title: string;
  readonly rows: readonly (Guarantee | DeclaredFact)[];
}

/** The rows of the tables in docs/engines.md; each behaviour of the suite belongs to exactly one. */
export const guaranteeGroups: readonly GuaranteeGroup[] = [
  {
    title: "Walls",
    rows: [
      { title: "Isolation named in results", capability: "isolation", test: "test/e2e/execute.test.ts" },
      { title: "Only scratch and shared memory are writable", behaviours: ["filesystem.*"] },
      {
        title: "Host files mounted read-only cannot be changed",
        behaviours: [
          "mounts.read-only",
          "mounts.read-only-below",
          "mounts.writable",
          "mounts.no-setuid",
          "mounts.no-devices",
          "mounts.missing",
        ],
      },
      {
        title: "The folder that was checked is the one that is mounted, even if its path changes in between",
        behaviours: ["mounts.identity"],
      },
      {
        title: "Shared folders such as packages are read-only",
        behaviours: ["mounts.unchanging"],
      },
      {
        title: "A writable root, private to the sandbox and measured",
        behaviours: ["writable-root.*"],
      },
      { title: "No network access", behaviours: ["network.*"] },
      {
        title: "Network access limited to a list of hosts (`--network`)",
        capability: "execNetwork",
        test: "test/e2e/network.test.ts",
      },
      {
        title: "Programs run as a user that the host has not, without capabilities, even as root",
        behaviours: [
          "privileges.user",
          "privileges.main-user",
          "privileges.process-user",
          "privileges.exec-users",
          "privileges.chosen-users",
          "privileges.root",
          "privileges.capabilities",
        ],
      },
      { title: "Only standard devices are present", behaviours: ["privileges.devices"] },
      { title: "Programs cannot gain privileges", behaviours: ["privileges.no-new-privileges"] },
      {
        title: "System calls outside our seccomp allowlist are refused",
        behaviours: ["privileges.seccomp", "privileges.first-process-filter", "privileges.seccomp-denies"],
      },
      {
        title: "No call can set a setuid bit, except for installers that cannot write to host files",
        behaviours: ["privileges.setuid-bits", "privileges.setuid-bits-as-root", "privileges.installers"],
      },
      { title: "Host processes are invisible", behaviours: ["privileges.host-processes"] },
      { title: "Programs cannot inspect the sandbox's first process", behaviours: ["privileges.first-process"] },
      {
        title: "A program that stops, feeds or traces everything it can reach does not affect others",
        behaviours: ["cohabitant.*"],
      },
      {
        title: "Standard streams kept open after a program ends reach no later program",
        behaviours: ["kept-streams.*"],
      },
      { title: "A program's variables do not affect Glovebox's own processes", behaviours: ["variables.*"] },
      { title: "Host environment variables are invisible", behaviours: ["arguments.no-host-environment"] },
    ],
  },
  {
    title: "Limits",
    rows: [
      { title: "Memory, for all programs together", behaviours: ["memory.together"] },
      {
        title: "Out-of-memory kills are recognised",
        behaviours: [
          "memory.exec",
          "memory.within",
          "memory.child",
          "memory.not-oom",
          "memory.main",
          "memory.main-not-oom",
        ],
      },
      { title: "Memory use and its peak are reported", behaviours: ["memory.use"] },
      { title: "Share of CPU time", behaviours: ["limits.cpu"] },
      { title: "CPU time and disk traffic are reported", behaviours: ["usage.*"] },
      { title: "Number of processes: a fork bomb is stopped", behaviours: ["limits.pids", "limits.pids-recover"] },
      {
        title: "Open files; no core files",
        behaviours: ["limits.open-files", "limits.open-files-default", "limits.no-core-files"],
      },
      { title: "Buffers of sockets", behaviours: ["limits.sockets", "limits.netlink"] },
      {
        title: "What the kernel counts for each user is each sandbox's own, and owners keep most of theirs",
        behaviours: ["user-shares.*"],
      },
      { title: "Where scratch lives", capability: "scratch", test: "test/e2e/execute.test.ts" },
      { title: "Size of each scratch folder", behaviours: ["scratch.limit", "scratch.limits-apart"] },
      { title: "Number of files in scratch", behaviours: ["scratch.inodes"] },
      {
        title: "Size of shared memory",
        behaviours: ["scratch.shared-memory", "scratch.shared-memory-default"],
      },
      {
        title: "Scratch starts empty, is private, and is removed afterwards",
        behaviours: ["scratch.folders", "scratch.closed", "scratch.large", "scratch.private"],
      },
    ],
  },
  {
    title: "Control",
    rows: [
      {
        title: "Stopping, killing or removing a sandbox ends everything in it",
        behaviours: ["ending.*", "lifecycle.remove", "lifecycle.remove-at-once"],
      },
      {
        title: "One program can be killed with everything it started, and nothing else",
        behaviours: ["exact-kill.*", "process-tree.*"],
      },
      {
        title: "A program that stops Glovebox's helper processes still ends in time, and cannot open their files",
        behaviours: ["stopped-helpers.*"],
      },
      {
        title: "Cancelled work stops and leaves nothing behind",
        behaviours: [
          "cancellation.before",
          "cancellation.before-start",
          "cancellation.create",
          "cancellation.start",
          "cancellation.attach",
          "cancellation.exec",
          "cancellation.after-exec",
          "cancellation.wait",
        ],
      },
      { title: "A lost sandbox is reported as lost, not as a failure", behaviours: ["losses.*"] },
      { title: "Sandboxes are found by their labels", behaviours: ["listing.*"] },
      { title: "An engine that does not answer says how to start it", behaviours: ["unavailable.*"] },
      {
        title: "What an engine cannot do, it declares and refuses",
        behaviours: ["lifecycle.probe", "lifecycle.idle-attach"],
      },
    ],
  },
  {
    title: "Programs",
    rows: [
      {
        title: "Sandboxes start, run programs side by side, and end",
        behaviours: [
          "lifecycle.own-command",
          "lifecycle.own-command-input",
          "lifecycle.states",
          "lifecycle.alive",
          "lifecycle.idle",
          "multitude.*",
          "exec.concurrent",
          "exec.shares-files",
        ],
      },
      { title: "Ports of programs can be reached", behaviours: ["connect.*"] },
      {
        title: "Files with any name go in and out, and cannot lead out of the sandbox",
        behaviours: ["files.*", "file-trees.*"],
      },
      {
        title: "A project's copy follows the project whatever programs do to it, and never leads out of the sandbox",
        behaviours: ["live-copy.*", "tree-updates.*"],
      },
      {
        title: "Programs that interfere with file transfers affect only their own sandbox",
        behaviours: ["hostile-answers.*", "file-attacks.*"],
      },
      {
        title: "Exit codes and signals are reported as in a shell",
        behaviours: [
          "exec.exit-codes",
          "exec.signals",
          "exec.quiet-signals",
          "exec.signal-alone",
          "exec.missing-program",
          "exec.not-executable",
          "exec.own-exit-127",
        ],
      },
      {
        title: "Programs start in the requested folder",
        behaviours: ["exec.working-directory", "exec.main-working-directory", "exec.default-working-directory"],
      },
      {
        title: "Arguments and variables arrive literally",
        behaviours: [
          "arguments.literal",
          "arguments.main-literal",
          "arguments.environment",
          "arguments.environment-over-image",
          "arguments.odd-environment",
          "arguments.main-environment",
        ],
      },
      { title: "Input and output are exact bytes, delivered at once", behaviours: ["streams.*"] },
      { title: "Output waits for a slow reader", behaviours: ["back-pressure.*"] },
      {
        title: "Images are found and pulled; missing ones are reported",
        behaviours: ["images.*", "cancellation.pull"],
      },
    ],
  },
];

/** The behaviour ids of a row. @throws Error for an unknown id */
export function behavioursOf({ behaviours }: Guarantee, all: Iterable<string>): readonly string[] {
  const known = [...all];
  return behaviours.flatMap((pattern) => {
    const found = known.filter((id) => (pattern.endsWith(".*") ? id.startsWith(pattern.slice(0, -1)) : id === pattern));
    if (found.length === 0) throw new Error(`No behaviour is called ${pattern}.`);
    return found;
  });
}

/** Why a behaviour does not apply to an engine without the ability: sentences in docs/engines.md. */
export const absences: Readonly<Partial<Record<keyof CheckedCapabilities | "makeAt", string>>> = {
  images: "It has no images: programs run on the host's own system.",
  execUser: "All its programs run as the same user.",
  hostPaths: "Programs could change them.",
  diskLimit: "What programs write there cannot be measured.",
  oomReporting: "Kills inside are not counted: running out of memory ends the whole sandbox, and the result says so.",
  execNetwork: "There is no network boundary to enforce a list at.",
  cpuReporting: "Total CPU time is not counted there.",
  cpuLimit: "CPU time cannot be limited there.",
  seccomp: "There is no system call filter.",
  setuidRefusal: "There is no system call filter.",
  makeAt: "It is part of Glovebox itself and has no socket.",
};
