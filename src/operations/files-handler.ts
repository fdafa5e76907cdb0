import { decodeBase64 } from "./handling/decode-base64.ts";
import { isUtf8 } from "node:buffer";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Redaction } from "../policy/redaction.ts";
import { shortenTooling } from "../policy/tooling/tooling-changes.ts";
import {
  editFile,
  listFiles,
  maxFileBytes,
  readFile,
  writeFile,
  type FileUse,
} from "../workloads/place/place-files.ts";
import { secretWarnings } from "../workloads/run/explain-secrets.ts";
import { maxToolingFiles } from "./environments/tooling-schema.ts";
import { handle } from "./handling/handler.ts";
import { absolutePath, filePlaceOf, writablePlaceOf, type FilePlace } from "./file-place.ts";
import {
  editFileContract,
  listFilesContract,
  readFileContract,
  writeFileContract,
  type WriteFileResponse,
} from "./files-contract.ts";

/** `list_files`: what is in a folder of an environment or a session. */
export const listFilesHandler = handle(listFilesContract, async (platform, { path = ".", ...fields }, call) => {
  const place = await filePlaceOf(platform, fields, call);
  const used = await place.use((files, how) => listFiles(files, absolutePath(place, path), how), { writes: false });
  const redaction = place.redaction();
  const files = used.result.files.map(({ path: name, type, sizeBytes }) => ({
    path: redaction.text(name),
    type,
    size_bytes: sizeBytes,
  }));
  return { ...aboutUse(place, used, secretWarnings(redaction)), files, truncated: used.result.truncated };
});

/** `read_file`: a file of an environment or a session, or a piece of it. */
export const readFileHandler = handle(
  readFileContract,
  async (platform, { path, encoding, offset = 0, limit = maxFileBytes, ...fields }, call) => {
    const place = await filePlaceOf(platform, fields, call);
    const wanted = { path: absolutePath(place, path), offset, limit };
    const used = await place.use((files, how) => readFile(files, wanted, how), { writes: false });
    const { sizeBytes } = used.result;
    const redaction = place.redaction();
    const content = redaction.bytes(used.result.content);
    const written = encoding ?? (isUtf8(content) ? "utf8" : "base64");
    return {
      ...aboutUse(place, used, secretWarnings(redaction)),
      path,
      content: Buffer.from(content).toString(written),
      encoding: written,
      size_bytes: sizeBytes,
      truncated: offset + used.result.content.length < sizeBytes,
    };
  },
);

/** `write_file`: a file into an environment or a session. */
export const writeFileHandler = handle(
  writeFileContract,
  async (platform, { path, content: text, encoding = "utf8", ...fields }, call) => {
    const place = await writablePlaceOf(platform, fields, call);
    const content = encoding === "base64" ? decodeBase64(text, "content") : Buffer.from(text, encoding);
    const wanted = { path: absolutePath(place, path), content };
    const used = await place.use((files, how) => writeFile(files, wanted, how), { writes: true });
    const { toolingFiles } = used;
    return {
      ...aboutUse(place, used),
      path,
      size_bytes: content.length,
      ...shownTooling(toolingFiles),
    };
  },
);

/** `edit_file`: an exact replacement in a file of an environment or a session. */
export const editFileHandler = handle(
  editFileContract,
  async (platform, { path, old_text: oldText, new_text: newText, replace_all: all = false, ...fields }, call) => {
    const place = await filePlaceOf(platform, fields, call);
    const wanted = { path: absolutePath(place, path), oldText, newText, all };
    const used = await place
      .use((files, how) => editFile(files, wanted, how), { writes: true })
      .catch((error: unknown) => {
        throw redacted(error, place.redaction());
      });
    const { result, toolingFiles } = used;
    return {
      ...aboutUse(place, used),
      path,
      replacements: result.replacements,
      size_bytes: result.sizeBytes,
      ...shownTooling(toolingFiles),
    };
  },
);

/** The same error, which may quote the file, with the values of secrets removed. */
function redacted(error: unknown, redaction: Redaction): unknown {
  if (!(error instanceof GloveboxError) || error.context["nearest"] === undefined) return error;
  const { errorType, message, suggestion, context } = error;
  const nearest = redaction.text(String(context["nearest"]));
  return new GloveboxError(errorType, redaction.text(message), { suggestion, context: { ...context, nearest } });
}

function shownTooling(files: FileUse<unknown>["toolingFiles"]): Pick<WriteFileResponse, "tooling_files"> {
  return files === null ? {} : { tooling_files: [...shortenTooling(files, maxToolingFiles)] };
}

function aboutUse(
  { about }: FilePlace,
  { restarted, warnings }: FileUse<unknown>,
  further: readonly string[] = [],
): FilePlace["about"] & { readonly restarted: boolean; readonly warnings: string[] } {
  return { ...about, restarted, warnings: [...warnings, ...further] };
}
