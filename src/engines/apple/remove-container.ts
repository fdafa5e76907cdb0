import { GloveboxError } from "../../errors/glovebox-error.ts";
import { refusal } from "./command-errors.ts";
import { failureKind } from "./command-failure.ts";
import type { ContainerCommand } from "./container-command.ts";

/**
 * Ends and removes a container; resolves when it is gone, whoever removed it. A removal that hangs is tried once more
 * after a kill; then the service itself hangs.
 */
export async function removeContainer(command: ContainerCommand, id: string, signal?: AbortSignal): Promise<void> {
  try {
    await remove(command, id, signal);
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType === "CANCELLED") throw error;
    await killContainer(command, id, signal).catch(() => undefined);
    await remove(command, id, signal);
  }
}

async function remove(command: ContainerCommand, id: string, signal: AbortSignal | undefined): Promise<void> {
  const action = "remove a container";
  const words = ["delete", "--force", "--", id];
  const result = await command.run({ action, words, deadline: "remove", signal });
  if (result.exitCode === 0 || failureKind(result.stderr) === "no-container") return;
  throw refusal(action, result);
}

/** SIGKILL to the first process, and so to everything; nothing happens when the container does not run. */
export async function killContainer(command: ContainerCommand, id: string, signal?: AbortSignal): Promise<void> {
  const action = "end a container";
  const result = await command.run({ action, words: ["kill", "--signal=KILL", "--", id], deadline: "signal", signal });
  if (result.exitCode === 0) return;
  const kind = failureKind(result.stderr);
  if (kind !== "no-container" && kind !== "not-running") throw refusal(action, result);
}
