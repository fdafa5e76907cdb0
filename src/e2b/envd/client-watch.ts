import { settlesWithin } from "../../base/abort.ts";
import { execInSandboxContract } from "../../operations/live-sandbox-contract.ts";
import type { Platform } from "../../platform/platform.ts";
import type { SandboxTarget } from "../e2b-sandbox.ts";
import { findTool, toolExits } from "./inside-tool.ts";
import { InputQueue } from "./input-queue.ts";
import { ConnectError, toConnectError } from "./connect-error.ts";
import { ChangeReader, type ToldChange, type ToldRecord } from "./change-reader.ts";

/** What a client asks to watch. */
export interface WatchedFolder {
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
    call: Platform["call"],
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

  async #run(call: Platform["call"], { sandbox, sandboxId }: SandboxTarget): Promise<ConnectError | null> {
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

function watchesNoMore(): ConnectError {
  return new ConnectError(
    "not_found",
    "the folder is no longer watched: it is gone, or nothing told its changes in time",
  );
}
