import { BoundedOutput } from "../base/streams/collected-bytes.ts";
import { invalidField, GloveboxError, isSandboxLoss } from "../errors/glovebox-error.ts";
import { checkEnvironment } from "../policy/request/environment-variables.ts";
import { resolveWorkingDirectory } from "../policy/request/request-paths.ts";
import {
  reachedSandbox,
  openTerminal,
  sensibleSize,
  type AddedProgramSpec,
  type AddedProgram,
  type ReachedSandbox,
} from "../sandbox/added-program.ts";
import { handle } from "./handler.ts";
import { inputOf, readCommand } from "./settle.ts";
import {
  execInSandboxContract,
  openTerminalContract,
  copyIntoSandboxContract,
  copyOutOfSandboxContract,
  packFilesContract,
  unpackFilesContract,
  type CopyResponse,
} from "./live-sandbox-contract.ts";
import type { TerminalSize, OutputChunk } from "../engines/engine.ts";
import { CopyBudget } from "../sandbox/copy/copy-budget.ts";
import { copyIn } from "../sandbox/copy/copy-in.ts";
import { copyOut } from "../sandbox/copy/copy-out.ts";
import { copyIntoServer, copyOutOfServer } from "../transfer/copy-with-server.ts";
import { archiveOf, placeArchive } from "../sandbox/copy/archive.ts";
import { untilCancelled } from "../base/abort.ts";
import { feedStream } from "../base/streams/chunks.ts";
import type { CallOperation, OperationCall } from "./contract/operation-contract.ts";
import type { SignalToSend } from "./contract/wire-values.ts";
import {
  sandboxRemoved,
  meantSandbox,
  findSandboxes,
  noPeerServer,
  notYours,
  ownerElsewhere,
  ownerGone,
  sandboxEnded,
  sandboxNotFound,
  type SandboxesNeeds,
} from "./sandboxes-handler.ts";
import type { Host } from "../config/host/host.ts";

export interface LiveSandboxNeeds extends SandboxesNeeds {
  readonly host: Host;
}

/** Runs one program in a live sandbox, next to its own programs. */
export const execInSandboxHandler = handle(execInSandboxContract, async (platform: LiveSandboxNeeds, request, call) => {
  const spec = { ...readProgram(request), command: readCommand(request.command, "command"), asProgram: true };
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return place.ask(execInSandboxContract, { ...request, sandbox_id: place.id }, call);
  const { sandbox } = place;
  const program = await sandbox.exec(spec, { signal: call.signal });
  const { maxOutputBytes } = platform.config;
  const kept = { stdout: new BoundedOutput(maxOutputBytes), stderr: new BoundedOutput(maxOutputBytes) };
  const exitCode = await followProgram(program, {
    input: inputOf(request, call),
    signal: call.signal,
    signals: call.signals,
    sandbox,
    onOutput: (chunk) => {
      kept[chunk.stream].append(chunk.bytes);
      return call.onEvent?.({ type: "output", ...chunk });
    },
  });
  return {
    sandbox_id: sandbox.id,
    exit_code: exitCode,
    stdout: kept.stdout.text(),
    stderr: kept.stderr.text(),
    stdout_truncated: kept.stdout.truncated,
    stderr_truncated: kept.stderr.truncated,
  };
});

/** Where such a program starts, as whom, and its variables. @throws INVALID_REQUEST naming the field */
function readProgram({
  environment,
  cwd,
  user,
}: {
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly user?: string | undefined;
}): Pick<AddedProgramSpec, "environment" | "workingDirectory" | "user"> {
  if (cwd !== undefined && !cwd.startsWith("/")) throw invalidField("cwd", "an absolute path inside the sandbox", cwd);
  return {
    environment: checkEnvironment(environment ?? {}),
    workingDirectory: cwd === undefined ? undefined : resolveWorkingDirectory(cwd, "/"),
    user,
  };
}

