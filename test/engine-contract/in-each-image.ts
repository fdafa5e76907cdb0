import { SandboxFiles } from "../../src/sandbox/files/sandbox-files.ts";
import type { Container } from "../../src/engines/engine.ts";
import type { Scene, SpecChanges } from "./scene.ts";

export interface FilesScene {
  readonly scene: Scene;
  readonly container: Container;
  readonly files: SandboxFiles;
  /** Runs an `sh` script with the arguments and returns its output; fails if the script does. */
  readonly sh: (script: string, ...parameters: readonly string[]) => Promise<string>;
}

type FilesWork = (files: FilesScene) => Promise<void>;

/** Does the work in a container with BusyBox and in one with GNU programs, which move files in different ways. */
export async function inEachImage(scene: Scene, work: FilesWork, changes: SpecChanges = {}): Promise<void> {
  const { minimal, python } = scene.subject.images;
  for (const image of new Set([minimal, python])) await inImage(image, scene, work, changes);
}

/** Does work whose bytes take long, and which no program of an image does, in the container with BusyBox alone. */
export const inMinimalImage = (scene: Scene, work: FilesWork, changes: SpecChanges): Promise<void> =>
  inImage(scene.subject.images.minimal, scene, work, changes);

async function inImage(image: string, scene: Scene, work: FilesWork, changes: SpecChanges): Promise<void> {
  const container = await scene.idle({ image, ...changes });
  const sh = async (script: string, ...parameters: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await scene.run(container, ["sh", "-c", script, "sh", ...parameters]);
    if (exitCode !== 0) throw new Error(`${image}: ${script}: ${stderr.toString()}`);
    return stdout.toString();
  };
  await work({ scene, container, files: new SandboxFiles(container, scene.capabilities), sh });
  await container.remove();
}
