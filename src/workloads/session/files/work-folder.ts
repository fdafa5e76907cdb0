import { mebibyte } from "../../../base/bytes.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { CallOptions } from "../../../engines/engine.ts";
import { AnswerStream } from "../../../sandbox/answers/answer-stream.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import type { WorkArchive, WorkArchives } from "../../../sandbox/work-archives.ts";
import { workCommand } from "./work-command.ts";

type WorkSandbox = Pick<Sandbox, "exec" | "folderOf" | "capabilities">;

/** Beside the files' own bytes an archive has half a kibibyte and more for each. */
const overheadBytes = 64 * mebibyte;

/** Keeps the files of the working folder outside the sandbox. @throws CAPACITY, and what `AnswerStream` throws */
export async function saveWork(
  sandbox: WorkSandbox,
  archives: WorkArchives,
  { sizeBytes, signal }: CallOptions & { readonly sizeBytes: number },
): Promise<WorkArchive> {
  const process = await sandbox.exec(await workCommand("pack", sandbox), { signal });
  const packed = new AnswerStream(process, { subject: "packing the working folder", signal });
  const content = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for (let piece = await packed.next(); piece !== null; piece = await packed.next()) yield piece;
    const exitCode = await packed.end();
    if (exitCode !== 0) throw notKept("saved", exitCode, packed.words);
  };
  try {
    return await archives.save(content(), sizeBytes + overheadBytes);
  } catch (error) {
    await packed.giveUp();
    throw error;
  }
}

/** Puts the files back into a fresh sandbox. @throws what `AnswerStream` throws */
export async function restoreWork(
  sandbox: WorkSandbox,
  archive: WorkArchive,
  { signal }: CallOptions = {},
): Promise<void> {
  const process = await sandbox.exec(await workCommand("unpack", sandbox), { signal });
  const unpacked = new AnswerStream(process, { subject: "unpacking the working folder", signal });
  const exitCode = await unpacked.feed(afterLine(archive.read()), () => false);
  if (exitCode !== 0) throw notKept("restored", exitCode, unpacked.words);
}

/** The archive after an empty line; nothing for an empty one. */
async function* afterLine(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let begun = false;
  for await (const chunk of content) {
    if (!begun) yield Buffer.from("\n");
    begun = true;
    yield chunk;
  }
}

function notKept(what: "saved" | "restored", exitCode: number, said: string): GloveboxError {
  return new GloveboxError("INTERNAL", `The files of a session could not be ${what} (exit code ${exitCode}).`, {
    suggestion:
      what === "saved"
        ? "Remove from the working folder what cannot be packed, or use another session that names its packages in its first call."
        : "End the session and begin another.",
    context: { said: said.slice(0, 1000) },
  });
}
