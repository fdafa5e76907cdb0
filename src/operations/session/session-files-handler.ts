import { isUtf8 } from "node:buffer";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { secretWarnings } from "../../workloads/run/explain-secrets.ts";
import { listFiles, maxFileBytes, readFile, writeFile } from "../../workloads/session/files/session-files.ts";
import type { Session } from "../../workloads/session/session.ts";
import { useFiles } from "../../workloads/session/files/use-files.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { handle } from "../handling/handler.ts";
import { listFilesContract, readFileContract, writeFileContract } from "./session-files-contract.ts";
import { sessionListener } from "./session-listener.ts";
import { sessionOf } from "./session-of.ts";

/** `list_files`: what is in a folder of a session. */
export const listFilesHandler = handle(listFilesContract, async (platform, { session_id: id, path = "." }, call) => {
  const session = existing(platform, id, call);
  const { result, about } = await use(platform, session, call, (inside, caller) => listFiles(inside, path, caller));
  const redaction = session.secrets.redaction();
  const files = result.files.map(({ path: name, type, sizeBytes }) => ({
    path: redaction.text(name),
    type,
    size_bytes: sizeBytes,
  }));
  const warnings = [...about.warnings, ...secretWarnings(redaction)];
  return { ...about, warnings, files, truncated: result.truncated };
});

/** `read_file`: a file of a session, or a piece of it. */
export const readFileHandler = handle(
  readFileContract,
  async (platform, { session_id: id, path, encoding, offset = 0, limit = maxFileBytes }, call) => {
    const session = existing(platform, id, call);
    const { result, about } = await use(platform, session, call, (files, caller) =>
      readFile(files, { path, offset, limit }, caller),
    );
    const { sizeBytes } = result;
    const redaction = session.secrets.redaction();
    const content = redaction.bytes(result.content);
    const written = encoding ?? (isUtf8(content) ? "utf8" : "base64");
    return {
      ...about,
      warnings: [...about.warnings, ...secretWarnings(redaction)],
      path,
      content: Buffer.from(content).toString(written),
      encoding: written,
      size_bytes: sizeBytes,
      truncated: offset + result.content.length < sizeBytes,
    };
  },
);

/** `write_file`: a file into a session. */
export const writeFileHandler = handle(
  writeFileContract,
  async (platform, { path, content: text, encoding = "utf8", ...request }, call) => {
    const { session } = await sessionOf(platform, request, call);
    const content = Buffer.from(text, encoding);
    const { about } = await use(platform, session, call, (files, caller) =>
      writeFile(files, { path, content }, caller),
    );
    return { ...about, path, size_bytes: content.length };
  },
);

async function use<T>(
  platform: PlatformParts,
  session: Session,
  call: OperationCall,
  work: (files: SandboxFiles, caller: Caller) => Promise<T>,
): Promise<{
  readonly result: T;
  readonly about: { readonly session_id: string; readonly restarted: boolean; readonly warnings: string[] };
}> {
  const { result, opened } = await useFiles(session, { ...platform, listener: sessionListener(call) }, call, work);
  return { result, about: { session_id: session.id, restarted: opened.restarted, warnings: [...opened.warnings] } };
}

function existing({ sessions }: PlatformParts, id: string | undefined, call: OperationCall): Session {
  const session = sessions.find(id, call);
  if (session !== null) return session;
  throw new GloveboxError("NOT_FOUND", "There is no session yet.", {
    suggestion: "Begin one with run_code or write_file, or name one by its session_id.",
  });
}
