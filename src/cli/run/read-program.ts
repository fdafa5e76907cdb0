import { buffer } from "node:stream/consumers";
import { invalidUtf8Offset } from "../../base/streams/utf8.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { checkCode, maxCodeBytes } from "../../policy/request/code.ts";
import { codingLine } from "../../policy/request/coding-line.ts";
import { readNamed } from "../../transfer/read-file.ts";
import type { CommandIo } from "../command-io.ts";

/** A program as the command line names it: a file's path, or `-`, which is standard input. */
export interface ProgramFile {
  /** As it was typed. */
  readonly file: string;
  readonly io: Pick<CommandIo, "stdin">;
}

/**
 * The program's text. Line ends and a byte order mark stay as they are.
 * @throws INVALID_REQUEST naming the file: it cannot be read, is over `maxCodeBytes`, is empty, or is not UTF-8
 */
export async function readProgram({ file, io }: ProgramFile): Promise<string> {
  const bytes = file === "-" ? await buffer(io.stdin) : await readBytes(file);
  const name = file === "-" ? "standard input" : JSON.stringify(file);
  if (bytes.length > maxCodeBytes) throw tooLong(file);
  const offset = invalidUtf8Offset(bytes);
  if (offset !== null) throw notUtf8(name, bytes, offset);
  if (bytes.every((byte) => byte <= 0x20)) throw invalidField("FILE", "a program", `${file}, which is empty`);
  // The operation refuses what the program's language does not allow.
  return checkCode(bytes, "javascript");
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    const bytes = await readNamed(file, maxCodeBytes);
    if (bytes === null) throw tooLong(file);
    return bytes;
  } catch (error) {
    if (error instanceof GloveboxError) throw error;
    const reason = (error as NodeJS.ErrnoException).code === "ENOENT" ? "which does not exist" : "which cannot be read";
    throw invalidField("FILE", "a program that can be read", `${file}, ${reason}`, error);
  }
}

function tooLong(file: string): GloveboxError {
  return invalidField("FILE", `a program of at most ${maxCodeBytes} bytes`, `${file}, which has more`);
}

/**
 * Programs travel as text, and their bytes are not changed: so one in another encoding is refused, also where Python would read
 * it by its coding line.
 */
function notUtf8(name: string, bytes: Uint8Array, offset: number): GloveboxError {
  const line = bytes.subarray(0, offset).reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 1);
  const byte = `0x${(bytes[offset] ?? 0).toString(16).toUpperCase()}`;
  const [reason, help] = encodingOf(bytes);
  return new GloveboxError(
    "INVALID_REQUEST",
    `FILE: ${name} is not UTF-8, as programs must be: byte ${byte} in line ${line}${reason}.`,
    {
      suggestion: `Save it as UTF-8 in an editor, or convert it: iconv -f ${help}. Files of --file keep their bytes.`,
      context: { field: "FILE" },
    },
  );
}

/** What the first bytes or Python's coding line (PEP 263) say of the encoding, and the rest of a command that converts it. */
function encodingOf(bytes: Uint8Array): readonly [reason: string, help: string] {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
  if (mark === "fffe" || mark === "feff") return [" (its byte order mark says UTF-16)", "UTF-16 -t UTF-8"];
  const named = codingLine(Buffer.from(bytes.subarray(0, 2000)).toString("latin1"));
  if (named === null) return ["", "ISO-8859-1 -t UTF-8 (if it is Latin-1)"];
  return [` (its coding line says ${named})`, `${named} -t UTF-8; then let its coding line say utf-8`];
}
