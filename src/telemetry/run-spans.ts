import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { OpenSpan } from "../base/span.ts";
import type { Tracing } from "./tracing.ts";

/** Programs as steps of the operations that run them. What a program does is a result: only a run without one has failed. */
export class RunSpans implements SandboxObserver {
  readonly #tracing: Pick<Tracing, "beginStep">;
  /** By the run. */
  readonly #open = new Map<string, OpenSpan>();

  constructor(tracing: Pick<Tracing, "beginStep">) {
    this.#tracing = tracing;
  }

  runStarted({ id, sandbox, kind, engine }: StartedRun): void {
    const span = this.#tracing.beginStep(`run ${kind}`, {
      "glovebox.run.id": id,
      "glovebox.sandbox.id": sandbox,
      "glovebox.sandbox.kind": kind,
      "glovebox.engine.name": engine,
    });
    if (span !== null) this.#open.set(id, span);
  }

  runEnded({ id }: StartedRun, { outcome, exitCode, errorType }: RunEnding): void {
    this.#open.get(id)?.end(errorType, {
      "glovebox.run.outcome": outcome,
      "process.exit.code": exitCode ?? undefined,
    });
    this.#open.delete(id);
  }
}
