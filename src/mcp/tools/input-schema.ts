import { mebibyte } from "../../base/bytes.ts";
import type { Deployment } from "../../operations/contract/operation-contract.ts";
import type { Platform } from "../../platform/platform.ts";
import { z } from "zod";
import type { OfferedTool } from "./tool-profiles.ts";
import { jsonSchema, type JsonSchema, type ObjectSchema } from "./json-schema.ts";

/** Fields of limits, in the wire's units. */
type WireLimits = Readonly<Record<"cpus" | "memory_mb" | "timeout_seconds" | "pids" | "disk_mb", number>>;

type Settings = Platform["config"];
type LimitKind = keyof Settings["limits"];

/** What tool descriptions say about the deployment. */
export interface ToolDeployment extends Deployment {
  /** Defaults by kind of work. */
  readonly limits: Readonly<Record<LimitKind, WireLimits>>;
  readonly ceilings: WireLimits;
  /** Names of the secrets that programs may request. */
  readonly secrets: readonly string[];
  /** Whether its operator has configured how strongly programs are isolated. */
  readonly choosesIsolation: boolean;
  /** Whether it builds projects' own Dockerfiles. */
  readonly buildsDockerfiles: boolean;
}

/** What the tools of a platform say about it. */
export function toolDeployment(platform: Pick<Platform, "config" | "minIsolation">): ToolDeployment {
  const { limits, ceilings, secrets, explicitSettings, buildDockerfiles, prebuiltOnly } = platform.config;
  const kinds = Object.entries(limits).map(([kind, given]) => [kind, wireLimits(given)] as const);
  return {
    sessionIsolation: platform.minIsolation("session"),
    limits: Object.fromEntries(kinds) as Record<LimitKind, WireLimits>,
    ceilings: wireLimits(ceilings),
    secrets: secrets.map(({ name }) => name),
    choosesIsolation: explicitSettings.includes("min_isolation"),
    buildsDockerfiles: buildDockerfiles && !prebuiltOnly,
  };
}

/** The kind of work whose limits apply to a tool's programs. */
const kindOf: Readonly<Record<string, LimitKind>> = {
  execute_code: "execute",
  run_code: "session",
  create_environment: "environment",
  run_command: "environment",
  run_tests: "test",
  start_preview: "preview",
  run_agent: "agent",
};

/** Accepted but not listed: aliases of listed fields, what operators decide, and names of what ends with its call. */
const unlisted: ReadonlySet<string> = new Set([
  "env",
  "oci_runtime",
  "filename",
  "read_only_root",
  "report_file",
  "run_command.stdin",
  "run_command.tail_bytes",
  "create_environment.tooling_files",
  "execute_code.name",
  "create_environment.name",
  "run_tests.name",
  "run_agent.name",
  "run_code.environment",
  "run_agent.limits",
  "run_agent.network",
  "run_agent.image",
  "run_agent.engine",
]);

/** Maximum length of the secrets' names in a schema. */
const maxSecretCharacters = 40;

/**
 * Descriptions for agents, by field or `tool.field`, where the contract's are longer than an agent with many tools
 * needs.
 */
