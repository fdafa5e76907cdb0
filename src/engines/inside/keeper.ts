import { untilCancelled } from "../../base/abort.ts";
import type { ContainerStats } from "../container-stats.ts";
import type { CallOptions, Process } from "../engine.ts";

/** How long the keeper may take to answer: it needs 2 ms on an idle machine, and at its start as long as a shell. */
const answerMs = { first: 30_000, later: 2_000 };

/** What the keeper tells. */
export interface KeeperAnswer {
  readonly stats: ContainerStats;
  /** Number of its own process. */
  readonly number: number | null;
  /** Live processes of the user that was asked about; null when none was. */
  readonly processes: number | null;
}

export interface KeeperQuestion extends CallOptions {
  /** User number whose processes are to be counted. */
  readonly uid?: string | undefined;
}

/** The standard streams of the keeper; `close` ends it, and with it the container. */
export interface KeeperStream extends Pick<Process, "stdin" | "output"> {
  close(): void;
}

/** One answer of the keeper. */
const form = /^(\d{1,15}) ((?:(?:\d{1,20}|-) ){6})(\d{1,10}) (\d{0,10})$/;
/** Longer than any answer. */
const maxLineChars = 256;
/** What a shell may complain of in a container's life. */
const maxComplaintBytes = 65_536;

/**
 * The stream to the keeper of an idle container (`keeperCommand`). A program that has the keeper's user, as in a project
 * that root owns, can write to that stream too: what is not an answer to a question ends it, and with it the container.
 */
export class Keeper {
  readonly #stream: KeeperStream;
  readonly #waiting = new Map<string, (answer: KeeperAnswer) => void>();
  #asked = 0;
  #answered = 0;
  #text = "";
  /** Resolves when the stream has ended, and with it the keeper, and with that the container. */
  readonly ended: Promise<void>;

  constructor(stream: KeeperStream) {
    this.#stream = stream;
    this.ended = this.#listen();
  }

  /**
   * The container's numbers, and those of the processes of a user number; `gone` when the keeper has ended, `silent` when it does not answer in time.
   * An answer proves that the container was alive after the call.
   */
  async ask({ signal, uid = "" }: KeeperQuestion = {}): Promise<KeeperAnswer | "gone" | "silent"> {
    const request = String(++this.#asked);
    const { promise: late, resolve } = Promise.withResolvers<"silent">();
    const timer = setTimeout(resolve, this.#asked === 1 ? answerMs.first : answerMs.later, "silent" as const);
    const answer = new Promise<KeeperAnswer>((hear) => this.#waiting.set(request, hear));
    const { stdin } = this.#stream;
    if (stdin.writable) stdin.write(`${`${request} ${uid}`.trimEnd()}\n`);
    try {
      return await untilCancelled(Promise.race([answer, late, this.ended.then(() => "gone" as const)]), signal);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(request);
    }
  }

  /** Ends the keeper, and with it the container. */
  close(): void {
    this.#stream.close();
  }

  async #listen(): Promise<void> {
    let complaintBytes = 0;
    try {
      for await (const { stream, bytes } of this.#stream.output) {
        if (stream === "stdout") this.#hear(Buffer.from(bytes).toString("latin1"));
        else if ((complaintBytes += bytes.length) > maxComplaintBytes) throw new RangeError("no keeper");
      }
    } catch {
      // A broken stream, or output that is not a keeper's: either way nothing more of it counts.
    } finally {
      this.#stream.close();
    }
  }

  /** @throws RangeError for anything that a keeper does not write */
  #hear(text: string): void {
    const lines = `${this.#text}${text}`.split("\n");
    this.#text = lines.pop() ?? "";
    if (this.#text.length > maxLineChars) throw new RangeError("no keeper");
    for (const line of lines) {
      this.#answered += 1;
      const [, request = "", counts = "", number, processes] = form.exec(line) ?? [];
      if (request === "" || this.#answered > this.#asked) throw new RangeError("no keeper");
      this.#waiting.get(request)?.({
        stats: statsOf(counts),
        number: count(number),
        processes: count(processes),
      });
    }
  }
}

function statsOf(counts: string): ContainerStats {
  const [used, peak, kills, microseconds, read, written] = counts.split(" ").map(count);
  return {
    memoryBytes: used ?? null,
    memoryPeakBytes: peak ?? null,
    oomKills: kills ?? null,
    cpuTimeMs: microseconds === null || microseconds === undefined ? null : microseconds / 1000,
    diskReadBytes: read ?? null,
    diskWriteBytes: written ?? null,
  };
}

function count(word: string | undefined): number | null {
  return word === undefined || word === "" || word === "-" ? null : Number(word);
}
