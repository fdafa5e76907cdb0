import { toolingLines } from "../environments/tooling-schema.ts";
import type { ToolForm } from "../operation-row.ts";
import type {
  ListProcessesResponse,
  ProcessRow,
  StartProcessResponse,
  StopProcessResponse,
  WriteStdinResponse,
} from "./schema.ts";

const plain = {
  readOnly: false,
  destructive: false,
  idempotent: false,
  openWorld: false,
  mayTakeLong: false,
} as const;

/** `start_process` for agents. */
export const startProcessTool: ToolForm<StartProcessResponse> = {
  ...plain,
  title: "Start a background process",
  openWorld: true,
  text: ({ process_id: id, ports, session_id: session, warnings }) =>
    [
      `Process ${id} runs. Read its output with list_processes.`,
      ...ports.map(portLine),
      ...(session === undefined ? [] : [`session_id ${session}`]),
      ...warnings.map((warning) => `warning: ${warning}`),
    ].join("\n"),
};

/** `list_processes` for agents. */
export const listProcessesTool: ToolForm<ListProcessesResponse> = {
  ...plain,
  title: "List background processes",
  readOnly: true,
  idempotent: true,
  text: ({ processes }) =>
    processes.length === 0 ? "There are no background processes." : processes.flatMap(lines).join("\n"),
};

/** `write_stdin` for agents. */
export const writeStdinTool: ToolForm<WriteStdinResponse> = {
  ...plain,
  title: "Write to a process",
  text: ({ process_id: id, written_bytes: bytes, closed }) =>
    `Wrote ${bytes} bytes to ${id}${closed ? " and ended its input" : ""}.`,
};

/** `stop_process` for agents. */
export const stopProcessTool: ToolForm<StopProcessResponse> = {
  ...plain,
  title: "Stop or signal a process",
  destructive: true,
  text: (response) =>
    [
      stateLine(response),
      ...toolingLines(response.tooling_files),
      ...response.warnings.map((warning) => `warning: ${warning}`),
    ].join("\n"),
};

function stateLine({ process_id: id, command, state, exit_code: exitCode }: ProcessRow): string {
  const exit = exitCode === null ? "" : ` with exit code ${exitCode}`;
  return `${id} (${command.join(" ").slice(0, 80)}): ${state}${exit}`;
}

function portLine({ port, url }: ProcessRow["ports"][number]): string {
  return `port ${port}: ${url}`;
}

function lines(process: ListProcessesResponse["processes"][number]): readonly string[] {
  const { stdout, stderr } = process;
  return [
    stateLine(process),
    ...process.ports.map(portLine),
    ...toolingLines(process.tooling_files),
    ...(["stdout", "stderr"] as const).flatMap((name) => {
      const part = name === "stdout" ? stdout : stderr;
      return part === undefined || part.text === ""
        ? []
        : [`${name} from byte ${part.offset} to ${part.next_offset}:`, part.text.replace(/\n$/, "")];
    }),
  ];
}
