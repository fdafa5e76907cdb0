import { decodeBase64 } from "./handling/request-parts.ts";
import { checkFileCount, type ContextFile } from "../policy/request/context-files.ts";
import {
  openContextFile,
  type ContextFileOptions,
  type OpenContextFile,
} from "../workloads/execute/context-file-reader.ts";
import { openMountGate } from "./mounts-handler.ts";
import type { ExecuteRequest } from "./execute-contract.ts";
import type { MountNeeds } from "./handling/needs.ts";

/**
 * The context files of a request; those given by path, opened through the mount gate, stay open until this is disposed.
 */
interface OpenContextFiles extends AsyncDisposable {
  readonly contextFiles: readonly ContextFile[];
  /** Warnings of the gate. */
  readonly notices: readonly string[];
}

/** Opens the context files of a request. `field`: the list's name in errors. @throws what `openContextFile` throws */
export async function openContextFiles(
  platform: MountNeeds,
  files: NonNullable<ExecuteRequest["context_files"]>,
  { field, inMemory }: ContextFileOptions = { field: "context_files" },
): Promise<OpenContextFiles> {
  checkFileCount(files.length, field);
  const isNamed = files.some((file) => typeof file === "string");
  const { gate, notices } = isNamed ? await openMountGate(platform) : { gate: null, notices: [] };
  const opening = files.map(async (file, index): Promise<ContextFile | OpenContextFile> => {
    if (typeof file !== "string") {
      return {
        path: file.path,
        content: file.encoding === "base64" ? decodeBase64(file.content, `${field}[${index}].content`) : file.content,
      };
    }
    if (gate === null) throw new TypeError("A file given by path needs the gate.");
    return openContextFile(file, gate, { field: `${field}[${index}]`, inMemory });
  });
  const close = async (): Promise<void> => {
    const settled = await Promise.allSettled(opening);
    const opened = settled.flatMap((file) => (file.status === "fulfilled" ? [file.value] : []));
    await Promise.all(opened.map(async (file) => Symbol.asyncDispose in file && file[Symbol.asyncDispose]()));
  };
  try {
    return { contextFiles: await Promise.all(opening), notices, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
