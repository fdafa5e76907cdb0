import { AnswerError } from "../answers/json.ts";
import { isServiceRunning, parseVersion, type CommandVersion } from "../answers/service-answer.ts";
import { isSupported } from "../start-instructions.ts";
import { serviceDown, unreadable, unsupportedVersion } from "./command-errors.ts";
import type { ContainerCommand } from "./container-command.ts";

/**
 * The command's version, when its service runs and this engine knows both.
 * @throws ENGINE_UNAVAILABLE with what to do
 */
export async function examineService(
  command: ContainerCommand,
  signal: AbortSignal | undefined,
): Promise<CommandVersion> {
  const [told, status] = await Promise.all([
    command.run({ action: "tell its version", words: ["--version"], deadline: "version", signal }),
    command.run({
      action: "tell whether it runs",
      words: ["system", "status", "--format=json"],
      deadline: "status",
      signal,
    }),
  ]);
  const version = parseVersion(told.stdout);
  // Older ones answer the other question in another way.
  if (version === null || !isSupported(version)) throw unsupportedVersion(version);
  if (status.exitCode !== 0) throw serviceDown();
  if (!answers(status.stdout)) throw serviceDown();
  return version;
}

function answers(text: string): boolean {
  try {
    return isServiceRunning(text);
  } catch (error) {
    if (error instanceof AnswerError) throw unreadable("tell whether it runs", error);
    throw error;
  }
}
