import { Writable, type Duplex } from "node:stream";
import type { OutputChunk, ProcessExit } from "../../engine.ts";
import { createDemuxer } from "./demuxer.ts";
import { OutputQueue } from "../../output-queue.ts";
import { startDrain } from "./drain.ts";
import { withoutLastWords } from "../../inside/last-words.ts";
import type { StartedProgram } from "../../inside/running-container.ts";
import type { RuntimeFailureFilter } from "./runtime-failure.ts";

/** How a program ended, as far as the engine says. */
export interface ProgramEnd extends ProcessExit {
  /** Written to stderr in the program's place when it was never started. */
  readonly failure?: string | undefined;
}

export interface AttachedProcessOptions {
  readonly socket: Duplex;
  /**
   * Resolves when the program has ended; `streamEnd` settles when the stream has. Rejects when this cannot be known.
   */
  readonly awaitEnd: (streamEnd: Promise<void>) => Promise<ProgramEnd>;
  /** Resolves when the program is being killed: from then on its stream is emptied, because an engine may wait for that. */
  readonly killed?: Promise<void> | undefined;
  /** What the engine may write to standard error in the program's place; it is left out. */
  readonly lastWords: RegExp;
  /** Holds back what may be the runtime's own output; null when the engine writes none. */
  readonly filter: RuntimeFailureFilter | null;
}

/**
 * A process over an attached stream.
 * Output ends with the stream, or when a program has ended and left its streams to a child of its own, soon after that
 * (see `startDrain`), because a daemon's output would otherwise hold its parent's run open for ever.
 */
export function attachProcess(options: AttachedProcessOptions): StartedProgram {
  const { socket, awaitEnd, killed, lastWords, filter } = options;
  const demux = createDemuxer();
  const queue = new OutputQueue(() => void socket.resume());
  let drain: ReturnType<typeof startDrain> | undefined;

  const deliver = (chunks: readonly OutputChunk[]): void => {
    for (const chunk of chunks) queue.push(chunk);
    if (queue.isFull && drain === undefined) socket.pause();
  };
  const take = (chunks: readonly OutputChunk[]): void => {
    deliver(filter === null ? chunks : filter.pass(chunks, deliver));
  };
  const onBytes = (bytes: Buffer): void => {
    take(withoutLastWords(demux(bytes), lastWords));
    drain?.saw(bytes.length);
  };
  const onEnd = (): void => {
    drain?.finish();
    if (filter === null || !filter.isHolding) queue.end();
  };
  const { ended, broken } = followSocket(socket, onBytes, onEnd);

  const drainNow = (): void => {
    drain ??= startDrain(socket, () => {
      queue.end();
      socket.destroy();
    });
  };
  void killed?.then(drainNow);

  const exit = Promise.race([awaitEnd(ended), broken]).then(
    (end) => {
      deliver(filter?.settle(end.failure !== undefined) ?? []);
      if (end.failure !== undefined) queue.push({ stream: "stderr", bytes: Buffer.from(`${end.failure}\n`) });
      drainNow();
      return { exitCode: end.exitCode };
    },
    (error: unknown) => {
      deliver(filter?.settle(false) ?? []);
      queue.end();
      socket.destroy();
      throw error;
    },
  );
  exit.catch(() => {
    // Whoever awaits `exit` is told; if nobody does, that must not end the server.
  });
  return { stdin: stdinOf(socket), output: queue, exit };
}

interface FollowedSocket {
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void>;
  /** Rejects with what `onBytes` threw; the stream is destroyed then. */
  readonly broken: Promise<never>;
}

function followSocket(socket: Duplex, onBytes: (bytes: Buffer) => void, onEnd: () => void): FollowedSocket {
  const ended = Promise.withResolvers<void>();
  const broken = Promise.withResolvers<never>();
  socket.on("data", (bytes: Buffer) => {
    try {
      onBytes(bytes);
    } catch (error) {
      broken.reject(error);
      socket.destroy();
    }
  });
  // `end` is the far side's, `close` also comes when the connection broke or we closed it.
  for (const event of ["end", "close"]) {
    socket.on(event, () => {
      ended.resolve();
      onEnd();
    });
  }
  return { ended: ended.promise, broken: broken.promise };
}

/** The writing half: errors are swallowed, because a program may end without reading all of its input. */
function stdinOf(socket: Duplex): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (socket.writable) socket.write(chunk, () => done());
      else done();
    },
    final: (done) => {
      socket.end();
      done();
    },
    destroy: (_error, done) => {
      if (socket.writable) socket.end();
      done(null);
    },
  });
}
