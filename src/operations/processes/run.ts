import { utf8Length } from "../../base/utf8.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import type { Platform } from "../../platform/platform.ts";
import { readCommand } from "../environments/read-command.ts";
import type { Operation } from "../operation.ts";
import { outputPart, processRow } from "./process-row.ts";
import {
  listProcessesRequestSchema,
  listProcessesResponseSchema,
  startProcessRequestSchema,
  startProcessResponseSchema,
  stopProcessRequestSchema,
  stopProcessResponseSchema,
  writeStdinRequestSchema,
  writeStdinResponseSchema,
} from "./schema.ts";

const defaultMaxBytes = 65_536;

/** `start_process`: a process that goes on when the call is over. */
export const startProcessOperation: Operation<
  typeof startProcessRequestSchema,
  typeof startProcessResponseSchema,
  Platform
> = {
  name: "start_process",
  description:
    "Starts a background process in an environment, such as a server or a watcher, and answers at once. Read its output with list_processes, write to it with write_stdin, end it with stop_process. It keeps the environment from being ended as idle.",
  request: startProcessRequestSchema,
  response: startProcessResponseSchema,
  run: async ({ environments }, request, { principal, signal }) => {
    const spec = readCommand(request);
    const environment = await environments.find(request.env_id, principal);
    return processRow(await environment.startProcess(spec, signal));
  },
};

/** `list_processes`: the background processes of an environment, and the output of one. */
export const listProcessesOperation: Operation<
  typeof listProcessesRequestSchema,
  typeof listProcessesResponseSchema,
  Platform
> = {
  name: "list_processes",
  description:
    "Lists the background processes of an environment. With process_id it shows that one's output from stdout_offset and stderr_offset on: ask again from next_offset for what is new. The newest 256 KiB of each stream are kept.",
  request: listProcessesRequestSchema,
  response: listProcessesResponseSchema,
  run: async ({ environments }, request, { principal }) => {
    const { processes } = await environments.find(request.env_id, principal);
    const { process_id: id, stdout_offset: stdout = 0, stderr_offset: stderr = 0 } = request;
    if (id === undefined) return { processes: processes.all.map(processRow) };
    const { max_bytes: maxBytes = defaultMaxBytes } = request;
    const process = processes.find(id);
    return {
      processes: [
        {
          ...processRow(process),
          stdout: outputPart(process, "stdout", { offset: stdout, maxBytes }),
          stderr: outputPart(process, "stderr", { offset: stderr, maxBytes }),
        },
      ],
    };
  },
};

/** `write_stdin`: input for a background process. */
export const writeStdinOperation: Operation<typeof writeStdinRequestSchema, typeof writeStdinResponseSchema, Platform> =
  {
    name: "write_stdin",
    description: "Writes text to the standard input of a background process, and ends that input when asked.",
    request: writeStdinRequestSchema,
    response: writeStdinResponseSchema,
    run: async ({ environments }, request, { principal }) => {
      const { text = "", close = false } = request;
      if (!text.isWellFormed()) throw invalidField("text", "Unicode text", "half a surrogate pair");
      const { processes } = await environments.find(request.env_id, principal);
      const process = processes.find(request.process_id);
      await process.write(text, close);
      return { process_id: process.id, written_bytes: utf8Length(text), closed: close };
    },
  };

/** `stop_process`: the end of a background process. */
export const stopProcessOperation: Operation<
  typeof stopProcessRequestSchema,
  typeof stopProcessResponseSchema,
  Platform
> = {
  name: "stop_process",
  description:
    "Ends a background process with all that it started: SIGTERM, and SIGKILL 750 ms later. Its output can still be read.",
  request: stopProcessRequestSchema,
  response: stopProcessResponseSchema,
  run: async ({ environments }, request, { principal }) => {
    const environment = await environments.find(request.env_id, principal);
    const process = environment.processes.find(request.process_id);
    const warnings = await environment.stopProcess(process);
    await process.ended;
    return { ...processRow(process), warnings: [...warnings] };
  },
};
