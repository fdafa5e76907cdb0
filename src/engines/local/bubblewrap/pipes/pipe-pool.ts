import type { BaseNamespace } from "../namespaces/base-namespace.ts";
import type { HostTools } from "../namespaces/host-tools.ts";
import { enterArguments } from "../arguments/launch-arguments.ts";
import { setupEnd, withSetupProcess } from "../namespaces/setup-process.ts";
import { closePipeSet, makePipes, openPipes, type PipeSet } from "./pipe-sets.ts";

/** When fewer than this are left, more are made at the end of a program. */
const minReady = 8;

/**
 * $1 the base. Each batch stands in a file system of its own, which goes with the last of its pipes:
 * descriptors that a program keeps take no room from other programs.
 */
const script = `
set -e
${makePipes('"$1/pipes"')}
${setupEnd}`;

/**
 * Pipes for programs' standard streams, made ahead in batches. Node by itself would give programs sockets, which
 * /dev/stdout cannot be opened on.
 *
 * Each set serves one program and is dropped: a program can pass its descriptors on, and nothing tells whether one is
 * still held. No name leads to a pipe either, because the namespace in which it had one ends with the batch's making; the
 * first batch, which the base brings, has been unmounted there.
 */
export class PipePool {
  readonly #base: BaseNamespace;
  readonly #tools: Pick<HostTools, "nsenter" | "unshare">;
  readonly #ready: PipeSet[];
  #filling: Promise<void> | undefined;
  #closed = false;

  constructor(base: BaseNamespace, tools: Pick<HostTools, "nsenter" | "unshare">) {
    this.#base = base;
    this.#tools = tools;
    this.#ready = [...base.pipes];
  }

  /**
   * A set that now belongs to the caller, who closes it.
   * @throws Error with the tools' words when no pipe can be made
   */
  async take(): Promise<PipeSet> {
    for (;;) {
      const set = this.#ready.pop();
      if (set !== undefined) return set;
      await this.#fill();
    }
  }

  /** Makes more in the background when few are left; called when a program has ended and no run is waiting. */
  replenish(): void {
    if (this.#closed || this.#ready.length >= minReady) return;
    this.#fill().catch(() => {
      // The next caller that finds none makes them, and is told if that fails.
    });
  }

  close(): void {
    this.#closed = true;
    this.#ready.splice(0).forEach(closePipeSet);
  }

  /** Makes a batch; callers at the same time share it. */
  #fill(): Promise<void> {
    this.#filling ??= this.#makeBatch().finally(() => (this.#filling = undefined));
    return this.#filling;
  }

  async #makeBatch(): Promise<void> {
    const { folder, mountDescriptor, userDescriptor } = this.#base;
    const args = [
      ...enterArguments(userDescriptor !== null),
      ...[this.#tools.unshare, "--mount", "--propagation", "unchanged", "--"],
      ...["/bin/sh", "-c", script, "sh", folder],
    ];
    const descriptors = [mountDescriptor, userDescriptor ?? mountDescriptor];
    const made = await withSetupProcess({ file: this.#tools.nsenter, args, descriptors }, (processId) =>
      openPipes(`/proc/${processId}/root${folder}/pipes`),
    );
    if (this.#closed) made.forEach(closePipeSet);
    else this.#ready.push(...made);
  }
}

/** A path that opens what the descriptor names. */
export function reopenPath(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}
