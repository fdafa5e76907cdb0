import { GloveboxError } from "../errors/glovebox-error.ts";
import { isAtLeast, type Isolation } from "../policy/isolation.ts";
import type { CallOptions, Engine, EngineName, EngineProbe } from "./engine.ts";
import { guardEngine } from "./guarded-engine.ts";
import { isolationRefusal } from "./isolation-refusal.ts";
import { probeEngine } from "./probe-engine.ts";

/** What a caller may ask for: one engine, or the first that answers. */
export type EngineChoice = "auto" | EngineName;

/** Engines of the product, also those without an adapter yet. */
export const productEngines: readonly EngineName[] = ["docker", "podman", "apple", "local"];

/** Makes an engine on first use; loading it lazily keeps optional weight out of the start. */
export type EngineLoader = () => Promise<Engine>;

/** Engines of this build by name; a name that is missing has no adapter. */
export type EngineTable = Readonly<Partial<Record<EngineName, EngineLoader>>>;

export interface ChooseOptions extends CallOptions {
  /** Whether `auto` may end at the embedded engine (command line and library) or must not (container mode, SPEC RT2). */
  readonly allowLocal: boolean;
  /** The weakest level at which `auto` takes the embedded engine; container engines are held to it by each run. */
  readonly minIsolation: Isolation;
}

export interface ChosenEngine {
  readonly engine: Engine;
  /** What the caller should know of the choice, such as a fallback; one sentence each. */
  readonly notes: readonly string[];
}

/** Opens engines on demand, each once, and closes them all. */
export class Engines implements AsyncDisposable {
  readonly #table: EngineTable;
  readonly #platform: NodeJS.Platform;
  readonly #opened = new Map<EngineName, Promise<Engine>>();

  constructor(table: EngineTable, platform: NodeJS.Platform) {
    this.#table = table;
    this.#platform = platform;
  }

  /** Names that this build has an adapter for. */
  get names(): readonly EngineName[] {
    return Object.keys(this.#table) as EngineName[];
  }

  /** @throws INVALID_REQUEST for a name without an adapter */
  async get(name: EngineName): Promise<Engine> {
    const load = this.#table[name];
    if (load === undefined) {
      throw new GloveboxError(
        "INVALID_REQUEST",
        `engine: expected one of auto, ${this.names.join(", ")}, got "${name}".`,
        {
          context: { field: "engine", valid: ["auto", ...this.names] },
        },
      );
    }
    let opened = this.#opened.get(name);
    if (opened === undefined) {
      opened = load().then(guardEngine);
      this.#opened.set(name, opened);
    }
    return opened;
  }

  /**
   * The engine that was asked for, known to answer.
   * @throws ENGINE_UNAVAILABLE naming what was tried, why each failed and how to start it
   */
  async choose(choice: EngineChoice, options: ChooseOptions): Promise<ChosenEngine> {
    if (choice !== "auto") {
      const engine = await this.get(choice);
      // A started server keeps its capabilities; asking for them proves the engine once, not at every request.
      await engine.capabilities({ signal: options.signal });
      return { engine, notes: [] };
    }
    const failures: { name: EngineName; probe: Extract<EngineProbe, { available: false }> }[] = [];
    for (const name of this.#order(options.allowLocal)) {
      const engine = await this.get(name);
      const probe = heldTo(options.minIsolation, await probeEngine(engine, options.signal), name);
      if (!probe.available) {
        failures.push({ name, probe });
        continue;
      }
      const notes =
        name === "local" && failures.length > 0
          ? [
              `No container engine answers (${failures.map((failure) => failure.name).join(", ")}): using the embedded sandbox.`,
            ]
          : [];
      return { engine, notes };
    }
    const tried = failures.map(({ name, probe }) => `${name}: ${probe.reason}`).join(" ");
    throw new GloveboxError("ENGINE_UNAVAILABLE", `No engine can be used. ${tried}`, {
      suggestion: failures.map(({ name, probe }) => `${name}: ${probe.howToStart}`).join(" "),
      context: { tried: failures.map((failure) => failure.name) },
    });
  }

  async close(): Promise<void> {
    const engines = await Promise.allSettled(this.#opened.values());
    this.#opened.clear();
    await Promise.all(engines.filter((engine) => engine.status === "fulfilled").map((engine) => engine.value.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #order(allowLocal: boolean): readonly EngineName[] {
    const containers: EngineName[] =
      this.#platform === "darwin" ? ["apple", "docker", "podman"] : ["docker", "podman", "apple"];
    const order = allowLocal ? [...containers, "local" as const] : containers;
    return order.filter((name) => this.#table[name] !== undefined);
  }
}

/** The embedded engine below the level that is demanded counts as one that cannot be used, so that nothing falls back to it. */
function heldTo(minIsolation: Isolation, probe: EngineProbe, engine: EngineName): EngineProbe {
  if (engine !== "local" || !probe.available || isAtLeast(probe.capabilities.isolation, minIsolation)) return probe;
  const { message, suggestion } = isolationRefusal(probe.capabilities, { engine, minIsolation });
  return { available: false, reason: message, howToStart: suggestion };
}
