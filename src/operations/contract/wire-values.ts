// The words and maxima of the wire, here once: contracts make schemas of them, and the layers below act on them. It imports
// nothing, so that no process loads a schema for a word.

/** How strongly a run was isolated, weakest first. */
export const isolationLevels = ["preload", "namespaces", "container", "vm"] as const;

/** Streams of a log. */
export const logStreams = ["stdout", "stderr", "system"] as const;

/** How a run ended. */
export const outcomes = [
  "completed",
  "failed",
  "timed_out",
  "oom_killed",
  "cancelled",
  "policy_denied",
  "sandbox_lost",
] as const;

/** Verdicts of a test run. */
export const testVerdicts = ["passed", "failed", "nothing_ran", "could_not_run", "timed_out", "oom_killed"] as const;

/** Signals that a background process can be sent and survive. */
export const processSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** What happened to a file that a project owner's tools run. */
export const toolingChanges = ["new", "changed", "removed"] as const;

/** What is done about such files: changes are reported, or the files are locked. */
export const toolingFilesModes = ["named", "locked"] as const;

/** What a host path is to be used for. */
export const mountUses = ["project", "additional"] as const;

/** What a figure shows, in numbers. */
export const chartMediaType = "application/vnd.glovebox.chart+json";
/** The columns of a table. */
export const tableMediaType = "application/vnd.glovebox.table+json";

// How much of something one request may have.

/** Files that go with a request. */
export const maxContextFiles = 256;
/** Environment variables. */
export const maxEnvironmentEntries = 256;
/** Arguments of a program, itself included; a supervisor takes 65,535 strings, some of which are ours. */
export const maxArguments = 65_000;
/** Packages. */
export const maxPackages = 200;
/** Globs of result files. */
export const maxGlobs = 64;
/** Domains that the code may reach. */
export const maxDomains = 256;

/** Which rule refused a connection. */
export type DenialRule =
  /** What was asked for is an address, and only names are served. */
  | "address"
  /** The name is not one in strict form. */
  | "name"
  /** No rule of the policy allows the name. */
  | "not_allowed"
  /** The sandbox's network was for its installing phase, which is over. */
  | "locked"
  /** The name is allowed, at other ports. */
  | "port"
  /** The name resolves to nothing but addresses that are not public. */
  | "private_address"
  /** The name in the TLS hello is missing or another one. */
  | "server_name"
  /** The sandbox has used up its bytes. */
  | "budget"
  /** What was sent is no request that the proxy serves. */
  | "protocol";

/** One refused connection, explained. */
export interface RefusedConnection {
  /** What was asked for, `name:port` where it is one; cut, and without control characters. */
  readonly target: string;
  readonly rule: DenialRule;
  /** One sentence: why. */
  readonly reason: string;
  /** One sentence: what would allow it. */
  readonly remedy: string;
}

/** What an operation reports while it works, in the order it happened. */
export type OperationEvent =
  /** The sandbox that will run it now exists, with this id and its caller's name for it; comes before any output. */
  | { readonly type: "sandbox"; readonly sandboxId: string; readonly name?: string | undefined }
  /** Bytes the program wrote. */
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly bytes: Uint8Array }
  /** The network policy refused a connection of the program. */
  | { readonly type: "denied"; readonly denial: RefusedConnection }
  /** Something slow is in progress; `fraction` is null while unknown. */
  | { readonly type: "progress"; readonly message: string; readonly fraction: number | null }
  /** Whether the program has a terminal; if not, the caller's own must edit lines and echo what is typed. */
  | { readonly type: "terminal" }
  /** Something the caller should know, once. */
  | { readonly type: "warning"; readonly message: string };

/**
 * A signal that a program may be sent; SIGKILL ends it and everything it started, the others go to the program itself.
 */
export type SignalToSend = (typeof processSignals)[number] | "SIGKILL";
