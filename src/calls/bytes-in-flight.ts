import { formatBytes, kibibyte, mebibyte } from "../base/bytes.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

/** Bytes and messages of one principal at once: four bodies of the largest size. */
const share = { bytes: 64 * mebibyte, messages: 1024 } as const;
/** Of all callers without a key or token together, who only get refusals and the pages that are open to everyone. */
const shareOfUnknown = { bytes: 8 * mebibyte, messages: 256 } as const;
/**
 * Bytes of all together: parsed and copied, they take a few times as much memory. Nobody has more than half of what is left, so
 * that a few which use up their shares leave room for another.
 */
const maxTotalBytes = 256 * mebibyte;
/** What every message takes, however short it is. */
const minBytes = 4 * kibibyte;

interface Holding {
  bytes: number;
  messages: number;
}

/** Bytes that one message holds until it is done with. */
export interface HeldBytes {
  /** Holds this many from now on. @throws CAPACITY, and then holds what it did before */
  set(bytes: number): void;
  /** Gives all of them back; harmless when repeated. */
  release(): void;
}

/**
 * What is on its way between callers and this server: requests until they are answered, and answers until their readers
 * have taken them. Each principal has a share, so that whoever sends without end or reads nothing is refused alone; a
 * message that is larger than the share counts as the whole of it.
 */
export class BytesInFlight {
  readonly #holdings = new Map<string | null, Holding>();
  #totalBytes = 0;

  /** Begins one message of the principal; null: of a caller without one. @throws CAPACITY naming the budget */
  hold(principal: string | null, bytes = 0): HeldBytes {
    const max = principal === null ? shareOfUnknown : share;
    const holding = this.#holdings.get(principal) ?? { bytes: 0, messages: 0 };
    if (holding.messages >= max.messages) {
      throw full(`${max.messages} of your requests and answers`, { in_flight_messages: max.messages });
    }
    let own = 0;
    const set = (wanted: number): void => {
      const more = Math.min(Math.max(wanted, minBytes), max.bytes) - own;
      if (more > 0 && holding.bytes + more > max.bytes) {
        throw full(`${formatBytes(holding.bytes)} of your requests and answers`, { in_flight_bytes: max.bytes });
      }
      if (more > 0 && holding.bytes + more > (maxTotalBytes - this.#totalBytes) / 2) {
        throw full(`${formatBytes(this.#totalBytes)} of all callers'`, { in_flight_bytes_of_all: maxTotalBytes });
      }
      own += more;
      holding.bytes += more;
      this.#totalBytes += more;
    };
    set(bytes);
    holding.messages += 1;
    this.#holdings.set(principal, holding);
    let isReleased = false;
    return {
      set: (wanted) => {
        if (!isReleased) set(wanted);
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        holding.messages -= 1;
        holding.bytes -= own;
        this.#totalBytes -= own;
        if (holding.messages === 0) this.#holdings.delete(principal);
      },
    };
  }

  /** What a principal holds now. */
  of(principal: string | null): { readonly bytes: number; readonly messages: number } {
    return { ...(this.#holdings.get(principal) ?? { bytes: 0, messages: 0 }) };
  }
}

function full(what: string, limit: Readonly<Record<string, number>>): GloveboxError {
  return new GloveboxError("CAPACITY", `${what} are on their way already, which is as much as may be at once.`, {
    suggestion: "Read the answers that wait for you, let uploads end or end them, and retry.",
    context: { ...limit, retry_after_seconds: 5 },
  });
}
