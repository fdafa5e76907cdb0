import { isForAgents } from "./agent-fields.ts";
import type { OfferedTool } from "../offered-tool.ts";
import { jsonSchema, type JsonSchema, type ObjectSchema } from "./json-schema.ts";

/** What an answer has instead of the response if the platform refused or failed. */
const always: Readonly<Record<string, JsonSchema>> = { error: { type: "object" } };

/** What identifies a call that continues. */
const whileRunning: Readonly<Record<string, JsonSchema>> = {
  run_id: { type: "string" },
};

/** Self-explanatory fields that few answers have or few readers need. */
const seldom: ReadonlySet<string> = new Set([
  "oci_runtime",
  "alerts",
  "displays",
  "exception",
  "variables_lost",
  "warnings",
  "restarted",
  "tooling_files",
  "truncated",
  "engine",
  "isolation",
  "memory_used_mb",
  "duration_ms",
  "started_at",
  "ends_at",
  "packages_installed",
  "stdout_dropped_bytes",
  "stderr_dropped_bytes",
]);

/**
 * The structured answer of a tool: its fields and their types. None is required, since answers leave out what is empty, and
 * those that are errors or go on have few; what each means is said in the tool's description and in the answer's text.
 */
export function outputSchemaOf({ request, response, tool }: OfferedTool): ObjectSchema {
  const { properties = {} } = jsonSchema(response, "output");
  // Fields that repeat the place or file of the call.
  const isOfCaller = (name: string): boolean => name !== "session_id" && Object.hasOwn(request.shape, name);
  const isShort = Object.keys(properties).length < 5;
  const fields = Object.entries(properties)
    .filter(([name]) => isForAgents(name, properties) && (isShort || !(seldom.has(name) || isOfCaller(name))))
    .map(([name, schema]) => [name, typeOf(schema)] as const);
  return {
    type: "object",
    properties: { ...Object.fromEntries(fields), ...always, ...(tool.mayTakeLong ? whileRunning : {}) },
  };
}

/** Just the type; of a nullable field it is the other type, as null fields are left out. */
function typeOf({ type, anyOf }: JsonSchema): JsonSchema {
  if (type !== undefined) return { type };
  const others = anyOf?.filter((each) => each.type !== "null") ?? [];
  return others.length === 1 && others[0] !== undefined ? typeOf(others[0]) : {};
}
