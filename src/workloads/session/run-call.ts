import { runtimeOf, type RuntimeName } from "../../languages/language-table.ts";
import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import { checkMainFile } from "../../languages/main-file.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import { packagesFolder, codeFolder } from "../../policy/profile.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import { joinedModules } from "../../languages/imported-modules.ts";
import type { ImportsAhead } from "../program/waiting-runner.ts";
import { programVariables, type SessionSandbox } from "./session-sandbox.ts";
import type { SessionCall } from "./session-call.ts";
import { createId } from "../../base/id.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import type { ContainerStats } from "../../engines/container-stats.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { Redaction } from "../../policy/redaction.ts";
import { runnerFailedExitCode, type RunnerFile, type RunnerJob } from "../program/runner-job.ts";
import { concludeRun, type RunIds } from "../run/conclude-run.ts";
import { explainProgram } from "../run/explain-program.ts";
import { runResult, type RunResult } from "../run/program-result.ts";
import { runProgram } from "../run/run-program.ts";
import { noNetworkReport } from "../run/network-report.ts";
import { startNetworked } from "../run/start-program.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Context } from "./variables/contexts.ts";
import type { InterpreterCall } from "./variables/kept-interpreter.ts";
import { plainException, type CallException, type Display } from "./variables/read-report.ts";
import { startInterpreter } from "./variables/start-interpreter.ts";
import type { Kit } from "../../base/kit.ts";

/** A call that has ended. */
interface EndedCall {
  readonly call: SessionCall;
  readonly toolchain: RuntimeName;
  readonly outcome: Outcome;
  /** Whether background processes of the session are running. */
  readonly hasProcesses: boolean;
}

/** Starts the interpreter that waits for the next call, which is likely to be as this one was. */
export function prepareNext(live: SessionSandbox, ended: EndedCall): void {
  const { call, toolchain } = ended;
  live.runner.prepare({ toolchain, mainFile: checkMainFile(undefined, call.language) }, importsAhead(live, ended));
}

interface RunCall extends Pick<Kit, "logger" | "monotonicMs"> {
  readonly ids: RunIds;
  readonly record: OpenRun;
  readonly call: SessionCall;
  /** Of all secrets that the session has been given. */
  readonly redaction: Redaction;
  readonly toolchain: RuntimeName;
  /** The code, compiled if its interpreter needs that. */
  readonly files: readonly RunnerFile[];
  readonly grant: NetworkGrant | null;
  /** Has the variables of earlier calls; null: the session keeps none. */
  readonly context: Context | null;
  /** Variables of the program, its network's among them; without the call's own where its interpreter goes on. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of the sandbox, before the call. */
  readonly before: ContainerStats;
  readonly maxOutputBytes: number;
  readonly onOutput: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  readonly onDenied: (denial: Denial) => void;
  readonly signal?: AbortSignal | undefined;
}

/** What a caller must know if not all of a call's processes could be ended. */
const survivedWarning =
  "Something that the program started may not have ended: the session's sandbox is replaced before the next call; its files are lost and its background processes end.";

/** The outcome of the call, what it displays, and the exception that ended it. */
interface CallResult extends RunResult {
  readonly displays: readonly Display[];
  readonly exception: CallException | null;
}

