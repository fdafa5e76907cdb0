import { followedBy } from "../../base/streams/chunks.ts";
import type { Logger } from "../../base/logger.ts";
import type { ContainerStats } from "../../engines/engine.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { checkMainFile } from "../../policy/request/main-file.ts";
import type { Redaction } from "../../policy/redaction/redaction.ts";
import { codeFolder, packagesFolder } from "../../policy/session-profile.ts";
import { temporaryFolder, workFolder } from "../../policy/scratch.ts";
import { decideOutcome } from "../../sandbox/outcome.ts";
import { redactedOutput } from "../../sandbox/secrets/redacted-output.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import { explainEnding } from "../run/explain-ending.ts";
import { networkWarnings } from "../run/explain-network.ts";
import { secretWarnings } from "../run/explain-secrets.ts";
import type { Toolchain } from "../program/languages.ts";
import { logEnding, type RunIds } from "../run/log-ending.ts";
import type { ProgramResult } from "../run/program-result.ts";
import { encodeJob, runnerFailedExitCode, type RunnerFile } from "../program/runner-job.ts";
import { runProgram, type ProgramEnd } from "../run/run-program.ts";
import type { SessionCall } from "./session-call.ts";
import type { RunnerKind, SessionSandbox } from "./session-sandbox.ts";
import { startNetworked } from "./start-networked.ts";

export interface RunCall {
  readonly ids: RunIds;
  readonly call: SessionCall;
  /** Of all secrets that the session has been given. */
  readonly redaction: Redaction;
  readonly toolchain: Toolchain;
  /** The code, compiled where its interpreter needs that. */
  readonly files: readonly RunnerFile[];
  readonly grant: NetworkGrant | null;
  /** Variables of the program, its network's among them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of the sandbox, before the call. */
  readonly before: ContainerStats;
  readonly maxOutputBytes: number;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Folders in which programs of a session can leave files. */
const writableFolders: readonly string[] = [workFolder, packagesFolder, temporaryFolder];

/** What a caller must know when a call's processes could not all be ended. */
const survivedWarning =
  "Something that the program started may not have ended: the session's sandbox is replaced before the next call; its files are lost and its background processes end.";

/** Runs one program in a live session and ends whatever it leaves running; the sandbox is doomed when that fails. */
export async function runCall(
  live: SessionSandbox,
  run: RunCall,
): Promise<Omit<ProgramResult, "engine" | "isolation" | "ociRuntime">> {
  const { call, redaction, toolchain, files, grant, signal, before } = run;
  const mainFile = checkMainFile(undefined, call.language);
  const kind: RunnerKind = { toolchain, mainFile };
  const folder = live.sandbox.folderOf(codeFolder);
  using program = await startNetworked(live, {
    network: call.network,
    runner: (companion) =>
      companion === undefined ? live.takeRunner(kind, { signal }) : live.startRunner(kind, companion, { signal }),
    toolchain,
    grant,
    onDenied: run.onDenied,
    redact: (text) => redaction.text(text),
    signal,
  });
  const { process } = program;
  const job = encodeJob({
    main: mainFile,
    arguments: call.arguments,
    environment: {
      ...run.environment,
      ...Object.fromEntries(call.secrets.map(({ variable, value }) => [variable, value])),
    },
    files,
    folder,
    workingDirectory: live.sandbox.folderOf(live.profile.workingDirectory),
    // With secrets nothing of an earlier call runs before the code.
    untrusted: call.secrets.length === 0 ? [] : writableFolders.map((place) => live.sandbox.folderOf(place)),
    empties: true,
  });
  const ended = await runProgram({
    process,
    output: redactedOutput(process.output, redaction),
    input: followedBy(job, call.stdin),
    timeoutMs: call.timeoutMs,
    maxOutputBytes: run.maxOutputBytes,
    onOutput: ({ stream, bytes }) => run.onOutput(stream, bytes),
    signal,
    // Whether anything is left is asked of the clean-up.
    end: async () => void (await live.sandbox.endProcessAlone(process)),
    monotonicMs: run.monotonicMs,
  });
  const isClean = await live.cleanUp(process);
  const after = await live.sandbox.stats();
  const isLost = (await live.check({})) === null;
  // Gone meanwhile: whatever the exit code says, it is not the program's own.
  const end: ProgramEnd = isLost && isClean ? { ...ended, interruption: ended.interruption ?? "lost" } : ended;
  const networkReport = await program.networkReport();
  const oomKills = oomKillsBetween(before, after);
  const outcome = decideOutcome({ ...end, oomKills, refusals: networkReport.denialCount });
  const isBroken = end.exitCode === runnerFailedExitCode && end.stderr.text().startsWith("glovebox runner: ");
  if (isBroken) live.doom();
  const { memoryPeakBytes } = after;
  const error = explainEnding({
    outcome,
    toolchain,
    end,
    limits: { ...live.profile.limits, timeoutMs: call.timeoutMs },
    memoryPeakBytes,
    files,
    network: call.network,
    networkReport,
    folder,
  });
  logEnding(run.logger, { ids: run.ids, outcome, end, networkReport });
  return {
    outcome,
    exitCode: end.exitCode,
    stdout: end.stdout.text(),
    stderr: end.stderr.text(),
    durationMs: end.durationMs,
    memoryPeakBytes,
    truncated: end.stdout.truncated || end.stderr.truncated,
    sandboxId: live.id,
    warnings: [
      isClean ? [] : survivedWarning,
      grant?.warnings ?? [],
      networkWarnings(networkReport),
      secretWarnings(redaction),
    ].flat(),
    error,
  };
}

/** Processes killed for want of memory during the call; null when nobody can tell. */
function oomKillsBetween(before: ContainerStats, after: ContainerStats): number | null {
  if (after.oomKills === null) return null;
  // Where kills are not counted, it is still told when want of memory ended all of the sandbox.
  return after.oomKills - (before.oomKills ?? 0);
}
