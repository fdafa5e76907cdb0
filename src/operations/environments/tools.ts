import type { ToolForm } from "../operation-row.ts";
import type {
  CreateEnvironmentResponse,
  DestroyEnvironmentResponse,
  ListEnvironmentsResponse,
  RunCommandResponse,
} from "./schema.ts";
import { toolingLines } from "./tooling-schema.ts";

/** `create_environment` for agents. */
export const createEnvironmentTool: ToolForm<CreateEnvironmentResponse> = {
  title: "Start an environment",
  readOnly: false,
  destructive: false,
  idempotent: false,
  openWorld: true,
  mayTakeLong: true,
  text: ({ env_id: id, image, engine, mount_path: path, warnings }) =>
    [`Environment ${id} is up: ${image} on ${engine}, commands start in ${path}.`, ...warningLines(warnings)].join(
      "\n",
    ),
};

/** `run_command` for agents. */
export const runCommandTool: ToolForm<RunCommandResponse> = {
  title: "Run a command",
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
  mayTakeLong: true,
  text: (response) => {
    const { outcome, exit_code: exitCode, duration_ms: durationMs, error, warnings } = response;
    const exit = outcome === "failed" && exitCode !== null ? ` with exit code ${exitCode}` : "";
    return [
      `${outcome}${exit} after ${durationMs} ms.`,
      ...(error === undefined ? [] : [`${error.error_type}: ${error.message}`, error.suggestion]),
      ...streamLines("stdout", response.stdout_tail, response.stdout_dropped_bytes),
      ...streamLines("stderr", response.stderr_tail, response.stderr_dropped_bytes),
      ...toolingLines(response.tooling_files),
      ...warningLines(warnings),
    ].join("\n");
  },
};

/** `list_environments` for agents. */
export const listEnvironmentsTool: ToolForm<ListEnvironmentsResponse> = {
  title: "List environments",
  readOnly: true,
  destructive: false,
  idempotent: true,
  openWorld: false,
  mayTakeLong: false,
  text: ({ environments }) =>
    environments.length === 0
      ? "You have no environments."
      : environments
          .map(
            ({ env_id: id, image, engine, running_commands: commands, running_processes: processes }) =>
              `${id}: ${image} on ${engine}, ${commands} commands and ${processes} background processes run`,
          )
          .join("\n"),
};

/** `destroy_environment` for agents. */
export const destroyEnvironmentTool: ToolForm<DestroyEnvironmentResponse> = {
  title: "Destroy an environment",
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: false,
  mayTakeLong: false,
  text: ({ env_id: id }) => `Environment ${id} is gone.`,
};

function streamLines(name: string, text: string, droppedBytes: number): readonly string[] {
  if (text === "") return [];
  const dropped = droppedBytes === 0 ? "" : ` (the newest part; ${droppedBytes} bytes before it were dropped)`;
  return [`${name}${dropped}:`, text.replace(/\n$/, "")];
}

function warningLines(warnings: readonly string[]): readonly string[] {
  return warnings.map((warning) => `warning: ${warning}`);
}
