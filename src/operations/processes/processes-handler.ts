import { settlesWithin } from "../../base/abort.ts";
import { utf8Length } from "../../base/streams/utf8.ts";
import { invalidField } from "../../errors/glovebox-error.ts";
import { handle } from "../handling/handler.ts";
import { placeOf } from "./process-place.ts";
import { outputPart } from "./process-row.ts";
import { listProcessesContract, stopProcessContract, writeStdinContract } from "./processes-contract.ts";

const defaultMaxBytes = 65_536;
/** How long to wait for the end of a process after a signal. */
const signalledMs = 300;

/** `list_processes`: the background processes of an environment or a session, and the output of one. */
export const listProcessesHandler = handle(listProcessesContract, async (platform, request, call) => {
  const { processes, about, rowOf } = await placeOf(platform, request, call);
  const { process_id: id, stdout_offset: stdout = 0, stderr_offset: stderr = 0 } = request;
  if (id === undefined) return { ...about, processes: await Promise.all(processes.all.map(rowOf)) };
  const { max_bytes: maxBytes = defaultMaxBytes } = request;
  const process = processes.find(id);
  return {
    ...about,
    processes: [
      {
        ...(await rowOf(process)),
        stdout: outputPart(process, "stdout", { offset: stdout, maxBytes }),
        stderr: outputPart(process, "stderr", { offset: stderr, maxBytes }),
      },
    ],
  };
});

/** `write_stdin`: input for a background process. */
export const writeStdinHandler = handle(writeStdinContract, async (platform, request, call) => {
  const { text = "", close = false } = request;
  if (!text.isWellFormed()) throw invalidField("text", "Unicode text", "half a surrogate pair");
  const { processes, about } = await placeOf(platform, request, call);
  const process = processes.find(request.process_id);
  await process.write(text, close);
  return { ...about, process_id: process.id, written_bytes: utf8Length(text), closed: close };
});

/** `stop_process`: ends a background process, or sends it a signal. */
export const stopProcessHandler = handle(stopProcessContract, async (platform, request, call) => {
  const { about, processes, stopProcess, rowOf } = await placeOf(platform, request, call);
  const process = processes.find(request.process_id);
  const { signal } = request;
  if (signal === undefined || signal === "SIGKILL") {
    const warnings = await stopProcess(process, { atOnce: signal === "SIGKILL" });
    await process.ended;
    return { ...about, ...(await rowOf(process)), warnings: [...warnings] };
  }
  await process.signal(signal);
  // If the signal ends it, the answer says so.
  await settlesWithin(process.ended, signalledMs);
  return { ...about, ...(await rowOf(process)), warnings: [] };
});
