import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import { untilCancelled } from "../../base/abort.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { assertPortsFree } from "../place/program-ports.ts";
import type { BackgroundProcess } from "../place/background-processes.ts";
import type { ProcessSpec } from "../program/command-spec.ts";
import { startNetworked, type GrantNetwork } from "../run/start-program.ts";
import { checkEngine, type ProgramDemands } from "../program/check-engine.ts";
import { programVariables, noExtraNeeds, type OpenSessionOptions } from "./session-sandbox.ts";
import type { Session } from "./session.ts";
import type { ErrorType } from "../../errors/catalogue.ts";
import type { FileUse, FileWork } from "../place/place-files.ts";

interface BackgroundStart extends ProgramDemands {
  readonly spec: ProcessSpec;
  /** Variables of the host that the deployment lets through (SPEC EN1). */
  readonly hostEnvironment: Readonly<Record<string, string>>;
}

interface StartedInSession {
  readonly process: BackgroundProcess;
  readonly restarted: boolean;
  /** Substitutes that apply, and what became of the sandbox; one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Starts a process in the session's sandbox that runs beside its calls (SPEC EV6), when it is its turn.
 * @throws UNSUPPORTED, POLICY_DENIED, ALREADY_EXISTS, CAPACITY, CANCELLED, and what opening a sandbox throws
 */
export async function startInSession(
  session: Session,
  start: BackgroundStart,
  dependencies: Omit<OpenSessionOptions, "runNetwork"> & { readonly network: GrantNetwork },
  caller: Caller,
): Promise<StartedInSession> {
  const { settings } = session;
  const { spec, network } = start;
  const { capabilities, warnings } = await checkEngine(settings, start, caller);
  if (runsInterpretersOnly(capabilities)) throw noProcesses(settings.engine.name);
  const grant = await untilCancelled(dependencies.network.grant(network, caller.principal), caller.signal);
  const needs = noExtraNeeds(settings, { ...dependencies, runNetwork: network });
  return session.use(caller, needs, async (opened, { signal }) => {
    const { live, restarted } = opened;
    const { sandbox } = live;
    const redaction = session.secrets.redaction();
    const process = await session.startProcess(spec, async () => {
      // What it has imported takes memory that the process may need.
      await live.runner.settle(null, { signal });
      await assertPortsFree(sandbox, spec.ports, { signal });
      const environment = programVariables(live, grant, { ...start.hostEnvironment, ...spec.environment });
      const { workingDirectory } = spec;
      const command = grant === null ? spec.command : held(spec.command);
      const program = await startNetworked(live, {
        network,
        grant,
        runner: () => sandbox.exec({ command, workingDirectory, environment }, { signal }),
        onDenied: () => undefined,
        redact: (text) => redaction.text(text),
        signal,
      });
      if (grant !== null) program.process.stdin.write("\n");
      const onEnded = (): void => program[Symbol.dispose]();
      return { process: program.process, redaction, sandbox, onEnded };
    });
    return {
      process,
      restarted,
      warnings: [...warnings, ...(grant?.warnings ?? []), ...opened.warnings],
    };
  });
}

/** Ends its sandbox: an engine may also wait for a program that another one delays. */
const unanswered: ReadonlySet<ErrorType> = new Set(["SANDBOX_LOST", "OOM_KILLED", "ENGINE_UNAVAILABLE"]);

/** No program runs. */
const noNetwork = { kind: "none" } as const;

/**
 * Does the work with the session's files inside its sandbox, when it is its turn. A sandbox that does not answer, and
 * cannot be made to, is given up.
 * @throws what the work throws
 */
export async function useFiles<T>(
  session: Session,
  options: Omit<OpenSessionOptions, "runNetwork">,
  caller: Caller,
  work: FileWork<T>,
): Promise<FileUse<T>> {
  return session.use(
    caller,
    noExtraNeeds(session.settings, { ...options, runNetwork: noNetwork }),
    async (opened, user) => {
      try {
        const { restarted, warnings } = opened;
        return { result: await work(opened.live.sandbox.files, user), restarted, warnings, toolingFiles: null };
      } catch (error) {
        if (error instanceof GloveboxError && unanswered.has(error.errorType)) opened.live.markUnusable();
        throw error;
      }
    },
  );
}

/** Program and arguments that wait for a line before they become the command: until its network is open. */
function held(command: readonly string[]): readonly string[] {
  return ["sh", "-c", 'IFS= read -r line && exec "$@"', "sh", ...command];
}

function noProcesses(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot keep programs running in a session here.`, {
    suggestion:
      "Choose an engine whose isolation is at least namespaces for the session (`glovebox doctor` lists them), or use an environment.",
    context: { engine, missing: "programs" },
  });
}
