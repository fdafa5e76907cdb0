import { unavailableError, type Unavailability } from "../unavailability.ts";
import type { CommandVersion } from "./command-format.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { lostError } from "../supervised/container/container-errors.ts";

/** Versions of the command that this engine knows: from the first one with its JSON, up to the next that may change it. */
const supportedVersions = { first: "1.0.0", major: 1 } as const;

const installInstructions =
  "Install Apple's container 1.0.0 or newer (1.2.1 is recommended) on a Mac with Apple silicon: `brew install container`, or the package of github.com/apple/container/releases. Then `container system start`.";

type Remedy = "start" | "restart";

/** Whether this engine knows the version. */
export function isSupported(version: CommandVersion): boolean {
  return version.major === supportedVersions.major;
}

/** How a call of the command ended. */
export interface CommandResult {
  /** Null when the command died by a signal. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** The end of it. */
  readonly stderr: string;
}

/** What the command's message about a failure means. */
type FailureKind =
  /** Its service does not run. */
  | "down"
  /** The service disappeared during the call. */
  | "interrupted"
  /** The service took too long for a request of the command. */
  | "late"
  | "no-container"
  | "not-running"
  | "no-image"
  | "exists"
  | "unknown";

/** The first that matches counts. Sources: the texts of 1.0 to 1.2 in Apple's source code. */
const table: readonly (readonly [FailureKind, RegExp])[] = [
  ["interrupted", /Connection interrupted/],
  ["down", /XPC connection error|container system start|Plugins are unavailable|apiserver is not running/],
  ["late", /XPC timeout for request/],
  [
    "no-container",
    /get failed: container .{1,200} not found|container with ID .{1,200} not found|container not found: |no such container: /,
  ],
  ["not-running", /container .{1,200} is not running|no runtime client exists|container is stopped/],
  ["no-image", /image not found: |image with reference /],
  ["exists", /container (?:with id .{1,200} )?already exists/],
];

/** Longest text of a failure that is looked at. */
const maxChars = 8_192;

/** What the command says of its own failure at the end of standard error, without its mark; null when it says nothing. */
export function failureWords(stderr: string): string | null {
  const tail = stderr.slice(-maxChars);
  const start = tail.startsWith("Error: ") ? 0 : tail.indexOf("\nError: ") + 1;
  if (start === 0 && !tail.startsWith("Error: ")) return null;
  return tail.slice(start + "Error: ".length).trim();
}

/** What kind of failure it is, by the command's message. */
export function failureKind(words: string): FailureKind {
  return table.find(([, pattern]) => pattern.test(words))?.[0] ?? "unknown";
}

/** Kinds that speak of the service and not of what it was asked for. */
const services: ReadonlySet<FailureKind> = new Set(["down", "interrupted", "late"]);

/** Whether the command failed because its service did. */
export function isServiceFailure(stderr: string): boolean {
  return services.has(failureKind(failureWords(stderr) ?? stderr.trim()));
}

export const engineName = "apple";
export const engineTitle = "Apple's container service";

/**
 * The error of a call that the command did not do; `action` follows "could not".
 * Its words may hold paths of this machine, so they go into the cause alone.
 */
export function refusal(action: string, { exitCode, stderr }: CommandResult): GloveboxError {
  const words = failureWords(stderr) ?? stderr.trim();
  const cause = new Error(words.slice(0, 2_000));
  const kind = failureKind(words);
  if (kind === "down" || kind === "interrupted" || kind === "late") {
    return unavailableError(engineName, explainStop(kind), cause);
  }
  if (kind === "no-container" || kind === "not-running") return lostError(engineTitle, cause);
  return new GloveboxError("INTERNAL", `${engineTitle} could not ${action}.`, {
    suggestion: "Retry; if it happens again, check `container system logs`.",
    context: { engine: engineName, exit_code: exitCode },
    cause,
  });
}

/** An answer that cannot be read: cut off, or of a version whose answers have another form. */
export function unreadable(action: string, cause: unknown): GloveboxError {
  const reason = `${engineTitle} was asked to ${action}, but its answer is invalid.`;
  return unavailableError(engineName, { reason, howToStart: startInstructions("restart") }, cause);
}

export function lateError(action: string, deadlineMs: number): GloveboxError {
  const reason = `${engineTitle} was asked to ${action}, but did not within ${deadlineMs / 1000} s.`;
  return unavailableError(engineName, { reason, howToStart: startInstructions("restart") });
}

export function floodError(action: string): GloveboxError {
  const reason = `${engineTitle} was asked to ${action}, but answered with more than Glovebox reads.`;
  return unavailableError(engineName, { reason, howToStart: startInstructions("restart") });
}

export function notInstalled(cause?: unknown): GloveboxError {
  const reason = "Apple's `container` command is not installed: it is not on the PATH.";
  return unavailableError(engineName, { reason, howToStart: installInstructions, isAbsent: true }, cause);
}

export function unsupportedVersion(version: CommandVersion | null): GloveboxError {
  return unavailableError(engineName, { reason: explainVersion(version), howToStart: installInstructions });
}

export function serviceDown(): GloveboxError {
  return unavailableError(engineName, explainStop("down"));
}

export function noCommit(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `${engineTitle} cannot make images from containers.`, {
    suggestion: "Use an image that has everything you need (`glovebox images build`), or another engine.",
    context: { engine: engineName, missing: "commit" },
  });
}

export function noOciRuntimes(name: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engineName} has no OCI runtimes; "${name}" was requested.`, {
    suggestion: "Leave oci_runtime out: each container has its own virtual machine.",
    context: { field: "oci_runtime", engine: engineName },
  });
}

/** How to start the service, or restart it when it hangs. */
function startInstructions(remedy: Remedy): string {
  return remedy === "start"
    ? "Start it: `container system start` (the first time it offers to install a kernel)."
    : "Restart it: `container system stop`, then `container system start`.";
}

/** Why the service does not do what it was asked. */
function explainStop(kind: "down" | "interrupted" | "late"): Unavailability {
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
function explainVersion(version: CommandVersion | null): string {
  if (version === null) return "The `container` command on the PATH is not Apple's.";
  return version.major < supportedVersions.major
    ? `Apple's container ${version.text} is too old: Glovebox needs ${supportedVersions.first} or newer (\`container --version\`).`
    : `Apple's container ${version.text} is newer than Glovebox knows: it works with 1.x (\`container --version\`).`;
}
