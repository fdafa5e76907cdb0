import { isUtf8 } from "node:buffer";
import { shortenTooling } from "../../policy/tooling/tooling-changes.ts";
import { listFiles, maxFileBytes, readFile, writeFile, type FileUse } from "../../workloads/place/place-files.ts";
import { secretWarnings } from "../../workloads/run/explain-secrets.ts";
import { maxToolingFiles } from "../environments/tooling-schema.ts";
import { handle } from "../handling/handler.ts";
import { filePlaceOf, writablePlaceOf, type FilePlace } from "./file-place.ts";
import { listFilesContract, readFileContract, writeFileContract } from "./files-contract.ts";

/** `list_files`: what is in a folder of an environment or a session. */
export const listFilesHandler = handle(listFilesContract, async (platform, { path = ".", ...fields }, call) => {
  const place = await filePlaceOf(platform, fields, call);
  const used = await place.use((files, how) => listFiles(files, absolute(place, path), how), { writes: false });
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
    const wanted = { path: absolute(place, path), offset, limit };
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
    const content = Buffer.from(text, encoding);
    const wanted = { path: absolute(place, path), content };
    const used = await place.use((files, how) => writeFile(files, wanted, how), { writes: true });
    const { toolingFiles } = used;
    return {
      ...aboutUse(place, used),
      path,
      size_bytes: content.length,
      ...(toolingFiles === null ? {} : { tooling_files: [...shortenTooling(toolingFiles, maxToolingFiles)] }),
    };
  },
);

function aboutUse(
  { about }: FilePlace,
  { restarted, warnings }: FileUse<unknown>,
  further: readonly string[] = [],
): FilePlace["about"] & { readonly restarted: boolean; readonly warnings: string[] } {
  return { ...about, restarted, warnings: [...warnings, ...further] };
}

/** Paths are the sandbox's own affair: whatever they lead to is in it. */
function absolute({ startFolder }: FilePlace, path: string): string {
  return path.startsWith("/") ? path : `${startFolder}/${path}`;
}
