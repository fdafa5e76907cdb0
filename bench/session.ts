/**
 * How long a call in a session takes when its interpreter waits already, beside one that starts its own.
 *
 * The second way changes language each time, so that no waiting interpreter fits. Both are run in turn on each engine, so
 * that the machine's mood hits them alike; read the ratios, not the milliseconds.
 * Usage: node bench/session.ts [ROUNDS]; image by GLOVEBOX_IMAGE_SESSION.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createGlovebox, type Session } from "../src/index.ts";

const rounds = Number(process.argv[2] ?? 15);
/** Time between two calls, in which the next interpreter starts. */
const pauseMs = 500;

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;

console.log(`${"".padEnd(8)}  waiting ms  fresh ms  fresh / waiting`);
for (const engine of ["docker", "podman", "local"] as const) {
  await using glovebox = await createGlovebox({ engine });
  let session: Session | undefined;
  const call = async (language: "python" | "typescript"): Promise<number> => {
    await sleep(pauseMs);
    const startedMs = performance.now();
    const code = language === "python" ? "print(1)" : "console.log(1)";
    session ??= await glovebox.sessions.open();
    await session.run({ language, code, packages: [] });
    return performance.now() - startedMs;
  };
  try {
    await call("typescript");
  } catch (error) {
    console.log(`${engine}: left out, ${error instanceof Error ? error.message.split("\n")[0] : "it failed"}`);
    continue;
  }
  const [waiting, fresh]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    fresh.push(await call("python"));
    waiting.push(await call("python"));
    await call("typescript");
  }
  const cells = [median(waiting).toFixed(0).padStart(10), median(fresh).toFixed(0).padStart(8)];
  console.log(`${engine.padEnd(8)}  ${cells.join("  ")}  ${(median(fresh) / median(waiting)).toFixed(2).padStart(15)}`);
}
