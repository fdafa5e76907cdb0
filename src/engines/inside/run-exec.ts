import { createId } from "../../base/id.ts";
import type { CallOptions, ExecSpec, Process } from "../engine.ts";
import { processUserOf } from "./container-users.ts";
import { isGoneAlone, killExec } from "./kill-exec.ts";
import { markVariable } from "./kill-script.ts";
import type { LiveExec } from "./live-execs.ts";
import { announced, takeOpeningLine } from "../opening-line.ts";
import type { InsideProgram, RunningContainer, StartedProgram } from "./running-container.ts";
import { signalExec } from "./signal-exec.ts";

/** Runs a program that can be killed without the others, and signalled alone when it is `concurrent`. */
export async function runExec(container: RunningContainer, spec: ExecSpec, options: CallOptions): Promise<Process> {
  const isConcurrent = spec.concurrent === true;
  const mark = createId("exec");
  const killed = Promise.withResolvers<void>();
  let isKilled = false;
  const ending = { isKilled: () => isKilled, killed: killed.promise };
  const number = Promise.withResolvers<number | null>();
  const { user = processUserOf(container.spec) } = spec;
  const exec: LiveExec = { user, identity: isConcurrent ? { mark, number: number.promise } : null };
  await container.execs.enter(exec, options.signal);
  let started: StartedProgram;
  try {
    started = await container.start(programOf(container, spec, { user, mark, ending }), options);
  } catch (error) {
    container.execs.leave(exec);
    number.resolve(null);
    throw error;
  }
  const leave = (): void => container.execs.leave(exec);
  started.exit.then(leave, leave);
  const process = {
    stdin: started.stdin,
    output: started.output,
    exit: started.exit,
    isGone: () => isGoneAlone(container, exec),
    kill: (signal: "SIGTERM" | "SIGKILL") => {
      isKilled ||= signal === "SIGKILL";
      return killExec({ container, victim: exec, signal, onKilled: killed.resolve });
    },
  };
  if (!isConcurrent) return process;
  const opening = takeOpeningLine(started.output);
  number.resolve(opening.number);
  return { ...process, output: opening.output, signal: (signal) => signalExec(container, exec, signal) };
}

function programOf(
  { spec: own }: RunningContainer,
  spec: ExecSpec,
  { user, mark, ending }: Pick<InsideProgram, "user" | "ending"> & { readonly mark: string },
): InsideProgram {
  const isConcurrent = spec.concurrent === true;
  return {
    command: isConcurrent ? announced(spec.command) : spec.command,
    user,
    workingDirectory: spec.workingDirectory ?? own.workingDirectory,
    environment: {
      ...(spec.inheritsEnvironment === false ? {} : own.environment),
      ...spec.environment,
      ...(isConcurrent ? { [markVariable]: mark } : {}),
    },
    ending,
  };
}
