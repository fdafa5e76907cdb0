import type { Readable } from "node:stream";
import { mebibyte } from "../../base/bytes.ts";
import { untilWritable } from "../../base/until-writable.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions, Process } from "../../engines/engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { WorkArchive, WorkArchives } from "../../sandbox/work-archives.ts";
import { workCommand } from "./work-command.ts";

type WorkSandbox = Pick<Sandbox, "exec" | "folderOf" | "capabilities">;

/** Beside the files' own bytes an archive has half a kibibyte and more for each. */
const overheadBytes = 64 * mebibyte;

/** Keeps the files of the working folder outside the sandbox. @throws CAPACITY, SANDBOX_LOST, CANCELLED */
export async function saveWork(
  sandbox: WorkSandbox,
  archives: WorkArchives,
  { sizeBytes, signal }: CallOptions & { readonly sizeBytes: number },
): Promise<WorkArchive> {
  const process = await sandbox.exec(await workCommand("pack", sandbox), { signal });
  process.stdin.end();
  let said = "";
  const content = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const { stream, bytes } of process.output) {
      if (stream === "stdout") yield bytes;
      else said = `${said}${Buffer.from(bytes).toString("utf8")}`.slice(0, 1000);
    }
    const { exitCode } = await process.exit;
    if (exitCode !== 0) throw notKept("saved", exitCode, said);
  };
  return archives.save(content(), sizeBytes + overheadBytes);
}

/** Puts the files back into a fresh sandbox. @throws SANDBOX_LOST, CANCELLED */
export async function restoreWork(
  sandbox: WorkSandbox,
  archive: WorkArchive,
  { signal }: CallOptions = {},
): Promise<void> {
  const process = await sandbox.exec(await workCommand("unpack", sandbox), { signal });
  const said = errorsOf(process);
  await feed(process, archive.read() as Readable);
  const { exitCode } = await process.exit;
  if (exitCode !== 0) throw notKept("restored", exitCode, await said);
}

async function feed(process: Process, content: Readable): Promise<void> {
  let begun = false;
  for await (const chunk of content) {
    if (!begun) process.stdin.write("\n");
    begun = true;
    if (!process.stdin.write(chunk)) await Promise.race([untilWritable(process.stdin), process.exit]);
  }
  process.stdin.end();
}

async function errorsOf(process: Process): Promise<string> {
  let said = "";
  for await (const { bytes } of process.output) said = `${said}${Buffer.from(bytes).toString("utf8")}`.slice(0, 1000);
  return said;
}

function notKept(what: "saved" | "restored", exitCode: number, said: string): GloveboxError {
  return new GloveboxError("INTERNAL", `The files of a session could not be ${what} (exit code ${exitCode}).`, {
    suggestion:
      what === "saved"
        ? "Remove from the working folder what cannot be packed, or use another session that names its packages in its first call."
        : "End the session and begin another.",
    context: { said },
  });
}
