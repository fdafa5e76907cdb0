import type { RingOutput } from "../../../base/streams/ring-output.ts";
import type { NetworkGrant } from "../../../egress/network-access.ts";
import type { Process } from "../../../engines/engine.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { Redaction } from "../../../policy/redaction/redaction.ts";
import { withPlainOutput } from "../../../policy/request/plain-output.ts";
import type { Caller } from "../../../sandbox/sandboxes.ts";
import { EnvironmentContainer, type EnvironmentContainerParts } from "../container/environment-container.ts";
import type { ToolingTraces } from "../project/tooling-traces.ts";
import { joinReports, type ToolingReport } from "../../run/explain-tooling.ts";
import type { ProcessEnd } from "../../run/watch-process.ts";
import { watchCommand } from "../command/watch-command.ts";
import type { Denial } from "../../../policy/network/denial.ts";
import { afterRefusals } from "../../run/explain-network.ts";

export interface ImagePreparation extends Omit<EnvironmentContainerParts, "isBusy" | "onDenied"> {
  /** The field of the request that has the commands. */
  readonly field: "setup_commands" | "install_commands";
  readonly commands: readonly (readonly string[])[];
  readonly environmentId: string;
  /** The network that installing needs. */
  readonly grant: NetworkGrant | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Time limit of each command. */
  readonly timeoutMs: number;
  /** Reports which files run by the project owner's tools the commands change. */
  readonly traces: ToolingTraces;
  readonly onProgress: (message: string) => void;
  readonly monotonicMs: () => number;
}

/** The result of the commands. */
export interface PreparedImage {
  /** Image of the container's files; null if they could not write to any. */
  readonly image: string | null;
  /** What they and what they left running changed until their container was gone. */
  readonly tooling: ToolingReport;
}

/** Label of the image, with the environment's id. */
const imageLabel = "glovebox.environment";

/** How many characters of a failed command's output its error shows. */
const shownCharacters = 2_000;

/**
 * Runs the commands in a separate container, and creates an image from the result.
 * @throws PACKAGE_INSTALL_FAILED with the command and the end of its output, CANCELLED, what
 * `EnvironmentContainer.open` throws
 */
export async function prepareImage(preparation: ImagePreparation, caller: Caller): Promise<PreparedImage> {
  const { plan, traces } = preparation;
  const container = await EnvironmentContainer.open(
    { ...preparation, isBusy: () => true, onDenied: () => undefined },
    caller,
  );
  let image: string | null = null;
  const reports: ToolingReport[] = [];
  try {
    reports.push(...(await runAll(preparation, container, caller)));
    await container.clearSetuidBits();
    if (plan.writableRoot !== undefined) {
      const labels = { [imageLabel]: preparation.environmentId };
      image = await container.sandbox.commit({ labels, lifetimeMs: plan.lifetimeMs }, { signal: caller.signal });
    }
  } finally {
    try {
      await container.remove();
    } finally {
      reports.push(await traces.close());
    }
  }
  return { image, tooling: joinReports(reports) };
}

async function runAll(
  preparation: ImagePreparation,
  container: EnvironmentContainer,
  caller: Caller,
): Promise<readonly ToolingReport[]> {
  const { field, commands, traces, onProgress } = preparation;
  const verb = field === "setup_commands" ? "Setup" : "Install";
  const reports: ToolingReport[] = [];
  for (const [index, command] of commands.entries()) {
    onProgress(`${verb} ${index + 1} of ${commands.length}: ${command.join(" ").slice(0, 120)}`);
    const trace = await traces.begin(index > 0);
    const { process, end } = await runOne(preparation, { container, command, caller });
    reports.push(await traces.end(trace, { process, sandbox: container.sandbox.id }));
    if (end.exitCode !== 0 || end.interruption !== null)
      throw commandFailed({ field, end, container, index, command, denials: await denialsOf(container) });
  }
  return reports;
}

async function runOne(
  { plan, environment, timeoutMs, monotonicMs }: ImagePreparation,
  run: { readonly container: EnvironmentContainer; readonly command: readonly string[]; readonly caller: Caller },
): Promise<{ readonly process: Process; readonly end: ProcessEnd<RingOutput> }> {
  const { container, command, caller } = run;
  const { workingDirectory } = plan;
  const process = await container.sandbox.exec(
    { command, environment: withPlainOutput(environment), workingDirectory },
    { signal: caller.signal },
  );
  const end = await watchCommand({
    process,
    sandbox: container.sandbox,
    // They get no secrets.
    redaction: new Redaction([]),
    timeoutMs,
    signal: caller.signal,
    // The whole container exists only for this.
    end: () => container.remove(),
    monotonicMs,
  });
  return { process, end };
}

async function denialsOf(container: EnvironmentContainer): Promise<readonly Denial[]> {
  const network = await container.ensureNetwork(undefined).catch(() => null);
  await network?.settle();
  return network?.denials ?? [];
}

function commandFailed(failed: {
  readonly field: ImagePreparation["field"];
  readonly end: ProcessEnd<RingOutput>;
  readonly container: EnvironmentContainer;
  readonly index: number;
  readonly command: readonly string[];
  readonly denials: readonly Denial[];
}): GloveboxError {
  const { end, container, index, command, denials } = failed;
  if (end.interruption === "cancel") return new GloveboxError("CANCELLED", "The request was cancelled.");
  const reasons = { timeout: "it ran out of time", lost: "its container went away" };
  const overDisk = container.overDisk === null ? null : "its files passed the disk limit";
  const why = overDisk ?? (end.interruption === null ? `exit code ${end.exitCode}` : reasons[end.interruption]);
  const words = `${end.stdout.text()}${end.stderr.text()}`.slice(-shownCharacters).trim();
  const field = `${failed.field}[${index}]`;
  const who = failed.field === "setup_commands" ? "root" : "the owner of the project";
  return new GloveboxError(
    "PACKAGE_INSTALL_FAILED",
    `${field} (${command.join(" ").slice(0, 120)}) failed: ${why}${afterRefusals(denials)}.${words === "" ? "" : `\n${words}`}`,
    {
      suggestion:
        denials[0]?.remedy ??
        `Correct the command; it runs as ${who}, with the package registries as its only network.`,
      context: { field, exit_code: end.exitCode, ...(denials.length === 0 ? {} : { denials }) },
    },
  );
}
