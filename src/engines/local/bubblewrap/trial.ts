import type { ContainerSpec } from "../../container-spec.ts";
import type { Level } from "../launcher.ts";
import { LocalContainer } from "../local-container.ts";

const spec: ContainerSpec = {
  name: "probe",
  image: "host",
  labels: {},
  limits: { cpus: 1, memoryBytes: 64 * 1024 * 1024, pids: 16 },
  scratch: [{ path: "/tmp", sizeBytes: 1024 * 1024 }],
};

/** Runs a program that does nothing in a container that is made for it; null when all went well, else what was said. */
export async function runTrial(level: Level): Promise<string | null> {
  let container: LocalContainer | undefined;
  try {
    const launcher = await level.makeLauncher(spec, undefined);
    container = new LocalContainer({ spec, capabilities: level.capabilities, launcher });
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