/** Runs one program in a live session and ends whatever it leaves running; where that fails the sandbox must be replaced. */
export async function runCall(live: SessionSandbox, run: RunCall): Promise<CallResult> {
  const { call, toolchain, files, grant, redaction, signal } = run;
  const { sandbox } = live;
  const mainFile = checkMainFile(undefined, call.language);
  const kind = { toolchain, mainFile };
  let isClean = true;
  const { context } = run;
  const interpreter = context === null ? null : await startInterpreter(live, context, run.environment, { signal });
  // With secrets nothing may run before the code; with a network its variables are others.
  const isPlain = interpreter === null && call.secrets.length === 0 && grant === null;
  const isAsBefore = await live.runner.settle(isPlain ? { kind, environment: run.environment } : null, { signal });
  const token = createId("call");
  const kept = interpreter?.call(token);
  const judged = await runProgram({
    ...run,
    before: isAsBefore ? run.before : ((await live.check({ signal })) ?? run.before),
    sandbox,
    start: (redact) =>
      kept === undefined
        ? startNetworked(live, {
            network: call.network,
            runner: () => live.runner.take(kind, { signal }),
            grant,
            onDenied: run.onDenied,
            redact,
            signal,
          })
        : Promise.resolve({
            process: kept.process,
            networkReport: () => Promise.resolve(noNetworkReport),
            [Symbol.dispose]: () => undefined,
          }),
    job: { ...jobOf(live, run, mainFile), call: kept && { token, name: kept.name, variables: call.variables } },
    stdin: kept === undefined ? call.stdin : noBytes(),
    timeoutMs: call.timeoutMs,
    end: async (process) => {
      if ((await sandbox.endProcessAlone(process)) === "clean") return;
      isClean = false;
      live.markUnusable();
    },
    // What a call starts in an interpreter that lives on lives as long as that, like its variables.
    cleanUp: async (process) => {
      // When a sandbox is given up, what is left ends with it.
      if (isClean && (interpreter === null || interpreter.isOver)) isClean = await live.endLeftBehind(process);
    },
    isLost: async () => isClean && !(await live.isAlive({})),
  });
  const { end } = judged;
  const isBroken = end.exitCode === runnerFailedExitCode && end.stderr.text().startsWith("glovebox runner: ");
  if (isBroken) live.markUnusable();
  const error = concludeRun(judged, {
    ...run,
    explain: (known) =>
      (known.outcome === "sandbox_lost" ? live.diskError : null) ??
      explainProgram(known, {
        toolchain,
        limits: { ...live.profile.limits, timeoutMs: call.timeoutMs },
        files,
        network: call.network,
        nameOf: (path) => kept?.name ?? `${sandbox.folderOf(codeFolder)}/${path}`,
      }),
  });
  const result = runResult({ ...judged, error }, live.id, redaction);
  const warnings = [isClean ? [] : survivedWarning, grant?.warnings ?? [], result.warnings].flat();
  const exception = kept?.report()?.exception ?? null;
  return {
    ...result,
    warnings,
    displays: shownBy(kept, redaction),
    exception: exception && plainException(exception, redaction),
  };
}

function shownBy(kept: InterpreterCall | undefined, redaction: Redaction): readonly Display[] {
  const displays = kept?.report()?.displays ?? [];
  return displays.map((shown) =>
    shown.encoding === "utf8" ? { ...shown, content: redaction.text(shown.content) } : shown,
  );
}

async function* noBytes(): AsyncGenerator<Uint8Array> {
  // The input of the interpreter is that of all calls.
}

function jobOf(live: SessionSandbox, run: RunCall, main: string): RunnerJob {
  const { sandbox, profile } = live;
  const { call, context, files, environment } = run;
  const secrets = Object.fromEntries(call.secrets.map(({ variable, value }) => [variable, value]));
  return {
    main,
    arguments: call.arguments,
    environment: { ...environment, ...secrets },
    files,
    folder: sandbox.folderOf(codeFolder),
    workingDirectory: sandbox.folderOf(context?.workingDirectory ?? profile.workingDirectory),
    // With secrets nothing of an earlier call runs before the code.
    untrusted: call.secrets.length === 0 ? [] : writableFolders(live),
    empties: true,
  };
}

/** Folders in which programs of a session can leave files. */
function writableFolders({ sandbox, profile }: Pick<SessionSandbox, "sandbox" | "profile">): readonly string[] {
  return [profile.workingDirectory, packagesFolder, temporaryFolder].map((place) => sandbox.folderOf(place));
}

/** What programs of the session have imported, when it can be imported before the next one comes and harms nobody. */
function importsAhead(
  live: SessionSandbox,
  { call, toolchain, outcome, hasProcesses }: EndedCall,
): ImportsAhead | undefined {
  const { importedModules } = runtimeOf(toolchain);
  if (importedModules === null || runsInterpretersOnly(live.capabilities)) return undefined;
  // What has not ended by itself may have been delayed by its imports.
  if (outcome === "completed" || outcome === "failed") {
    live.modules = joinedModules(live.modules, importedModules(call.code));
  }
  // Memory must not be taken from them for what may not be needed.
  if (live.modules.length === 0 || hasProcesses) return undefined;
  const { sandbox, profile } = live;
  return {
    modules: live.modules,
    environment: programVariables(live, null, call.hostEnvironment),
    workingDirectory: sandbox.folderOf(profile.workingDirectory),
    writableFolders: writableFolders(live),
  };
}
