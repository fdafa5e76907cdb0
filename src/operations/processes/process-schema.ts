import { z } from "zod";
import { toolingFilesSchema } from "../environments/tooling-schema.ts";

/** The field `process_id` of requests about one process. */
export const processId = z.string().describe("The process's id, as start_process gave it.");

/** One background process. */
export const processSchema = z.object({
  process_id: z.string(),
  command: z.array(z.string()),
  state: z.enum(["running", "exited", "lost"]).describe("lost: its container was lost."),
  exit_code: z.number().nullable().describe("128 + N if killed by signal N; null while it runs and when it was lost."),
  started_at: z.string(),
  ports: z
    .array(z.object({ port: z.number(), url: z.string() }))
    .describe("Its ports, each with where it is reached on the server's machine while the process runs."),
  tooling_files: toolingFilesSchema
    .optional()
    .describe(
      "In an environment: files that tools of the project's owner run by themselves and that have changed since the process was started; of many in one folder the folder; at most 100.",
    ),
  tooling_unseen: z
    .array(z.string())
    .optional()
    .describe("Why not all of these files could be compared, and what to do; missing: all were."),
});

export type ProcessRow = z.output<typeof processSchema>;

/** Its state, in a line. */
export function stateLine({ process_id: id, command, state, exit_code: exitCode }: ProcessRow): string {
  const exit = exitCode === null ? "" : ` with exit code ${exitCode}`;
  return `${id} (${command.join(" ").slice(0, 80)}): ${state}${exit}`;
}

/** Where one of its ports is reachable. */
export function portLine({ port, url }: ProcessRow["ports"][number]): string {
  return `port ${port}: ${url}`;
}
