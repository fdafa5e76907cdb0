import type { ContainerSpec } from "../../container-spec.ts";
import type { Capabilities } from "../../capabilities.ts";
import type { Launcher } from "../launcher.ts";
import { LocalContainer } from "../local-container.ts";

const spec: ContainerSpec = {
  name: "probe",
  image: "host",
  labels: {},
  limits: { cpus: 1, memoryBytes: 64 * 1024 * 1024, pids: 16 },
  scratch: [{ path: "/tmp", sizeBytes: 1024 * 1024 }],
};

/**
 * Runs a program that does nothing in a container made for it; null when everything went well, otherwise what was said.
 * The program is the host's own, so the container's parts are as good as new afterwards.
 */
export async function runTrial(
  capabilities: Capabilities,
  makeLauncher: (spec: ContainerSpec) => Promise<Launcher>,
): Promise<string | null> {
  let container: LocalContainer | undefined;
  try {
    container = new LocalContainer({ spec, capabilities, launcher: await makeLauncher(spec) });
    await container.start();
    const { exit, stdin } = await container.exec({ command: ["true"] });
    stdin.end();
    const { exitCode } = await exit;
    return exitCode === 0 ? null : `the trial ended with ${exitCode}`;
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: Partial<Error> };
    return cause?.message ?? message;
  } finally {
    await container?.remove();
  }
}
