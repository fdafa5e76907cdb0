import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { BackgroundProcess } from "./background-process.ts";

/** Most processes of one environment that run at once, and most that are known, ended ones included. */
const most = { running: 32, known: 64 } as const;

/** A place for a process that is being started. */
export interface ProcessPlace {
  take(process: BackgroundProcess): void;
  giveUp(): void;
}

/** The background processes of one environment; of those that have ended the oldest are forgotten. */
export class BackgroundProcesses {
  readonly #known = new Map<string, BackgroundProcess>();
  #starting = 0;

  /** In the order of their start. */
  get all(): readonly BackgroundProcess[] {
    return [...this.#known.values()];
  }

  get running(): readonly BackgroundProcess[] {
    return this.all.filter(({ state }) => state === "running");
  }

  /** @throws CAPACITY */
  reserve(): ProcessPlace {
    if (this.running.length + this.#starting >= most.running) {
      throw new GloveboxError("CAPACITY", `${most.running} background processes run in this environment already.`, {
        suggestion: "Stop some of them with stop_process.",
        context: { limit: most.running },
      });
    }
    this.#starting += 1;
    return {
      take: (process) => {
        this.#starting -= 1;
        this.#known.set(process.id, process);
        for (const { id, state } of this.all) {
          if (this.#known.size <= most.known) return;
          if (state !== "running") this.#known.delete(id);
        }
      },
      giveUp: () => void (this.#starting -= 1),
    };
  }

  /** @throws NOT_FOUND listing those there are */
  find(id: string): BackgroundProcess {
    const found = this.#known.get(id);
    if (found !== undefined) return found;
    const ids = [...this.#known.keys()];
    const shown = JSON.stringify(id.slice(0, 80));
    throw new GloveboxError("NOT_FOUND", `No process of the environment has the id ${shown}.`, {
      suggestion: ids.length === 0 ? "Start one with start_process." : `There are: ${ids.join(", ")}.`,
      context: { process_id: id.slice(0, 80), process_ids: ids },
    });
  }
}
