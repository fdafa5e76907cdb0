import { createId } from "../../base/id.ts";
import type { CallOptions, ExecSpec, Process } from "../engine.ts";
import { processUserOf } from "./container/container-defaults.ts";
import type { ContainerLink } from "./container/container-link.ts";
import { isGoneAlone, killExec } from "./exec-kill.ts";
import { startExec } from "./exec/exec.ts";
import { markVariable } from "./kill-script.ts";
import type { LiveExec } from "./live-execs.ts";
import { OpeningLine } from "./opening-line.ts";
import { signalExec } from "./signal-exec.ts";

/** Runs a program in the running container, which can be killed without the others (see `startExec`). */
export async function execInContainer(link: ContainerLink, spec: ExecSpec, options: CallOptions): Promise<Process> {
  const { command, user = processUserOf(link.spec), workingDirectory = link.spec.workingDirectory } = spec;
  const opening = spec.concurrent === true ? new OpeningLine() : undefined;
  const mark = createId("exec");
  const exec: LiveExec = {
    user,
    identity: opening === undefined ? null : { mark, number: opening.number },
  };
  const killed = Promise.withResolvers<void>();
  let isKilled = false;
  await link.execs.enter(exec, options.signal);
  try {
    const process = await startExec(
      link,
      {
        command,
        user,
        workingDirectory,
        environment: {
          ...(spec.inheritsEnvironment === false ? {} : link.spec.environment),
          ...spec.environment,
          ...(opening === undefined ? {} : { [markVariable]: mark }),
        },
        opening,
        isGone: () => isGoneAlone(link, exec),
        isKilled: () => isKilled,
        killed: killed.promise,
        kill: (signal) => {
          isKilled ||= signal === "SIGKILL";
          return killExec({ link, victim: exec, signal, onKilled: killed.resolve });
        },
      },
      options,
    );
    const leave = (): void => link.execs.leave(exec);
    process.exit.then(leave, leave);
    return opening === undefined ? process : { ...process, signal: (signal) => signalExec(link, exec, signal) };
  } catch (error) {
    link.execs.leave(exec);
    throw error;
  }
}
