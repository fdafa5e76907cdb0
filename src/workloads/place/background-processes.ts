import { createId } from "../../base/id.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Process } from "../../engines/engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { ProcessSpec } from "../program/command-spec.ts";
import { connectToProgram } from "./connect-to-program.ts";
import { BackgroundProcess, type BackgroundProcessParts } from "./background-process.ts";
import { PortRelays } from "./port-relays.ts";

/** Maximum running processes of one place, and maximum known ones, including those that have ended. */
const most = { running: 32, known: 64 } as const;

export interface BackgroundProcessesOptions {
  /** Where they run, as named in errors. */
  readonly place: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A process that has begun. */
export interface LaunchedProcess {
  readonly process: Process;
  readonly redaction: BackgroundProcessParts["redaction"];
  readonly sandbox: BackgroundProcessParts["sandbox"] & Pick<Sandbox, "connect">;
  readonly onEnded?: (() => void) | undefined;
}

/** The background processes of one place; the oldest ended ones are dropped. */
export class BackgroundProcesses {
  readonly #options: BackgroundProcessesOptions;
  readonly #known = new Map<string, BackgroundProcess>();
  readonly #starting = new Set<ProcessSpec>();

  constructor(options: BackgroundProcessesOptions) {
    this.#options = options;
  }

  /** In the order of their start. */
  get all(): readonly BackgroundProcess[] {
    return [...this.#known.values()];
  }

  get running(): readonly BackgroundProcess[] {
    return this.all.filter(({ state }) => state === "running");
  }

  /** Starts a background process, with its ports open. @throws CAPACITY, ALREADY_EXISTS, what `launch` throws */
  async start(spec: ProcessSpec, launch: () => Promise<LaunchedProcess>): Promise<BackgroundProcess> {
    this.#assertPlace();
    this.#assertOwnPorts(spec);
    this.#starting.add(spec);
    let launched: LaunchedProcess | null = null;
    try {
      const relays = await PortRelays.open(spec.ports, (port, signal) => connectToProgram(launched, port, signal));
      try {
        launched = await launch();
      } catch (error) {
        relays.close();
        throw error;
      }
      const started = new BackgroundProcess({
        id: createId("proc"),
        command: spec.command,
        startedAtMs: this.#options.now(),
        relays,
        ...launched,
      });
      this.#enter(started);
      return started;
    } finally {
      this.#starting.delete(spec);
    }
  }

  /** @throws NOT_FOUND listing the existing ones */
  find(id: string): BackgroundProcess {
    const found = this.#known.get(id);
    if (found !== undefined) return found;
    const ids = [...this.#known.keys()];
    const shown = JSON.stringify(id.slice(0, 80));
    throw new GloveboxError("NOT_FOUND", `No process of the ${this.#options.place} has the id ${shown}.`, {
      suggestion: ids.length === 0 ? "Start one with start_process." : `There are: ${ids.join(", ")}.`,
      context: { process_id: id.slice(0, 80), process_ids: ids },
    });
  }

  #enter(process: BackgroundProcess): void {
    this.#known.set(process.id, process);
    for (const { id, state } of this.all) {
      if (this.#known.size <= most.known) return;
      if (state !== "running") this.#known.delete(id);
    }
  }

  #assertPlace(): void {
    if (this.running.length + this.#starting.size < most.running) return;
    const { place } = this.#options;
    throw new GloveboxError("CAPACITY", `${most.running} background processes run in this ${place} already.`, {
      suggestion: "Stop some of them with stop_process.",
      context: { limit: most.running },
    });
  }

  /** Otherwise it would be unclear which server is answering. */
  #assertOwnPorts({ ports }: ProcessSpec): void {
    const taken = new Set([
      ...this.running.flatMap((process) => process.ports.map(({ port }) => port)),
      ...[...this.#starting].flatMap((spec) => spec.ports),
    ]);
    const port = ports.find((each) => taken.has(each));
    if (port === undefined) return;
    throw new GloveboxError("ALREADY_EXISTS", `Port ${port} is another background process's already.`, {
      suggestion: "Choose another port, or stop the other process with stop_process.",
      context: { field: "ports", port },
    });
  }
}
