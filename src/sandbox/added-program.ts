import type { CallOptions, ExecSpec, Process, TerminalProcess, TerminalSize } from "../engines/engine.ts";
import type { SandboxFiles } from "./files/sandbox-files.ts";
import type { Redaction } from "../policy/redaction.ts";
import { withPlainOutput } from "../policy/request/environment-variables.ts";
import { redactedOutput } from "./sandbox-output.ts";
import type { TreeEnd } from "./process-tree.ts";
import { assertRunsAnyProgram, type Capabilities } from "../engines/capabilities.ts";
import type { Sandbox } from "./sandbox.ts";
import { kibibyte } from "../base/bytes.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";

/** A program that the operator starts in a sandbox beside those of its owner. */
export interface AddedProgramSpec extends Pick<ExecSpec, "command" | "environment" | "workingDirectory"> {
  /** As `chosenUser` takes it; default: the user of the sandbox's own programs. */
  readonly user?: string | undefined;
  /** Whether it gets the variables of the sandbox's own programs, below those given here; default: it does not. */
  readonly asProgram?: boolean | undefined;
  /** Size of the terminal that it is given; default: it has none, which its variables say. */
  readonly terminal?: TerminalSize | undefined;
}

/** How a sandbox of this process is shown. */
interface OwnSandboxView {
  /** Whether output may hold the values of secrets that the sandbox's programs were given; default true. */
  readonly withSecrets?: boolean | undefined;
}

/** A program of the operator's. It runs beside the owner's programs, and its end harms none of them. */
export interface AddedProgram extends Process {
  /**
   * Ends it with everything it started: SIGTERM, then SIGKILL. Output that has not been read is lost. Never rejects.
   */
  end(): Promise<TreeEnd>;
  /** Another size of its terminal; left out where it was given none. */
  resize?(size: TerminalSize): void;
  /** Resolves when nothing that it started is left, as far as that can be had, or the sandbox is gone. */
  readonly settled: Promise<void>;
}

/** A live sandbox of this process, for programs and files from outside. */
export interface ReachedSandbox {
  readonly id: string;
  readonly capabilities: Capabilities;
  readonly files: SandboxFiles;
  /** Removes the values of secrets for this viewer; null: it may see them, or there are none. */
  readonly redaction: Redaction | null;
  /** Whether this process removes it, or has removed it. */
  readonly isRemoved: boolean;
  /**
   * Runs a program beside the owner's.
   * @throws UNSUPPORTED at isolation preload, what `chosenUser` throws, SANDBOX_LOST, CANCELLED, and what the engine throws
   */
  exec(spec: AddedProgramSpec, options?: CallOptions): Promise<AddedProgram>;
}

export function reachedSandbox(sandbox: Sandbox, view: OwnSandboxView = {}): ReachedSandbox {
  const { id, capabilities, files } = sandbox;
  return {
    id,
    capabilities,
    files,
    redaction: redactionFor(sandbox, view),
    get isRemoved() {
      return sandbox.state !== "running";
    },
    exec: (spec, options) => addProgram(sandbox, view, spec, options),
  };
}

/** The highest number: above it are the users of sandboxes, of their supervisors and helpers, and nobody. */
const maxUser = 59_999;
const expected = `a name of the sandbox's /etc/passwd, or numbers as 1000 or 1000:1000, at most ${maxUser}`;
const numbers = /^(?<user>0|[1-9]\d{0,4})(?::(?<group>0|[1-9]\d{0,4}))?$/;
const name = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;
/** Of the sandbox's file of names; later lines are not read. */
const maxPasswdBytes = 64 * kibibyte;

/** What a user is chosen in. */
export type UserPlace = Pick<Sandbox, "capabilities" | "engineName" | "files" | "writablePaths">;

/**
 * The user that a caller's word means, as `uid:gid`; without a group it is that of the same number. Its programs have no capability,
 * as all others. Refused where it could be a person or a service of the host (SPEC SC11).
 * @throws INVALID_REQUEST, UNSUPPORTED, and what reading a file throws
 */
export async function chosenUser(place: UserPlace, asked: string, options: CallOptions = {}): Promise<string> {
  const given = numbers.exec(asked);
  if (given === null && !name.test(asked)) throw invalidField("user", expected, asked);
  const { chosenUsers } = place.capabilities;
  if (chosenUsers === undefined) throw noChoice(place.engineName);
  if (place.writablePaths.length > 0) throw ownersOnly(place.engineName);
  const found = given ?? numbers.exec(userNamed(asked, await passwdOf(place, options)) ?? "");
  if (found === null) throw invalidField("user", expected, asked);
  const { user = "", group = user } = found.groups ?? {};
  if (Math.max(Number(user), Number(group)) > maxUser) throw invalidField("user", expected, asked);
  if (chosenUsers === "ordinary" && Math.min(Number(user), Number(group)) === 0) throw noRoot(place.engineName);
  return `${user}:${group}`;
}

