import { setTimeout as sleep } from "node:timers/promises";
import type { Glovebox, Session } from "../../src/index.ts";
import type { Subject } from "../parts/in-turn.ts";
import type { BenchPlan } from "../parts/report.ts";
import { sessionRows } from "./row-names.ts";

/** In which the next interpreter starts and makes the imports of the call before. */
const importMs = 3_000;
const request = {
  language: "python",
  packages: ["pandas", "matplotlib"],
  code: "import pandas, matplotlib\nprint(1, flush=True)",
  timeoutSeconds: 120,
} as const;

/** Calls whose imports their session has seen before; timed until the first line is there. The packages come from the index. */
export function importingCallsOn(engine: string, glovebox: Glovebox, { images }: BenchPlan): Subject {
  let session: Session | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const call = async (): Promise<void> => {
    // Of the images for sessions not all have what installs packages.
    session ??= await glovebox.sessions.open(engine === "local" ? { engine } : { engine, image: images.python });
    const run = session.run(request);
    ended = run.then(({ outcome, stderr }) => {
      if (outcome !== "completed") throw new Error(`The call ended as ${outcome}: ${stderr}`);
    });
    for await (const { stream } of run) if (stream === "stdout") return;
    await ended;
    throw new Error("The call has printed nothing.");
  };
  const end = async (): Promise<void> => {
    await ended;
    await sleep(importMs);
  };
  return {
    name: sessionRows.imports(engine),
    prepare: async () => {
      if (session !== undefined) return;
      await call();
      await end();
    },
    run: call,
    end,
  };
}