const words: Readonly<Record<string, string>> = {
  network: '"none" (default), "registries", "open", or domains: ["example.com"].',
  engine: "",
  image: "",
  "create_environment.image": "python:3.14, node:24; pulled when missing.",
  environment: "Environment variables.",
  packages: '["lodash@4.17.21"]; default "auto": what the code imports.',
  "execute_code.language": "",
  "execute_code.runtime": "Default node.",
  "run_code.runtime": "Default bun.",
  "run_code.language": "Default typescript.",
  code: "",
  stdin: "",
  args: "",
  context_files: "Beside the code; or a path on the host.",
  artifacts: 'Result files: ["*.png"].',
  secrets: "As environment variables, by name.",
  name: "",
  min_isolation: "The weakest that is accepted.",
  keep_variables: "",
  "run_code.context": "A name: own variables.",
  session_id: "Default: this connection's.",
  process_id: "From start_process.",
  env_id: "From create_environment.",
  "create_environment.env_id": "A name of your choice.",
  "create_environment.project_root": "Host folder, at /workdir; default: an empty one.",
  "create_environment.setup_commands": 'Once as root, with package registries: ["pip install ruff"].',
  "create_environment.install_commands": 'Once after those, as the project\'s owner: ["npm ci"].',
  "create_environment.read_only": "Commands cannot change the project.",
  "run_command.command": 'Shell line, or words: ["npm","test"].',
  "start_process.command": 'Shell line, or words: ["npm","start"].',
  cwd: "Default: where files are.",
  "read_file.limit": "Bytes; default and at most 10485760.",
  encoding: "",
  "list_files.path": "Default: where programs start.",
  "read_file.path": "Relative to where programs start.",
  "write_file.path": "Relative to where programs start.",
  "edit_file.path": "Relative to where programs start.",
  "edit_file.old_text": "As in the file.",
  "edit_file.new_text": "",
  "edit_file.replace_all": "Every match; default: the only one.",
  project_path: "Host folder, which is copied.",
  setup_command: 'Installs what it needs; default: by the lockfile; "": nothing.',
  include_ignored: "Copy node_modules and ignored files, too.",
  "run_tests.test_command": "Such as npm test; default: found.",
  "run_tests.trusted_files": "Laid over the copy before the tests: {path, content}.",
  "run_tests.only_tests": "Names, as in failures.",
  "run_tests.reports": "Formats to return.",
  dockerfile: "Build the project's.",
  "run_agent.group": "Whose folders it has.",
  "run_agent.prompt": "",
  "run_agent.agent_session_id": "new_session_id of an earlier run, to continue it.",
  "start_preview.wait_seconds": "Default 30.",
  "stop_process.signal": "Sends only this; default: stops it gracefully.",
  "start_process.ports": "TCP ports it listens on: the answer has their URLs.",
  "list_processes.stdout_offset": "Default 0.",
  "list_processes.stderr_offset": "Default 0.",
  "preview_status.id": "container_id from start_preview.",
  "stop_preview.id": "container_id from start_preview.",
  "preview_status.wait_seconds": "While it is starting; default 0.",
  "get_metrics.samples": "The newest so many; default 60.",
  "list_alerts.limit": "The newest so many; default 100.",
  "list_processes.max_bytes": "Default 65536.",
  "list_processes.process_id": "Shows this one's output.",
  "read_logs.id": "A sandbox_id, an env_id or a live name.",
  "read_logs.offset": "First entry; default 0.",
  "read_logs.tail": "Instead: the newest so many.",
  "read_logs.wait_seconds": "For a first entry; default 0.",
};

/** Arguments of a call that queries a running one. */
export const followUpSchema: z.ZodObject<{ run_id: z.ZodString; cancel: z.ZodOptional<z.ZodBoolean> }> = z.strictObject(
  {
    run_id: z.string().describe("Alone: waits for the rest of a running call."),
    cancel: z.boolean().optional().describe("With run_id: ends it."),
  },
);

/**
 * The arguments of a tool, kept short as they cost tokens in every conversation. A tool that may take long also takes
 * `run_id`, alone, so none of its arguments is marked as required: schemas with alternatives at their root are refused
 * by models' APIs.
 */
export function inputSchemaOf({ name, request, tool }: OfferedTool, deployment?: ToolDeployment): ObjectSchema {
  const { required = [], properties = {}, ...rest } = jsonSchema(request, "input");
  const listed = Object.entries(properties)
    .filter(([field]) => isListed(name, field, deployment))
    .map(([field, schema]) => {
      const isRequired = required.includes(field) && tool.mayTakeLong;
      return [field, describe(shorter(schema), { name, field, deployment, isRequired, properties })] as const;
    });
  if (!tool.mayTakeLong) {
    return { ...rest, ...(required.length === 0 ? {} : { required }), properties: Object.fromEntries(listed) };
  }
  const followUp = jsonSchema(followUpSchema, "input");
  return { ...rest, properties: { ...Object.fromEntries(listed), ...followUp.properties } };
}

interface Place {
  readonly name: string;
  readonly field: string;
  readonly deployment: ToolDeployment | undefined;
  readonly isRequired: boolean;
  /** Of the tool. */
  readonly properties: object;
}

function describe(schema: JsonSchema, { name, field, deployment, isRequired, properties }: Place): JsonSchema {
  if (field === "secrets")
    return { type: "array", items: { type: "string" }, description: wordsOf(name, field, deployment) ?? "" };
  if (field === "limits") return limitsSchema(schema, name, { deployment, properties });
  const own = wordsOf(name, field, deployment) ?? schema.description ?? "";
  const told = isRequired && !own.startsWith("Required.") ? `Required. ${own}`.trimEnd() : own;
  const { description: _, ...rest } = schema;
  return told === "" ? rest : { ...rest, description: told };
}

