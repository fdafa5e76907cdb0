import { ConnectError, toConnectError } from "../refusal.ts";
import { settlesWithin } from "../../base/abort.ts";
import { execInSandboxContract } from "../../operations/live-sandbox-contract.ts";
import type { CallOperation } from "../../operations/contract/operation-contract.ts";
import type { SandboxTarget, E2bSandbox } from "../e2b-sandbox.ts";
import { findTool, toolExits } from "./file-entries.ts";
import { InputQueue } from "./input-queue.ts";
import { createId } from "../../base/id.ts";

/** One change in a watched folder. */
export interface ToldChange {
  /** E2B's word for it. */
  readonly type: string;
  /** Relative to the folder. */
  readonly name: string;
}

/** What the tool tells, in order. */
type ToldRecord = ToldChange | "started" | "all told";

const maxToldBytes = 4097;
const types: Readonly<Record<string, string>> = {
  C: "EVENT_TYPE_CREATE",
  W: "EVENT_TYPE_WRITE",
  D: "EVENT_TYPE_REMOVE",
  N: "EVENT_TYPE_RENAME",
  M: "EVENT_TYPE_CHMOD",
};

/** Reads what the tool that watches prints: a letter, a name, a NUL. Its words are the sandbox's own. */
export class ChangeReader {
  #rest: Buffer = Buffer.alloc(0);

