import type { Logger } from "../../base/logger.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { Environment } from "./environment.ts";
import type { EnvironmentParts } from "./environment-parts.ts";

export interface EnvironmentsOptions {
  /** How long an environment may do nothing before it is ended. */
  readonly idleMs: number;
  readonly logger: Logger;
}

/** One id in use; its environment may not have come up yet. */
interface Entry {
  readonly principal: string;
  readonly id: string;
  readonly giveUp: AbortController;
  environment: Promise<Environment>;
  idle: NodeJS.Timeout | undefined;
}

/** The environments of this server, each known to its own principal only. */
export class Environments implements AsyncDisposable {
  readonly #options: EnvironmentsOptions;
  /** By principal, then by id. */
  readonly #entries = new Map<string, Map<string, Entry>>();
  /** Ids of those that did not end as they should. */
  readonly #failed = new Set<string>();
  #isClosed = false;

  constructor(options: EnvironmentsOptions) {
    this.#options = options;
  }

  /**
   * Makes an environment under an id that nobody can take meanwhile; a failure gives the id back.
   * @throws ALREADY_EXISTS, CANCELLED, and what `prepare` and `Environment.create` throw
   */
  async create(
    id: string,
    caller: Caller,
    prepare: (signal: AbortSignal) => Promise<Omit<EnvironmentParts, "onActivity" | "principal">>,
  ): Promise<Environment> {
    const entry = this.#enter(id, caller);
    const signal = AbortSignal.any([entry.giveUp.signal, ...(caller.signal ? [caller.signal] : [])]);
    entry.environment = this.#make(entry, prepare, { ...caller, signal });
    try {
      return await entry.environment;
    } catch (error) {
      this.#leave(entry);
      throw error;
    }
  }

  /** The principal's environment; waits for one that is being created. @throws NOT_FOUND listing the principal's own */
  async find(id: string, principal: string): Promise<Environment> {
    return this.#entry(id, principal).environment.catch(() => {
      throw this.#unknown(id, principal);
    });
  }

  /** The principal's environments that are up, in the order of their creation. */
  async list(principal: string): Promise<readonly Environment[]> {
    const entries = [...(this.#entries.get(principal)?.values() ?? [])];
    const settled = await Promise.allSettled(entries.map((entry) => entry.environment));
    return settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  }

  /** Ends what runs in it and removes it; the id is free when it is gone. @throws NOT_FOUND */
  async destroy(id: string, principal: string): Promise<void> {
    await this.#end(this.#entry(id, principal));
  }

  /** Ids of those of which something may be left: live ones, and those that could not be removed. */
  get left(): readonly string[] {
    const live = [...this.#entries.values()].flatMap((own) => [...own.keys()]);
    return [...new Set([...live, ...this.#failed])];
  }

  /** Ends every command and every environment, and lets no new one in; what remains is `left`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const entries = [...this.#entries.values()].flatMap((own) => [...own.values()]);
    await Promise.allSettled(entries.map((entry) => this.#end(entry)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #enter(id: string, { principal }: Caller): Entry {
    if (this.#isClosed) throw new GloveboxError("CANCELLED", "Glovebox is shutting down.");
    const own = this.#entries.get(principal) ?? new Map<string, Entry>();
    if (own.has(id)) throw alreadyExists(id);
    const { promise: environment } = Promise.withResolvers<Environment>();
    const entry: Entry = { principal, id, giveUp: new AbortController(), environment, idle: undefined };
    own.set(id, entry);
    this.#entries.set(principal, own);
    return entry;
  }

  async #make(
    entry: Entry,
    prepare: (signal: AbortSignal) => Promise<Omit<EnvironmentParts, "onActivity" | "principal">>,
    caller: Caller & { readonly signal: AbortSignal },
  ): Promise<Environment> {
    const parts = await prepare(caller.signal);
    const onActivity = (isBusy: boolean): void => this.#watchIdle(entry, isBusy);
    try {
      const environment = await Environment.create({ ...parts, principal: caller.principal, onActivity }, caller);
      this.#watchIdle(entry, false);
      return environment;
    } catch (error) {
      await parts.spec.project?.place[Symbol.asyncDispose]();
      for (const image of parts.ownImages.toReversed()) await parts.engine.images.remove(image);
      throw error;
    }
  }

  async #end(entry: Entry): Promise<void> {
    entry.giveUp.abort();
    clearTimeout(entry.idle);
    const environment = await entry.environment.catch(() => null);
    try {
      await environment?.end();
    } catch (error) {
      this.#failed.add(entry.id);
      throw error;
    } finally {
      this.#leave(entry);
    }
  }

  #watchIdle(entry: Entry, isBusy: boolean): void {
    clearTimeout(entry.idle);
    if (isBusy || entry.giveUp.signal.aborted) return;
    const { idleMs, logger } = this.#options;
    entry.idle = setTimeout(() => {
      logger.info({ environment: entry.id, principal: entry.principal }, "idle environment ended");
      this.#end(entry).catch((error: unknown) => {
        logger.error({ environment: entry.id, err: error }, "idle environment could not be removed");
      });
    }, idleMs).unref();
  }

  #leave(entry: Entry): void {
    const own = this.#entries.get(entry.principal);
    if (own?.get(entry.id) !== entry) return;
    own.delete(entry.id);
    if (own.size === 0) this.#entries.delete(entry.principal);
  }

  #entry(id: string, principal: string): Entry {
    const entry = this.#entries.get(principal)?.get(id);
    if (entry === undefined) throw this.#unknown(id, principal);
    return entry;
  }

  #unknown(id: string, principal: string): GloveboxError {
    const ids = [...(this.#entries.get(principal)?.keys() ?? [])].filter((known) => known !== id);
    return new GloveboxError("NOT_FOUND", `There is no environment ${JSON.stringify(id.slice(0, 80))}.`, {
      suggestion:
        ids.length === 0
          ? "You have none: make one with create_environment."
          : `Yours are: ${ids.slice(0, 20).join(", ")}${ids.length > 20 ? " and more" : ""}.`,
      context: { env_id: id.slice(0, 80), env_ids: ids },
    });
  }
}

function alreadyExists(id: string): GloveboxError {
  return new GloveboxError("ALREADY_EXISTS", `There is an environment ${id} already.`, {
    suggestion: "Use it, destroy it first, or choose another env_id.",
    context: { env_id: id },
  });
}
