import type { Capabilities } from "../../capabilities.ts";
import { nodeFaultNote } from "../../node-faults.ts";

/** Why it is this level and no better one. */
export interface WhyPreload {
  /** One sentence. */
  readonly reason: string;
  /** What would give a better one, one sentence. */
  readonly fix?: string | undefined;
}

export interface PreloadAbilities extends WhyPreload {
  readonly platform: NodeJS.Platform;
  /** Whether util-linux's `setpriv` is there. */
  readonly setpriv: boolean;
  /** Whether programs run as the server's own root. */
  readonly asRoot: boolean;
  /** Null where there is no Node. */
  readonly nodeVersion: string | null;
}

const interception = {
  substitute: "interception inside the program's own interpreter (preload), which hostile code may get round",
};

/** What level `preload` can do: the kernel enforces hardly anything, and it says so. */
export function preloadCapabilities(abilities: PreloadAbilities): Capabilities {
  const { platform, setpriv, reason, fix, asRoot, nodeVersion } = abilities;
  const nodeNote = nodeVersion === null ? null : nodeFaultNote(nodeVersion);
  const seesMemory = platform !== "win32";
  return {
    isolation: "preload",
    images: false,
    programs: "interpretersOnly",
    javascript: "node",
    notes: [
      `isolation preload: the program runs on the host itself, and only its own interpreter refuses it files outside its folders, network, other processes and native code. This stops mistakes and simple mischief, not an attacker. Why no better: ${reason}`,
      ...(asRoot ? ["isolation preload: the program runs as root, like Glovebox itself."] : []),
      ...(nodeNote === null ? [] : [nodeNote]),
    ],
    isolationAdvice: adviceOf(reason, fix),
    seccomp: "no",
    noNewPrivileges: setpriv ? "yes" : interception,
    setuidRefusal: "no",
    readOnlyRoot: interception,
    noNetwork: interception,
    memoryLimit: seesMemory ? { substitute: "a watch that ends the program when it uses more" } : "no",
    cpuLimit: "no",
    pidsLimit: {
      substitute:
        "interception inside the program's own interpreter: no other processes, and so many threads in Python",
    },
    scratch: "disk",
    diskLimit: "no",
    hostPaths: false,
    oomReporting: seesMemory,
    cpuReporting: false,
    execUser: false,
    execNetwork: "none",
  };
}

/** What would help comes first: people read that, and then why. */
function adviceOf(reason: string, fix: string | undefined): string {
  if (fix === undefined) return reason;
  // A line to type stands before its reason: `apt-get install x`: x is missing.
  return fix.endsWith("`") ? `${fix}: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}` : `${fix} ${reason}`;
}
