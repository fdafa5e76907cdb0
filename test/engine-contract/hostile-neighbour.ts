import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import type { Container } from "../../src/engines/engine.ts";
import { GloveboxError } from "../../src/errors/glovebox-error.ts";
import type { Scene } from "./scene.ts";

const victimProgram = 'read -r line; echo "heard $line"; echo "error $line" >&2; cat';

/** A program with an input that only the test knows. */
export interface Victim {
  readonly secret: string;
  readonly input: string;
}

export function newVictim(): Victim {
  const secret = randomBytes(24).toString("hex");
  return { secret, input: `${secret}\n${randomBytes(20_000).toString("base64")}\n` };
}

/** Runs the victim in the container: it must read exactly its own input, and its output must arrive unchanged. */
export async function expectUnharmed(scene: Scene, container: Container, victim: Victim): Promise<void> {
  const running = await scene.exec(container, ["sh", "-c", victimProgram]);
  const { exitCode, stdout, stderr } = await running.finish(victim.input);
  expect({ exitCode, stdout: stdout.toString(), stderr: stderr.toString() }).toEqual({
    exitCode: 0,
    stdout: `heard ${victim.input}`,
    stderr: `error ${victim.secret}\n`,
  });
}

/** Runs that many victims, each in a separate container. */
export async function expectNeighboursUnharmed(scene: Scene, count: number): Promise<void> {
  const container = await scene.idle();
  for (let index = 0; index < count; index++) await expectUnharmed(scene, container, newVictim());
}

/**
 * How a call beside a hostile program ended: `done`, or the type of the error that refused it.
 * Throws if it has not ended by the deadline, or if the error is not one of ours.
 */
export async function settled(call: Promise<unknown>, withinMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It has not settled within ${withinMs} ms.`)), withinMs);
  });
  try {
    await Promise.race([call, late]);
    return "done";
  } catch (error) {
    if (error instanceof GloveboxError) return error.errorType;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
