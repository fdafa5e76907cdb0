import type { ContainerSummary, Engine, EngineName, OwnerWatch } from "../../engines/engine.ts";
import { labels, managed } from "../../engines/labels.ts";
import type { Leases } from "./leases.ts";
import { isLeftOver, isOwnContainer, type OwnedObject } from "../sandbox-plan.ts";
import type { SandboxRecords } from "./sandbox-records.ts";
import type { DiskScratch } from "../disk-scratch.ts";
import type { WorkArchives } from "../work-archives.ts";
import type { Kit } from "../../base/kit.ts";

export interface ReaperOptions extends Pick<Kit, "logger" | "now"> {
  readonly leases: Leases;
  readonly records: SandboxRecords;
  readonly archives: Pick<WorkArchives, "forgetLeft">;
  readonly diskScratch: Pick<DiskScratch, "forgetLeft">;
  /** The ways to processes that are gone. */
  readonly peerFolder: Pick<WorkArchives, "forgetLeft">;
  /**
   * Sandboxes of this server itself that could not be removed, their engines' names by their ids; taken out when a sweep
   * finds them gone.
   */
  readonly stranded: Map<string, string>;
}

/** How often a living server looks for what dead servers left (SPEC SE5). */
const sweepEveryMs = 60_000;

/** A look that is too early tells nothing. */
const marginMs = 2_000;

/** Removes what servers that are gone, or whose engine was, have left on the engines: once at the start, then each minute. */
export class Reaper {
  readonly #options: ReaperOptions;
  readonly #watched = new Map<Engine, NodeJS.Timeout>();
  readonly #settling = new Set<NodeJS.Timeout>();
  readonly #sweeping = new Set<Promise<unknown>>();

  constructor(options: ReaperOptions) {
    this.#options = options;
  }

  /** Sweeps the engine now, in the background, and from now on each minute; asking again changes nothing. */
  watch(engine: Engine): void {
    if (this.#watched.has(engine)) return;
    const sweep = (): void => {
      const sweeping = this.sweep(engine).catch((error: unknown) => {
        // There is nothing to sweep on an engine that is down; the next minute tries again.
        this.#options.logger.debug({ engine: engine.name, err: error }, "sweep failed");
      });
      this.#sweeping.add(sweeping);
      void sweeping.then(() => this.#sweeping.delete(sweeping));
    };
    this.#watched.set(engine, setInterval(sweep, sweepEveryMs).unref());
    // As soon as it can be known which servers are gone.
    const { settlesMs } = engine.owners ?? {};
    if (settlesMs !== undefined) this.#settling.add(setTimeout(sweep, settlesMs + marginMs).unref());
    sweep();
  }

  /** Removes the engine's leftovers and resolves to the ids of their sandboxes. */
  async sweep(engine: Engine): Promise<readonly string[]> {
    const { stranded } = this.#options;
    if (engine.owners !== undefined) await this.#hold(engine.owners, engine.name);
    // Not those noted meanwhile: the list may be older than their containers.
    const noted = [...stranded.keys()].filter((id) => stranded.get(id) === engine.name);
    const found = (await engine.list(managed)).filter(isOwnContainer);
    const left = await Promise.all(
      found.map(async (summary) => ((await this.#isLeftOver(summary, engine)) ? summary : null)),
    );
    const tried = left.filter((summary) => summary !== null);
    const isGone = await Promise.all(tried.map((summary) => this.#remove(summary)));
    const gone = tried.filter((_, index) => isGone[index]);
    const still = new Set(found.filter((each) => !gone.includes(each)).map((each) => sandboxOf(each)));
    for (const id of noted.filter((each) => !still.has(each))) stranded.delete(id);
    await engine.owners?.forget(new Set(found.filter((each) => !gone.includes(each)).map(ownerOf)));
    await this.#removeImages(engine);
    const forgotten = await this.#forgetRecords(engine);
    await this.#options.archives.forgetLeft();
    await this.#options.diskScratch.forgetLeft();
    await this.#options.peerFolder.forgetLeft();
    await this.#options.leases.forgetLongExpired();
    return [...new Set([...gone.map((each) => sandboxOf(each)), ...forgotten])];
  }

  /** Stops watching and waits for sweeps in progress. */
  async close(): Promise<void> {
    for (const timer of this.#watched.values()) clearInterval(timer);
    for (const timer of this.#settling) clearTimeout(timer);
    await Promise.all(this.#sweeping);
  }

  /** Once more for sandboxes that could not be removed, on the engines that it has watched: by now they may be gone, or go. */
  async sweepStranded(): Promise<void> {
    const names = new Set(this.#options.stranded.values());
    const engines = [...this.#watched.keys()].filter(({ name }) => names.has(name));
    // An engine that does not answer has said so before.
    await Promise.allSettled(engines.map((engine) => this.sweep(engine)));
  }

  /** A server that cannot tell the others that it lives can still sweep. */
  async #hold(owners: OwnerWatch, engine: EngineName): Promise<void> {
    await owners.hold().catch((error: unknown) => {
      this.#options.logger.warn({ engine, err: error }, "the lease on an engine could not be taken");
    });
  }

  async #isLeftOver(object: OwnedObject, engine: Engine): Promise<boolean> {
    if (this.#options.stranded.has(object.labels[labels.sandbox] ?? "")) return true;
    const owner = object.labels[labels.owner] ?? "";
    const here = await this.#options.leases.stateOf(owner);
    // Of a server elsewhere this machine knows nothing.
    const state = here === "unknown" ? ((await engine.owners?.stateOf(owner)) ?? here) : here;
    return isLeftOver(object, state, this.#options.now());
  }

  /** Images that were made for somebody; those that a container still uses are left to the next sweep. */
  async #removeImages(engine: Engine): Promise<void> {
    for (const image of await engine.images.list(managed)) {
      if (!(await this.#isLeftOver(image, engine))) continue;
      const { id } = image;
      try {
        if (await image.remove()) this.#options.logger.warn({ image: id }, "removed an image that a dead server left");
      } catch (error) {
        this.#options.logger.error({ image: id, err: error }, "a left-over image could not be removed");
      }
    }
  }

  /** Sandboxes that ended with their process, by themselves: what is left of them is their record. */
  async #forgetRecords(engine: Engine): Promise<readonly string[]> {
    const { leases, records } = this.#options;
    const left: string[] = [];
    for (const record of await records.list()) {
      if (record.engine !== engine.name || (await leases.stateOf(record.owner)) !== "expired") continue;
      await records.delete(record.id);
      left.push(record.id);
    }
    return left;
  }

  async #remove(summary: ContainerSummary): Promise<boolean> {
    const sandbox = sandboxOf(summary);
    try {
      const { stranded, logger } = this.#options;
      await summary.remove();
      const found = stranded.has(sandbox)
        ? "removed a sandbox whose engine was down when it ended"
        : "removed a sandbox that a dead server left";
      logger.warn({ sandbox }, found);
      return true;
    } catch (error) {
      this.#options.logger.error({ sandbox, err: error }, "a left-over sandbox could not be removed");
      return false;
    }
  }
}

function ownerOf(summary: ContainerSummary): string {
  return summary.labels[labels.owner] ?? "";
}

function sandboxOf(summary: ContainerSummary): string {
  return summary.labels[labels.sandbox] ?? summary.id;
}
