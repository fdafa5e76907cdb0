import { readFileSync } from "node:fs";
import type { WorkerMessage } from "./bounded-work.ts";
import { fed, type Call } from "./parsers.ts";
import { shapesFor } from "./shapes.ts";

export interface ParserJob {
  /** A key of `fed`. */
  readonly name: string;
}

const root = new URL("../../", import.meta.url);

function tell(message: WorkerMessage): void {
  process.send?.(message);
}

/** What a function says of a text that it does not accept; another one means that it was not called as it should be. */
function problemOf(error: unknown): string | null {
  const isWrongCall = error instanceof TypeError && /undefined|null|not a function|not iterable/.test(error.message);
  return isWrongCall ? (error.stack ?? error.message) : null;
}

async function feed({ name }: ParserJob): Promise<string | null> {
  const [path = "", member = ""] = name.split(" ");
  const module = (await import(new URL(path, root).href)) as Readonly<Record<string, Call | undefined>>;
  const call = module[member];
  const give = fed.get(name);
  if (call === undefined || give === undefined) return "there is no such function";
  for (const shape of shapesFor(path, readFileSync(new URL(path, root), "utf8"))) {
    tell({ kind: "begins", step: shape.name });
    try {
      await give(call, shape.text(), (other) => module[other] as Call);
    } catch (error) {
      const problem = problemOf(error);
      if (problem !== null) return `${shape.name}: ${problem}`;
    }
  }
  return null;
}

process.on("message", (job: ParserJob) => {
  feed(job).then(
    (problem) => tell({ kind: "ended", problem }),
    (error: unknown) => tell({ kind: "ended", problem: String(error) }),
  );
});
