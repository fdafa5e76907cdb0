import type { Unavailability } from "../docker-api/http/unavailability.ts";
import type { CommandVersion } from "./service-answer.ts";

/** Versions of the command that this engine knows: from the first one with its JSON, up to the next that may change it. */
const supportedVersions = { first: "1.0.0", major: 1 } as const;

export const installInstructions =
  "Install Apple's container 1.0.0 or newer (1.2.1 is recommended) on a Mac with Apple silicon: `brew install container`, or the package of github.com/apple/container/releases. Then `container system start`.";

export type Remedy = "start" | "restart";

/** How to start the service, or restart it when it hangs. */
export function startInstructions(remedy: Remedy): string {
  return remedy === "start"
    ? "Start it: `container system start` (the first time it offers to install a kernel)."
    : "Restart it: `container system stop`, then `container system start`.";
}

/** Why the service does not do what it was asked. */
export function explainStop(kind: "down" | "interrupted" | "late"): Unavailability {
  switch (kind) {
    case "down":
      return { reason: "Apple's container service is not running.", howToStart: startInstructions("start") };
    case "interrupted":
      return { reason: "Apple's container service aborted a call.", howToStart: startInstructions("start") };
    case "late":
      return { reason: "Apple's container service did not answer in time.", howToStart: startInstructions("restart") };
  }
}

/** Why a version is refused. */
export function explainVersion(version: CommandVersion | null): string {
  if (version === null) return "The `container` command on the PATH is not Apple's.";
  return version.major < supportedVersions.major
    ? `Apple's container ${version.text} is too old: Glovebox needs ${supportedVersions.first} or newer (\`container --version\`).`
    : `Apple's container ${version.text} is newer than Glovebox knows: it works with 1.x (\`container --version\`).`;
}

/** Whether this engine knows the version. */
export function isSupported(version: CommandVersion): boolean {
  return version.major === supportedVersions.major;
}
