import { throwIfCancelled } from "../../../base/abort.ts";
import type { CallOptions } from "../../engine.ts";
import type { InsideProgram, StartedProgram } from "../../inside/running-container.ts";
import { execArguments } from "../arguments/exec-arguments.ts";
import type { ContainerCommand } from "../command/container-command.ts";
import { followCommand } from "./follow-command.ts";
import { judgeEnd, type EndOf } from "./judge-end.ts";

export interface ExecPlace extends Omit<EndOf, "command"> {
  readonly id: string;
  readonly command: ContainerCommand;
  /** Names of the first process's variables. */
  readonly variables: readonly string[];
}

/**
 * Runs a program in the running container. The command does not tell when a program has begun, so it has as soon as the
 * command has.
 */
export async function startExec(
  { id, command, variables, isEndedByUs, isAlive }: ExecPlace,
  program: InsideProgram,
  { signal }: CallOptions,
): Promise<StartedProgram> {
  throwIfCancelled(signal);
  const child = await command.open(execArguments(id, program, variables));
  const { ending } = program;
  const isKilled = (): boolean => ending?.isKilled() === true;
  return followCommand(child, {
    killed: ending?.killed,
    judge: (end) => judgeEnd(end, { command: program.command, isEndedByUs, isAlive, isKilled }),
  });
}
