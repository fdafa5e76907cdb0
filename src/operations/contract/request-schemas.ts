import { z } from "zod";
import { isolationLevels, maxArguments, maxDomains } from "./wire-values.ts";

/** Names of tests to run. */
export const maxTestNames = 10_000;

/** Commands that prepare an environment, of each kind: an image is made after them, not after each. */
export const maxSetupCommands = 64;
/** Secrets. */
const maxSecrets = 64;
/** Formats of reports: each at most once. */
export const maxReportFormats = 2;
/** Images or sandboxes that the operator names at once. */
export const maxNamed = 1024;

/** A list with a maximum of items, which `parseRequest` checks before it looks at any of them. */
export function listOf<Item extends z.ZodType>(item: Item, max: number): z.ZodArray<Item> {
  return z.array(item).max(max);
}

/** Texts by their names, at most `max`, which `parseRequest` checks before it looks at any of them. */
export function textsByName(max: number): z.ZodRecord<z.ZodString, z.ZodString> {
  return z.record(z.string(), z.string()).meta({ maxProperties: max });
}

const form = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** A server-made id: a short word, a dash and 20 characters of its alphabet. */
const idForm = /^[a-z]{2,5}-[0-9a-hjkmnp-tv-z]{20}$/;

/** Whether a text may be a name: nothing that a terminal, a shell or a list would mistake for something else. */
function isName(text: string): boolean {
  return form.test(text) && !text.includes("..") && !idForm.test(text);
}

const expectedName =
  "expected 1 to 64 letters, digits, hyphens, underscores and dots that begin with a letter or digit, not in the form of an id";

/** A text that names something. */
export const nameText: z.ZodString = z.string().refine(isName, expectedName);

/** The field `name` of requests that start something (SPEC RT10). */
export const nameSchema: z.ZodOptional<z.ZodString> = nameText
  .optional()
  .describe(
    "Your own word for it, by which you find it again: letters, digits, hyphens, underscores and dots, at most 64, not in the form of an id. It need not be unique.",
  );

/** A name as lists show it. */
export const nameShown: z.ZodNullable<z.ZodString> = z
  .string()
  .nullable()
  .describe("What its caller named it; null: nothing.");

/** What runs, as lists show it. */
export const workShown: z.ZodNullable<z.ZodString> = z
  .string()
  .nullable()
  .describe("What runs in it, or ran last: the language or the command, and its first words; null: nothing yet.");

const maxLabels = 16;
/** Length of a name and a value, including the separator. */
const maxLabelCharacters = 63 + 1 + 256;

/** PostgreSQL cannot store it. */
const noNul = "expected no NUL";
const hasNoNul = (value: string): boolean => !value.includes("\0");

/** The field `labels` of requests that create something. */
export const labelsSchema: z.ZodType<Record<string, string>, Record<string, string>> = z
  .record(
    z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/, "expected 1 to 63 letters, digits and ._/-"),
    z.string().max(256).refine(hasNoNul, noNul),
  )
  .refine((labels) => Object.keys(labels).length <= maxLabels, `expected at most ${maxLabels} labels`)
  .meta({ maxProperties: maxLabels })
  .describe('Your own marks, at most 16, by which lists can be filtered: {"job": "1234"}.');

/** The field `label` of requests that list something. */
export const labelFilterSchema: z.ZodType<string[], string[]> = z
  .array(
    z
      .string()
      .regex(/^[^=]{1,63}=/, "expected KEY=VALUE")
      .max(maxLabelCharacters)
      .refine(hasNoNul, noNul),
  )
  .max(maxLabels)
  .describe("Only what has this label, written KEY=VALUE; several: all of them.");

/** Labels as answers show them; empty for none. */
export const labelsShown: z.ZodType<Record<string, string>> = z.record(z.string(), z.string());

/** Whether something has every label of a filter. */
export function hasLabels(labels: Readonly<Record<string, string>>, filter: readonly string[] = []): boolean {
  return filter.every((each) => {
    const [name, value] = splitLabel(each);
    return Object.hasOwn(labels, name) && labels[name] === value;
  });
}

/** The name and the value of one label of a filter. */
export function splitLabel(label: string): readonly [name: string, value: string] {
  const at = label.indexOf("=");
  return [label.slice(0, at), label.slice(at + 1)];
}

/** A command as requests give it. */
export type RequestCommand = string | readonly string[];

type CommandSchema = z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]>;

/** What a command may be, for errors. */
const expectedCommand =
  'expected a shell line such as "npm test", or a program and its arguments such as ["npm", "test"]';

