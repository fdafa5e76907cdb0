import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Capabilities } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { CallOptions, Container, ContainerSummary, Engine, EngineProbe, ImageStore } from "../engine.ts";
import type { Level, LevelContainer } from "./level.ts";
import type { LocalEngineOptions } from "./local-engine-options.ts";
import { nameTaken } from "./local-errors.ts";
import { checkContainerSpec, parseProcessUser } from "./local-spec.ts";
import { noImages } from "./no-images.ts";
import { openLevel, type OpenLevel } from "./open-level.ts";

/**
 * The embedded engine (SPEC RT5): no daemon and no image, only the host's own system, at the level that is asked for or
 * the best that the host lets it reach. Its containers live in this process: they end with it, and `close` removes them.
 */
export function createLocalEngine(options: LocalEngineOptions, open: OpenLevel = openLevel): Engine {
  return new LocalEngine(options, open);
}

interface Entry extends LevelContainer {
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
}

class LocalEngine implements Engine {
  readonly name = "local";
  readonly images: ImageStore = noImages(async ({ signal }) => (await this.#open(signal)).interpreterPaths);
  readonly #options: LocalEngineOptions;
  readonly #openLevel: OpenLevel;
  readonly #entries = new Map<string, Entry>();
  /** Names of containers that are being created. */
  readonly #reserved = new Set<string>();
  #level: Promise<Level> | undefined;

  constructor(options: LocalEngineOptions, open: OpenLevel) {
    this.#options = options;
    this.#openLevel = open;
  }

  async probe({ signal }: CallOptions = {}): Promise<EngineProbe> {
    try {
      const { version, capabilities, components, setup } = await this.#open(signal);
      return { available: true, version, capabilities, components, setup };
    } catch (error) {
      if (!(error instanceof GloveboxError) || error.errorType !== "ENGINE_UNAVAILABLE") throw error;
      return { available: false, reason: error.message, howToStart: error.suggestion };
    }
  }

  async capabilities({ signal }: CallOptions = {}): Promise<Capabilities> {
    return (await this.#open(signal)).capabilities;
  }

  async create(spec: ContainerSpec, { signal }: CallOptions = {}): Promise<Container> {
    throwIfCancelled(signal);
    checkContainerSpec(spec);
    parseProcessUser(spec.processUser);
    if (this.#entries.has(spec.name) || this.#reserved.has(spec.name)) throw nameTaken(spec.name);
    this.#reserved.add(spec.name);
    try {
      const level = await this.#open(signal);
      const onRemoved = (): void => void this.#entries.delete(spec.name);
      const made = await level.makeContainer(spec, { signal, onRemoved });
      if (signal?.aborted) await made.container.remove();
      throwIfCancelled(signal);
      this.#entries.set(spec.name, { ...made, labels: spec.labels, createdAtMs: this.#options.now() });
      return made.container;
    } finally {
      this.#reserved.delete(spec.name);
    }
  }

  async list(
    labels: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    throwIfCancelled(signal);
    const wanted = Object.entries(labels);
    return [...this.#entries]
      .filter(([, entry]) => wanted.every(([label, value]) => entry.labels[label] === value))
      .map(([name, { container, isRunning, labels: own, createdAtMs }]) => ({
        id: container.id,
        name,
        labels: own,
        running: isRunning(),
        createdAtMs,
        remove: (options) => container.remove(options),
      }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ container }) => container.remove()));
    const level = this.#level;
    this.#level = undefined;
    await level?.then(
      (opened) => opened.close?.(),
      () => {
        // It was never opened.
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(signal: AbortSignal | undefined): Promise<Level> {
    throwIfCancelled(signal);
    if (this.#level === undefined) {
      // Shared by all callers, so one caller's cancellation must not end it; a failure is tried again.
      const opening = this.#openLevel(this.#options);
      this.#level = opening;
      opening.catch(() => {
        if (this.#level === opening) this.#level = undefined;
      });
    }
    return untilCancelled(this.#level, signal);
  }
}
