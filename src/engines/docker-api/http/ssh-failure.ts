/** How an `ssh` process ended that carried nothing. */
export interface SshEnd {
  readonly exitCode: number | null;
  /** The end of what it, or the command on the other machine, said on standard error. */
  readonly said: string;
}

/** A connection that `ssh` could not make; `code` is what `ConnectFailure` names. */
export class SshError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The first that fits counts. */
const reasons: readonly (readonly [pattern: RegExp, code: string])[] = [
  [/Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/, "SSH_HOST_KEY"],
  // Of the engine's socket, in the words of Docker's command.
  [
    /permission denied.{0,400}(?:docker|\.sock)|connect to the Docker daemon|error during connect|dial unix/i,
    "SSH_ENGINE",
  ],
  [/Permission denied|Too many authentication failures/, "SSH_DENIED"],
  [/Could not resolve hostname/, "ENOTFOUND"],
  [/Connection refused/, "ECONNREFUSED"],
  [/timed out|No route to host|Network is unreachable/, "ETIMEDOUT"],
  [/command not found|: not found|is not recognized|is not a docker command/, "SSH_NO_DOCKER"],
];

const maxDetailChars = 200;

/** Why `ssh` carried nothing, or carried no more. */
export function sshFailure({ exitCode, said }: SshEnd): SshError {
  const [, code = "SSH_FAILED"] =
    reasons.find(([pattern]) => pattern.test(said)) ?? (exitCode === 127 ? ["", "SSH_NO_DOCKER"] : []);
  return new SshError(code, lastLine(said) || `ssh exited with ${exitCode ?? "a signal"}`);
}

/** The last line with any text, without terminal control sequences. */
function lastLine(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.replace(/[^\x20-\x7e]/g, "").trim());
  return lines.findLast((line) => line !== "")?.slice(0, maxDetailChars) ?? "";
}
