import type { CheckedCapabilities } from "./subject.ts";

/** What a reader wants to know of an engine, and what proves it. */
export interface Guarantee {
  readonly title: string;
  /** Ids of its behaviours; those of a whole topic: `topic.*`. */
  readonly behaviours: readonly string[];
}

/** A fact that an engine declares, which the suite compares with what the engine must declare. */
export interface DeclaredFact {
  readonly title: string;
  readonly capability: "isolation" | "scratch" | "execNetwork";
  /** A test that shows it at work. */
  readonly test: string;
}

/** Guarantees that belong together. */
export interface GuaranteeGroup {
  readonly title: string;
  readonly rows: readonly (Guarantee | DeclaredFact)[];
}

/** The rows of the table in docs/engines.md; each behaviour of the suite belongs to exactly one. */
export const guaranteeGroups: readonly GuaranteeGroup[] = [
  {
    title: "Walls",
    rows: [
      { title: "Isolation that results name", capability: "isolation", test: "test/e2e/execute.test.ts" },
      { title: "Nothing can be written but scratch and shared memory", behaviours: ["filesystem.*"] },
      {
        title: "Files of this machine given to programs: read-only ones stay as they are",
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
        title: "What is mounted is the folder that was checked, whatever its name leads to by then",
        behaviours: ["mounts.identity"],
      },
      {
        title: "Folders that never change, such as packages, can be read and not changed",
        behaviours: ["mounts.unchanging"],
      },
      {
        title: "A root that programs may change, for themselves alone, and that is measured",
        behaviours: ["writable-root.*"],
      },
      { title: "Nothing can be reached over the network", behaviours: ["network.*"] },
      {
        title: "A list of hosts as the only way out (`--network`)",
        capability: "execNetwork",
        test: "test/e2e/network.test.ts",
      },
      {
        title: "Programs are user 1000 and have no capability, not even as root",
        behaviours: [
          "privileges.user",
          "privileges.main-user",
          "privileges.process-user",
          "privileges.exec-users",
          "privileges.root",
          "privileges.capabilities",
        ],
      },
      { title: "No device is inside but the standard ones", behaviours: ["privileges.devices"] },
      { title: "Programs cannot gain privileges", behaviours: ["privileges.no-new-privileges"] },
      {
        title: "System calls outside our seccomp allowlist are refused",
        behaviours: ["privileges.seccomp", "privileges.seccomp-denies"],
      },
      {
        title:
          "No file gets a setuid bit, by whatever call; installers may set it where nothing of the host is writable",
        behaviours: ["privileges.setuid-bits", "privileges.setuid-bits-as-root", "privileges.installers"],
      },
      { title: "Processes of the host cannot be seen", behaviours: ["privileges.host-processes"] },
      { title: "The sandbox's first process is closed to programs", behaviours: ["privileges.first-process"] },
      {
        title: "A program that holds, stops, feeds or traces all it can reach changes nothing for others",
        behaviours: ["cohabitant.*"],
      },
      {
        title: "Standard streams that are kept beyond a program's end reach no later program",
        behaviours: ["kept-streams.*"],
      },
      { title: "Variables given to programs act on nothing that is Glovebox's", behaviours: ["variables.*"] },
      { title: "Nothing of the host's environment is seen", behaviours: ["arguments.no-host-environment"] },
    ],
  },
  {
    title: "Limits",
    rows: [
      { title: "Memory, of all programs together", behaviours: ["memory.together"] },
      {
        title: "Want of memory is told apart from other ends",
        behaviours: [
          "memory.exec",
          "memory.within",
          "memory.child",
          "memory.not-oom",
          "memory.main",
          "memory.main-not-oom",
        ],
      },
      { title: "Memory in use, and its peak, are told", behaviours: ["memory.use"] },
      { title: "Share of CPU time", behaviours: ["limits.cpu"] },
      { title: "CPU time and bytes of disks are told", behaviours: ["usage.*"] },
      { title: "Number of processes: a fork bomb is stopped", behaviours: ["limits.pids", "limits.pids-recover"] },
      {
        title: "Open files; no core files",
        behaviours: ["limits.open-files", "limits.open-files-default", "limits.no-core-files"],
      },
      { title: "Where scratch lives", capability: "scratch", test: "test/e2e/execute.test.ts" },
      { title: "Size of each scratch folder", behaviours: ["scratch.limit", "scratch.limits-apart"] },
      { title: "Number of files in scratch", behaviours: ["scratch.inodes"] },
      {
        title: "Size of shared memory",
        behaviours: ["scratch.shared-memory", "scratch.shared-memory-default"],
      },
      {
        title: "Scratch is empty at first, private, and gone afterwards",
        behaviours: ["scratch.folders", "scratch.closed", "scratch.large", "scratch.private"],
      },
    ],
  },
  {
    title: "Control",
    rows: [
      {
        title: "A stop, a kill or a removal ends everything",
        behaviours: ["ending.*", "lifecycle.remove", "lifecycle.remove-at-once"],
      },
      {
        title: "One program can be ended with all that it started, and nothing else",
        behaviours: ["exact-kill.*", "process-tree.*"],
      },
      {
        title: "A program that stops whatever comes near it ends in time, and opens nothing of it",
        behaviours: ["stopped-helpers.*"],
      },
      {
        title: "Work that is given up stops and leaves nothing",
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
      { title: "A sandbox that went away is told apart from a failure", behaviours: ["losses.*"] },
      { title: "Sandboxes are found by their labels", behaviours: ["listing.*"] },
      { title: "An engine that is not there says how to start it", behaviours: ["unavailable.*"] },
      {
        title: "What it cannot do it declares and refuses",
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
          "lifecycle.idle",
          "multitude.*",
          "exec.concurrent",
          "exec.shares-files",
        ],
      },
      { title: "Ports that programs listen on can be connected to", behaviours: ["connect.*"] },
      {
        title: "Files go in and out, whatever their names, and cannot lead out of the sandbox",
        behaviours: ["files.*", "file-trees.*"],
      },
      {
        title: "A project's copy follows the project, whatever programs do to it, and never leads out of the sandbox",
        behaviours: ["live-copy.*", "tree-updates.*"],
      },
      {
        title: "What moves files can be stopped, fed or ended by programs, which concerns their own sandbox only",
        behaviours: ["hostile-answers.*"],
      },
      {
        title: "Exit codes and signals arrive as a shell shows them",
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
        title: "Programs start in the folder they were given",
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
      { title: "Input and output are bytes, whole and at once", behaviours: ["streams.*"] },
      { title: "A flood of output waits for its reader", behaviours: ["back-pressure.*"] },
      { title: "Images are found, fetched and missed", behaviours: ["images.*", "cancellation.pull"] },
    ],
  },
];

/** The ids that a row stands for, given all there are. @throws Error for one that there is not */
export function behavioursOf({ behaviours }: Guarantee, all: Iterable<string>): readonly string[] {
  const known = [...all];
  return behaviours.flatMap((pattern) => {
    const found = known.filter((id) => (pattern.endsWith(".*") ? id.startsWith(pattern.slice(0, -1)) : id === pattern));
    if (found.length === 0) throw new Error(`No behaviour is called ${pattern}.`);
    return found;
  });
}

/** Why a behaviour is not asked of an engine without the ability: sentences of docs/engines.md. */
export const absences: Readonly<Partial<Record<keyof CheckedCapabilities | "makeAt", string>>> = {
  images: "It has no images: programs run on the host's own system.",
  execUser: "All its programs are the same user.",
  hostPaths: "Nothing would keep a program from changing them.",
  execKill: "Its interface cannot; a program that goes on after SIGTERM is ended with its sandbox.",
  diskLimit: "What programs write there cannot be measured.",
  oomReporting: "Kills inside are not counted: want of memory ends the whole sandbox, and the result says so.",
  execNetwork: "It has no wall that a list could be a gate in.",
  cpuReporting: "Nothing there counts the CPU time of its programs together.",
  cpuLimit: "Nothing there limits the share of one program.",
  seccomp: "Programs are under no filter.",
  setuidRefusal: "Programs are under no filter.",
  makeAt: "It is part of Glovebox itself: there is no socket that could be missing.",
};