/** A program in its own terminal inside a live sandbox. */
export const openTerminalHandler = handle(openTerminalContract, async (platform: LiveSandboxNeeds, request, call) => {
  const { environment, workingDirectory, user } = readProgram(request);
  const command = request.command === undefined ? null : readCommand(request.command, "command");
  const size = { columns: request.columns, rows: request.rows };
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return place.ask(openTerminalContract, { ...request, sandbox_id: place.id }, call);
  const { sandbox } = place;
  const program = await openTerminal(
    sandbox,
    { command, size, workingDirectory, user, environment: { TERM: request.term ?? "xterm", ...environment } },
    { signal: call.signal },
  );
  await call.onEvent?.({ type: "terminal" });
  void followSizes(program, call.sizes);
  const exitCode = await followProgram(program, {
    input: call.stdin,
    signal: call.signal,
    sandbox,
    onOutput: (chunk) => call.onEvent?.({ type: "output", ...chunk }),
  });
  return { sandbox_id: sandbox.id, exit_code: exitCode };
});

async function followSizes(program: AddedProgram, sizes: AsyncIterable<TerminalSize> | undefined): Promise<void> {
  if (sizes === undefined) return;
  for await (const size of sizes) program.resize?.(sensibleSize(size));
}

/** Copies a file or folder of this machine into a live sandbox. */
export const copyIntoSandboxHandler = handle(
  copyIntoSandboxContract,
  async (platform: LiveSandboxNeeds, request, call) => {
    const source = checkPath(request.source, "source");
    const place = await reachSandbox(platform, request.sandbox_id, call);
    if (!place.isHere) return copyIntoServer(place.ask, platform.host, { ...request, sandbox_id: place.id }, call);
    const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
    const { id, files } = place.sandbox;
    await copyIn({ ...platform.host, files, source, target: request.target, budget }, { signal: call.signal });
    return responseOf(id, budget);
  },
);

/** Copies a file or folder of a live sandbox to this machine. */
export const copyOutOfSandboxHandler = handle(
  copyOutOfSandboxContract,
  async (platform: LiveSandboxNeeds, request, call) => {
    const target = checkPath(request.target, "target");
    const place = await reachSandbox(platform, request.sandbox_id, call);
    if (!place.isHere) return copyOutOfServer(place.ask, platform.host, { ...request, sandbox_id: place.id }, call);
    const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
    const { id, files } = place.sandbox;
    await copyOut({ ...platform.host, files, source: request.source, target, budget }, { signal: call.signal });
    return responseOf(id, budget);
  },
);

/** The totals of a copy. */
function responseOf(id: string, { entries, bytes, warnings }: CopyBudget): CopyResponse {
  return { sandbox_id: id, entries, bytes, warnings: [...warnings] };
}

/** @throws INVALID_REQUEST */
function checkPath(given: string, field: string): string {
  if (given === "" || given.includes("\0")) throw invalidField(field, "a path of this machine", given);
  return given;
}

/** A file or folder of a live sandbox as a tar archive, the output of the call. */
export const packFilesHandler = handle(packFilesContract, async (platform: LiveSandboxNeeds, request, call) => {
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return place.ask(packFilesContract, { ...request, sandbox_id: place.id }, call);
  const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
  const { id, files } = place.sandbox;
  for await (const bytes of archiveOf(files, request.source, budget, call)) {
    await call.onEvent?.({ type: "output", stream: "stdout", bytes });
  }
  return responseOf(id, budget);
});

/** Unpacks a tar archive, the input of the call, into a live sandbox. */
export const unpackFilesHandler = handle(unpackFilesContract, async (platform: LiveSandboxNeeds, request, call) => {
  const { target, name, content_only: isContentOnly = false } = request;
  if (call.stdin === undefined) throw noArchive();
  const place = await reachSandbox(platform, request.sandbox_id, call);
  if (!place.isHere) return place.ask(unpackFilesContract, { ...request, sandbox_id: place.id }, call);
  const budget = new CopyBudget({ maxBytes: request.max_bytes, maxEntries: request.max_entries });
  const { id, files } = place.sandbox;
  await placeArchive({ files, archive: call.stdin, target, name, isContentOnly, budget }, call);
  return responseOf(id, budget);
});

function noArchive(): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", "input: expected a tar archive, got nothing.", {
    suggestion: "Send the archive as the input of the call.",
    context: { field: "input" },
  });
}

