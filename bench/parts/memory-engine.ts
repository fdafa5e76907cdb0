import { strongCapabilities } from "../../test/helpers/strong-capabilities.ts";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { Capabilities } from "../../src/engines/capabilities.ts";
import { unknownStats } from "../../src/engines/container-stats.ts";
import type { ContainerSpec } from "../../src/engines/container-spec.ts";
import type { Container, ContainerState, Engine, Process } from "../../src/engines/engine.ts";
import { engineTable, type EngineRow } from "../../src/engines/engine-table.ts";

/** The word in a program that keeps it running until its container is removed. */
export const lastingWord = "stays";

const mebibyte = 2 ** 20;

const capabilities: Capabilities = { ...strongCapabilities, diskLimit: "yes", execNetwork: "none" };

/** Pretends to be a program that reads its job and prints a number; nothing is really run. */
class SimulatedProcess {
  readonly stdin = new PassThrough();
  readonly #ended = Promise.withResolvers<number>();

  constructor() {
    let job = "";
    this.stdin.on("data", (chunk: Buffer) => {
      job += chunk.toString("latin1");
      // The code follows the header; both arrive in a few pieces.
      setImmediate(() => {
        if (!job.includes(lastingWord)) this.end(0);
      });
    });
    this.stdin.on("end", () => {
      if (job === "") this.end(0);
    });
  }

  end(exitCode: number): void {
    this.#ended.resolve(exitCode);
  }

  process(): Process {
    const ended = this.#ended.promise;
    return {
      stdin: this.stdin,
      output: outputOf(ended),
      exit: ended.then((exitCode) => ({ exitCode })),
      kill: async () => this.end(137),
    };
  }
}

async function* outputOf(ended: Promise<number>): AsyncIterable<{ stream: "stdout"; bytes: Uint8Array }> {
  if ((await ended) === 0) yield { stream: "stdout", bytes: Buffer.from("42\n") };
}

class SimulatedContainer implements Container {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAtMs = Date.now();
  readonly #processes = new Set<SimulatedProcess>();
  readonly #removed = new AbortController();
  readonly #onRemoved: () => void;

  constructor({ name, labels }: ContainerSpec, onRemoved: () => void) {
    this.id = name;
    this.labels = labels;
    this.#onRemoved = onRemoved;
  }

  attach = async (): Promise<Process> => new SimulatedProcess().process();
  start = async (): Promise<void> => undefined;
  exec = async (): Promise<Process> => {
    const process = new SimulatedProcess();
    this.#processes.add(process);
    return process.process();
  };
  connect = (): Promise<never> => Promise.reject(new Error("A simulated container has no ports."));
  inspect = async (): Promise<ContainerState> => ({
    running: !this.#removed.signal.aborted,
    exitCode: null,
    oomKilled: false,
  });
  isAlive = async (): Promise<boolean> => !this.#removed.signal.aborted;
  stats = async () => ({ ...unknownStats, memoryBytes: mebibyte, memoryPeakBytes: mebibyte, oomKills: 0 });
  writtenBytes = async (): Promise<number> => 0;
  writtenFolder = async (): Promise<null> => null;
  wait = async (): Promise<ContainerState> => {
    if (!this.#removed.signal.aborted) await once(this.#removed.signal, "abort");
    return this.inspect();
  };
  stop = (): Promise<void> => this.remove();
  kill = (): Promise<void> => this.remove();
  commit = (): Promise<never> => Promise.reject(new Error("A simulated container has no files."));
  remove = async (): Promise<void> => {
    this.#removed.abort();
    for (const process of this.#processes) process.end(137);
    this.#onRemoved();
  };
}

/** An engine that does nothing at all, so that only Glovebox's own work is measured. */
function createMemoryEngine(): Engine {
  const containers = new Map<string, SimulatedContainer>();
  const close = async (): Promise<void> => containers.clear();
  return {
    name: memoryEngine,
    images: {
      has: async () => true,
      identity: async (reference) => `memory:${reference}`,
      pull: async () => undefined,
      build: async () => undefined,
      labels: async () => ({}),
      remove: async () => undefined,
      list: async () => [],
    },
    probe: async () => ({ available: true, version: "1", capabilities }),
    capabilities: async () => capabilities,
    create: async (spec) => {
      const container = new SimulatedContainer(spec, () => void containers.delete(spec.name));
      containers.set(spec.name, container);
      return container;
    },
    list: async (wanted) =>
      [...containers.values()]
        .filter(({ labels }) => Object.entries(wanted).every(([label, value]) => labels[label] === value))
        .map(({ id, labels, createdAtMs, remove }) => ({ id, name: id, labels, running: true, createdAtMs, remove })),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Its name among the engines of this process once it is registered. */
export const memoryEngine = "memory";

/** Registers it, so that a Glovebox that is opened later in this process offers it. */
export function registerMemoryEngine(): void {
  const rows = engineTable as EngineRow[];
  if (rows.some(({ name }) => name === memoryEngine)) return;
  rows.push({ name: memoryEngine, embedded: false, open: async () => createMemoryEngine() });
}
