import { z } from "zod";
import { camelName } from "../../src/library/objects/forms/camel.ts";
import { createEnvironmentContract } from "../../src/operations/environments/create-environment-contract.ts";
import { executeCodeContract } from "../../src/operations/execute/execute-contract.ts";
import { openSessionContract } from "../../src/operations/session/sessions-contract.ts";
import { runCodeContract } from "../../src/operations/session/run-code-contract.ts";
import { runCommandContract } from "../../src/operations/environments/run-command-contract.ts";
import { runAgentContract } from "../../src/operations/agents/run-agent-contract.ts";
import { runTestsContract } from "../../src/operations/tests/run-tests-contract.ts";
import { startPreviewContract } from "../../src/operations/previews/start-preview-contract.ts";
import { startProcessContract } from "../../src/operations/processes/start-process-contract.ts";
import type { OperationContract } from "../../src/operations/contract/operation-contract.ts";

/** What options are written for, the fields that an object knows by itself, and a sentence about them. */
const optionTypes: readonly (readonly [string, OperationContract, readonly string[], string])[] = [
  ["ExecuteOptions", executeCodeContract, [], "A program for a fresh sandbox."],
  ["TestsOptions", runTestsContract, [], "A project's tests in a fresh sandbox."],
  ["PreviewOptions", startPreviewContract, [], "A project's page, served from a sandbox."],
  ["AgentOptions", runAgentContract, [], "A coding agent's run for a group."],
  ["SessionOptions", openSessionContract, [], "What a session is opened with, and keeps."],
  ["SessionRunOptions", runCodeContract, ["session_id"], "A program in a session."],
  ["EnvironmentOptions", createEnvironmentContract, [], "What an environment is made of."],
  ["CommandOptions", runCommandContract, ["env_id"], "A command in an environment."],
  ["ProcessOptions", startProcessContract, ["env_id", "session_id"], "A background process."],
];

/** A JSON schema, as far as requests use it. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** The types of the library's options, documented by the words of the schemas. */
export function writeOptionTypes(): string {
  const types = optionTypes.map(([name, { request }, known, sentence]) => {
    const schema = z.toJSONSchema(request, { io: "input" }) as Schema;
    return `/** ${sentence} */\nexport interface ${name} ${fieldsOf(schema, known)}`;
  });
  return `// Written by scripts/write-library-options.ts from the operations' schemas.\n\n${types.join("\n\n")}\n`;
}

function fieldsOf({ properties = {}, required = [] }: Schema, known: readonly string[] = []): string {
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    if (known.includes(name)) return [];
    const comment = schema.description === undefined ? "" : `/** ${inCamelCase(schema.description)} */\n`;
    const [mark, none] = required.includes(name) ? ["", ""] : ["?", " | undefined"];
    return [`${comment}readonly ${camelName(name)}${mark}: ${typeOf(schema)}${none};`];
  });
  return `{\n${fields.join("\n")}\n}`;
}

function typeOf(schema: Schema): string {
  const { type, anyOf, items, properties } = schema;
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" | ");
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (type === "array") return `readonly (${typeOf(items ?? {})})[]`;
  if (type === "object") return properties === undefined ? "Readonly<Record<string, string>>" : fieldsOf(schema);
  if (type === "integer") return "number";
  if (type === "string" || type === "number" || type === "boolean") return type;
  throw new TypeError(`No type is known for ${JSON.stringify(schema)}.`);
}

/** The words speak of the wire's fields; names of tools and operations stay. */
function inCamelCase(text: string): string {
  return text.replaceAll("limits.timeout_seconds", "limits.timeoutSeconds").replaceAll("*/", "*\\/");
}
