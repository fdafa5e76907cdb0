import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll } from "vitest";
import type { Glovebox } from "./wire-glovebox.ts";
import { useGlovebox } from "./open-glovebox.ts";
import { testImages } from "./test-images.ts";

type Environments = Glovebox["environments"];
type Created = Awaited<ReturnType<Environments["create"]>>;
type CreateRequest = Parameters<Environments["create"]>[0];
type CommandRequest = Omit<Parameters<Environments["runCommand"]>[0], "env_id" | "command">;
type CommandAnswer = ReturnType<Environments["runCommand"]>;

/** Owner of the projects: a user that the image does not know. */
export const owner = { uid: 4321, gid: 4322 };
export const image: string = testImages.python;

/** An environment of one test; it is destroyed when the test ends. */
export interface OpenedEnvironment extends Created, AsyncDisposable {
  readonly id: string;
  readonly environments: Environments;
  run(command: string[], more?: CommandRequest): CommandAnswer;
  sh(script: string, more?: CommandRequest): CommandAnswer;
}

export interface EnvironmentScene {
  readonly glovebox: () => Glovebox;
  readonly workingDirectory: string;
  /** A path in the working directory. */
  readonly at: (...names: string[]) => string;
  readonly open: (request?: Partial<CreateRequest>) => Promise<OpenedEnvironment>;
}

/** A Glovebox for the tests of a `describe`, whose working directory has a folder `project` of the owner. */
export function useEnvironments(engine: "docker" | "podman" | "apple"): EnvironmentScene {
  const workingDirectory = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
  const at = (...names: string[]): string => path.join(workingDirectory, ...names);
  mkdirSync(at("project"));
  chownSync(at("project"), owner.uid, owner.gid);
  afterAll(() => rmSync(workingDirectory, { recursive: true }));
  const glovebox = useGlovebox(engine, { workingDirectory });
  const open = async (request: Partial<CreateRequest> = {}): Promise<OpenedEnvironment> => {
    const { environments } = glovebox();
    const made = await environments.create({ image, ...request });
    const { env_id: id } = made;
    return {
      ...made,
      id,
      environments,
      run: (command, more = {}) => environments.runCommand({ env_id: id, command, ...more }),
      sh: (script, more = {}) => environments.runCommand({ env_id: id, command: ["sh", "-c", script], ...more }),
      [Symbol.asyncDispose]: async () => {
        await environments.destroy({ env_id: id }).catch(() => undefined);
      },
    };
  };
  return { glovebox, workingDirectory, at, open };
}
