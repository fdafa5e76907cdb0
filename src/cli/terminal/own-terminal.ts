import { on } from "node:events";
import { untilWritable } from "../../base/streams/until-writable.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CommandIo } from "../command-io.ts";
import { TerminalFilter } from "./terminal-filter.ts";

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The user's terminal, handed over to a program. */
export interface OwnTerminal {
  readonly size: Size;
  /** Its type, if it can be passed to a program. */
  readonly term: string | undefined;
  /** Each new size. */
  readonly sizes: AsyncIterable<Size>;
  /** Every key, including those that otherwise end the command. */
  readonly typed: AsyncIterable<Uint8Array>;
  /** Draws what the program writes, except what a terminal answers or stores (see `TerminalFilter`). */
  readonly draw: (bytes: Uint8Array) => Promise<void>;
}

/**
 * Hands the user's terminal over during the work and restores it afterwards, however the work ends. @throws UNSUPPORTED
 */
export async function withOwnTerminal<T>(io: CommandIo, work: (terminal: OwnTerminal) => Promise<T>): Promise<T> {
  const { stdin, stdout } = io;
  if (stdin.isTTY !== true || stdout.isTTY !== true || stdin.setRawMode === undefined) throw noTerminal();
  const filter = new TerminalFilter();
  const over = new AbortController();
  const size = (): Size => ({ columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 });
  stdin.setRawMode(true);
  try {
    return await work({
      size: size(),
      term: /^[\w.+-]{1,64}$/.test(io.term) ? io.term : undefined,
      sizes: sizesOf(stdout, size, over.signal),
      typed: stdin.iterator({ destroyOnReturn: false }),
      draw: async (bytes) => {
        if (!stdout.write(filter.push(bytes))) await untilWritable(stdout);
      },
    });
  } finally {
    over.abort();
    stdin.setRawMode(false);
    stdin.pause();
    if (!stdout.destroyed) stdout.write(filter.end());
  }
}

async function* sizesOf(
  stdout: CommandIo["stdout"],
  size: () => Size,
  signal: AbortSignal,
): AsyncGenerator<Size, void, undefined> {
  try {
    for await (const _ of on(stdout, "resize", { signal })) yield size();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function noTerminal(): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", "This needs a terminal as standard input and output.", {
    suggestion: "Without one, run a command: `glovebox exec -i ID sh` passes standard input on to it.",
  });
}
