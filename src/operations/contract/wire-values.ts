// Words of the wire. They are written here so that a contract needs nothing from below; wire-values.test.ts holds them to
// the words of the layers that act on them.

/** What JavaScript and TypeScript can be run with. */
export const javascriptRuntimes = ["node", "bun"] as const;
export const languages = ["python", "javascript", "typescript"] as const;

/** How strongly a run was sealed, weakest first. */
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

/** What a test run comes to. */
export const testVerdicts = ["passed", "failed", "nothing_ran", "could_not_run", "timed_out", "oom_killed"] as const;

/** Signals that a background process can be sent and survive. */
export const processSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

/** What became of a file that a project owner's tools run. */
export const toolingChanges = ["new", "changed", "removed"] as const;

/** What is done about such files: changes are named, or the files are locked. */
export const toolingFilesModes = ["named", "locked"] as const;

/** What a path of the host is wanted for. */
export const mountUses = ["project", "additional"] as const;
