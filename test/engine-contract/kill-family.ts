import { expect } from "vitest";
import { settlesWithin } from "../../src/base/abort.ts";
import { fixtureProgram } from "../helpers/fixture-program.ts";
import type { Container, ExecSpec } from "../../src/engines/engine.ts";
import type { RunningProcess } from "../helpers/running-process.ts";
import type { Scene, SpecChanges } from "./scene.ts";

/** Two programs of one container, one of which is to be killed. */
export interface KillFamily {
  readonly container: Container;
  /** The one to kill; everything that it has started holds a FIFO open. */
  readonly parent: RunningProcess;
  /** Must not be hit; it reads the FIFO, and so ends by itself when nothing of the parent is left. */
  readonly watcher: RunningProcess;
}

export interface KillFamilyOptions {
  readonly container?: SpecChanges;
  readonly watcher?: Partial<ExecSpec>;
  readonly parent?: Partial<ExecSpec>;
}

/** The FIFO that `command` must hold open. */
export const heldFifo = "/work/watched/alive";

/** Starts both. */
export async function killFamily(
  scene: Scene,
  command: readonly string[],
  options: KillFamilyOptions = {},
): Promise<KillFamily> {
  const container = await scene.idle(options.container);
  await scene.run(container, ["mkdir", "-m", "777", "/work/watched"]);
  const reads = fixtureProgram("reads-fifo.sh", heldFifo);
  const watcher = await scene.exec(container, reads, options.watcher);
  await watcher.until("stdout", "listening\n");
  const parent = await scene.exec(container, command, options.parent);
  await watcher.until("stdout", "up\n");
  return { container, parent, watcher };
}

/** Killed programs are gone far sooner, even on a loaded machine; waiting until the test's own time limit proves nothing. */
const goneMs = 20_000;

/** SIGKILL to the parent and everything that it started works as promised. */
export async function killParent({ parent }: Pick<KillFamily, "parent">): Promise<void> {
  const failure: unknown = await parent.process.kill("SIGKILL").then(
    () => null,
    (error: unknown) => error,
  );
  expect(failure, "the kill is certain that nothing is left").toBeNull();
}

/** The parent has ended, with that exit code. */
export async function expectParentEnded({ parent }: Pick<KillFamily, "parent">, exitCode: number): Promise<void> {
  const { exit } = parent.process;
  expect(await settlesWithin(exit, goneMs), "the killed program has ended").toBe(true);
  expect(await exit).toEqual({ exitCode });
}

/** Nothing of the parent is left, and the watcher has seen its end unhurt. */
export async function expectOnlyWatcherLeft({ watcher }: KillFamily): Promise<void> {
  const finished = watcher.finish();
  expect(await settlesWithin(finished, goneMs), "nothing that the killed program started is left").toBe(true);
  const { exitCode, stdout } = await finished;
  expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 0, stdout: "listening\nup\nall gone\n" });
}
