import { limits, numbers } from "./frames.ts";
import { programUser, type Supervised } from "./supervised.ts";

/** One file operation; what is not given is as harmless as can be. */
export interface Operation {
  readonly verb: string;
  readonly folder: string;
  readonly path?: string | Buffer;
  readonly other?: string | Buffer;
  readonly flags?: readonly ("PARENTS" | "TREE" | "EXCLUSIVE" | "APPEND" | "FOLLOW" | "MODE" | "REPLACE")[];
  readonly mode?: number;
  readonly user?: number;
  readonly offset?: number;
  readonly maxBytes?: number;
  readonly maxEntries?: number;
  readonly deadlineMs?: number;
}

/** How one ended. */
export interface OperationEnd {
  /** `DONE`, `FAILED`, `DEADLINE`, ... */
  readonly reason: string;
  /** Without `STAGE_`; empty: none. */
  readonly stage: string;
  readonly errno: number;
  readonly bytes: number;
  readonly entries: number;
  /** Of READ without the file's record, which `operate` takes off. */
  readonly output: Buffer;
}

/** Begins one and gives its stream. */
export function beginOperation(subject: Supervised, operation: Operation): number {
  const { verb, folder, path = "", other = "", flags = [], user = programUser, ...rest } = operation;
  const strings = [folder, path, other].map((text) => Buffer.from(text));
  return subject.begin(
    "FILE",
    {
      ...{ verb: numbers[`FILE_${verb}`]!, flags: flags.reduce((sum, flag) => sum + numbers[`WITH_${flag}`]!, 0) },
      ...{ folderBytes: strings[0]!.length, pathBytes: strings[1]!.length, otherBytes: strings[2]!.length },
      ...{ user, group: user, mode: 0o644, deadlineMs: 20_000, maxEntries: 10_000, maxBytes: 2 ** 30, ...rest },
    },
    Buffer.concat(strings),
  );
}

/** Sends INPUT as the windows allow, until all is sent or the stream has ended. */
export async function sendInput(subject: Supervised, stream: number, bytes: Uint8Array): Promise<void> {
  const record = subject.record(stream);
  const hasEnded = (): boolean => subject.has(stream, "ENDED") !== undefined;
  for (let at = 0; at < bytes.length && !hasEnded();) {
    await subject.until("a window", () => record.window > 0 || hasEnded());
    const part = Math.min(record.window, limits["maxPayloadBytes"]!, bytes.length - at);
    if (part <= 0 || hasEnded()) break;
    record.window -= part;
    subject.frame("INPUT", stream, {}, bytes.subarray(at, at + part));
    at += part;
  }
}

const nameOf = (prefix: string, value: number): string =>
  Object.entries(numbers)
    .find(([name, number]) => name.startsWith(prefix) && number === value)?.[0]
    .slice(prefix.length) ?? "";

/** How an operation ends. */
export async function operationEnd(subject: Supervised, stream: number): Promise<OperationEnd> {
  const { end, stdout } = await subject.ended(stream);
  const { reason = -1, stage = 0, error = -1, first = -1, second = -1 } = end.fields;
  const words = { reason: nameOf("END_", reason), stage: nameOf("STAGE_", stage) };
  return { ...words, errno: error, bytes: first, entries: second, output: stdout };
}

/** Does one from its beginning to its end. */
export async function operate(
  subject: Supervised,
  operation: Operation,
  input?: Uint8Array | string,
): Promise<OperationEnd> {
  const stream = beginOperation(subject, operation);
  if (input !== undefined) {
    await sendInput(subject, stream, Buffer.from(input));
    if (subject.has(stream, "ENDED") === undefined) subject.frame("INPUT_END", stream);
  }
  const end = await operationEnd(subject, stream);
  if (operation.verb !== "READ" || end.output.length === 0) return end;
  return { ...end, output: end.output.subarray(4 + end.output.readUInt32LE(0)) };
}

/** An entry of LOOK or LIST. */
export interface Entry {
  readonly kind: string;
  readonly name: string;
  readonly target: string;
  readonly mode: number;
  readonly size: number;
  readonly user: number;
  readonly closed: number;
}

/** The records of LOOK or LIST; names as latin1, so that every byte is one character. */
export function entriesOf(bytes: Buffer): readonly Entry[] {
  const entries: Entry[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt32LE(at);
    const record = bytes.subarray(at + 4, at + 4 + length);
    const nameBytes = record.readUInt16LE(2);
    const targetBytes = record.readUInt16LE(4);
    const text = record.subarray(length - nameBytes - targetBytes).toString("latin1");
    entries.push({
      ...{
        kind: String.fromCharCode(record[0]!),
        closed: record[1]!,
        name: text.slice(0, nameBytes),
        target: text.slice(nameBytes),
      },
      ...{ mode: record.readUInt32LE(8), user: record.readUInt32LE(16), size: Number(record.readBigUInt64LE(28)) },
    });
    at += 4 + length;
  }
  return entries;
}
