import type { CommandCall, ContainerCommand } from "./container-command.ts";
import { refusal, unreadable } from "./command-errors.ts";

/** Parses what a call wrote to standard output; if that fails, the engine cannot be used. */
export async function readAnswer<T>(
  command: ContainerCommand,
  call: CommandCall,
  read: (text: string) => T,
): Promise<T> {
  const result = await command.run(call);
  if (result.exitCode !== 0) throw refusal(call.action, result);
  try {
    return read(result.stdout);
  } catch (error) {
    throw unreadable(call.action, error);
  }
}
