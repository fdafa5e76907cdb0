import { isForAgents } from "../schemas/agent-fields.ts";

/** Included only if true. */
const whereTrue: ReadonlySet<string> = new Set(["truncated", "read_only", "variables_lost"]);
/** Included only if not empty. */
const whereFilled: ReadonlySet<string> = new Set([
  "stdout",
  "stderr",
  "stdout_tail",
  "stderr_tail",
  "output",
  "warnings",
  "alerts",
  "tooling_files",
  "packages_installed",
  "displays",
]);

/** An answer without fields that are false, empty or redundant; an answer's only field is always kept. */
export function withoutPadding(answer: object): object {
  const { container_id: id } = answer as { readonly container_id?: unknown };
  const entries = Object.entries(answer).map(([field, value]): [string, unknown] => {
    if (!Array.isArray(value)) return [field, value];
    return [field, id === undefined ? value : value.map((row: unknown) => withoutId(row, id))];
  });
  if (entries.length < 2) return answer;
  return Object.fromEntries(entries.filter(([field, value]) => isForAgents(field, answer) && !isPadding(field, value)));
}

/** A row of an answer that names the sandbox once for all rows. */
function withoutId(row: unknown, id: unknown): unknown {
  if (typeof row !== "object" || row === null || (row as { readonly container_id?: unknown }).container_id !== id) {
    return row;
  }
  return Object.fromEntries(Object.entries(row).filter(([field]) => field !== "container_id"));
}

function isPadding(field: string, value: unknown): boolean {
  if (value === null) return true;
  if (value === false) return whereTrue.has(field);
  if (value === 0) return field.endsWith("_dropped_bytes");
  return whereFilled.has(field) && (value as { readonly length?: number }).length === 0;
}
