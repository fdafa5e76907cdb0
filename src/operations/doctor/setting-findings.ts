import type { EngineHints } from "../../engines/engine-table.ts";
import type { EngineConnection, EngineSetup } from "../../engines/engine-setup.ts";
import type { KernelSettings } from "./kernel-settings.ts";
import type { Finding } from "./finding-schema.ts";

/** What findings about settings are derived from. */
export interface Surroundings {
  readonly setup: EngineSetup;
  readonly kernel: KernelSettings;
  /** Whether Glovebox itself runs as root. */
  readonly isRoot: boolean;
  /** The engine's own words. */
  readonly hints: EngineHints;
}

/** What an operator should know about the settings of an engine and its kernel, the worst first. */
export function settingFindings(surroundings: Surroundings): readonly Finding[] {
  const { setup, kernel, isRoot, hints } = surroundings;
  const sharesKernel = setup.kernel !== undefined && setup.kernel === kernel.release;
  return [
    ...(setup.connection === undefined ? [] : connectionFindings(setup.connection, hints)),
    ...(setup.openAddresses ?? []).map(openAddress),
    ...(setup.setuid === true ? [setuidHelper] : []),
    ...(setup.containerRoot === "root" ? [rootful(hints)] : []),
    ...(sharesKernel && !isRoot && givesRoot(setup) ? [rootBySocket(hints)] : []),
    ...(setup.accessControl?.length === 0 ? [noAccessControl] : []),
    ...(setup.inProcess === true && isRoot ? [runsAsRoot] : []),
    ...(sharesKernel && kernel.corePattern?.startsWith("|") === true ? [coreHelper] : []),
    ...(sharesKernel && kernel.processorFaults.length > 0 ? [processorFaults(kernel.processorFaults)] : []),
  ];
}

function connectionFindings(
  { kind, tls, remote, origin }: EngineConnection,
  { encryption = "TLS, a socket forwarded over SSH" }: EngineHints,
): readonly Finding[] {
  if (kind === "socket") return [];
  const fix = `Use ${encryption}, or the local socket.`;
  return [...(kind === "tcp" ? tlsFindings({ tls, remote, origin }, fix) : []), ...(remote ? [elsewhere(origin)] : [])];
}

function tlsFindings(
  { tls, remote, origin }: Pick<EngineConnection, "tls" | "remote" | "origin">,
  fix: string,
): readonly Finding[] {
  if (tls === null) {
    return [
      {
        severity: remote ? "danger" : "warning",
        what: `The engine's API is reached over plain TCP (${origin}).`,
        why: "Anyone who can reach that port is root on the engine's machine, and anyone in between can read and change everything.",
        fix,
      },
    ];
  }
  if (tls === "verified") return [];
  return [
    {
      severity: remote ? "danger" : "warning",
      what: `The engine's certificate is not verified (${origin}).`,
      why: "Anyone in between can impersonate the engine.",
      fix,
    },
  ];
}

function elsewhere(origin: string): Finding {
  return {
    severity: "note",
    what: `The engine runs on another machine (${origin}).`,
    why: "Folders of this machine cannot be mounted there, and everything that runs passes over the network.",
    fix: "Nothing, if you want that; else unset it to use an engine on this machine.",
  };
}

function openAddress(url: string): Finding {
  const isNear = /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::|$)/i.test(url);
  return {
    severity: isNear ? "warning" : "danger",
    what: `The engine's API is open to anyone who can reach ${url}.`,
    why: "It requires no client certificate, and anyone who can use it is root on the engine's machine.",
    fix: "Remove that address from the engine's hosts (daemon.json, -H), or let it verify clients (tlsverify).",
  };
}

/** Whether the engine runs as root and can be controlled by a user who is not root. */
function givesRoot({ connection, containerRoot }: EngineSetup): boolean {
  return connection?.kind === "socket" && (containerRoot === "root" || containerRoot === "remapped");
}

const rootBySocket = ({ access }: EngineHints): Finding => ({
  severity: "note",
  what: `This user can talk to an engine that runs as root${access === undefined ? "" : ` (${access})`}.`,
  why: "That makes every program this user starts as powerful as root on this machine; sandboxes cannot reach the engine.",
  fix: "Run the server as a dedicated user, or use a rootless engine.",
});

function processorFaults(names: readonly string[]): Finding {
  return {
    severity: "note",
    what: `The processor has unmitigated vulnerabilities: ${names.join(", ")}.`,
    why: "A program may read the memory of other programs on the same processor, including other sandboxes and the host.",
    fix: "Update the kernel and the microcode, and boot without mitigations=off; for a virtual machine, on its host.",
  };
}

const setuidHelper: Finding = {
  severity: "warning",
  what: "bubblewrap is installed setuid root.",
  why: "Every user of this machine can run its set-up code as root; newer versions refuse to run that way.",
  fix: "Remove the bit (`chmod u-s` on bwrap) and allow user namespaces to unprivileged users instead.",
};

const rootful = ({ userNamespaces, strongerRuntime }: EngineHints): Finding => ({
  severity: "note",
  what: "The root of a container is root on the engine's machine: there is no user namespace.",
  why: "Programs run without root and without capabilities, but a program that escapes through a kernel or runtime bug may become root.",
  fix: `Run the engine rootless or with user namespaces${userNamespaces === undefined ? "" : ` (${userNamespaces})`}${strongerRuntime === undefined ? "" : `, or install ${strongerRuntime.product} (${strongerRuntime.name})`}.`,
});

const noAccessControl: Finding = {
  severity: "note",
  what: "Neither AppArmor nor SELinux confines containers.",
  why: "They would add a layer of protection behind namespaces, seccomp and dropped capabilities.",
  fix: "Enable one of them in the kernel and the engine, if the distribution has it.",
};

const runsAsRoot: Finding = {
  severity: "note",
  what: "Glovebox runs as root.",
  why: "That gives sandboxes of this engine hard limits and a host user of their own, but a bug in setting one up runs with root's power.",
  fix: "If you can, run it as a normal user, under systemd with Delegate=yes for hard limits.",
};

const coreHelper: Finding = {
  severity: "note",
  what: "A crash starts a host program (kernel.core_pattern begins with |).",
  why: "A crash in a sandbox also starts it, outside the sandbox, as root and with data chosen by the program in the sandbox.",
  fix: "If you do not want that: `sysctl -w kernel.core_pattern=core`.",
};
