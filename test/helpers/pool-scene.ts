import type { Container, Engine, Process, ProcessExit } from "../../src/engines/engine.ts";
import { Admission } from "../../src/sandbox/admission.ts";
import { WarmPool, type WarmPoolBounds } from "../../src/sandbox/warm-pool.ts";
import type { WarmKind, WarmSandbox } from "../../src/sandbox/warm-sandbox.ts";
import { Sandboxes, type SandboxesOptions } from "../../src/sandbox/sandboxes.ts";

const quiet = (): undefined => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const limits = { cpus: 1, memoryBytes: 1, pids: 1 };
const bounds = { min: 0, max: 3, idleMs: 300_000, maxAgeMs: 1_800_000, minFreeBytes: 100 };

/** An engine in memory, and a pool on top of it. */
export function poolScene(changes: Partial<WarmPoolBounds> = {}, maxSandboxes = 10) {
  const there = new Map<string, { readonly end: (exit: ProcessExit) => void }>();
  const state = {
    image: "image:1",
    isDown: false,
    isFrozen: false,
    /** Whether it does not say what its images are. */
    isMute: false,
    checked: 0,
    freeBytes: 1_000,
    held: 0,
    started: 0,
    ready: Promise.resolve(),
  };
  const containerOf = (name: string): Container =>
    ({
      id: name,
      start: () => Promise.resolve(),
      isAlive: () => {
        state.checked += 1;
        return state.isFrozen ? Promise.reject(new Error("no answer")) : Promise.resolve(true);
      },
      remove: () => Promise.resolve(void there.delete(name)),
    }) as unknown as Container;
  const engine = {
    name: "docker",
    capabilities: () => Promise.resolve({}),
    images: { identity: () => (state.isMute ? new Promise(() => undefined) : Promise.resolve(state.image)) },
    create: async ({ name }: { readonly name: string }) => {
      if (state.isDown) throw new Error("no engine");
      await state.ready;
      state.started += 1;
      there.set(name, { end: () => undefined });
      return containerOf(name);
    },
  } as unknown as Engine;
  const admission = new Admission({ maxSandboxes, queueLimit: 10, queueTimeoutMs: 60_000 });
  const sandboxes = new Sandboxes({
    admission,
    leases: { hold: () => Promise.resolve() } as SandboxesOptions["leases"],
    records: {
      add: () => Promise.resolve(),
      delete: () => Promise.resolve(),
    } as unknown as SandboxesOptions["records"],
    peerServer: { open: () => Promise.resolve("address") },
    platform: "linux",
    owner: "own-this",
    logger,
    now: () => Date.now(),
  });
  const pool = new WarmPool({
    bounds: { ...bounds, ...changes },
    ...{ sandboxes, admission, logger },
    processors: 2,
    availableMemoryBytes: () => state.freeBytes,
    now: () => Date.now(),
    monotonicMs: () => Date.now(),
  });
  const kindOf = (key: string, worthFrom = 1): WarmKind => ({
    ...{ key, engine, worthFrom },
    plan: { kind: "execute", lifetimeMs: 1_000, image: key, limits, scratch: [] },
    prepare: (sandbox) => {
      const { promise: exit, resolve: end } = Promise.withResolvers<ProcessExit>();
      there.set(`glovebox-${sandbox.id}`, { end });
      return Promise.resolve({ exit } as unknown as Process);
    },
    hold: () => {
      state.held += 1;
      return Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve(void (state.held -= 1)) });
    },
  });
  const take = (key = "python", worthFrom = 1): Promise<WarmSandbox | null> =>
    pool.take(kindOf(key, worthFrom), { principal: "ann", identity: {} });
  /** A run, which holds a place for as long as it takes. */
  const run = async (key?: string): Promise<{ readonly isWarm: boolean; end(): Promise<void> }> => {
    const warm = await take(key);
    if (warm !== null) return { isWarm: true, end: () => warm.sandbox.remove() };
    const cold = await sandboxes.open(engine, kindOf(key ?? "python").plan, { principal: "ann" });
    return { isWarm: false, end: () => cold.remove() };
  };
  return { pool, sandboxes, admission, there, state, take, run };
}
