import { settlesWithin, untilCancelled } from "../../base/abort.ts";
import { kibibyte } from "../../base/bytes.ts";
import type { CallOptions, ExecSpec, Process } from "../../engines/engine.ts";
import { takeOpeningLine } from "../../engines/opening-line.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** A command as `Sandbox.exec` takes it, which runs beside others. */
export interface ConcurrentCommand extends Pick<ExecSpec, "command" | "workingDirectory"> {
  readonly environment: Readonly<Record<string, string>>;
}

/** How long a shell may take to read a command: it needs some milliseconds. */
const answerMs = 2_000;
/** A shell reads byte by byte: for longer commands a new process is faster. */
const maxJobBytes = 16 * kibibyte;
/** What it writes when it is about to become the command. */
const becomes = 1;
/** Variables of the shell itself, or that cannot be set in every shell. */
const shellsOwn =
  /^(?:_|IFS|PWD|OLDPWD|SHLVL|UID|EUID|GID|EGID|PPID|OPTIND|OPTARG|LINENO|RANDOM|SECONDS|ENV|PS\d|BASH.*|SHELLOPTS|_glovebox.*)$/;

/**
 * Reads words until an empty line, then becomes the command that they are. For each word: what it is and how many lines it
 * has, then those lines. `.` is the folder, `-` a part of the command, any other the value of a variable of that name. A
 * shell's `read` takes no byte too many. Ends when nothing comes, and when the folder is none.
 */
const script = `
while IFS=' ' read -r _glovebox_name _glovebox_lines || exit 0; do
  [ -n "$_glovebox_lines" ] || break
  IFS= read -r _glovebox_value
  while [ "$_glovebox_lines" -gt 1 ]; do
    IFS= read -r _glovebox_line
    _glovebox_value="$_glovebox_value
$_glovebox_line"
    _glovebox_lines=$((_glovebox_lines - 1))
  done
  case $_glovebox_name in
    .) cd -- "$_glovebox_value" 2>/dev/null || exit 0; unset PWD OLDPWD ;;
    -) set -- "$@" "$_glovebox_value" ;;
    *) export "$_glovebox_name=$_glovebox_value" ;;
  esac
done
unset _glovebox_name _glovebox_lines _glovebox_value _glovebox_line
echo ${becomes}
exec "$@"`;

/**
 * Starts commands in one sandbox, and keeps at most one shell that waits to become the next: it was started when nothing
 * else ran, knows nothing of the command and is used once. Where it does not answer it is ended, and the command is
 * started as if there had been none.
 */
export class WaitingCommand {
  readonly #sandbox: Pick<Sandbox, "exec" | "endLeftBehind" | "remove" | "state">;
  #waiting: Promise<Process> | null = null;

  constructor(sandbox: Pick<Sandbox, "exec" | "endLeftBehind" | "remove" | "state">) {
    this.#sandbox = sandbox;
  }

  /** Starts the command; no shell waits beside it. @throws what `Sandbox.exec` throws */
  async start(command: ConcurrentCommand, options: CallOptions): Promise<Process> {
    const waiting = this.#waiting;
    this.#waiting = null;
    const process = await waiting?.catch(() => null);
    const taken = process && (await this.#hand(process, command, options));
    return taken ?? this.#sandbox.exec({ ...command }, options);
  }

  /** Starts the shell of the next command in the background: only when nothing else runs in the sandbox. */
  prepare(): void {
    if (this.#waiting !== null || this.#sandbox.state !== "running") return;
    const waiting = this.#sandbox.exec({ command: ["sh", "-c", script, "sh"] });
    this.#waiting = waiting;
    const forget = (): void => {
      if (this.#waiting === waiting) this.#waiting = null;
    };
    waiting.then(({ exit }) => exit).then(forget, forget);
  }

  /** Null: it has not become the command, and has ended. @throws CANCELLED, SANDBOX_LOST when it may not have ended */
  async #hand(process: Process, command: ConcurrentCommand, { signal }: CallOptions): Promise<Process | null> {
    const opening = takeOpeningLine(process.output);
    const job = jobOf(command);
    try {
      if (job !== null) {
        process.stdin.write(job);
        const isTold = await untilCancelled(settlesWithin(opening.number, answerMs), signal);
        if (isTold && (await opening.number) === becomes) return asCommand(process, opening.output);
      }
    } catch (error) {
      await this.#end(process);
      throw error;
    }
    await this.#end(process);
    return null;
  }

  async #end(process: Process): Promise<void> {
    process.stdin.end();
    if ((await this.#sandbox.endLeftBehind(process)) === "clean") return;
    await this.#sandbox.remove();
    throw new GloveboxError("SANDBOX_LOST", "A shell that waited for a command may not have ended.");
  }
}

/** The same process without the line that it wrote for us. */
function asCommand(process: Process, output: Process["output"]): Process {
  return {
    stdin: process.stdin,
    output,
    exit: process.exit,
    kill: (name) => process.kill(name),
    ...(process.isGone === undefined ? {} : { isGone: () => process.isGone?.() ?? Promise.resolve(true) }),
    ...(process.signal === undefined ? {} : { signal: (name) => process.signal?.(name) ?? Promise.resolve() }),
  };
}

/** Null for a command that a shell cannot be given, or not quickly. */
function jobOf({ command, environment, workingDirectory }: ConcurrentCommand): Buffer | null {
  const names = Object.keys(environment);
  if (names.some((name) => !/^[A-Za-z_]\w*$/.test(name) || shellsOwn.test(name))) return null;
  const words = [
    ...Object.entries(environment),
    ...(workingDirectory === undefined ? [] : [[".", workingDirectory] as const]),
    ...command.map((part) => ["-", part] as const),
  ];
  const job = Buffer.from(`${words.map(([what, text]) => `${what} ${text.split("\n").length}\n${text}\n`).join("")}\n`);
  return job.length > maxJobBytes ? null : job;
}