  /** @throws ConnectError for what the tool does not print */
  take(bytes: Uint8Array): readonly ToldRecord[] {
    const text = Buffer.concat([this.#rest, bytes]);
    const news: ToldRecord[] = [];
    let at = 0;
    for (let end = text.indexOf(0); end !== -1; end = text.indexOf(0, at)) {
      news.push(newsOf(text.subarray(at, end)));
      at = end + 1;
    }
    this.#rest = text.subarray(at);
    if (this.#rest.length > maxToldBytes) throw nonsense();
    return news;
  }
}

/** What a client asks to watch. */
interface WatchedFolder {
  /** Absolute. */
  readonly path: string;
  readonly recursive: boolean;
}

const maxPending = 64;
const toldWithinMs = 10_000;

/** A program of the sandbox that tells what changes in a folder, until it is stopped. */
export class ClientWatch {
  /** Resolves with its error when it tells no more; null: the folder is gone, or it was stopped. */
  readonly ended: Promise<ConnectError | null>;
  readonly #folder: WatchedFolder;
  readonly #stop = new AbortController();
  readonly #questions = new InputQueue<Uint8Array>(maxPending);
  readonly #reader = new ChangeReader();
  readonly #started = Promise.withResolvers<void>();
  readonly #asking: (() => void)[] = [];
  readonly #onChanges: (changes: readonly ToldChange[]) => Promise<void> | void;
  #error: ConnectError | null = null;
  #hasEnded = false;

  /** `onChanges` is awaited, so that a slow client slows the telling. */
  constructor(
    call: CallOperation,
    target: SandboxTarget,
    folder: WatchedFolder,
    onChanges: (changes: readonly ToldChange[]) => Promise<void> | void,
  ) {
    this.#folder = folder;
    this.#onChanges = onChanges;
    this.#started.promise.catch(() => undefined);
    this.ended = this.#run(call, target);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves when every later change will be told. @throws ConnectError */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Resolves when all that happened before has been told. @throws ConnectError if that takes too long, or it has ended */
  async tellAll(): Promise<void> {
    if (this.#hasEnded) throw this.#error ?? watchesNoMore();
    const told = new Promise<void>((resolve) => this.#asking.push(resolve));
    this.#questions.push(Buffer.from("?"));
    const first = await Promise.race([told.then(() => "told" as const), settlesWithin(this.ended, toldWithinMs)]);
    if (first === "told") return;
    throw this.#error ?? watchesNoMore();
  }

  /** Ends it; `error`: why, for its clients. */
  stop(error: ConnectError | null = null): void {
    this.#error ??= error;
    this.#stop.abort();
  }

  async #run(call: CallOperation, { sandbox, sandboxId }: SandboxTarget): Promise<ConnectError | null> {
    const kind = this.#folder.recursive ? "watch-tree" : "watch";
    const script = `${findTool}; [ -n "$t" ] || exit ${toolExits.noTool}; exec "$t" ${kind} "$1"`;
    const asked = { sandbox_id: sandboxId, command: ["/bin/sh", "-c", script, "sh", this.#folder.path] };
    try {
      const { exit_code: exitCode } = await call(execInSandboxContract, asked, {
        principal: sandbox.caller.principal,
        signal: AbortSignal.any([this.#stop.signal, sandbox.ended]),
        stdin: this.#questions,
        onEvent: (event): Promise<void> | void => {
          if (event.type === "output" && event.stream === "stdout") return this.#take(event.bytes);
        },
      });
      this.#error ??= this.#errorOf(exitCode);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#error ??= toConnectError(error);
    }
    this.#hasEnded = true;
    this.#questions.close();
    this.#started.reject(this.#error ?? watchesNoMore());
    return this.#error;
  }

  async #take(bytes: Uint8Array): Promise<void> {
    let news: readonly ToldRecord[];
    try {
      news = this.#reader.take(bytes);
    } catch (error) {
      this.stop(toConnectError(error));
      return;
    }
    let changes: ToldChange[] = [];
    for (const each of [...news, null]) {
      if (each !== null && typeof each === "object") {
        changes.push(each);
        continue;
      }
      if (changes.length > 0) await this.#onChanges(changes);
      changes = [];
      if (each === "started") this.#started.resolve();
      if (each === "all told") this.#asking.shift()?.();
    }
  }

  #errorOf(exitCode: number): ConnectError | null {
    const { path } = this.#folder;
    switch (exitCode) {
      case 0:
        return null;
      case toolExits.missing:
        return new ConnectError("not_found", `path '${path}' does not exist`);
      case toolExits.notFolder:
        return new ConnectError("invalid_argument", `path '${path}' is not a directory`);
      case toolExits.full:
        return new ConnectError("resource_exhausted", `'${path}': at most 1,024 folders in 64 levels are watched`);
      case toolExits.late:
        return new ConnectError("resource_exhausted", `'${path}': more changed than could be told; watch it again`);
      case toolExits.noTool:
        return new ConnectError("unimplemented", "This engine has nothing that watches folders; list them instead.");
      default:
        return new ConnectError("internal", `'${path}' could not be watched (exit code ${exitCode})`);
    }
  }
}

/** A change with the file that it left, in E2B's form. */
export type WatchEvent = Readonly<Record<string, unknown>>;

/** A watch that a client asks from time to time. */
export interface PolledWatch {
  readonly watch: ClientWatch;
  /** What has not been asked for yet. */
  events: WatchEvent[];
}

const maxWatches = 16;

/** The folders that clients watch, by their sandbox. */
export class WatchTable {
  readonly #ofSandbox = new Map<string, { live: number; readonly polled: Map<string, PolledWatch> }>();

  /** @throws ConnectError if a sandbox has as many as it may */
  assertRoom(sandbox: E2bSandbox): void {
    if (this.#of(sandbox).live < maxWatches) return;
    throw new ConnectError("resource_exhausted", `${maxWatches} folders of this sandbox are being watched`);
  }

  /** Counts one until its end. */
  count(sandbox: E2bSandbox, { ended }: Pick<ClientWatch, "ended">): void {
    const of = this.#of(sandbox);
    of.live += 1;
    void ended.then(() => (of.live -= 1));
  }

  /** Knows one until it is removed; the id that finds it in this sandbox only. */
  add(sandbox: E2bSandbox, polled: PolledWatch): string {
    const id = createId("watch");
    const known = this.#of(sandbox).polled;
    known.set(id, polled);
    // Its error can still be asked for, while there are not more of them than there may be live ones.
    const dead = [...known].filter(([, { watch }]) => watch.hasEnded);
    for (const [each] of dead.slice(0, Math.max(0, known.size - maxWatches))) known.delete(each);
    return id;
  }

  /** @throws ConnectError not_found */
  find(sandbox: E2bSandbox, id: string): PolledWatch {
    const found = this.#of(sandbox).polled.get(id);
    if (found !== undefined) return found;
    throw new ConnectError("not_found", `watcher ${JSON.stringify(id.slice(0, 80))} not found`);
  }

  remove(sandbox: E2bSandbox, id: string): void {
    this.find(sandbox, id).watch.stop();
    this.#of(sandbox).polled.delete(id);
  }

  #of({ id, ended }: E2bSandbox): { live: number; readonly polled: Map<string, PolledWatch> } {
    const known = this.#ofSandbox.get(id);
    if (known !== undefined) return known;
    const made = { live: 0, polled: new Map<string, PolledWatch>() };
    if (ended.aborted) return made;
    this.#ofSandbox.set(id, made);
    ended.addEventListener("abort", () => this.#ofSandbox.delete(id), { once: true });
    return made;
  }
}

function newsOf(record: Buffer): ToldRecord {
  if (record.length === 1 && record[0] === 0x53) return "started";
  if (record.length === 1 && record[0] === 0x3d) return "all told";
  const letter = record.toString("latin1", 0, 1);
  const type = Object.hasOwn(types, letter) ? types[letter] : undefined;
  if (type === undefined || record.length < 2 || record.length > maxToldBytes) throw nonsense();
  return { type, name: record.toString("utf8", 1) };
}

function nonsense(): ConnectError {
  return new ConnectError("internal", "what watches the folder said what it never says; watch again");
}

function watchesNoMore(): ConnectError {
  return new ConnectError(
    "not_found",
    "the folder is no longer watched: it is gone, or nothing told its changes in time",
  );
}
