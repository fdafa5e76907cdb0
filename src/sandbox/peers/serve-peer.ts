import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { Logger } from "../../base/logger.ts";
import { untilWritable } from "../../base/streams/until-writable.ts";
import { GloveboxError, toGloveboxError } from "../../errors/glovebox-error.ts";
import type { TreeEnd } from "../process-tree.ts";
import type { Sandbox } from "../sandbox.ts";
import { PeerChannel } from "./peer-channel.ts";
import {
  parsePeerRequest,
  callerMessageSchema,
  type PeerMessage,
  type PeerRequest,
  type CallerMessage,
} from "./peer-messages.ts";
import { readRequest } from "./read-request.ts";
import { ownSandbox, type AddedProgram, type AddedProgramSpec } from "./added-program.ts";

export interface ServePeer {
  /** The live sandbox of that id. */
  readonly find: (id: string) => Sandbox | undefined;
  /** What is known of the use of its resources, as JSON; null: nothing. */
  readonly usageOf: (id: string) => unknown;
  readonly logger: Logger;
}

type ExecRequest = Extract<PeerRequest, { action: "exec" }>;

/** Does what one connection asks for, and resolves when nothing of it is left. Never rejects. */
export async function servePeer(socket: Socket, { find, usageOf, logger }: ServePeer): Promise<void> {
  const gone = new AbortController();
  let answer: (message: CallerMessage) => void = () => {
    // Nothing runs yet.
  };
  socket.on("error", () => {
    // Its close follows.
  });
  const line = await readRequest(socket).catch((error: unknown) => toGloveboxError(error));
  if (socket.destroyed) return;
  const channel = new PeerChannel(socket, {
    onMessage: (message) => answer(callerMessageSchema.parse(message)),
    onClose: () => gone.abort(),
  });
  const tell = (message: PeerMessage): void => channel.send(message);
  try {
    if (line instanceof GloveboxError) throw line;
    const request = parsePeerRequest(line);
    const sandbox = find(request.sandbox_id);
    if (sandbox === undefined) throw notHere(request.sandbox_id);
    tell({ type: "open", capabilities: sandbox.capabilities, places: [...sandbox.hostPlaces] });
    if (request.action === "exec") {
      const added = await ownSandbox(sandbox).exec(specOf(request), { signal: gone.signal });
      logger.info({ sandbox: sandbox.id }, "a peer's program was started");
      const ends = new Set<Promise<void>>();
      answer = ({ call, signal }) => {
        ends.add(endProgram(added, signal).then((error) => tell({ type: "ended", call, error })));
      };
      tell({ type: "started" });
      const end = await serveProgram(added, channel, gone.signal);
      if (end === "unclean") logger.warn({ sandbox: sandbox.id }, "a peer's program may not have ended");
      await Promise.all(ends);
      tell({ type: "settled" });
    } else if (request.action === "usage") {
      tell({ type: "usage", usage: usageOf(sandbox.id) });
    } else {
      if (request.action === "remove") await sandbox.remove();
      tell({ type: "done" });
    }
  } catch (error) {
    const known = toGloveboxError(error);
    if (!gone.signal.aborted) logger.info({ err: error }, "a peer was refused");
    tell({ type: "error", error: known.toWire() });
  }
  channel.finish();
}

function specOf({ command, environment, working_directory, as_program }: ExecRequest): AddedProgramSpec {
  return { command, environment, workingDirectory: working_directory, asProgram: as_program };
}

/** Connects the program with its peer until it has ended; a peer that is gone is its end. */
async function serveProgram(added: AddedProgram, channel: PeerChannel, gone: AbortSignal): Promise<TreeEnd> {
  channel.program.pipe(added.stdin);
  const output = passOutput(added, channel).catch(() => {
    // It has broken off, of which the program's exit tells.
  });
  const exited = added.exit.then(
    ({ exitCode }) => channel.send({ type: "exit", exit_code: exitCode } satisfies PeerMessage),
    (error: unknown) => channel.send({ type: "error", error: toGloveboxError(error).toWire() } satisfies PeerMessage),
  );
  const left = Promise.withResolvers<void>();
  const leave = (): void => {
    channel.program.destroy();
    channel.errors.destroy();
    left.resolve();
  };
  gone.addEventListener("abort", leave, { once: true });
  if (gone.aborted) leave();
  await Promise.race([exited, left.promise]);
  const end = gone.aborted ? await added.end() : "clean";
  await added.settled;
  await Promise.race([output, left.promise]);
  return end;
}

/** As fast as the peer reads; for one that is gone the rest is dropped, so that nothing holds the program up. */
async function passOutput({ output }: AddedProgram, { program, errors }: PeerChannel): Promise<void> {
  for await (const { stream, bytes } of output) {
    const target = stream === "stdout" ? program : errors;
    if (target.destroyed) break;
    if (!target.write(bytes)) await untilWritable(target);
  }
  await Promise.all([flushed(program), flushed(errors)]);
}

/** Ends the stream; resolves when all of it is on its way, or it takes nothing any more. */
function flushed(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.end(() => resolve()));
}

async function endProgram(
  added: AddedProgram,
  signal: CallerMessage["signal"],
): Promise<Extract<PeerMessage, { type: "ended" }>["error"]> {
  try {
    if (signal !== "all") await added.kill(signal);
    else if ((await added.end()) === "unclean") throw survived();
    return null;
  } catch (error) {
    return toGloveboxError(error).toWire();
  }
}

function notHere(id: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `Sandbox ${JSON.stringify(id)} has ended.`, {
    suggestion: "List the sandboxes that there are (`glovebox ps`).",
    context: { sandbox_id: id },
  });
}

function survived(): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "Something that the program started may still run.", {
    suggestion: "Remove the sandbox: its end is the end of everything in it.",
  });
}
