import type { Logger } from "../../base/logger.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import type { ContainerStats } from "../../engines/container-stats.ts";
import { checkMainFile } from "../../policy/request/main-file.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Redaction } from "../../policy/redaction/redaction.ts";
import { temporaryFolder, workFolder } from "../../policy/scratch.ts";
import { codeFolder, packagesFolder } from "../../policy/session-profile.ts";
import type { Toolchain } from "../program/languages.ts";
import { runnerFailedExitCode, type RunnerFile, type RunnerJob } from "../program/runner-job.ts";
import { concludeRun } from "../run/conclude-run.ts";
import { explainProgram } from "../run/explain-program.ts";
import type { RunIds } from "../run/log-ending.ts";
import { runResult, type RunResult } from "../run/program-result.ts";
import { runProgram } from "../run/run-program.ts";
import { startNetworked } from "../run/start-networked.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { SessionCall } from "./session-call.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

export interface RunCall {
  readonly ids: RunIds;
  readonly record: OpenRun;
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

/** Runs one program in a live session and ends whatever it leaves running; where that fails the sandbox must be replaced. */
export async function runCall(live: SessionSandbox, run: RunCall): Promise<RunResult> {
  const { call, toolchain, files, grant, redaction, signal } = run;
  const { sandbox } = live;
  const mainFile = checkMainFile(undefined, call.language);
  const kind = { toolchain, mainFile };
  let isClean = true;
  const judged = await runProgram({
    ...run,
    sandbox,
    start: (redact) =>
      startNetworked(live, {
        network: call.network,
        runner: (companion) =>
          companion === undefined ? live.runner.take(kind, { signal }) : live.runner.start(kind, companion, { signal }),
        toolchain,
        grant,
        onDenied: run.onDenied,
        redact,
        signal,
      }),
    job: jobOf(live, run, mainFile),
    stdin: call.stdin,
    timeoutMs: call.timeoutMs,
    // Whether anything is left is asked of the clean-up.
    end: async (process) => void (await sandbox.endProcessAlone(process)),
    cleanUp: async (process) => void (isClean = await live.endLeftBehind(process)),
    isLost: async () => isClean && (await live.check({})) === null,
  });
  const { end } = judged;
  const isBroken = end.exitCode === runnerFailedExitCode && end.stderr.text().startsWith("glovebox runner: ");
  if (isBroken) live.markUnusable();
  const concluded = concludeRun(judged, {
    ...run,
    explain: (known) =>
      (known.outcome === "sandbox_lost" ? live.diskError : null) ??
      explainProgram(known, {
        toolchain,
        limits: { ...live.profile.limits, timeoutMs: call.timeoutMs },
        files,
        network: call.network,
        folder: sandbox.folderOf(codeFolder),
      }),
  });
  const result = runResult(concluded, live.id, redaction);
  const warnings = [isClean ? [] : survivedWarning, grant?.warnings ?? [], result.warnings].flat();
  return { ...result, warnings };
}

function jobOf({ sandbox, profile }: SessionSandbox, { call, files, environment }: RunCall, main: string): RunnerJob {
  const secrets = Object.fromEntries(call.secrets.map(({ variable, value }) => [variable, value]));
  return {
    main,
    arguments: call.arguments,
    environment: { ...environment, ...secrets },
    files,
    folder: sandbox.folderOf(codeFolder),
    workingDirectory: sandbox.folderOf(profile.workingDirectory),
    // With secrets nothing of an earlier call runs before the code.
    untrusted: call.secrets.length === 0 ? [] : writableFolders.map((place) => sandbox.folderOf(place)),
    empties: true,
  };
}
