import type { OfferedTool } from "../offered-tool.ts";
import { jsonSchema } from "../schemas/json-schema.ts";

/** A valid call of each tool, with the fields that most calls have. */
const examples: Readonly<Record<string, object>> = {
  execute_code: { language: "python", code: "print(6 * 7)" },
  run_code: { code: "console.log(6 * 7)", language: "typescript" },
  end_session: {},
  list_files: { path: "." },
  read_file: { path: "out.txt" },
  write_file: { path: "in.txt", content: "..." },
  edit_file: { path: "in.txt", old_text: "...", new_text: "..." },
  run_tests: { project_path: "project", test_command: "npm test" },
  run_agent: { group: "family-chat", prompt: "What is on today's list?" },
  start_preview: { project_path: "project", command: "npm run dev", port: 3000 },
  preview_status: { id: "the preview's container_id" },
  stop_preview: { id: "the preview's container_id" },
  create_environment: { image: "python:3.14", project_root: "project" },
  run_command: { env_id: "the env_id", command: ["npm", "test"] },
  list_environments: {},
  destroy_environment: { env_id: "the env_id" },
  start_process: { command: ["npm", "start"], ports: [3000] },
  list_processes: {},
  write_stdin: { process_id: "the process_id", text: "y\n" },
  stop_process: { process_id: "the process_id" },
  read_logs: { id: "the sandbox_id", tail: 100 },
  get_metrics: { sandbox_id: "the sandbox_id" },
  list_alerts: {},
};

/** A correct call of a tool, to show after a wrong one. */
export function exampleOf({ name, request }: Pick<OfferedTool, "name" | "request">): object {
  const { required = [] } = jsonSchema(request, "input");
  return examples[name] ?? Object.fromEntries(required.map((field) => [field, "..."] as const));
}
