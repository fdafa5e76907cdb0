/** How a call of the command ended. */
export interface CommandResult {
  /** Null when the command died by a signal. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** The end of it. */
  readonly stderr: string;
}

/** What the command's message about a failure means. */
export type FailureKind =
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
