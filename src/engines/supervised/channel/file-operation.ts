import { Writable } from "node:stream";
import { invalidField } from "../../../errors/glovebox-error.ts";
import { fileFlags, fileVerbs, frameLimits } from "../frames/frame-table.ts";
import type { FrameFields } from "../frames/frame.ts";
import { OutputPieces } from "./channel-output.ts";
import {
  readEnd,
  unexpected,
  type ChannelStream,
  type Loss,
  type StreamEnd,
  type StreamFrame,
  type StreamLink,
} from "./stream.ts";

/** One operation beneath a folder of the sandbox. */
export interface FileRequest {
  readonly verb: keyof typeof fileVerbs;
  readonly flags?: readonly (keyof typeof fileFlags)[] | undefined;
  /** Absolute; links in it are followed. */
  readonly folder: string;
  /** Beneath the folder, with no link anywhere; empty: the folder itself. */
  readonly path: string;
  /** Beneath the folder: where MOVE moves it. */
  readonly other?: string | undefined;
  readonly user: number;
  readonly group: number;
  /** Permission bits for WRITE, MAKE and CHMOD; default 0. */
  readonly mode?: number | undefined;
  readonly deadlineMs: number;
  readonly maxEntries: number;
  readonly maxBytes: bigint;
  /** Of READ; default 0. */
  readonly offset?: bigint | undefined;
}

/** Fields of its frame. @throws INVALID_REQUEST for paths that do not fit */
export function fileFrame(request: FileRequest): FrameFields<"FILE"> {
  const { verb, flags = [], user, group, mode = 0, deadlineMs, maxEntries, maxBytes, offset = 0n } = request;
  if (!request.folder.startsWith("/")) throw invalidField("folder", "an absolute path", request.folder);
  const folder = pathBytes("folder", request.folder);
  const path = relativeBytes("path", request.path);
  const other = relativeBytes("path", request.other ?? "");
  return {
    verb: fileVerbs[verb],
    flags: flags.reduce((sum, flag) => sum | fileFlags[flag], 0),
    folderBytes: folder.length,
    pathBytes: path.length,
    otherBytes: other.length,
    ...{ user, group, mode, deadlineMs, maxEntries, offset, maxBytes },
    tail: Buffer.concat([folder, path, other]),
  };
}

function relativeBytes(field: string, path: string): Buffer {
  const isPlain = path === "" || path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  if (!isPlain) throw invalidField(field, "a relative path without empty parts, . and ..", path);
  return pathBytes(field, path);
}

function pathBytes(field: string, path: string): Buffer {
  const bytes = Buffer.from(path);
  if (bytes.length > frameLimits.maxPathBytes || bytes.includes(0)) {
    throw invalidField(field, `a path of at most ${frameLimits.maxPathBytes} bytes without NUL`, path);
  }
  return bytes;
}

/** A file operation over its stream. */
export class FileOperation implements ChannelStream {
  /** Content of WRITE and UNPACK, until it is ended. */
  readonly input: Writable;
  /** Answer of LOOK, LIST, READ and PACK; incomplete until `ended` says DONE. Must be read, or turned away from. */
  readonly output: OutputPieces;
  /** Rejects when the sandbox was lost. */
  readonly ended: Promise<StreamEnd>;
  readonly #link: StreamLink;
  readonly #ended = Promise.withResolvers<StreamEnd>();
  #isOutputOver = false;
  #isEnded = false;

  constructor(link: StreamLink) {
    this.#link = link;
    this.output = new OutputPieces(link.consumed);
    this.ended = this.#ended.promise;
    this.ended.catch(() => {
      // A rejection that no caller awaits must not end the server.
    });
    this.input = new Writable({
      write: (chunk: Buffer, _encoding, done) => link.input.write(chunk, () => done()),
      final: (done) =>
        link.input.after(
          () => link.send("INPUT_END", {}),
          () => done(),
        ),
    });
  }

  /** Gives it up; what it has done remains. */
  close(): void {
    this.output.discard();
    if (!this.#isEnded) this.#link.send("CLOSE", {});
  }

  receive(frame: StreamFrame): void {
    if (frame.name === "OUTPUT") {
      if (this.#isOutputOver) throw unexpected(frame, "a file operation whose answer has ended");
      this.output.push("stdout", frame.fields.tail);
    } else if (frame.name === "OUTPUT_END") {
      if (this.#isOutputOver || frame.fields.channel !== 1) throw unexpected(frame, "a file operation");
      this.#isOutputOver = true;
    } else if (frame.name === "ENDED") {
      const end = readEnd(frame.fields);
      if (end.reason === "LOST") throw unexpected(frame, "a file operation");
      this.#isEnded = true;
      this.output.end();
      this.#ended.resolve(end);
    } else {
      throw unexpected(frame, "a file operation");
    }
  }

  lose({ error }: Loss): void {
    this.#isEnded = true;
    this.output.end();
    this.#ended.reject(error ?? new Error("the sandbox has been ended"));
  }
}
