import { isAtLeast } from "../parser/version.ts";

/** Codes of those Apple errors that the stand-in reports. */
export type ErrorCode =
  | "unknown"
  | "invalidArgument"
  | "internalError"
  | "exists"
  | "notFound"
  | "invalidState"
  | "timeout"
  | "unsupported"
  | "interrupted";

/** A failure of the command itself: exit code 1, without a usage. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly code: ErrorCode;
  readonly reason: CommandError | undefined;

  constructor(code: ErrorCode, message: string, reason?: CommandError) {
    super(message);
    this.code = code;
    this.reason = reason;
  }

  /** Text with its code, as written in causes and lists of errors. */
  coded(): string {
    return `${this.code}: "${this.message}"${this.#because()}`;
  }

  /** Text as the version prints it after `Error: `. */
  shown(version: string): string {
    return isAtLeast(version, "0.10.0") ? `${this.message}${this.#because()}` : this.coded();
  }

  #because(): string {
    return this.reason === undefined ? "" : ` (cause: "${this.reason.coded()}")`;
  }
}

/** Failures of some of the containers that a call named; the others were dealt with. */
export class SeveralErrors extends Error {
  override readonly name = "SeveralErrors";
  readonly errors: readonly CommandError[];

  constructor(errors: readonly CommandError[]) {
    super(errors.map((error) => error.coded()).join("\n"));
    this.errors = errors;
  }
}

/** The daemon cannot be reached, or was lost in the middle of a call. */
export class ConnectionError extends CommandError {
  readonly hint = "Ensure container system service has been started with `container system start`.";

  constructor(how: "invalid" | "interrupted", outer?: string) {
    const inner = `XPC connection error: Connection ${how}`;
    if (outer === undefined) super("interrupted", inner);
    else super("internalError", outer, new CommandError("interrupted", inner));
  }

  override shown(version: string): string {
    const text = isAtLeast(version, "0.10.0") ? this.coded() : `interrupted: "${this.coded()}"`;
    return isAtLeast(version, "0.2.0") ? `${text}\n${this.hint}` : text;
  }
}

/** A container's own program has ended: its code is the command's. */
export class ProgramEnd extends Error {
  override readonly name = "ProgramEnd";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** A part of Apple's command that the stand-in lacks: fails loudly, with a code (70) that Apple's command never has. */
export class NotImitated extends Error {
  override readonly name = "NotImitated";
}
