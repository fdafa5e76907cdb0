import type { PlatformParts } from "../handling/platform-parts.ts";
import type { ContextFile } from "../../policy/request/context-files.ts";
import { readContextFile } from "../../workloads/execute/context-file-reader.ts";
import { openMountGate } from "../mounts/open-mount-gate.ts";
import type { ExecuteRequest } from "./execute-contract.ts";

/** The context files of a request, those given by path read through the mount gate, and what the gate has to tell. */
export async function readContextFiles(
  platform: PlatformParts,
  files: NonNullable<ExecuteRequest["context_files"]>,
  field = "context_files",
): Promise<{ readonly contextFiles: readonly ContextFile[]; readonly notices: readonly string[] }> {
  const isNamed = files.some((file) => typeof file === "string");
  const { gate, notices } = isNamed ? await openMountGate(platform) : { gate: null, notices: [] };
  const contextFiles = files.map(async (file, index): Promise<ContextFile> => {
    if (typeof file !== "string") {
      return {
        path: file.path,
        content: file.encoding === "base64" ? Buffer.from(file.content, "base64") : file.content,
      };
    }
    if (gate === null) throw new TypeError("A file given by path needs the gate.");
    return readContextFile(file, gate, `${field}[${index}]`);
  });
  return { contextFiles: await Promise.all(contextFiles), notices };
}
