import { closeSync, constants, openSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { Writable } from "node:stream";
import { OutputQueue } from "../../../output-queue.ts";
import type { OutputStream } from "../../../engine.ts";
import { reopenPath, type PipePool } from "./pipe-pool.ts";
import { closePipeSet, type PipeSet } from "./pipe-sets.ts";

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/**
 * More than a pipe can hold (/proc/sys/fs/pipe-max-size is 1 MiB): another program may hold an end and keep writing.
 */
const maxLeftBytes = 2 * 1024 * 1024;

/** The program's ends of its three pipes. */
export interface ProgramEnds {
  readonly stdin: number;
  readonly stdout: number;
  readonly stderr: number;
}

/** Our ends of a program's three pipes, as streams. */
export class ProgramPipes {
  readonly stdin: Writable;
  readonly output: OutputQueue;
  /** Handed to the program; closed by `closeProgramEnds`. */
  readonly ends: ProgramEnds;
  readonly #readers: readonly OutputReader[];
  readonly #input: Socket;
  readonly #onFinished: () => void;
  #programEndsAreOpen = true;

  /** Takes pipes from the pool that no other program has used or will use. */
  static async open(pool: PipePool): Promise<ProgramPipes> {
    const set = await pool.take();
    try {
      return new ProgramPipes(set, () => pool.replenish());
    } finally {
      closePipeSet(set);
    }
  }

  private constructor(set: PipeSet, onFinished: () => void) {
    this.#onFinished = onFinished;
    // Opening for both directions never blocks; while it is open, neither end has to wait for the other.
    const both = openSync(reopenPath(set.stdin), O_RDWR);
    const stdin = openSync(reopenPath(set.stdin), O_RDONLY);
    const input = openSync(reopenPath(set.stdin), O_WRONLY | O_NONBLOCK);
    closeSync(both);
    const outputs = { stdout: openReader(set.stdout), stderr: openReader(set.stderr) };
    this.ends = {
      stdin,
      stdout: openSync(reopenPath(set.stdout), O_WRONLY),
      stderr: openSync(reopenPath(set.stderr), O_WRONLY),
    };
    this.#input = new Socket({ fd: input, readable: false, writable: true });
    this.stdin = stdinOver(this.#input);
    this.output = new OutputQueue(() => this.#resume());
    this.#readers = (["stdout", "stderr"] as const).map((stream) => this.#read(stream, outputs[stream]));
  }

  /** Called once the program has its ends, or will never get them, so that its end closes its streams. */
  closeProgramEnds(): void {
    if (!this.#programEndsAreOpen) return;
    this.#programEndsAreOpen = false;
    const { stdin, stdout, stderr } = this.ends;
    for (const descriptor of [stdin, stdout, stderr]) closeSync(descriptor);
  }

  /**
   * Ends the streams after the program's end; what its pipes still hold stays readable. Resolves when nothing is open.
   * It does not wait for end-of-file: a program may have passed its stdout on to another one of its container.
   */
  async finish(): Promise<void> {
    this.closeProgramEnds();
    const closed = [this.#input, ...this.#readers.map(({ socket }) => socket)].map(untilClosed);
    for (const { stream, socket, descriptor } of this.#readers) {
      // What the socket has read ahead reaches its listener only when asked for.
      while (!socket.destroyed && socket.read() !== null);
      for (const bytes of takeRest(socket, descriptor)) this.output.push({ stream, bytes });
      socket.destroy();
    }
    this.output.end();
    this.#input.destroy();
    await Promise.all(closed);
    this.#onFinished();
  }

  #read(stream: OutputStream, descriptor: number): OutputReader {
    const socket = new Socket({ fd: descriptor, readable: true, writable: false });
    socket.on("data", (bytes: Buffer) => {
      this.output.push({ stream, bytes });
      if (this.output.isFull) for (const reader of this.#readers) reader.socket.pause();
    });
    socket.on("error", () => {
      // A pipe that cannot be read has ended; `finish` follows with the program's own end.
    });
    return { stream, socket, descriptor };
  }

  #resume(): void {
    for (const { socket } of this.#readers) if (!socket.destroyed) socket.resume();
  }
}

interface OutputReader {
  readonly stream: OutputStream;
  readonly socket: Socket;
  readonly descriptor: number;
}

function openReader(pipe: number): number {
  return openSync(reopenPath(pipe), O_RDONLY | O_NONBLOCK);
}

/** What the pipe still holds. */
function takeRest(socket: Socket, descriptor: number): readonly Buffer[] {
  if (socket.destroyed) return [];
  socket.pause();
  const rest: Buffer[] = [];
  for (let taken = 0; taken < maxLeftBytes && !socket.destroyed;) {
    const bytes = Buffer.allocUnsafe(65_536);
    const count = readAvailable(descriptor, bytes);
    if (count === 0) break;
    rest.push(bytes.subarray(0, count));
    taken += count;
  }
  return rest;
}

/** 0 at the end and when nothing is there now. */
function readAvailable(descriptor: number, bytes: Buffer): number {
  try {
    return readSync(descriptor, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return 0;
    throw error;
  }
}

function untilClosed(socket: Socket): Promise<void> {
  return socket.closed ? Promise.resolve() : new Promise((resolve) => void socket.once("close", () => resolve()));
}

/** Errors of writing are swallowed, because a program may end without reading all its input. */
function stdinOver(socket: Socket): Writable {
  socket.on("error", () => {
    // The program has closed its stdin, or ended.
  });
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
      socket.destroy();
      done(null);
    },
  });
}
