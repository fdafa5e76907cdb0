import { withPlainOutput } from "../../policy/request/plain-output.ts";
import { assertPortsFree } from "../place/background/assert-ports-free.ts";
import type { CommandSpec, ProcessSpec } from "../program/command-spec.ts";
import type { EnvironmentContainer } from "./container/environment-container.ts";
import type { Started } from "./environment-parts.ts";
import type { EnvironmentSecrets } from "./environment-secrets.ts";
import { withSecrets } from "../program/secret-shell.ts";

export interface StartOptions {
  readonly secrets: EnvironmentSecrets;
  /** Variables for every process of the environment; its own take precedence. */
  readonly variables: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Starts a process with its secrets once the network is open. @throws NETWORK_ERROR, what `exec` throws */
export async function startInContainer(
  container: EnvironmentContainer,
  spec: CommandSpec | ProcessSpec,
  { secrets: own, variables, signal }: StartOptions,
): Promise<Started> {
  await container.ensureNetwork(signal);
  if ("ports" in spec) await assertPortsFree(container.sandbox, spec.ports, { signal });
  const { oomKills } = await container.sandbox.stats();
  const { secrets, redaction } = await own.giveTo(spec);
  const { command, preamble } = withSecrets(spec.command, secrets);
  const process = await container.commands.start(
    {
      command,
      environment: withPlainOutput({ ...variables, ...spec.environment }),
      workingDirectory: spec.workingDirectory,
    },
    { signal },
  );
  if (preamble.length > 0) process.stdin.write(preamble);
  return { process, redaction, container, oomKillsBefore: oomKills };
}
