import { untilCancelled } from "../../base/abort.ts";
import type { PullProgress } from "../../engines/engine.ts";

/** What a build of an image reports. */
export interface BuildListener {
  readonly onPull: (image: string, progress: PullProgress) => void;
  readonly onBuild: (image: string, line: string) => void;
}

/** A build in progress, and who follows it. */
interface Build {
  readonly done: Promise<void>;
  readonly listeners: Set<BuildListener>;
}

/** Builds that many may request at once: each is done once, and reports to all who wait for it. */
export class SharedBuilds<Key> {
  readonly #builds = new Map<Key, Build>();

  /**
   * Starts the build with that key, or joins the one in progress. A caller that gives up leaves it to the others.
   * @throws what the build throws; CANCELLED
   */
  async join(
    key: Key,
    start: (listener: BuildListener) => Promise<void>,
    { listener, signal }: { readonly listener: BuildListener; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    let build = this.#builds.get(key);
    if (build === undefined) {
      const listeners = new Set<BuildListener>();
      const everyone: BuildListener = {
        onPull: (...told) => listeners.forEach(({ onPull }) => onPull(...told)),
        onBuild: (...told) => listeners.forEach(({ onBuild }) => onBuild(...told)),
      };
      build = { listeners, done: start(everyone).finally(() => this.#builds.delete(key)) };
      this.#builds.set(key, build);
    }
    build.listeners.add(listener);
    try {
      await untilCancelled(build.done, signal);
    } finally {
      build.listeners.delete(listener);
    }
  }
}
