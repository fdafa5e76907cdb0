import type { ForwarderInterpreter } from "../egress/forwarder.ts";
import type { CallOptions } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { runSandboxCommand, type CommandSandbox } from "./sandbox-command.ts";

/** Prints which of the interpreters supported by the forwarder the sandbox has. */
const script = 'for name in python3 node bun; do command -v "$name" >/dev/null && echo "$name" && exit; done';
const findMs = 30_000;
const interpreters: Readonly<Record<string, ForwarderInterpreter>> = { python3: "python", node: "node", bun: "bun" };

/**
 * The interpreter for a sandbox's forwarder; `image` is for the error. @throws UNSUPPORTED if it has none, CANCELLED
 */
export async function findInterpreter(
  sandbox: CommandSandbox,
  image: string,
  { signal }: CallOptions,
): Promise<ForwarderInterpreter> {
  const command = ["sh", "-c", script];
  const { stdout } = await runSandboxCommand(sandbox, { command, maxOutputBytes: 64, timeLimitMs: findMs }, { signal });
  const interpreter = interpreters[stdout.text().trim()];
  if (interpreter !== undefined) return interpreter;
  throw new GloveboxError("UNSUPPORTED", `Image ${image} has no python3, node or bun, one of which a network needs.`, {
    suggestion: "Use an image with one of them, or leave network out.",
    context: { field: "network", image },
  });
}
