import { isWall } from "../../policy/isolation.ts";
import type { ToolForm } from "../operation-row.ts";
import { programText } from "../program-text.ts";
import type { ListFilesResponse, ReadFileResponse, WriteFileResponse } from "./files-schema.ts";
import type { EndSessionResponse, RunCodeResponse } from "./schema.ts";

/** `run_code` for agents. */
export const runCodeTool: ToolForm<RunCodeResponse> = {
  title: "Run a program in a session",
  readOnly: false,
  // It may overwrite files of earlier calls.
  destructive: true,
  idempotent: false,
  openWorld: true,
  mayTakeLong: true,
  caveat: (platform) => (isWall(platform.minIsolation("session")) ? null : preloadCaveat),
  text: (response) => programText(response, [`session_id ${response.session_id}`]),
};

const preloadCaveat =
  "Where this machine has no namespaces (bubblewrap) the program runs at isolation preload, on the machine itself, which is no wall against hostile code: `isolation` and the first of `warnings` in the answer say so.";

/** `end_session` for agents. */
export const endSessionTool: ToolForm<EndSessionResponse> = {
  title: "End a session",
  readOnly: false,
  destructive: true,
  idempotent: true,
  openWorld: false,
  mayTakeLong: false,
  text: ({ session_id: id }) => (id === null ? "There was no session to end." : `Session ${id} has ended.`),
};

const reading = { readOnly: true, destructive: false, idempotent: true, openWorld: false, mayTakeLong: false } as const;

/** `list_files` for agents. */
export const listFilesTool: ToolForm<ListFilesResponse> = {
  title: "List files of a session",
  ...reading,
  text: ({ files, truncated, warnings }) =>
    [
      ...(files.length === 0 ? ["The folder is empty."] : []),
      ...files.map(({ path, type, size_bytes: size }) =>
        type === "file" ? `${path} (${size} bytes)` : `${path} (${type})`,
      ),
      ...(truncated ? ["There are more."] : []),
      ...warnings.map((warning) => `warning: ${warning}`),
    ].join("\n"),
};

/** `read_file` for agents. */
export const readFileTool: ToolForm<ReadFileResponse> = {
  title: "Read a file of a session",
  ...reading,
  text: ({ path, content, encoding, size_bytes: size, truncated, warnings }) =>
    [
      `${path}, ${size} bytes${encoding === "base64" ? ", in base64" : ""}${truncated ? ", of which a part was read" : ""}:`,
      content,
      ...warnings.map((warning) => `warning: ${warning}`),
    ].join("\n"),
};

/** `write_file` for agents. */
export const writeFileTool: ToolForm<WriteFileResponse> = {
  title: "Write a file into a session",
  readOnly: false,
  destructive: true,
  idempotent: true,
  openWorld: false,
  mayTakeLong: false,
  text: ({ path, size_bytes: size, session_id: id, warnings }) =>
    [`Wrote ${size} bytes to ${path}.`, `session_id ${id}`, ...warnings.map((warning) => `warning: ${warning}`)].join(
      "\n",
    ),
};
