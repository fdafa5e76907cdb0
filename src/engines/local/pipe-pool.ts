import { chmodSync, closeSync, openSync } from "node:fs";
import { openPathOnly, type BaseNamespace } from "./base-namespace.ts";
import type { HostTools } from "./host-tools.ts";
import { enterArguments } from "./launch-arguments.ts";
import { setupEnd, withSetupProcess } from "./setup-process.ts";

/** Descriptors that name three pipes without opening them: stdin, stdout, stderr. */
export interface PipeSet {
  readonly stdin: number;
  readonly stdout: number;
  readonly stderr: number;
}

const setsInABatch = 8;

/** $1 the base, then names. */
const script = `
set -e
cd "$1/pipes"
shift
mkfifo -m 666 -- "$@"
${setupEnd}`;

/**
 * Pipes for programs' standard streams, made ahead in the engine's namespace and used again and again: a pipe holds
 * nothing once nobody has it open. Node by itself would give programs sockets, which /dev/stdout cannot be opened on.
 */
export class PipePool {
  readonly #base: BaseNamespace;
  readonly #tools: Pick<HostTools, "nsenter">;
  readonly #free: PipeSet[] = [];
  #made = 0;
  #filling: Promise<void> | undefined;
  #closed = false;

  constructor(base: BaseNamespace, tools: Pick<HostTools, "nsenter">) {
    this.#base = base;
    this.#tools = tools;
  }

  /** @throws Error with the tools' words when no pipe can be made */
  async take(): Promise<PipeSet> {
    for (;;) {
      const set = this.#free.pop();
      if (set !== undefined) return set;
      await this.fill();
    }
  }

  /** Gives a set back that nobody has open any more. */
  giveBack(set: PipeSet): void {
    if (this.#closed) closeSet(set);
    else this.#free.push(set);
  }

  /** Makes a batch; callers at the same time share it. */
  fill(): Promise<void> {
    this.#filling ??= this.#makeBatch().finally(() => (this.#filling = undefined));
    return this.#filling;
  }

  close(): void {
    this.#closed = true;
    this.#free.splice(0).forEach(closeSet);
  }

  async #makeBatch(): Promise<void> {
    const { folder, mountDescriptor, userDescriptor } = this.#base;
    const names = Array.from({ length: setsInABatch * 3 }, () => String(this.#made++));
    const args = [...enterArguments(userDescriptor !== null), "/bin/sh", "-c", script, "sh", folder, ...names];
    const descriptors = [mountDescriptor, userDescriptor ?? mountDescriptor];
    await withSetupProcess({ file: this.#tools.nsenter, args, descriptors }, (processId) => {
      const open = (name: string | undefined): number =>
        openSync(`/proc/${processId}/root${folder}/pipes/${name}`, openPathOnly);
      for (let at = 0; at < names.length; at += 3) {
        this.giveBack({ stdin: open(names[at]), stdout: open(names[at + 1]), stderr: open(names[at + 2]) });
      }
    });
  }
}

/** A path that opens what the descriptor names. */
export function reopenPath(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

/** Opens up a pipe's mode again, which a program of our own host user may have changed. */
export function resetMode(descriptor: number): void {
  chmodSync(reopenPath(descriptor), 0o666);
}

function closeSet({ stdin, stdout, stderr }: PipeSet): void {
  for (const descriptor of [stdin, stdout, stderr]) closeSync(descriptor);
}
