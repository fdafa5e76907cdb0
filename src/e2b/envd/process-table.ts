import type { E2bSandbox } from "../e2b-sandbox.ts";
import { ConnectError } from "./connect-error.ts";
import type { E2bProcess } from "./e2b-process.ts";

/** What names a process. */
export interface ProcessSelector {
  readonly pid?: number | undefined;
  readonly tag?: string | undefined;
}

const maxLive = 64;
/** How many of a sandbox are known, with those whose end can still be asked for. */
const maxKnown = 2 * maxLive;
/** How long the end of a process can still be asked for, unless so many ended since that the eldest are forgotten. */
const keptMs = 30_000;

/** The processes that clients started, by their sandbox. */
export class ProcessTable {
  readonly #ofSandbox = new Map<string, Set<E2bProcess>>();

  /** Knows one from its start until a while after its end. */
  add(sandbox: E2bSandbox, program: E2bProcess, ended: Promise<void>): void {
    const processes = this.#of(sandbox);
    const eldest = [...processes].find(({ hasEnded }) => hasEnded);
    if (processes.size >= maxKnown && eldest !== undefined) processes.delete(eldest);
    processes.add(program);
    const forget = (): void => void processes.delete(program);
    void ended.then(() => setTimeout(forget, keptMs).unref());
  }

  /** @throws ConnectError if a sandbox has as many as it may */
  assertRoom(sandbox: E2bSandbox): void {
    if (this.live(sandbox).length < maxLive) return;
    throw new ConnectError("resource_exhausted", `${maxLive} processes of this sandbox are running`);
  }

  live(sandbox: E2bSandbox): readonly E2bProcess[] {
    return [...this.#of(sandbox)].filter((program) => !program.hasEnded);
  }

  /** @throws ConnectError not_found */
  find(sandbox: E2bSandbox, { pid, tag }: ProcessSelector, { ended = false } = {}): E2bProcess {
    const found = [...this.#of(sandbox)].findLast(
      (program) =>
        (ended || !program.hasEnded) && (tag === undefined ? program.pid === pid : program.start.tag === tag),
    );
    if (found !== undefined) return found;
    const named = tag === undefined ? `pid ${pid}` : `tag ${JSON.stringify(tag)}`;
    throw new ConnectError("not_found", `process with ${named} not found`);
  }

  #of({ id, ended }: E2bSandbox): Set<E2bProcess> {
    const known = this.#ofSandbox.get(id);
    if (known !== undefined) return known;
    const processes = new Set<E2bProcess>();
    if (ended.aborted) return processes;
    this.#ofSandbox.set(id, processes);
    ended.addEventListener("abort", () => this.#ofSandbox.delete(id), { once: true });
    return processes;
  }
}
