import type { CallOptions, Engine, EngineTrouble } from "./engine.ts";

export interface MendableRun<T> extends CallOptions {
  readonly engine: Engine;
  readonly now: () => number;
  readonly run: () => Promise<T>;
  /** What was wrong with a run that gave a result; null when it is none of the engine's. */
  readonly troubleOf: (result: T) => Omit<EngineTrouble, "beganAtMs"> | null;
  /** Called before a run is tried again. */
  readonly onRetry?: (() => void) | undefined;
}

/**
 * The run's result, of a second run where the engine was mended after the first (SPEC AG4): at most once, whatever the
 * second one says. Engines that cannot be mended have one run.
 */
export async function runMended<T>({ engine, now, run, troubleOf, onRetry, signal }: MendableRun<T>): Promise<T> {
  const { mend } = engine;
  if (mend === undefined) return run();
  const beganAtMs = now();
  const isMended = (trouble: Omit<EngineTrouble, "beganAtMs"> | null): Promise<boolean> =>
    trouble === null ? Promise.resolve(false) : mend({ ...trouble, beganAtMs }, { signal });
  let result: T;
  try {
    result = await run();
  } catch (error) {
    if (!(await isMended({ text: textOf(error) }))) throw error;
    onRetry?.();
    return run();
  }
  if (!(await isMended(troubleOf(result)))) return result;
  onRetry?.();
  return run();
}

/** What an error and its causes say. */
function textOf(error: unknown): string {
  const texts: string[] = [];
  for (let each = error; each instanceof Error && texts.length < 5; each = each.cause) texts.push(each.message);
  return texts.join("\n");
}
