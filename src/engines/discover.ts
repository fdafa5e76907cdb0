import { GloveboxError } from "../errors/glovebox-error.ts";
import { engineCaveats } from "../policy/engine-caveats.ts";
import { isAtLeast, type Isolation } from "../policy/isolation.ts";
import type { EngineSurroundings } from "./engine-surroundings.ts";
import { autoOrder, type EngineRow } from "./engine-table.ts";
import type { CallOptions, Engine, EngineName, EngineProbe } from "./engine.ts";
import { guardEngine } from "./guarded-engine.ts";
import { isolationRefusal, withoutWalls } from "./assert-enforceable.ts";
import { probeEngine } from "./unavailability.ts";

/** What a caller may ask for: one engine by its name, or with `auto` the first that answers. */
export type EngineChoice = EngineName;

export interface ChooseOptions extends CallOptions {
  /** Whether `auto` may end at the embedded engine (command line and library) or must not (container mode, SPEC RT2). */
  readonly allowEmbedded: boolean;
  /** The weakest level at which `auto` takes the embedded engine; container engines are held to it by each run. */
  readonly minIsolation: Isolation;
}

export interface ChosenEngine {
  readonly engine: Engine;
  /** What the caller should know about the choice, such as a fallback; one sentence each. */
  readonly notes: readonly string[];
}

/** Opens engines on demand, each once, and closes them all. */
export class Engines implements AsyncDisposable {
  /** Those for which this version has an adapter. */
  readonly #rows: readonly EngineRow[];
  readonly #surroundings: EngineSurroundings;
  readonly #opened = new Map<EngineName, Promise<Engine>>();

  constructor(table: readonly EngineRow[], surroundings: EngineSurroundings) {
    this.#rows = table.filter(({ open }) => open !== undefined);
    this.#surroundings = surroundings;
  }

  /** Names for which this version has an adapter. */
  get names(): readonly EngineName[] {
    return this.#rows.map(({ name }) => name);
  }

  /** The engine that needs nothing installed; undefined where there is none. */
  get embedded(): EngineName | undefined {
    return this.#rows.find(({ embedded }) => embedded)?.name;
  }

  /** @throws INVALID_REQUEST for a name without an adapter */
  async get(name: EngineName): Promise<Engine> {
    const open = this.#rows.find((row) => row.name === name)?.open;
    if (open === undefined) {
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
      opened = open(this.#surroundings).then((engine) => guardEngine(engine, this.#surroundings));
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
      // A running server keeps its capabilities; asking for them tests the engine once, not at every request.
      await engine.capabilities({ signal: options.signal }).catch(async (error: unknown) => {
        throw await this.#withEmbedded(error, options);
      });
      return { engine, notes: [] };
    }
    const failures: Failure[] = [];
    const { platform } = this.#surroundings;
    for (const { name, embedded, firstOn } of autoOrder(this.#rows, {
      platform,
      allowEmbedded: options.allowEmbedded,
    })) {
      const engine = await this.get(name);
      const answer = await probeEngine(engine, options.signal);
      // An engine below the demanded level counts as unusable, so that nothing falls back to it.
      const probe = embedded ? heldTo(options.minIsolation, answer, name) : answer;
      if (!probe.available) {
        // What belongs to another system, and is not here, is no advice.
        const isForeign = firstOn !== undefined && firstOn !== platform && probe.isAbsent === true;
        if (!isForeign) failures.push({ name, embedded, probe });
        continue;
      }
      const notes =
        embedded && failures.length > 0 ? [engineCaveats.fallback(failures.map((failure) => failure.name))] : [];
      return { engine, notes };
    }
    throw noEngine(failures, platform);
  }

  /** The refusal of an engine that does not answer, with the embedded one as a way out where that can be used. */
  async #withEmbedded(error: unknown, { allowEmbedded, minIsolation, signal }: ChooseOptions): Promise<unknown> {
    const { embedded } = this;
    const isDown = error instanceof GloveboxError && error.errorType === "ENGINE_UNAVAILABLE";
    if (!isDown || !allowEmbedded || embedded === undefined || signal?.aborted === true) return error;
    const probe = heldTo(minIsolation, await probeEngine(await this.get(embedded), signal), embedded);
    if (!probe.available) return error;
    const { errorType, message, suggestion, context } = error;
    return new GloveboxError(errorType, message, {
      suggestion: `${suggestion} Or use engine: "${embedded}", which needs no service and has no images.`,
      context,
      cause: error,
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
}

/** An engine that was tried and cannot be used. */
interface Failure {
  readonly name: EngineName;
  readonly embedded: boolean;
  readonly probe: HeldProbe & { readonly available: false };
}

/** A probe; where only the demanded level makes an engine unusable, with what accepts less. */
type HeldProbe = EngineProbe & { readonly lastResort?: string | undefined };

/** On Linux the engine that takes least comes first, and with it the line to type. */
function noEngine(failures: readonly Failure[], platform: NodeJS.Platform): GloveboxError {
  const isEasy = ({ embedded }: Failure): boolean => embedded && platform === "linux";
  const sorted = [...failures.filter(isEasy), ...failures.filter((failure) => !isEasy(failure))];
  const tried = sorted.map(({ name, probe }) => `${name}: ${probe.reason}`).join(" ");
  return new GloveboxError("ENGINE_UNAVAILABLE", `No engine can be used. ${tried}`, {
    suggestion: [
      ...sorted.map((failure) => (isEasy(failure) ? "" : `${failure.name}: `) + failure.probe.howToStart),
      ...sorted.flatMap(({ probe }) => probe.lastResort ?? []),
    ].join(" "),
    context: { tried: failures.map(({ name }) => name) },
  });
}

function heldTo(minIsolation: Isolation, probe: EngineProbe, engine: EngineName): HeldProbe {
  if (!probe.available || isAtLeast(probe.capabilities.isolation, minIsolation)) return probe;
  const { isolation, isolationAdvice } = probe.capabilities;
  const { message, suggestion } = isolationRefusal(probe.capabilities, { engine, minIsolation });
  if (isolationAdvice === undefined) return { available: false, reason: message, howToStart: suggestion };
  const lastResort = isolation === "preload" ? withoutWalls : undefined;
  return { available: false, reason: message, howToStart: isolationAdvice, lastResort };
}
