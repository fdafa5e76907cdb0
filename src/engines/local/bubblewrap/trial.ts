import type { Container } from "../../engine.ts";
import type { ContainerSpec } from "../../container-spec.ts";

const spec: ContainerSpec = {
  name: "probe",
  image: "host",
  labels: {},
  limits: { cpus: 1, memoryBytes: 64 * 1024 * 1024, pids: 16 },
  scratch: [{ path: "/tmp", sizeBytes: 1024 * 1024 }],
};

/** A container for the trial, and what its parts on the host wrote for people. */
export interface TrialContainer {
  readonly container: Container;
  readonly said: () => string;
}

/** Runs a program that does nothing in a container made for it; null when everything went well, otherwise what was said. */
export async function runTrial(make: (spec: ContainerSpec) => Promise<TrialContainer>): Promise<string | null> {
  let made: TrialContainer | undefined;
  try {
    made = await make(spec);
    await made.container.start();
    const { exit, stdin } = await made.container.exec({ command: ["true"] });
    stdin.end();
    const { exitCode } = await exit;
    return exitCode === 0 ? null : `the trial ended with ${exitCode}`;
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: Partial<Error> };
    return made?.said() || (cause?.message ?? message);
  } finally {
    await made?.container.remove();
  }
}
