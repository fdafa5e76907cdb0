import { ConnectError } from "./connect-error.ts";

/** One change in a watched folder. */
export interface ToldChange {
  /** E2B's word for it. */
  readonly type: string;
  /** Relative to the folder. */
  readonly name: string;
}

/** What the tool tells, in order. */
export type ToldRecord = ToldChange | "started" | "all told";

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
