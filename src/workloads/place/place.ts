import { GloveboxError } from "../../errors/glovebox-error.ts";
import { GivenSecrets } from "../../policy/redaction.ts";
import type { ProcessSpec } from "../program/command-spec.ts";
import { BackgroundProcesses, type BackgroundProcess, type LaunchedProcess } from "./background-processes.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** Calls and background processes of one place at once, those that wait included. */
const maxActive = 256;

/** The kind of place, as named in errors and in the log. */
export type PlaceNoun = "environment" | "session" | "preview";

interface PlaceParts {
  readonly noun: PlaceNoun;
  readonly id: string;
  readonly principal: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called when its first activity begins, and when its last one has ended. */
  readonly onActivity: (isBusy: boolean) => void;
}

/**
 * What persists between calls: one principal's place under an id, with its background processes and the secrets it was
 * given, until its end. Calls and background processes are its activities; without any it is idle.
 */
export class Place {
  readonly id: string;
  readonly principal: string;
  readonly processes: BackgroundProcesses;
  /** All secrets that its programs have been given so far. */
  readonly secrets: GivenSecrets = new GivenSecrets();
  readonly #parts: PlaceParts;
  readonly #ending = new AbortController();
  #active = 0;
  #end: Promise<void> | undefined;

  constructor(parts: PlaceParts) {
    const { noun, now } = parts;
    this.id = parts.id;
    this.principal = parts.principal;
    this.processes = new BackgroundProcesses({ place: noun, now });
    this.#parts = parts;
  }

  get isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Current activities. */
  get activeCount(): number {
    return this.#active;
  }

  /** Aborts when the caller aborts, and when the place ends. */
  signalOf(caller: AbortSignal | undefined): AbortSignal {
    const { signal } = this.#ending;
    return caller === undefined ? signal : AbortSignal.any([caller, signal]);
  }

  /** Does work that counts as an activity. @throws CANCELLED if the place ends, CAPACITY, what the work throws */
  async whileActive<T>(work: () => Promise<T>): Promise<T> {
    this.#begin();
    try {
      return await work();
    } finally {
      this.#finish();
    }
  }

  /** Starts a process, which is an activity until it has ended. @throws CANCELLED, what `BackgroundProcesses.start` throws */
  async startProcess(spec: ProcessSpec, launch: () => Promise<LaunchedProcess>): Promise<BackgroundProcess> {
    this.#begin();
    try {
      return await this.processes.start(spec, async () => {
        const launched = await launch();
        const onEnded = (): void => {
          launched.onEnded?.();
          this.#finish();
        };
        return { ...launched, onEnded };
      });
    } catch (error) {
      this.#finish();
      throw error;
    }
  }

  /**
   * Cancels its activities, ends its background processes and does the final work, once; calling it again waits for the
   * same end. `stopped` settles when the processes have been ended, as far as possible.
   */
  end(last: (stopped: Promise<unknown>) => Promise<void>): Promise<void> {
    this.#end ??= this.#endAll(last);
    return this.#end;
  }

  async #endAll(last: (stopped: Promise<unknown>) => Promise<void>): Promise<void> {
    this.#ending.abort();
    await last(Promise.allSettled(this.processes.running.map((process) => process.stop())));
  }

  #begin(): void {
    const { noun } = this.#parts;
    if (this.isEnding) throw new GloveboxError("CANCELLED", `The ${noun} is being ended.`);
    if (this.#active >= maxActive) {
      throw new GloveboxError("CAPACITY", `${maxActive} calls of this ${noun} have begun and not ended.`, {
        suggestion: `Wait until some of them have ended, or use another ${noun}.`,
        context: { id: this.id, limit: maxActive, retry_after_seconds: 5 },
      });
    }
    this.#active += 1;
    if (this.#active === 1) this.#parts.onActivity(true);
  }

  #finish(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#parts.onActivity(false);
  }
}

/** The current sandbox of a place, with everything that belongs to it. */
export interface PlaceContainer {
  readonly sandbox: Pick<Sandbox, "id" | "state">;
  remove(): Promise<void>;
}

/** The current container of a place: one after another, never two at a time. */
export class CurrentContainer<Container extends PlaceContainer> {
  #opening: Promise<Container> | null = null;
  #live: Container | null = null;

  /** The current one, in whatever state; null: there is none, or it is still starting. */
  get live(): Container | null {
    return this.#live;
  }

  /** The same, waiting for one that is starting. @throws why its start failed */
  get current(): Promise<Container | null> {
    return this.#opening ?? Promise.resolve(null);
  }

  /** Takes one that is being opened. @throws why that failed */
  open(opening: Promise<Container>): Promise<Container> {
    this.#opening = opening;
    this.#live = null;
    opening.then(
      (live) => {
        if (this.#opening === opening) this.#live = live;
      },
      () => {
        // The next caller that needs it gets the error.
      },
    );
    return opening;
  }

  /** A running one: a new one is opened if there is none, or if it could not be opened or was removed. */
  async present(open: () => Promise<Container>): Promise<Container> {
    const asked = this.#opening;
    const live = await asked?.catch(() => null);
    if (live?.sandbox.state === "running") return live;
    if (this.#opening === asked || this.#opening === null) return this.open(open());
    return this.#opening;
  }

  /** Replaces one by a new one, only once however many callers request it; the reason is for `onReplaced`. */
  async replace(gone: Container, open: () => Promise<Container>): Promise<Container> {
    const asked = this.#opening;
    const isPresent = (await asked?.catch(() => null)) === gone;
    if (this.#opening === null || (isPresent && this.#opening === asked)) {
      return this.open(gone.remove().then(open));
    }
    return this.#opening;
  }

  /** Removes it; then there is none. */
  async discard(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    this.#live = null;
    await (await opening?.catch(() => null))?.remove();
  }
}