/** `uid:gid` as the first line of that name in a file of names has them, whatever they are; null: there is none. */
export function userNamed(asked: string, passwd: string): string | null {
  const line = passwd.split("\n").find((each) => each.startsWith(`${asked}:`));
  const [, , user, group] = line?.split(":", 5) ?? [];
  return user === undefined || group === undefined ? null : `${user}:${group}`;
}

/** The kernel keeps them in 16 bits; nobody has that many. */
const most = 4096;
const usual: TerminalSize = { columns: 80, rows: 24 };

/** A size that every terminal accepts: invalid numbers are replaced with those of an ordinary one. */
export function sensibleSize({ columns, rows }: TerminalSize): TerminalSize {
  return { columns: sensible(columns, usual.columns), rows: sensible(rows, usual.rows) };
}

interface TerminalSpec extends Pick<AddedProgramSpec, "environment" | "workingDirectory" | "user"> {
  /** Null: an interactive shell, bash where there is one. */
  readonly command: readonly string[] | null;
  readonly size: TerminalSize;
}

const shell = ["sh", "-c", "command -v bash >/dev/null && exec bash; exec sh"];

/** Runs a program in a terminal inside a sandbox. @throws what `ReachedSandbox.exec` throws */
export function openTerminal(
  sandbox: ReachedSandbox,
  { command, size, environment, workingDirectory, user }: TerminalSpec,
  options: CallOptions = {},
): Promise<AddedProgram> {
  return sandbox.exec(
    {
      ...{ environment, workingDirectory, user, asProgram: true },
      command: command ?? shell,
      terminal: sensibleSize(size),
    },
    options,
  );
}

function redactionFor(sandbox: Sandbox, { withSecrets = true }: OwnSandboxView): Redaction | null {
  return withSecrets ? null : sandbox.output.redaction;
}

async function addProgram(
  sandbox: Sandbox,
  view: OwnSandboxView,
  spec: AddedProgramSpec,
  options?: CallOptions,
): Promise<AddedProgram> {
  assertRunsAnyProgram(sandbox.capabilities, "beside the sandbox's own program");
  const { asProgram, terminal, environment, user, ...rest } = spec;
  const variables = { ...(asProgram === true ? sandbox.programEnvironment : {}), ...environment };
  const told = terminal === undefined ? withPlainOutput(variables) : variables;
  const start = {
    ...rest,
    environment: told,
    ...(user === undefined ? {} : { user: await chosenUser(sandbox, user, options) }),
  };
  const { execInTerminal } = sandbox;
  const process: Process & Partial<Pick<TerminalProcess, "resize">> =
    terminal === undefined || execInTerminal === undefined
      ? await sandbox.exec(start, options)
      : await execInTerminal(start, terminal, options);
  const redaction = redactionFor(sandbox, view);
  return {
    stdin: process.stdin,
    output: redaction === null ? process.output : redactedOutput(process.output, redaction),
    exit: process.exit,
    kill: (signal) => process.kill(signal),
    end: () => sandbox.endProcessAlone(process),
    ...(process.signal === undefined ? {} : { signal: process.signal.bind(process) }),
    ...(process.resize === undefined ? {} : { resize: process.resize.bind(process) }),
    settled: endLeftBehind(sandbox, process),
  };
}

/** What such a program leaves running ends with it: everywhere, a program's end is the end of everything it started. */
async function endLeftBehind(sandbox: Sandbox, process: Process): Promise<void> {
  try {
    await process.exit;
    if ((await process.isGone?.()) === false) await sandbox.endLeftBehind(process);
  } catch {
    // Lost: the sandbox has ended, and everything with it.
  }
}

async function passwdOf({ files }: UserPlace, { signal }: CallOptions): Promise<string> {
  const { chunks } = await files.read("/etc/passwd", { maxBytes: maxPasswdBytes, signal });
  const pieces: Uint8Array[] = [];
  for await (const piece of chunks) pieces.push(piece);
  return Buffer.concat(pieces).toString("latin1");
}

function noChoice(engine: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    `Programs of a sandbox cannot choose their user on engine ${engine}: it could be a person or a service of its machine.`,
    {
      suggestion:
        "Leave user out, or use an engine that runs without root or with remapped users (userns-remap), whose sandboxes have users of their own.",
      context: { engine, missing: "chosenUsers" },
    },
  );
}

function ownersOnly(engine: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    "Programs of a sandbox that may write to a folder of this machine are always its owner: another user's files there could not be removed by the owner.",
    {
      suggestion: "Leave user out, or use a sandbox without a writable folder of this machine.",
      context: { engine, missing: "chosenUsers" },
    },
  );
}

function noRoot(engine: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    `User and group 0 of a sandbox are the person who runs engine ${engine}: programs cannot be them.`,
    { suggestion: "Choose a user from 1 to 59999.", context: { engine, missing: "chosenUsers" } },
  );
}

function sensible(value: number, instead: number): number {
  return Number.isInteger(value) && value >= 1 && value <= most ? value : instead;
}