/** A command of any request: a string is run by `sh -c` in the sandbox, a list is a program and its arguments. */
export const commandSchema: CommandSchema = z.union(
  [z.string().min(1, expectedCommand), listOf(z.string(), maxArguments).min(1, expectedCommand)],
  { error: expectedCommand },
);

/** The same where an empty one means that nothing is run. */
export const commandOrNothingSchema: CommandSchema = z.union([z.string(), listOf(z.string(), maxArguments)], {
  error: `${expectedCommand}, or "" for nothing`,
});

/** Several commands, run one after another. */
export const commandsSchema = (max: number): z.ZodArray<CommandSchema> => listOf(commandSchema, max);

const name = z.string().max(64);

type SecretsRequest = readonly string[] | Record<string, string>;

/** The field `secrets` of requests that start a program. */
export const secretsSchema: z.ZodType<SecretsRequest, SecretsRequest> = z
  .union(
    [listOf(name, maxSecrets), z.record(name, name).meta({ maxProperties: maxSecrets })],
    "expected names of secrets",
  )
  .describe(
    'Secrets of the deployment that the program gets as environment variables, by name and never by value: ["OPENAI_API_KEY"], or the secret\'s name by variable, {"API_KEY": "openai"}. Their values are replaced by [redacted:NAME] in what the program writes.',
  );

const ofConnection = "Or the session; with neither: the session of this connection, the one that run_code uses";

/** The environment or session that a request means; it must exist. */
export const place = {
  env_id: z.string().optional().describe("The environment it is in, as create_environment gave it."),
  session_id: z.string().optional().describe(`${ofConnection}.`),
} as const;

/** The same, where a session is started if there is none. */
export const placeOrNewSession = {
  ...place,
  session_id: z.string().optional().describe(`${ofConnection}, or a new one.`),
} as const;

/** In each answer, whichever of the two it is. */
export const aboutPlace = { env_id: z.string().optional(), session_id: z.string().optional() } as const;

/** Limits of a request (SPEC RT10); the policy checks their ranges and the deployment's ceilings. */
const limitsSchema: z.ZodType<LimitsRequest, LimitsRequest> = z.strictObject({
  cpus: z.number().optional().describe("CPUs' worth of time, fractions allowed."),
  memory_mb: z.number().optional().describe("Memory in MiB, without swap."),
  timeout_seconds: z.number().optional().describe("Time for the program itself, in seconds."),
  pids: z.number().optional().describe("Processes and threads together."),
  disk_mb: z.number().optional().describe("Writable space in MiB."),
});

export interface LimitsRequest {
  readonly cpus?: number | undefined;
  readonly memory_mb?: number | undefined;
  readonly timeout_seconds?: number | undefined;
  readonly pids?: number | undefined;
  readonly disk_mb?: number | undefined;
}

/** The limits that apply to a place, all of them; part of answers. */
export const limitsShown: z.ZodObject<Record<keyof LimitsRequest, z.ZodNumber>> = z.object({
  cpus: z.number(),
  memory_mb: z.number(),
  timeout_seconds: z.number(),
  pids: z.number(),
  disk_mb: z.number(),
});

/** Settings that every request which starts a sandbox takes (SPEC RT10); spread into its schema. */
export const runSettings = {
  name: nameSchema,
  limits: limitsSchema.optional().describe("Limits; each defaults to the deployment's for this kind of work."),
  network: z
    .union([z.string(), listOf(z.string(), maxDomains)])
    .optional()
    .describe(
      'What the code may reach: "none" (the default), "registries" (the package registries that the host is configured for), "open" (every public name, if the deployment allows it), or a list of domains such as ["example.com", "*.example.org", "example.net:8443"].',
    ),
  image: z.string().optional().describe("Container image; refused by engines without images."),
  engine: z.string().optional().describe("Engine name, or auto; default: the deployment's."),
  oci_runtime: z.string().optional().describe("OCI runtime, by the engine's name for it; default: the engine's own."),
  min_isolation: z.enum(isolationLevels).optional().describe("Refuse engines with weaker isolation than this."),
} as const;

/** A file that goes with a request: by its path on the host, or with its content. */
export const contextFileSchema: z.ZodUnion<
  readonly [
    z.ZodString,
    z.ZodObject<
      {
        path: z.ZodString;
        content: z.ZodString;
        encoding: z.ZodOptional<z.ZodEnum<{ utf8: "utf8"; base64: "base64" }>>;
      },
      z.core.$strict
    >,
  ]
> = z.union([
  z.string().describe("Path of a file below the working directory; it keeps its relative path."),
  z.strictObject({
    path: z.string().describe("Relative path beside the code."),
    content: z.string(),
    encoding: z.enum(["utf8", "base64"]).optional().describe("How `content` is written; default utf8."),
  }),
]);
