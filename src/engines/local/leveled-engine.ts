import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import type { Capabilities } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { CallOptions, Container, ContainerSummary, Engine, EngineProbe, ImageStore } from "../engine.ts";
import { onlyTheHost } from "./only-the-host.ts";

/** The embedded engine at each of its levels. */
export interface EngineLevels {
  readonly namespaces: Engine;
  /** Given why it cannot be `namespaces` and what would make it so, in one sentence each. */
  readonly preload: (reason: string, fix: string) => Engine;
}

/** The embedded engine at the best level that this host lets it reach, found out once. */
export function createLeveledEngine(levels: EngineLevels): Engine {
  return new LeveledEngine(levels);
}

class LeveledEngine implements Engine {
  readonly name = "local";
  readonly images: ImageStore;
  readonly #levels: EngineLevels;
  #chosen: Promise<Engine> | undefined;

  constructor(levels: EngineLevels) {
    this.#levels = levels;
    this.images = {
      ...onlyTheHost(async () => []),
      identity: async (reference, options = {}) =>
        (await this.#choose(options.signal)).images.identity(reference, options),
    };
  }

  async probe(options: CallOptions = {}): Promise<EngineProbe> {
    const engine = await this.#choose(options.signal);
    return engine.probe(options);
  }

  async capabilities(options: CallOptions = {}): Promise<Capabilities> {
    const engine = await this.#choose(options.signal);
    return engine.capabilities(options);
  }

  async create(spec: ContainerSpec, options: CallOptions = {}): Promise<Container> {
    const engine = await this.#choose(options.signal);
    return engine.create(spec, options);
  }

  async list(
    labels: Readonly<Record<string, string>>,
    options: CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    const engine = await this.#choose(options.signal);
    return engine.list(labels, options);
  }

  async close(): Promise<void> {
    const chosen = await this.#chosen?.catch(() => undefined);
    if (chosen !== this.#levels.namespaces) await chosen?.close();
    await this.#levels.namespaces.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #choose(signal: AbortSignal | undefined): Promise<Engine> {
    throwIfCancelled(signal);
    if (this.#chosen === undefined) {
      // Shared by all callers, so one caller's cancellation must not end it; a failure is tried again.
      const choosing = this.#find();
      this.#chosen = choosing;
      choosing.catch(() => {
        if (this.#chosen === choosing) this.#chosen = undefined;
      });
    }
    return untilCancelled(this.#chosen, signal);
  }

  /** When no level can be had, it is the better one that tells what is missing. */
  async #find(): Promise<Engine> {
    const { namespaces, preload } = this.#levels;
    const probe = await namespaces.probe();
    if (probe.available) return namespaces;
    const weaker = preload(probe.reason, probe.howToStart);
    const { available } = await weaker.probe();
    if (available) return weaker;
    await weaker.close();
    return namespaces;
  }
}