/**
 * The fields of limits, with their defaults and ceilings in one sentence; the time limit is a separate field if the
 * tool has it.
 */
function limitsSchema(
  { type, properties: fields = {} }: JsonSchema,
  tool: string,
  { deployment, properties }: Pick<Place, "deployment" | "properties">,
): JsonSchema {
  const names = Object.keys(fields).filter(
    (field) => field !== "timeout_seconds" || !Object.hasOwn(properties, "timeout_seconds"),
  );
  const description = limitsWords(tool, names, deployment);
  return {
    type,
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(names.map((name) => [name, { type: "number" }] as const)),
  };
}

const checkedOnly = ["minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern", "format"] as const;

/** Without what only validation needs: the front end checks every argument against the full schema. */
function shorter(schema: JsonSchema): JsonSchema {
  const { description, anyOf, items, properties, additionalProperties, propertyNames: _, ...rest } = schema;
  for (const bound of checkedOnly) delete (rest as Record<string, unknown>)[bound];
  for (const bound of ["maximum", "minimum"] as const) {
    if (Math.abs(rest[bound] ?? 0) === Number.MAX_SAFE_INTEGER) delete rest[bound];
  }
  const inside = (part: JsonSchema): JsonSchema => {
    const { description: __, required: ___, ...short } = shorter(part);
    return short;
  };
  return {
    ...rest,
    ...(description === undefined ? {} : { description }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(inside) }),
    ...(items === undefined ? {} : { items: inside(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inside(part)])) }),
    ...(typeof additionalProperties === "object" ? { additionalProperties: inside(additionalProperties) } : {}),
  };
}

function wireLimits({ cpus, memoryBytes, timeoutMs, pids, diskBytes }: Settings["ceilings"]): WireLimits {
  return {
    cpus,
    memory_mb: memoryBytes / mebibyte,
    timeout_seconds: timeoutMs / 1000,
    pids,
    disk_mb: diskBytes / mebibyte,
  };
}

/** Whether a field is listed; secrets, isolation and Dockerfiles only if the deployment has configured them. */
function isListed(tool: string, field: string, deployment: ToolDeployment | undefined): boolean {
  if (field === "secrets") return deployment === undefined || deployment.secrets.length > 0;
  if (field === "min_isolation") return deployment?.choosesIsolation ?? true;
  if (field === "dockerfile") return deployment?.buildsDockerfiles ?? true;
  return !unlisted.has(field) && !unlisted.has(`${tool}.${field}`);
}

/** A field's description for agents; undefined: the contract's. */
function wordsOf(tool: string, field: string, deployment: ToolDeployment | undefined): string | undefined {
  const own = words[`${tool}.${field}`] ?? words[field];
  if (field === "secrets" && deployment !== undefined) return `${own} ${secretNames(deployment)}`;
  const limits = field === "timeout_seconds" ? limitsOf(tool, deployment) : undefined;
  return limits === undefined
    ? own
    : `Default ${limits.default.timeout_seconds}, at most ${limits.most.timeout_seconds}.`;
}

/** `Default (at most): cpus 1 (4), memory_mb 512 (8192).`, if the deployment is known. */
function limitsWords(
  tool: string,
  fields: readonly string[],
  deployment: ToolDeployment | undefined,
): string | undefined {
  const limits = limitsOf(tool, deployment);
  if (limits === undefined) return undefined;
  const each = (fields as readonly (keyof WireLimits)[]).map(
    (field) => `${field} ${limits.default[field]} (${limits.most[field]})`,
  );
  return `Default (at most): ${each.join(", ")}.`;
}

function limitsOf(
  tool: string,
  deployment: ToolDeployment | undefined,
): { readonly default: WireLimits; readonly most: WireLimits } | undefined {
  const kind = kindOf[tool];
  if (deployment === undefined || kind === undefined) return undefined;
  return { default: deployment.limits[kind], most: deployment.ceilings };
}

/** As many as fit in a line. */
function secretNames({ secrets }: ToolDeployment): string {
  const fitting = secrets.filter((_, index) => secrets.slice(0, index + 1).join(", ").length <= maxSecretCharacters);
  const others = secrets.length - fitting.length;
  return `Of: ${fitting.join(", ")}${others === 0 ? "" : ` and ${others} more`}.`;
}
