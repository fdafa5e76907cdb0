import { createId } from "../../base/id.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { PlaceRegistry, type PlaceEntry } from "../place/place-registry.ts";
import { loggingFailure } from "../run/conclude-run.ts";
import type { PreviewParts, PreviewStart, PreviewSpec } from "./preview-sandbox.ts";
import { Preview } from "./preview.ts";

/** How long the output of a failed one can still be read. */
const idleMs = 15 * 60_000;
/** Maximum known previews of one principal, including failed ones. */
const maxKnown = 50;

/** The previews of this server, each known to its own principal only. */
export class Previews {
  readonly #parts: PreviewParts;
  readonly #places: PlaceRegistry<Preview>;

  constructor(parts: PreviewParts) {
    this.#parts = parts;
    this.#places = new PlaceRegistry({
      ...parts,
      noun: "preview",
      idleMs,
      end: (preview) => preview.end("cancelled"),
    });
  }

  /**
   * Starts one and waits until it answers or has failed, at most this long; takes ownership of the spec's project.
   * @throws CAPACITY, and what `Preview.open` throws
   */
  async start(spec: PreviewSpec, start: PreviewStart, caller: Caller, waitMs: number): Promise<Preview> {
    const { principal } = caller;
    const id = createId("sbx");
    const preview: Preview = new Preview(
      {
        ...{ id, principal },
        onActivity: (isBusy) => this.#places.setBusy(entry, isBusy),
        onTimeOver: () => void this.#timeOver(preview),
      },
      spec,
      this.#parts,
    );
    let entry: PlaceEntry<Preview>;
    try {
      this.#assertRoom(principal);
      entry = this.#places.enter(id, principal, preview, spec.name);
    } catch (error) {
      await spec.project[Symbol.asyncDispose]();
      throw error;
    }
    try {
      await loggingFailure(this.#parts.logger, { principal, sandbox: id }, () => preview.open(start, caller));
    } catch (error) {
      await this.#places.end(entry);
      throw error;
    }
    await preview.untilSettled(waitMs, caller.signal);
    return preview;
  }

  /** @throws NOT_FOUND listing the principal's own */
  find(id: string, principal: string): Preview {
    const preview = this.#places.meant(id, principal)?.content;
    if (preview !== undefined && !preview.isEnding) return preview;
    const own = this.#places.of(principal).map(({ id: known }) => known);
    throw new GloveboxError("NOT_FOUND", `There is no preview ${JSON.stringify(id.slice(0, 80))}.`, {
      suggestion:
        own.length === 0
          ? "Start one with start_preview. A preview ends by stop_preview, at its time limit and with its server."
          : `Yours are: ${own.slice(0, 20).join(", ")}. A preview ends by stop_preview, at its time limit and with its server.`,
      context: { id: id.slice(0, 80), preview_ids: own },
    });
  }

  /** Ends one, and resolves when it is gone. @throws NOT_FOUND */
  async stop(id: string, principal: string): Promise<Preview> {
    const preview = this.find(id, principal);
    const entry = this.#places.find(preview.id, principal);
    if (entry !== undefined) await this.#places.end(entry);
    return preview;
  }

  /** Ends all previews of a principal. */
  endAll(principal: string): Promise<void> {
    return this.#places.endAll(principal);
  }

  /** Ends every preview, and accepts no new ones. */
  close(): Promise<void> {
    return this.#places.close();
  }

  async #timeOver(preview: Preview): Promise<void> {
    const { id, principal } = preview;
    const { logger } = this.#parts;
    logger.info({ preview: id, principal }, "the time of a preview is over");
    try {
      const ended = preview.end("timed_out");
      const entry = this.#places.find(id, principal);
      await (entry === undefined ? ended : this.#places.end(entry));
    } catch (error) {
      logger.error({ preview: id, principal, err: error }, "a preview whose time is over could not be removed");
    }
  }

  #assertRoom(principal: string): void {
    const own = this.#places.of(principal);
    if (own.length < maxKnown) return;
    throw new GloveboxError("CAPACITY", `${maxKnown} previews are known already, failed ones included.`, {
      suggestion: "End some with stop_preview.",
      context: { limit: maxKnown, preview_ids: own.map(({ id }) => id) },
    });
  }
}
