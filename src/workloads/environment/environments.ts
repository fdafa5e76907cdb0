import type { Logger } from "../../base/logger.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { PlaceRegistry, type PlaceEntry } from "../place/place-registry.ts";
import { nothingChanged, type ToolingReport } from "../run/explain-tooling.ts";
import { Environment } from "./environment.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import type { EnvironmentParts } from "./environment-container.ts";

export interface EnvironmentsOptions {
  /** How long an environment may be idle before it is ended. */
  readonly idleMs: number;
  readonly logger: Logger;
}

/** An environment that may still be starting. */
interface ComingUp {
  readonly giveUp: AbortController;
  readonly environment: Promise<Environment>;
  /** The same once it is up. */
  up: Environment | null;
  /** Whether images were created for it. */
  hasImages: boolean;
}

/** Prepares what an environment is created from. */
type PrepareParts = (signal: AbortSignal) => Promise<Omit<EnvironmentParts, "onActivity" | "principal">>;

/** The environments of this server, each known to its own principal only. */
export class Environments implements AsyncDisposable {
  readonly #places: PlaceRegistry<ComingUp>;

  constructor(options: EnvironmentsOptions) {
    this.#places = new PlaceRegistry({
      ...options,
      noun: "environment",
      end: async ({ giveUp, environment }) => {
        giveUp.abort();
        await (await environment.catch(() => null))?.end();
      },
      mayLeave: ({ hasImages }) => hasImages,
    });
  }

  /**
   * Creates an environment with an id that is reserved immediately; a failure releases the id.
   * @throws ALREADY_EXISTS, CANCELLED, and what `prepare` and `Environment.create` throw
   */
  async create(
    { id, name }: Pick<EnvironmentSpec, "id" | "name">,
    caller: Caller,
    prepare: PrepareParts,
  ): Promise<Environment> {
    const { principal } = caller;
    if (this.#places.find(id, principal) !== undefined) throw alreadyExists(id);
    const giveUp = new AbortController();
    const { promise: environment, resolve, reject } = Promise.withResolvers<Environment>();
    environment.catch(() => {
      // Reported to the caller, and to those that wait for it.
    });
    const entry = this.#places.enter(id, principal, { giveUp, environment, up: null, hasImages: false }, name);
    const signal = AbortSignal.any([giveUp.signal, ...(caller.signal ? [caller.signal] : [])]);
    const onActivity = (isBusy: boolean): void => this.#places.setBusy(entry, isBusy);
    try {
      const prepared: PrepareParts = async (each) => {
        const parts = await prepare(each);
        entry.content.hasImages = parts.ownImages.length > 0;
        return parts;
      };
      const made = await make(prepared, onActivity, { principal, signal });
      onActivity(false);
      entry.content.up = made;
      resolve(made);
      return made;
    } catch (error) {
      reject(error);
      this.#places.leave(entry);
      throw error;
    }
  }

  /** The principal's environment; waits for one that is being created. @throws NOT_FOUND listing the principal's own */
  async find(id: string, principal: string): Promise<Environment> {
    return this.#entry(id, principal).content.environment.catch(() => {
      throw this.#unknown(id, principal);
    });
  }

  /** The principal's environments that are currently up. */
  up(principal: string): readonly Environment[] {
    return this.#places.of(principal).flatMap(({ content }) => content.up ?? []);
  }

  /** The same, including those that are starting, which it waits for, in order of creation. */
  async list(principal: string): Promise<readonly Environment[]> {
    const settled = await Promise.allSettled(this.#places.of(principal).map(({ content }) => content.environment));
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /**
   * Ends what runs in it and removes it; the id can be reused once it is gone. Resolves to what was changed until then
   * of the files run by the project owner's tools, and is in no result. @throws NOT_FOUND
   */
  async destroy(id: string, principal: string): Promise<ToolingReport> {
    const entry = this.#entry(id, principal);
    await this.#places.end(entry);
    return (await entry.content.environment.catch(() => null))?.end() ?? nothingChanged;
  }

  /** Ends all environments of a principal. */
  endAll(principal: string): Promise<void> {
    return this.#places.endAll(principal);
  }

  /** Ids of live ones, and of those whose images may be left behind. */
  get left(): readonly string[] {
    return this.#places.left;
  }

  /** Ends every command and every environment, and accepts no new ones; what remains is in `left`. */
  close(): Promise<void> {
    return this.#places.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #entry(id: string, principal: string): PlaceEntry<ComingUp> {
    const entry = this.#places.meant(id, principal);
    if (entry === undefined) throw this.#unknown(id, principal);
    return entry;
  }

  #unknown(id: string, principal: string): GloveboxError {
    const ids = this.#places.of(principal).flatMap(({ id: known }) => (known === id ? [] : [known]));
    return new GloveboxError("NOT_FOUND", `There is no environment ${JSON.stringify(id.slice(0, 80))}.`, {
      suggestion:
        ids.length === 0
          ? "You have none: make one with create_environment."
          : `Yours are: ${ids.slice(0, 20).join(", ")}${ids.length > 20 ? " and more" : ""}.`,
      context: { env_id: id.slice(0, 80), env_ids: ids },
    });
  }
}

async function make(
  prepare: PrepareParts,
  onActivity: (isBusy: boolean) => void,
  caller: Caller & { readonly signal: AbortSignal },
): Promise<Environment> {
  const parts = await prepare(caller.signal);
  try {
    return await Environment.create({ ...parts, principal: caller.principal, onActivity }, caller);
  } catch (error) {
    await parts.spec.project?.place[Symbol.asyncDispose]();
    for (const image of parts.ownImages.toReversed()) await parts.engine.images.remove(image);
    throw error;
  }
}

function alreadyExists(id: string): GloveboxError {
  return new GloveboxError("ALREADY_EXISTS", `There is an environment ${id} already.`, {
    suggestion: "Use it, destroy it first, or choose another env_id.",
    context: { env_id: id },
  });
}
