import { z } from "zod";
import { maxArguments, maxEnvironmentEntries, maxPackages } from "./contract/wire-values.ts";
import { listOf, textsByName, runSettings, secretsSchema } from "./contract/request-schemas.ts";
import { defineOperation } from "./contract/operation-contract.ts";
import { programResponse } from "./contract/program-schema.ts";

const mount = z.strictObject({
  path: z.string().min(1).describe("Folder or file of this machine, below a folder of the mount allowlist."),
  target: z.string().optional().describe("Relative path below /workspace/extra; default: its own name."),
  read_only: z.boolean().optional().describe("Default true."),
});

const wrapServerRequestSchema = z.strictObject({
  command: listOf(z.string(), maxArguments)
    .min(1)
    .describe("What starts the server, as a client of MCP would start it."),
  packages: listOf(z.string(), maxPackages).optional().describe("Packages beside those that the command names."),
  environment: textsByName(maxEnvironmentEntries).optional().describe("Environment variables of the server."),
  secrets: secretsSchema.optional(),
  mounts: z.array(mount).max(32).optional(),
  ...runSettings,
});

const wrapServerResponseSchema = z.object(programResponse);

/**
 * `wrap_server`: runs any MCP server over standard input and output in a sandbox, until its client leaves (SPEC MC6).
 */
export const wrapServerContract = defineOperation({
  name: "wrap_server",
  audience: "local",
  description:
    "Runs a server of MCP in a fresh sandbox: its packages are installed first, then its standard streams are the call's.",
  request: wrapServerRequestSchema,
  response: wrapServerResponseSchema,
  freshSandbox: true,
  routes: [],
});

export type WrapServerResponse = z.output<typeof wrapServerResponseSchema>;
