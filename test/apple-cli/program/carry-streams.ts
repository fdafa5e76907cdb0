import type { Hijacked } from "../docker/docker-api.ts";
import { framesOf } from "../docker/frames.ts";
import { unlessGivenUp } from "./give-up.ts";

export interface StreamOptions {
  /** Whether the program has a terminal: one stream, without frames. */
  readonly terminal: boolean;
  /** Whether the command's input is passed to the program. */
  readonly input: boolean;
  /** Bytes after which output is dropped; default: it never is. */
  readonly outputLimit?: number | undefined;
  /** Inspects the first output before it is passed on; false withholds all of it. */
  readonly accept?: (first: Buffer) => Promise<boolean>;
  /** Whether this many more bytes belong to the program; false ends the streams. Default: all do. */
  readonly allows?: (bytes: number) => boolean;
  /** Whether the program has ended: unread output is then dropped. Default: never. */
  readonly isOver?: () => boolean;
}

/** Writes and waits until the reader has room. */
export function writeAll(stream: NodeJS.WriteStream, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

async function* bytesOf({ socket, head }: Hijacked): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for await (const chunk of socket) yield chunk as Buffer;
}

function passInput({ socket }: Hijacked, input: boolean): void {
  socket.on("error", () => {
    // The program has closed its input, or has ended.
  });
  if (!input) return;
  process.stdin.on("error", () => socket.end());
  process.stdin.pipe(socket);
}

/** Carries a program's streams until it has closed both; how it ended is determined elsewhere. */
export async function carryStreams(connection: Hijacked, options: StreamOptions): Promise<void> {
  passInput(connection, options.input);
  const chunks = bytesOf(connection);
  const frames = options.terminal ? rawFrames(chunks) : framesOf(chunks);
  let left = options.outputLimit ?? Number.POSITIVE_INFINITY;
  let accepted: boolean | undefined;
  for await (const { stream, bytes } of frames) {
    if (options.allows?.(bytes.length) === false) break;
    accepted ??= (await options.accept?.(bytes)) ?? true;
    const passed = accepted ? bytes.subarray(0, Math.min(left, bytes.length)) : Buffer.alloc(0);
    left -= passed.length;
    if (passed.length === 0) continue;
    const written = writeAll(stream === "stdout" ? process.stdout : process.stderr, passed);
    if (!(await unlessGivenUp(written, options.isOver ?? (() => false)))) break;
  }
  process.stdin.destroy();
}

async function* rawFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ stream: "stdout"; bytes: Buffer }> {
  for await (const bytes of chunks) yield { stream: "stdout", bytes };
}