interface FollowProgram {
  /** Missing: the program's input is empty. */
  readonly input?: AsyncIterable<Uint8Array> | undefined;
  /** Awaited before more is read, so that a slow listener slows the program. */
  readonly onOutput: (chunk: OutputChunk) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Sent to the program as they come; signals that its engine cannot send are skipped. */
  readonly signals?: AsyncIterable<SignalToSend> | undefined;
  /** Where it runs. */
  readonly sandbox: Pick<ReachedSandbox, "id" | "isRemoved">;
}

/** The exit code of a program that SIGKILL ended. */
const killedExitCode = 137;

/**
 * Follows an added program until it and everything it started has ended; resolves to its exit code.
 * @throws CANCELLED once it has been ended for the caller; SANDBOX_LOST, which says so if the sandbox was removed
 */
async function followProgram(
  program: AddedProgram,
  { input, onOutput, signal, signals, sandbox }: FollowProgram,
): Promise<number> {
  const read = async (): Promise<void> => {
    for await (const chunk of program.output) await onOutput(chunk);
  };
  if (input === undefined) program.stdin.end();
  const fed = input === undefined ? Promise.resolve() : feedStream(program.stdin, input, program.exit);
  fed.catch(() => {
    // A source that fails ends the input; the program continues.
    program.stdin.end();
  });
  void passSignals(program, signals);
  try {
    await untilCancelled(read(), signal);
    const { exitCode } = await untilCancelled(program.exit, signal);
    await untilCancelled(program.settled, signal);
    if (exitCode === killedExitCode && sandbox.isRemoved) throw sandboxRemoved(sandbox.id);
    return exitCode;
  } catch (error) {
    await program.end();
    throw isSandboxLoss(error) && sandbox.isRemoved ? sandboxRemoved(sandbox.id) : error;
  }
}

async function passSignals(program: AddedProgram, signals: FollowProgram["signals"]): Promise<void> {
  if (signals === undefined) return;
  for await (const signal of signals) {
    const sent = signal === "SIGKILL" ? program.kill(signal) : program.signal?.(signal);
    // If it cannot be sent, the program has ended or will end with its caller.
    await sent?.catch(() => undefined);
  }
}

/** A live sandbox in this process, or a connection to the process that owns it. */
type FoundPlace =
  | { readonly isHere: true; readonly sandbox: ReachedSandbox }
  | { readonly isHere: false; readonly id: string; readonly ask: CallOperation };

/**
 * A live sandbox of the caller, by its id, its name or the beginning of its id: one of the principal's own in this process; for the operator any of this user on this
 * machine, whichever process owns it.
 * @throws NOT_FOUND, which lists the existing ones for the operator; SANDBOX_LOST if its owner is gone, UNSUPPORTED if
 * it is out of reach
 */
export async function reachSandbox(
  platform: LiveSandboxNeeds,
  word: string,
  { principal, isOperator = false, signal }: Pick<OperationCall, "principal" | "isOperator" | "signal">,
): Promise<FoundPlace> {
  const id = await meantSandbox(platform, word, { principal, isOperator });
  const isOwn = isOperator || platform.sandboxes.recordsOf(principal).some((record) => record.id === id);
  const own = isOwn ? platform.findLive(id) : undefined;
  if (own !== undefined) return { isHere: true, sandbox: reachedSandbox(own, { withSecrets: isOperator }) };
  if (!isOperator) throw notYours(id);
  if (platform.peers === null) throw sandboxEnded(id);
  const record = await platform.records.find(id);
  if (record === null) throw await unknownSandbox(platform, id, signal);
  if ((await platform.leases.stateOf(record.owner)) === "expired") throw ownerGone(id);
  const address = record.peerAddress ?? null;
  if (address === null) throw noPeerServer(id);
  return { isHere: false, id, ask: platform.peers.at(address) };
}

async function unknownSandbox(platform: LiveSandboxNeeds, id: string, signal: AbortSignal | undefined): Promise<Error> {
  const found = await findSandboxes(platform, undefined, signal);
  const ids = found.map(({ row }) => row.sandbox_id);
  return ids.includes(id) ? ownerElsewhere(id) : sandboxNotFound(id, ids);
}
