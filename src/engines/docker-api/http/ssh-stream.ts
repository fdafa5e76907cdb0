import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { Duplex } from "node:stream";
import { errorCode } from "../../../errors/glovebox-error.ts";

/** How an `ssh` process ended that carried nothing. */
interface SshEnd {
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

/** What is kept of the standard error. */
const maxSaidChars = 4_096;
/** How long `ssh` may take to end when told to. */
const endMs = 2_000;

/**
 * One connection to an engine, over the standard input and output of a process that ends with it. It has what `node:http`
 * calls on a connection.
 */
export class SshStream extends Duplex {
  readonly #child: ChildProcessWithoutNullStreams;
  #said = "";
  #hasCarried = false;
  #idle: NodeJS.Timeout | undefined;
  /** Milliseconds of `setTimeout`, as a socket has them. */
  timeout = 0;

  constructor([file, ...values]: readonly [string, ...string[]]) {
    super({ allowHalfOpen: true });
    // In a session of its own: an interrupt from the terminal is for this process, which still has containers to remove.
    this.#child = spawn(file, values, { stdio: "pipe", detached: true, windowsHide: true });
    this.#child.stdout.on("data", (bytes: Buffer) => {
      this.#hasCarried = true;
      this.#idle?.refresh();
      if (!this.push(bytes)) this.#child.stdout.pause();
    });
    this.#child.stderr.on("data", (bytes: Buffer) => {
      this.#said = `${this.#said}${bytes.toString("utf8")}`.slice(-maxSaidChars);
    });
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      stream.on("error", () => {
        // The end of the process says why.
      });
    }
    this.#child.once("error", (error) => {
      const code = errorCode(error) === "ENOENT" ? "SSH_MISSING" : "SSH_FAILED";
      this.destroy(new SshError(code, `${file} cannot be started`, { cause: error }));
    });
    this.#child.once("close", (exitCode) => this.#onClose(exitCode));
    this.once("end", () => this.destroy());
  }

  /** Whether the process still runs. */
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  override _read(): void {
    this.#child.stdout.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#idle?.refresh();
    this.#child.stdin.write(chunk, () => done());
  }

  override _final(done: () => void): void {
    this.#child.stdin.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idle);
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    if (this.isRunning) {
      this.#child.kill("SIGTERM");
      const late = setTimeout(() => this.#child.kill("SIGKILL"), endMs).unref();
      this.#child.once("exit", () => clearTimeout(late));
    }
    done(error);
  }

  setKeepAlive(): this {
    // `ssh` itself checks whether the other machine is there.
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(milliseconds: number): this {
    this.timeout = milliseconds;
    clearTimeout(this.#idle);
    this.#idle = milliseconds === 0 ? undefined : setTimeout(() => this.emit("timeout"), milliseconds).unref();
    return this;
  }

  ref(): this {
    for (const part of this.#parts()) part.ref?.();
    return this;
  }

  /** An idle connection does not keep the event loop alive. */
  unref(): this {
    for (const part of this.#parts()) part.unref?.();
    return this;
  }

  #onClose(exitCode: number | null): void {
    if (this.destroyed) return;
    if (exitCode !== 0 || !this.#hasCarried) {
      this.destroy(sshFailure({ exitCode, said: this.#said }));
      return;
    }
    this.push(null);
    // Reports the end even while nothing is read, as on a connection that waits to be used again.
    this.read(0);
  }

  /** Pipes are sockets, which their types do not say. */
  #parts(): readonly { ref?(): unknown; unref?(): unknown }[] {
    const { stdin, stdout, stderr } = this.#child;
    return [this.#child, stdin, stdout, stderr] as unknown as readonly { ref?(): unknown; unref?(): unknown }[];
  }
}

/** The last line with any text, without terminal control sequences. */
function lastLine(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.replace(/[^\x20-\x7e]/g, "").trim());
  return lines.findLast((line) => line !== "")?.slice(0, maxDetailChars) ?? "";
}
