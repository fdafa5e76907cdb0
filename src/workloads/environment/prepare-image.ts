import type { NetworkGrant } from "../../egress/network-access.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { Housing, type HousingParts } from "./housing.ts";
import { watchCommand, type CommandEnd } from "./watch-command.ts";

export interface ImagePreparation extends Omit<HousingParts, "isBusy" | "onDenied" | "growth"> {
  readonly commands: readonly (readonly string[])[];
  readonly environmentId: string;
  /** The network that installing needs. */
  readonly grant: NetworkGrant | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Of each command. */
  readonly timeoutMs: number;
  readonly onProgress: (message: string) => void;
  readonly monotonicMs: () => number;
}

/** Label of the image, with the environment's id. */
const imageLabel = "glovebox.environment";

/** Characters of a failed command's output that its error shows. */
const shownCharacters = 2_000;

/**
 * Runs the commands as root in a container of their own, and makes an image of what they leave; resolves to its id.
 * @throws PACKAGE_INSTALL_FAILED with the command and its last words, CANCELLED, what `Housing.open` throws
 */
export async function prepareImage(preparation: ImagePreparation, caller: Caller): Promise<string> {
  const { commands, plan, onProgress } = preparation;
  const housing = await Housing.open(
    // The project is read-only here.
    { ...preparation, growth: null, isBusy: () => true, onDenied: () => undefined },
    caller,
  );
  try {
    for (const [index, command] of commands.entries()) {
      onProgress(`Setup ${index + 1} of ${commands.length}: ${command.join(" ").slice(0, 120)}`);
      const end = await runSetup(preparation, { housing, command, caller });
      if (end.exitCode !== 0 || end.interruption !== null) throw setupFailed({ end, housing, index, command });
    }
    const labels = { [imageLabel]: preparation.environmentId };
    return await housing.sandbox.commit({ labels, lifetimeMs: plan.lifetimeMs }, { signal: caller.signal });
  } finally {
    await housing.remove();
  }
}

async function runSetup(
  { plan, environment, timeoutMs, monotonicMs }: ImagePreparation,
  run: { readonly housing: Housing; readonly command: readonly string[]; readonly caller: Caller },
): Promise<CommandEnd> {
  const { housing, command, caller } = run;
  const { workingDirectory } = plan;
  const process = await housing.sandbox.exec({ command, environment, workingDirectory }, { signal: caller.signal });
  return watchCommand({
    process,
    timeoutMs,
    onOutput: () => undefined,
    signal: caller.signal,
    // The whole container is for this alone.
    end: () => housing.remove(),
    monotonicMs,
  });
}

function setupFailed(failed: {
  readonly end: CommandEnd;
  readonly housing: Housing;
  readonly index: number;
  readonly command: readonly string[];
}): GloveboxError {
  const { end, housing, index, command } = failed;
  if (end.interruption === "cancel") return new GloveboxError("CANCELLED", "The request was cancelled.");
  const reasons = { timeout: "it ran out of time", lost: "its container went away" };
  const overDisk = housing.overDisk === null ? null : "its files passed the disk limit";
  const why = overDisk ?? (end.interruption === null ? `exit code ${end.exitCode}` : reasons[end.interruption]);
  const words = `${end.stdout.text()}${end.stderr.text()}`.slice(-shownCharacters).trim();
  return new GloveboxError(
    "PACKAGE_INSTALL_FAILED",
    `setup_commands[${index}] (${command.join(" ").slice(0, 120)}) failed: ${why}.${words === "" ? "" : `\n${words}`}`,
    {
      suggestion: "Correct the command; it runs as root, with the package registries as its only network.",
      context: { field: `setup_commands[${index}]`, exit_code: end.exitCode },
    },
  );
}
